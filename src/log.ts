import { randomBytes } from 'node:crypto';

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
  'orderReference',
  'path',
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
  'metricsPort',
  'port',
  'retryAfterMs',
] as const;
const listed: ReadonlySet<string> = new Set([...textFields, ...numberFields]);

/**
 * The fields a log line may carry. A closed list, so that a secret cannot be logged by passing an object
 * along: there is no field for a body, a header, an OTP, a token or an e-mail address, and what is not listed is
 * not written, whatever the types let through.
 */
export type LogFields = { [Name in (typeof textFields)[number]]?: string } & {
  [Name in (typeof numberFields)[number]]?: number;
};

/** Writes one line. Errors are told by name, message and stack of every cause, with known secrets struck out. */
export type Log = (level: LogLevel, message: string, fields?: LogFields, error?: unknown) => void;

/** Eight characters a person can read out over the phone; the same stands in the log and on the screen. */
export function newErrorId(): string {
  return randomBytes(5).toString('hex').slice(0, 8).toUpperCase();
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
      ...onlyListed(fields),
      ...(error === undefined ? {} : { error: describeError(error) }),
    });
    settings.write(`${strikeOut(line, struckOut)}\n`);
  };
}

function onlyListed(fields: LogFields = {}): LogFields {
  const kept: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(fields)) if (listed.has(name)) kept[name] = value;
  return kept;
}

/** Writes what is logged in one turn of the process together: a write of the system for each line costs more than the line. */
export function inOneWrite(write: (lines: string) => void): {
  write: (line: string) => void;
  flush: () => void;
} {
  let lines = '';
  function flush(): void {
    if (lines === '') return;
    const all = lines;
    lines = '';
    write(all);
  }
  return {
    write(line) {
      if (lines === '') setImmediate(flush);
      lines += line;
    },
    flush,
  };
}

function strikeOut(line: string, secrets: readonly string[]): string {
  let clean = line;
  for (const secret of secrets) if (clean.includes(secret)) clean = clean.replaceAll(secret, '[secret]');
  return clean.includes('Bearer ') ? clean.replace(/Bearer [A-Za-z0-9._~+/=-]+/g, 'Bearer [secret]') : clean;
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
