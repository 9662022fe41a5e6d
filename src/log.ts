import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import { cut, outsideText } from './domain/outside-text.ts';

export const logLevels = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof logLevels)[number];

const textFields = [
  /** The name of the merchant account, where the bot has several. */
  'account',
  /** The hash of the audit trail's last entry, and its number is `auditSeq`. */
  'auditHash',
  'channel',
  'errorId',
  'eventKey',
  'eventKind',
  'failure',
  'fix',
  'key',
  'method',
  'mode',
  /** What was called, as the specification names it. */
  'operation',
  'orderReference',
  'path',
  /** What came from Slack or the payments service: the same on all lines that it brought about. */
  'requestId',
  'result',
  'slackError',
  'userId',
  'verb',
] as const;
const numberFields = [
  'attempt',
  'auditSeq',
  'durationMs',
  'httpStatus',
  'leftOut',
  'metricsPort',
  'port',
  'retryAfterMs',
] as const;
/** Texts that a sender chooses, or has a part in: no e-mail address in full and no card number, as in the audit. */
const fromOutside: ReadonlySet<string> = new Set(['eventKind', 'orderReference', 'key', 'eventKey']);
const longestFromOutside = 200;
/** docs/on-call.md says what each of them is. */
export const listed: ReadonlySet<string> = new Set([...textFields, ...numberFields]);

/**
 * The fields a log line may carry. A closed list, so that a secret cannot be logged by passing an object
 * along: there is no field for a body, a header, an OTP, a token or an e-mail address, and what is not listed is
 * not written, whatever the types let through.
 */
export type LogFields = { [Name in (typeof textFields)[number]]?: string | undefined } & {
  [Name in (typeof numberFields)[number]]?: number | undefined;
};

/** Writes one line. Errors are told by name, message and stack of every cause, with known secrets struck out. */
export type Log = (level: LogLevel, message: string, fields?: LogFields, error?: unknown) => void;

const atWork = new AsyncLocalStorage<LogFields>();

/** Every line that is logged in this work, wherever that is, carries these fields, and those that `tagLog` adds. */
export function logged<T>(fields: LogFields, work: () => T): T {
  return atWork.run({ ...fields }, work);
}

/** The same under an id of its own; one request within another is the same. */
export function asRequest<T>(work: () => T): T {
  return requestId() === undefined ? logged({ requestId: newId() }, work) : work();
}

export function requestId(): string | undefined {
  return atWork.getStore()?.requestId;
}

/** What is known by now of the work that goes on. */
export function tagLog(fields: LogFields): void {
  Object.assign(atWork.getStore() ?? {}, fields);
}

/**
 * Eight characters a person can read out over the phone; the same stands in the log and on the screen. In a request
 * it is the request's, so that it leads to all that happened.
 */
export function newErrorId(): string {
  return requestId() ?? newId();
}

function newId(): string {
  // Node makes many at once: a tenth of the cost of as few random bytes.
  return randomUUID().slice(0, 8).toUpperCase();
}

type LogSettings = {
  level: LogLevel;
  /** Values struck out of every line, wherever they turn up: tokens, secrets, keys. */
  secrets: readonly string[];
  write: (line: string) => void;
  now: () => Date;
};

/** One JSON object a line. */
export function createLog(settings: LogSettings): Log {
  const threshold = logLevels.indexOf(settings.level);
  // JSON escapes are undone for nobody: a secret with a quote in it is struck out in its escaped form too.
  const secrets = settings.secrets
    .filter((secret) => secret.length >= 6)
    .flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1)]);
  const struckOut = [...new Set(secrets)];
  return function log(level, message, fields, error) {
    if (logLevels.indexOf(level) < threshold) return;
    const line = JSON.stringify({
      time: settings.now().toISOString(),
      level,
      message,
      ...onlyListed(atWork.getStore() ?? {}, fields ?? {}),
      ...(error === undefined ? {} : { error: describeError(error) }),
    });
    settings.write(`${strikeOut(line, struckOut)}\n`);
  };
}

function onlyListed(...all: readonly LogFields[]): LogFields {
  const kept: Record<string, unknown> = {};
  for (const fields of all) {
    for (const [name, value] of Object.entries(fields)) {
      if (value === undefined || !listed.has(name)) continue;
      const isOutside = typeof value === 'string' && fromOutside.has(name);
      kept[name] = isOutside ? maskedParts(value) : value;
    }
  }
  return kept;
}

/** A key is words of ours around a reference, and stays readable where that is masked. */
function maskedParts(text: string): string {
  if (outsideText(text, longestFromOutside) === text) return text;
  const parts = text.split(/([/:])/).map((part) => outsideText(part, longestFromOutside));
  return cut(parts.join(''), longestFromOutside);
}

const fewEveryMs = 60_000;
const fewLines = 10;

/**
 * The log for lines that a stranger can cause without end: ten a minute, and then one line that says how many were left
 * out. Without it a flood of refused requests fills the disk and hides every other line.
 */
export function fewLinesOf(log: Log): Log {
  let written = 0;
  let leftOut = 0;
  function endMinute(): void {
    if (leftOut > 0) log('warn', 'More requests were refused in the last minute', { leftOut });
    written = 0;
    leftOut = 0;
  }
  return (level, message, fields, error) => {
    if (written === 0) setTimeout(endMinute, fewEveryMs).unref();
    if (written === fewLines) return void (leftOut += 1);
    written += 1;
    log(level, message, fields, error);
  };
}

function strikeOut(line: string, secrets: readonly string[]): string {
  let clean = line;
  for (const secret of secrets) if (clean.includes(secret)) clean = clean.replaceAll(secret, '[secret]');
  if (clean.includes('Bearer ')) clean = clean.replace(/Bearer [A-Za-z0-9._~+/=-]+/g, 'Bearer [secret]');
  // A JSON Web Token: three parts, of which the first two begin as `{"` does in base64.
  return clean.includes('eyJ') ? clean.replace(/eyJ[\w-]+\.eyJ[\w-]+\.[\w-]*/g, '[secret]') : clean;
}

function describeError(error: unknown, depth = 0): unknown {
  if (!(error instanceof Error)) return { message: typeof error === 'string' ? error : 'not an Error' };
  return {
    name: error.name,
    message: error.message,
    stack: error.stack
      ?.split('\n')
      .slice(1, 8)
      .map((line) => line.trim()),
    ...(error.cause !== undefined && depth < 4 ? { cause: describeError(error.cause, depth + 1) } : {}),
  };
}
