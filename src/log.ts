import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import { cut, outsideText } from './domain/outside-text.ts';

export const logLevels = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof logLevels)[number];

const textFields = [
  /** The merchant account's name, if the bot has several. */
  'account',
  /** The hash of the audit trail's last entry; `auditSeq` is its number. */
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
  /** The payments service's operation, as the specification names it. */
  'operation',
  'orderReference',
  'path',
  /** Identifies one request from Slack or the payments service, on every line about it. */
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
/** Fields with text from outside. They are written without whole e-mail addresses and card numbers, as in the audit. */
const fromOutside: ReadonlySet<string> = new Set(['eventKind', 'orderReference', 'key', 'eventKey']);
const longestFromOutside = 200;
/** All fields; docs/on-call.md explains each of them. */
export const logFieldNames: ReadonlySet<string> = new Set([...textFields, ...numberFields]);

/**
 * The fields of a log line. A closed list, so that passing an object along can't log a secret: there is no field for a
 * body, header, OTP, token or e-mail address, and unlisted fields are dropped at run time, too.
 */
export type LogFields = { [Name in (typeof textFields)[number]]?: string | undefined } & {
  [Name in (typeof numberFields)[number]]?: number | undefined;
};

/**
 * Writes one line. An error is logged with name, message and stack, also of its causes. Known secrets are struck out.
 */
export type Log = (level: LogLevel, message: string, fields?: LogFields, error?: unknown) => void;

const context = new AsyncLocalStorage<LogFields>();

/** Adds these fields, and those of `tagLog`, to every line that is logged during `work`, also in asynchronous calls. */
export function logged<T>(fields: LogFields, work: () => T): T {
  return context.run({ ...fields }, work);
}

/** Like `logged`, with a new request id. Within another request it keeps that one's id. */
export function asRequest<T>(work: () => T): T {
  return requestId() === undefined ? logged({ requestId: newId() }, work) : work();
}

export function requestId(): string | undefined {
  return context.getStore()?.requestId;
}

/** Adds fields to all later lines of the work in progress. */
export function tagLog(fields: LogFields): void {
  Object.assign(context.getStore() ?? {}, fields);
}

/**
 * An id of eight characters that people can read out over the phone; screen and log show the same one. Within a request
 * it is the request's id, so it leads to all lines about it.
 */
export function newErrorId(): string {
  return requestId() ?? newId();
}

function newId(): string {
  // Node draws random bytes for many UUIDs at once, so this costs a tenth of drawing four bytes.
  return randomUUID().slice(0, 8).toUpperCase();
}

type LogSettings = {
  level: LogLevel;
  /** Tokens, secrets and keys: struck out of every line. */
  secrets: readonly string[];
  write: (line: string) => void;
  now: () => Date;
};

/** A log that writes one JSON object per line. */
export function createLog(settings: LogSettings): Log {
  const threshold = logLevels.indexOf(settings.level);
  // In a JSON line a secret with a quote in it is escaped, so strike out the escaped form, too.
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
      ...onlyListed(context.getStore() ?? {}, fields ?? {}),
      ...(error === undefined ? {} : { error: describeError(error) }),
    });
    settings.write(`${strikeOut(line, struckOut)}\n`);
  };
}

/**
 * Writes the lines of one turn of the event loop at once, at its end: a write costs more than the line. `flush` writes what
 * waits now; call it when the process exits.
 */
export function onceATurn(write: (lines: string) => void): {
  write: (line: string) => void;
  flush: () => void;
} {
  let waiting = '';
  function flush(): void {
    const lines = waiting;
    waiting = '';
    if (lines !== '') write(lines);
  }
  return {
    write(line) {
      if (waiting === '') setImmediate(flush);
      waiting += line;
    },
    flush,
  };
}

function onlyListed(...all: readonly LogFields[]): LogFields {
  const listed: Record<string, unknown> = {};
  for (const fields of all) {
    for (const name of Object.keys(fields)) {
      const value = fields[name as keyof LogFields];
      if (value === undefined || !logFieldNames.has(name)) continue;
      const isOutside = typeof value === 'string' && fromOutside.has(name);
      listed[name] = isOutside ? maskedParts(value) : value;
    }
  }
  return listed;
}

/** Masks the parts of a key one by one, so that our words around a masked reference stay readable. */
function maskedParts(text: string): string {
  if (outsideText(text, longestFromOutside) === text) return text;
  const parts = text.split(/([/:])/).map((part) => outsideText(part, longestFromOutside));
  return cut(parts.join(''), longestFromOutside);
}

const fewEveryMs = 60_000;
const fewLines = 10;

/**
 * A log for lines that strangers can cause in any number. It writes ten lines a minute, and then one line with the
 * number it left out: a flood of refused requests must not fill the disk and hide all other lines.
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
  // JSON Web Tokens: three parts, of which the first two begin with `{"` in base64.
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
