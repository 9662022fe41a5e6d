import { StoreUnavailable } from '../domain/failure.ts';
import type { Log } from '../log.ts';
import { withinDeadline } from './deadline.ts';
import { movingSchema, redisSchema } from './redis-scripts.ts';
import type { ScriptRunner } from './redis-store.ts';

/** `refusal`: with this setting the store would lose work, so do not start. The message says the fix. */
export type RedisFinding = { kind: 'ok' | 'warning' | 'refusal'; message: string };

/** What the check asks of Redis; node-redis's client has it. */
export type Inspectable = {
  configGet(name: string): Promise<Record<string, string>>;
  info(section: string): Promise<string>;
};

/** Every release leaves a version with its first write; those that know of schemas leave theirs too. */
const schemaScript = `
local root = KEYS[1]
return redis.call('GET', root .. ':schema') or (redis.call('EXISTS', root .. ':version') == 1 and '1') or ''`;

/** Whether the records under this prefix are this release's to read. Throws StoreUnavailable. */
export async function checkSchema(client: Pick<ScriptRunner, 'eval'>, prefix: string): Promise<RedisFinding> {
  const found = await ask(client.eval(schemaScript, { keys: [`{${prefix}}`], arguments: [] }));
  if (found === undefined || found === '' || found === redisSchema)
    return { kind: 'ok', message: 'The records are of this release.' };
  if (found === movingSchema) {
    return {
      kind: 'refusal',
      message: `A store is being moved to the prefix ${prefix}, or that was broken off: run npm run move-store to its end.`,
    };
  }
  const age = Number(found) < Number(redisSchema) ? 'an older' : 'a newer';
  return {
    kind: 'refusal',
    message: `The records under the prefix ${prefix} were written by ${age} Payops, and this one does not read them: set another REDIS_PREFIX.`,
  };
}

type Setting = 'maxmemory-policy' | 'appendonly' | 'appendfsync';
type Reading = { kind: 'known'; value: string } | { kind: 'forbidden' };

/**
 * Whether this Redis may be trusted with money: one finding for each of `maxmemory-policy`, `appendonly`
 * and `appendfsync`. Where a managed Redis forbids CONFIG, INFO is read instead, and what neither tells is
 * a warning that names it. Throws StoreUnavailable when Redis does not answer.
 */
export async function checkRedis(client: Inspectable): Promise<RedisFinding[]> {
  const policy = judgePolicy(await read(client, 'maxmemory-policy'));
  const appendOnly = await read(client, 'appendonly');
  if (appendOnly.kind === 'known' && appendOnly.value !== 'yes') {
    return [policy, warning('appendonly', appendOnly.value, 'a restart of Redis forgets everything', 'yes')];
  }
  return [policy, judgeAppendOnly(appendOnly), judgeFsync(await read(client, 'appendfsync'))];
}

function judgePolicy(reading: Reading): RedisFinding {
  if (reading.kind === 'forbidden') return unchecked('maxmemory-policy', 'noeviction');
  if (reading.value === 'noeviction') return { kind: 'ok', message: 'maxmemory-policy is noeviction.' };
  return {
    kind: 'refusal',
    message: `Redis may delete records when its memory is full (maxmemory-policy is ${reading.value}): alerts and charges would be lost. Set maxmemory-policy to noeviction.`,
  };
}

function judgeAppendOnly(reading: Reading): RedisFinding {
  if (reading.kind === 'forbidden') return unchecked('appendonly', 'yes');
  return { kind: 'ok', message: 'appendonly is yes.' };
}

function judgeFsync(reading: Reading): RedisFinding {
  if (reading.kind === 'forbidden') return unchecked('appendfsync', 'always');
  if (reading.value === 'always') return { kind: 'ok', message: 'appendfsync is always.' };
  return warning(
    'appendfsync',
    reading.value,
    'a crash of its machine can lose the last second or more',
    'always',
  );
}

function warning(setting: Setting, value: string, risk: string, fix: string): RedisFinding {
  return { kind: 'warning', message: `Redis has ${setting} ${value}: ${risk}. Set ${setting} to ${fix}.` };
}

function unchecked(setting: Setting, fix: string): RedisFinding {
  return {
    kind: 'warning',
    message: `Redis does not let this user read ${setting}, so it could not be checked. Make sure that it is ${fix}, or allow CONFIG GET.`,
  };
}

async function read(client: Inspectable, setting: Setting): Promise<Reading> {
  const value = (await ask(client.configGet(setting)))?.[setting];
  if (value !== undefined && value !== '') return { kind: 'known', value };
  const told = await readFromInfo(client, setting);
  return told === undefined ? { kind: 'forbidden' } : { kind: 'known', value: told };
}

async function readFromInfo(client: Inspectable, setting: Setting): Promise<string | undefined> {
  if (setting === 'appendfsync') return undefined;
  if (setting === 'maxmemory-policy') {
    return /^maxmemory_policy:(\S+)/m.exec((await ask(client.info('memory'))) ?? '')?.[1];
  }
  const enabled = /^aof_enabled:(\d)/m.exec((await ask(client.info('persistence'))) ?? '')?.[1];
  return enabled === undefined ? undefined : enabled === '1' ? 'yes' : 'no';
}

/** Undefined when Redis answers with a refusal; a Redis that does not answer at all is unavailable. */
async function ask<T>(question: Promise<T>): Promise<T | undefined> {
  try {
    return await withinDeadline(question, 2000);
  } catch (error) {
    if (error instanceof Error && /^(ERR|NOPERM)\b/.test(error.message)) return undefined;
    throw error instanceof StoreUnavailable ? error : new StoreUnavailable('Redis did not answer.', error);
  }
}

export type RedisWatch = {
  /** Resolves when Redis has been checked, or is away for now. */
  check: () => Promise<void>;
  /** Why this Redis must not be used; undefined while nothing speaks against it. */
  refusal: () => string | undefined;
  stop: () => void;
};

const retryMs = 2_000;

/**
 * Checks a Redis once each time it is asked to, as soon as it answers, and logs what it finds. A Redis that is away at start is not
 * refused: it is checked when it is there.
 */
export function watchRedis(client: Inspectable & ScriptRunner, prefix: string, log: Log): RedisWatch {
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  let refusal: string | undefined;

  async function check(): Promise<void> {
    try {
      refusal = tell([...(await checkRedis(client)), await checkSchema(client, prefix)], log);
    } catch {
      // The connection itself tells of the outage.
      if (!stopped) timer = setTimeout(() => void check(), retryMs);
    }
  }

  return {
    check,
    refusal: () => refusal,
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}

function tell(findings: readonly RedisFinding[], log: Log): string | undefined {
  for (const finding of findings) if (finding.kind === 'warning') log('warn', finding.message);
  const refusals = findings.filter((finding) => finding.kind === 'refusal').map((finding) => finding.message);
  for (const message of refusals) log('error', message);
  return refusals.length > 0 ? refusals.join(' ') : undefined;
}
