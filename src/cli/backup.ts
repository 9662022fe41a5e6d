import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Outside } from '../config/config.ts';
import { counted, type Parsed, parsed, problem } from '../domain/wording.ts';
import { embeddedStore, hasKeys, storeFile } from '../store/kept.ts';
import { createSealer } from '../store/sealed.ts';
import { openSqliteStore } from '../store/sqlite-store.ts';
import { copyStoreFile, putBackStoreFile, type CopyContents } from '../store/store-copy.ts';
import { isOpenedBy } from '../store/store-mark.ts';
import { command, type CommandEnd, reasonOf, withKept } from './command.ts';

/** Copies the embedded store to a new file, verified, while bots run. */
export const backupCommand = command({
  summary: 'Copy the SQLite store to a file, verified, while the bot runs',
  usage: ['npm run backup -- FILE'],
  more: 'For all accounts. The file is new, and readable by its owner alone. Keep the sealing keys too, in another place.',
  scope: 'shared',
  options: {},
  mostWords: 1,
  prepare: ({ positionals }) =>
    named(positionals, (file) => (outside) => Promise.resolve(backUp(outside, file))),
});

/** Puts a backup in the embedded store's place, once its keys are shown to open it. */
export const restoreCommand = command({
  summary: 'Put a backup in place of the SQLite store, with the bot stopped',
  usage: ['npm run restore -- FILE'],
  more: 'For all accounts. Stop the bot first. The store that was there is kept beside it.',
  scope: 'shared',
  options: {},
  mostWords: 1,
  prepare: ({ positionals }) => named(positionals, (file) => (outside) => restore(outside, file)),
});

type Run = (outside: Outside) => Promise<CommandEnd>;

function named(words: readonly string[], run: (file: string) => Run): Parsed<{ run: Run }> {
  const [file] = words;
  return file === undefined ? problem('Name the file.') : parsed({ run: run(file) });
}

function backUp({ config }: Outside, file: string): CommandEnd {
  if (config.redisUrl !== undefined) return nothing('No backup was made', inRedis);
  const path = join(config.dataDir, storeFile);
  if (!existsSync(path))
    return nothing('No backup was made', `There is no store in ${config.dataDir} (DATA_DIR).`);
  try {
    const end = copyStoreFile(path, file);
    if (end.kind === 'exists')
      return nothing('No backup was made', `${file} is there already. Name a new file.`);
    return {
      exitCode: 0,
      words: `Backed up ${path} to ${file}: ${contentsWords(end)}, read back whole.\nIt opens only with its sealing keys: keep ${keysOf(config)} too, in another place.`,
    };
  } catch (error) {
    return nothing('No backup was made', reasonOf(error));
  }
}

async function restore(outside: Outside, file: string): Promise<CommandEnd> {
  const { config, now } = outside;
  if (config.redisUrl !== undefined) return nothing(notRestored, inRedis);
  if (!existsSync(file)) return nothing(notRestored, `There is no file ${file}.`);
  if (!hasKeys(config)) {
    return nothing(
      notRestored,
      `Put the backup's sealing.key into ${config.dataDir} first (mode 600), or set SEALING_KEYS: without them nothing in it can be read.`,
    );
  }
  const { path, keys } = embeddedStore(config);
  const before = `${path}.before-${new Date(now()).toISOString().replaceAll(/[:.]/gu, '-')}`;
  try {
    const end = await putBackStoreFile(path, file, {
      before,
      async isOurs(draft) {
        const store = openSqliteStore({ path: draft, now });
        try {
          if (await isOpenedBy({ store, sealer: createSealer(keys) })) return;
        } finally {
          await store.close();
        }
        throw new Error(
          `The sealing keys do not open it. Put back the ones it was made with: ${keysOf(config)}.`,
        );
      },
    });
    if (end.kind === 'in_use')
      return nothing(notRestored, `A bot still uses ${path}. Stop it, then run this again.`);
    const kept = end.before === undefined ? '' : `\nThe store that was there is kept: ${end.before}.`;
    const done: CommandEnd = {
      exitCode: 0,
      words: `Restored ${path} from ${file}: ${contentsWords(end)}.${kept}\nThe bot knows nothing that happened since the backup. Before you start it, read docs/operating.md, Restore.`,
    };
    return await withKept(
      outside,
      () => Promise.resolve(done),
      (error) => ({ ...done, words: `${done.words}\nThe audit has no entry of it: ${reasonOf(error)}` }),
      'restore',
    );
  } catch (error) {
    return nothing(notRestored, reasonOf(error));
  }
}

const notRestored = 'Nothing was restored';
const inRedis =
  'The store is in Redis (REDIS_URL): back it up and restore it as docs/operating.md says for Redis.';

function nothing(what: string, why: string): CommandEnd {
  return { exitCode: 1, words: `${what}. ${why}` };
}

function contentsWords({ records, work }: CopyContents): string {
  return `${counted(records, 'record')}, ${work} of them work`;
}

function keysOf({ sealingKeys = [], dataDir }: Outside['config']): string {
  return sealingKeys.length > 0 ? 'SEALING_KEYS' : join(dataDir, 'sealing.key');
}
