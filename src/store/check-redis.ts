import { StoreUnavailable } from '../domain/failure.ts';
import type { Log } from '../log.ts';
import { withinDeadline } from './deadline.ts';
import { movingSchema, redisSchema } from './redis-scripts.ts';
import type { ScriptRunner } from './redis-store.ts';

/** `refusal`: the bot must not use this Redis. The message says why, and how to fix it. */
type RedisFinding = { kind: 'ok' | 'warning' | 'refusal'; message: string };

/** The calls that the check needs; node-redis's client has them. */
export type Inspectable = {
  configGet(name: string): Promise<Record<string, string>>;
  info(section: string): Promise<string>;
};

/** The schema of the stored records. Releases before schemas wrote only `:version`; that is schema 1. */
const schemaScript = `
local root = KEYS[1]
return redis.call('GET', root .. ':schema') or (redis.call('EXISTS', root .. ':version') == 1 and '1') or ''`;

/** Checks whether this release can read the records under the prefix. Throws StoreUnavailable. */
export async function checkSchema(client: Pick<ScriptRunner, 'eval'>, prefix: string): Promise<RedisFinding> {
  const found = await ask(client.eval(schemaScript, { keys: [`{${prefix}}`], arguments: [] }));
  if (found === undefined || found === '' || found === redisSchema)
    return { kind: 'ok', message: 'The records are of this release.' };
  if (found === movingSchema) {
    return {
      kind: 'refusal',
      message: `A store is being moved to the prefix ${prefix}, or a move was interrupted. Run npm run move-store again.`,
    };
  }
  // Don't suggest another prefix: it would be an empty store, in which the bot has forgotten its charges.
  const [age, fix] =
    Number(found) < Number(redisSchema)
      ? ['an older', 'Run the release that wrote them, and see docs/upgrading.md.']
      : ['a newer', 'Run that version again.'];
  return {
    kind: 'refusal',
    message: `The records under the prefix ${prefix} were written by ${age} Payops, and this one does not read them. ${fix}`,
  };
}

/**
 * Each setting's required value, the risk of any other value, and where INFO reports the setting: a managed Redis may
 * forbid CONFIG.
 */
const settings = [
  {
    name: 'maxmemory-policy',
    must: 'noeviction',
    kind: 'refusal',
    risk: (value: string) =>
      `Redis may delete records when its memory is full (maxmemory-policy is ${value}): alerts and charges would be lost.`,
    info: { section: 'memory', line: /^maxmemory_policy:(\S+)/m },
  },
  {
    name: 'appendonly',
    must: 'yes',
    kind: 'warning',
    risk: (value: string) => `Redis has appendonly ${value}: a restart of Redis forgets everything.`,
    info: { section: 'persistence', line: /^aof_enabled:(\d)/m },
  },
  {
    name: 'appendfsync',
    must: 'always',
    kind: 'warning',
    risk: (value: string) =>
      `Redis has appendfsync ${value}: a crash of its machine can lose the last second or more.`,
    info: undefined,
  },
] as const;

/**
 * Checks whether this Redis is safe for money: one finding per setting. A setting that neither CONFIG nor INFO reports
 * is a warning. Throws StoreUnavailable if Redis does not answer.
 */
export async function checkRedis(client: Inspectable): Promise<RedisFinding[]> {
  const findings: RedisFinding[] = [];
  for (const { name, must, kind, risk, info } of settings) {
    const value = (await ask(client.configGet(name)))?.[name] || (await readInfo(client, info));
    if (value === must) findings.push({ kind: 'ok', message: `${name} is ${must}.` });
    else if (value !== undefined) findings.push({ kind, message: `${risk(value)} Set ${name} to ${must}.` });
    else {
      const message = `Redis does not let this user read ${name}, so it could not be checked. Make sure that it is ${must}, or allow CONFIG GET.`;
      findings.push({ kind: 'warning', message });
    }
    // Without an append-only file the fsync setting doesn't matter.
    if (name === 'appendonly' && value !== undefined && value !== must) break;
  }
  return findings;
}

async function readInfo(
  client: Inspectable,
  info: (typeof settings)[number]['info'],
): Promise<string | undefined> {
  const found = info && info.line.exec((await ask(client.info(info.section))) ?? '')?.[1];
  return found === undefined ? undefined : found === '1' ? 'yes' : found === '0' ? 'no' : found;
}

/** The answer; undefined if Redis refuses the command. Throws StoreUnavailable if Redis does not answer. */
async function ask<T>(question: Promise<T>): Promise<T | undefined> {
  try {
    return await withinDeadline(question, 2000);
  } catch (error) {
    if (error instanceof Error && /^(ERR|NOPERM)\b/.test(error.message)) return undefined;
    throw error instanceof StoreUnavailable ? error : new StoreUnavailable('Redis did not answer.', error);
  }
}

const retryMs = 2_000;

/**
 * `check` checks this Redis and logs new findings. If Redis doesn't answer, the last check's refusal stays, and the
 * check is repeated until it answers.
 */
export function watchRedis(client: Inspectable & ScriptRunner, prefix: string, log: Log) {
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  let refusal: string | undefined;
  let logged = '';

  /** Resolves when Redis has been checked, or is away. */
  async function check(): Promise<void> {
    try {
      const findings = [...(await checkRedis(client)), await checkSchema(client, prefix)];
      refusal = refusalIn(findings);
      const words = JSON.stringify(findings);
      if (words === logged) return;
      logged = words;
      for (const { kind, message } of findings)
        if (kind !== 'ok') log(kind === 'warning' ? 'warn' : 'error', message);
    } catch {
      // The connection logs the outage.
      clearTimeout(timer);
      if (!stopped) timer = setTimeout(() => void check(), retryMs);
    }
  }

  return {
    check,
    /** Why this Redis must not be used; undefined if it may. */
    refusal: () => refusal,
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}

/** Why this Redis must not be used; undefined if it may. */
export function refusalIn(findings: readonly RedisFinding[]): string | undefined {
  const refusals = findings.filter(({ kind }) => kind === 'refusal').map(({ message }) => message);
  return refusals.length > 0 ? refusals.join(' ') : undefined;
}
