import { existsSync } from 'node:fs';
import { counted, parsed } from '../domain/wording.ts';
import { resealText } from '../records/reseal.ts';
import { checkRedis, refusalIn } from '../store/check-redis.ts';
import { moveStore, type MoveEnd, type Moved } from '../store/move-store.ts';
import { createSealer } from '../store/sealed.ts';
import { embeddedStore } from '../store/storage.ts';
import { whyNotWrite } from '../store/store-mark.ts';
import type { Store } from '../store/store.ts';
import type { Runtime } from '../config/config.ts';
import { exitCodeOf, exitCodes } from './exit-codes.ts';
import { command, type CommandEnd, noteInNewStore } from './command.ts';
import { reasonOf } from '../store/explain-error.ts';

export const moveStoreCommand = command({
  summary: 'Move all records from SQLite in DATA_DIR to the Redis of REDIS_URL, and verify them',
  usage: ['npm run move-store'],
  more: 'For all accounts. Stop the bot first. Needs an empty Redis; may be run again when it broke off.',
  scope: 'shared',
  prepare: () =>
    parsed({
      async run(runtime) {
        const end = await moveAll(runtime);
        if (typeof end !== 'string') return end;
        const exitCode = runtime.config.redisUrl === undefined ? exitCodes.settings : exitCodes.failed;
        return { exitCode, words: `Nothing was moved. ${end}` };
      },
    }),
});

/** Returns words if nothing was moved. */
async function moveAll(runtime: Runtime): Promise<CommandEnd | string> {
  const { redisUrl, redisPrefix, dataDir } = runtime.config;
  if (redisUrl === undefined)
    return 'Set REDIS_URL and SEALING_KEYS to where the records go, and leave DATA_DIR where they are.';
  try {
    const { path, keys } = embeddedStore(runtime.config);
    if (!existsSync(path)) return `There is no store in ${dataDir} (DATA_DIR).`;
    // How many sealed texts each missing sealing key has, by the key's id.
    const unopened = new Map<string, number>();
    const sealing = { sealer: createSealer(keys), keyIds: keys.map(({ id }) => id) };
    const change = (key: string, value: string): string =>
      resealText(sealing, key, value, (id) => unopened.set(id, (unopened.get(id) ?? 0) + 1));
    const checkKeys = (store: Pick<Store, 'read'>) => whyNotWrite({ store, sealer: sealing.sealer });
    const end = await moveTo(runtime, redisUrl, { path, checkKeys, change });
    if (typeof end === 'string') return end;
    switch (end.kind) {
      case 'other_keys':
        return end.why;
      case 'not_empty':
        return `Redis has records under the prefix ${redisPrefix} already. Give it an empty Redis, or another REDIS_PREFIX.`;
      case 'was_moved':
        return `The records of ${path} were moved to Redis before. Start the bot with the REDIS_URL and REDIS_PREFIX of that move.`;
      case 'differs':
        return {
          exitCode: 1,
          words: `${counted(end.records, 'record')} in Redis differ from what was copied. No bot starts on it; run this again.`,
        };
      case 'moved':
        // Noted after the move, so only Redis has this entry.
        return await noteInNewStore(
          runtime,
          { exitCode: 0, words: movedWords(runtime, path, end, unopened) },
          'move-store',
        );
    }
  } catch (error) {
    return {
      exitCode: exitCodeOf(error),
      words: `The store was not moved. ${reasonOf(error)} No bot starts on what is in Redis so far; run this again.`,
    };
  }
}

/** Moves the records. Returns words instead if this Redis can't be trusted. */
async function moveTo(
  { config, log, now }: Runtime,
  url: string,
  source: Pick<Parameters<typeof moveStore>[0], 'path' | 'checkKeys' | 'change'>,
): Promise<MoveEnd | string> {
  const { redisPrefix: prefix, redisWaitReplicas: waitReplicas } = config;
  const { connectRedis } = await import('../store/redis-client.ts');
  const redis = connectRedis({ url, log, prefix, waitReplicas });
  try {
    await redis.tried;
    const findings = await checkRedis(redis.commands);
    for (const { kind, message } of findings) if (kind === 'warning') log('warn', message);
    const refusal = refusalIn(findings);
    if (refusal !== undefined) return refusal;
    return await moveStore({ ...source, now, redis: redis.commands, prefix });
  } finally {
    redis.close();
  }
}

function movedWords(
  { config }: Runtime,
  path: string,
  moved: Moved,
  unopened: ReadonlyMap<string, number>,
): string {
  const left = [...unopened].map(
    ([id, count]) =>
      `${counted(count, 'part')} sealed with ${id}, which is missing: moved unchanged. Add that key at the end of SEALING_KEYS.`,
  );
  return [
    `Moved ${path} to Redis, prefix ${config.redisPrefix}: ${counted(moved.records, 'record')}, ${moved.work} of them work.`,
    'Redis gave all of it back the same. Start the bot: it works there now, and no bot starts on the old file.',
    ...left,
  ].join('\n');
}
