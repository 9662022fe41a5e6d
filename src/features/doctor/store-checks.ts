import { randomUUID } from 'node:crypto';
import { statSync } from 'node:fs';
import type { RedisConnection } from '../../store/redis-client.ts';
import { foreseeOwners, type Owned } from '../../store/check-owners.ts';
import { explainStoreError } from '../../store/explain-error.ts';
import { checkRedis } from '../../store/check-redis.ts';
import { storeHealth, type Storage } from '../../store/storage.ts';
import { asideList } from '../../records/put-aside.ts';
import { reseal } from '../../records/reseal.ts';
import { StoreUnavailable } from '../../domain/failure.ts';
import { counted } from '../../domain/wording.ts';
import {
  judgeClock,
  ok,
  once,
  problem,
  problemWithFix,
  skippedFor,
  warning,
  type Check,
  type CheckResult,
} from './checks.ts';

/** How many records are opened. More would take long, and a lost key usually affects many records. */
const mostRecords = 500;
const fileFix =
  'Check the disk of DATA_DIR, and copy the folder to a safe place before you change anything in it.';

/** The result of the store's check if opening it threw this error. */
export function unopenedStore(error: unknown): CheckResult {
  const words = error instanceof Error ? error.message : 'The store cannot be opened';
  // The fix of a known cause may be several sentences.
  const fix = explainStoreError(words)?.fix;
  return fix !== undefined && words.endsWith(`. ${fix}`)
    ? problem(words.slice(0, -`. ${fix}`.length), fix)
    : problemWithFix(words, fileFix);
}

/** The checks of the whole store. `storage` as a result: there is none to open, and that is the result. */
export function storeChecks(
  storage: Storage | CheckResult,
  { config, now }: { config: Owned; now: () => number },
): Check[] {
  if ('state' in storage) {
    return [
      { part: 'Store', look: () => storage },
      { part: 'Sealing keys', look: () => skippedFor('Store') },
    ];
  }
  const { redis, file } = storage;
  const written = once(() => writeAndRead(storage));
  /** Skips a check if the store takes no write. */
  function ifWritable(look: () => Promise<CheckResult>): Check['look'] {
    return async () => ((await written()).state === 'problem' ? skippedFor('Store') : await look());
  }
  const ofRedis: Check[] = redis
    ? [
        { part: 'Store durability', look: ifWritable(() => durability(redis)) },
        { part: 'Store clock', look: ifWritable(() => clockOf(redis, now)) },
      ]
    : [];
  return [
    { part: 'Store', look: written },
    ...ofRedis,
    ...(file === undefined ? [] : [{ part: 'Store file', look: ifWritable(async () => fileMode(file)) }]),
    { part: 'Store owner', look: ifWritable(() => ownerOfStore(storage, config)) },
    { part: 'Due work', look: ifWritable(() => dueWork(storage)) },
    { part: 'Sealing keys', look: ifWritable(() => sealingKeys(storage)) },
    { part: 'Records put aside', look: ifWritable(() => putAside(storage)) },
  ];
}

/** Writes a sealed record, reads it and opens it. */
async function writeAndRead(storage: Storage): Promise<CheckResult> {
  const health = await storeHealth(storage).catch((error: unknown) => {
    if (!(error instanceof StoreUnavailable)) throw error;
    return { state: 'down' as const, detail: 'The store does not answer', fix: awayFix(storage) };
  });
  if (health.state !== 'ok') {
    const { detail = '', fix } = health;
    return fix === undefined ? problemWithFix(detail, awayFix(storage)) : problem(detail, fix);
  }
  const key = `doctor:${randomUUID()}`;
  const { store, sealer } = storage;
  await store.create(key, sealer.seal(key, key), { ttlMs: 60_000 });
  const found = await store.read(key);
  if (found === undefined || sealer.open(key, found.value) !== key) {
    return problem('The store does not give back what it took', 'Point the bot at a store of its own.');
  }
  return ok(
    storage.redis ? 'Redis takes a write and gives it back' : 'The file takes a write and gives it back',
  );
}

function awayFix({ redis }: Pick<Storage, 'redis'>): string {
  return redis
    ? 'Check REDIS_URL, its password, and whether Redis runs; the log says what it answered.'
    : 'Check the disk of DATA_DIR.';
}

async function durability(redis: RedisConnection): Promise<CheckResult> {
  const findings = (await checkRedis(redis.commands)).filter(({ kind }) => kind !== 'ok');
  const [worst] = findings.toSorted((a) => (a.kind === 'refusal' ? -1 : 1));
  if (!worst) return ok('Redis keeps what it acknowledged');
  const result = problemWithFix(worst.message, awayFix({ redis }));
  return worst.kind === 'refusal' ? result : { ...result, state: 'warning' };
}

async function clockOf({ commands }: RedisConnection, now: () => number): Promise<CheckResult> {
  const answer = await commands.eval("return redis.call('TIME')", { keys: [], arguments: [] });
  const [seconds] = Array.isArray(answer) ? answer.map(Number) : [];
  return judgeClock('Redis', seconds === undefined ? Number.NaN : seconds * 1_000, now());
}

/** Whether only its owner can read the store file. Records in it are sealed, but lists and due times are not. */
function fileMode(path: string): CheckResult {
  const mode = statSync(path).mode & 0o777;
  if ((mode & 0o077) === 0 || process.platform === 'win32') return ok('Its owner alone reads the store file');
  return warning(
    `The store file may be read by others (mode ${mode.toString(8).padStart(4, '0')})`,
    `Run: chmod 600 ${path}`,
  );
}

/** Whether the start would accept the accounts of the settings for this store. */
async function ownerOfStore({ store }: Storage, config: Owned): Promise<CheckResult> {
  const why = await foreseeOwners(store, config);
  return why === undefined
    ? ok('Its records are of the accounts in the settings')
    : problemWithFix(why, 'Give the bot a new store.');
}

/** Work that is due for longer is overdue: a worker takes free work within a second. */
const overdueMs = 300_000;

/**
 * Whether work in free lanes is overdue: a leased lane has a worker, and a paused lane waits for Slack. The oldest due
 * record may be in any lane, so if there are both kinds of lanes the check can't tell, and says ok.
 */
export async function dueWork({ store }: { store: Pick<Storage['store'], 'backlog'> }): Promise<CheckResult> {
  const { oldestDueMs, due } = await store.backlog();
  const isUnclear = due.leased > 0 && due.paused > 0;
  if (due.free === 0 || isUnclear || oldestDueMs < overdueMs) return ok('No work is overdue');
  const since = `Work has been due for ${counted(Math.floor(oldestDueMs / 60_000), 'minute')}`;
  if (due.leased > 0) {
    return warning(
      `${since}, while the bot does other work`,
      'Run this again in a minute. If it is still due, restart the bot and look for errors in its log.',
    );
  }
  return problem(
    `${since}, and no bot does it`,
    'Start the bot; if it runs, look at its settings: another REDIS_URL, REDIS_PREFIX or DATA_DIR is another store.',
  );
}

async function sealingKeys({ store, sealer, keyIds }: Storage): Promise<CheckResult> {
  let seen = 0;
  const sample = {
    async keysAfter(after: string) {
      const page = await store.keysAfter(after);
      seen += page.keys.length;
      return seen < mostRecords ? page : { ...page, next: undefined };
    },
    read: (key: string) => store.read(key),
    // Only counts; reseals nothing.
    replace: () => Promise.resolve(true),
  };
  const looked = await reseal(sample, { sealer, keyIds });
  const lost = [...looked.unopened];
  if (lost.length > 0) {
    const ids = lost.map(([id]) => id).join(', ');
    return problem(
      `Records that these keys do not open: ${lost.reduce((sum, [, keys]) => sum + keys.length, 0)}, sealed with ${ids}`,
      keyIds.includes('file')
        ? 'Put the old sealing.key back into DATA_DIR from a backup, and keep a copy of the one that is there; or put the old key back at the end of SEALING_KEYS.'
        : 'Put the old key back at the end of SEALING_KEYS.',
    );
  }
  if (looked.resealed === 0) return ok('The keys open what the store holds');
  return warning(`Records sealed with an older key: ${looked.resealed}`, 'Run npm run reseal.');
}

async function putAside({ store }: Storage): Promise<CheckResult> {
  const { entries } = await store.list(asideList, { max: 100 });
  if (entries.length === 0) return ok('No record is put aside');
  return problem(
    `Records put aside: ${entries.length === 100 ? '100 or more' : entries.length}`,
    'Fix what the log’s line “a record is put aside” names, then restart the bot: it retries them.',
  );
}
