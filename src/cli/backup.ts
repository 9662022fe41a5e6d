import { existsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Runtime } from '../config/config.ts';
import { counted, parsed, problem } from '../domain/wording.ts';
import { beginAudit } from '../audit/audit-chain.ts';
import { embeddedStore, hasKeys, hasStore, openEmbedded, storeFile } from '../store/storage.ts';
import { copyStoreFile, putBackStoreFile, type CopyContents } from '../store/store-copy.ts';
import { type CliCommand, command, type CommandEnd, noteInNewStore } from './command.ts';
import { reasonOf } from '../store/explain-error.ts';
import { exitCodeOf, exitCodes, type ExitCode } from './exit-codes.ts';

export const backupCommand = fileCommand('No backup was made', backUp, {
  summary: 'Copy the SQLite store to a file, verified, while the bot runs',
  usage: ['npm run backup -- FILE'],
  more: 'For all accounts. The file is new, and readable by its owner alone. Keep the sealing keys too, in another place.',
});

/** Replaces the embedded store with a backup, after checking that its keys open the backup. */
export const restoreCommand = fileCommand('Nothing was restored', restore, {
  summary: 'Put a backup in place of the SQLite store, with the bot stopped',
  usage: ['npm run restore -- FILE'],
  more: 'For all accounts. Stop the bot first. The store that was there is kept beside it.',
});

/** Returns the command's end. If nothing was done, returns the reason, or throws it. */
type Work = (runtime: Runtime, file: string) => CommandEnd | string | Promise<CommandEnd | string>;

/** A command that takes one file name. `notDone`: the first words if nothing was done. */
function fileCommand(
  notDone: string,
  work: Work,
  help: Pick<CliCommand, 'summary' | 'usage' | 'more'>,
): CliCommand {
  function notDoneEnd(reason: string, exitCode: ExitCode = exitCodes.failed): CommandEnd {
    return { exitCode, words: `${notDone}. ${reason}` };
  }
  async function run(runtime: Runtime, file: string): Promise<CommandEnd> {
    if (runtime.config.redisUrl !== undefined) return notDoneEnd(inRedis);
    // Every file that the command makes is readable for its owner only, from the start.
    process.umask(0o077);
    try {
      const end = await work(runtime, file);
      return typeof end === 'string' ? notDoneEnd(end) : end;
    } catch (error) {
      return notDoneEnd(reasonOf(error), exitCodeOf(error));
    }
  }
  return command({
    ...help,
    scope: 'shared',
    mostWords: 1,
    prepare: ({ positionals: [file] }) =>
      file === undefined
        ? problem('Name the file.')
        : parsed({ run: (runtime: Runtime) => run(runtime, file) }),
  });
}

const inRedis =
  'The store is in Redis (REDIS_URL): back it up and restore it as docs/operating.md says for Redis.';

function backUp({ config }: Runtime, file: string): CommandEnd | string {
  if (!hasStore(config)) return `There is no store in ${config.dataDir} (DATA_DIR).`;
  if (!existsSync(dirname(file))) return `There is no folder ${dirname(file)}. Make it, or name another.`;
  const path = join(config.dataDir, storeFile);
  const end = copyStoreFile(path, file);
  if (end.kind === 'exists') return `${file} is there already. Name a new file.`;
  const keys = hasKeys(config)
    ? `keep ${keysOf(config)} too, in another place.`
    : `${keysOf(config)} is missing, so look for a copy of it now.`;
  return {
    exitCode: 0,
    words: `Backed up ${path} to ${file}: ${contentsWords(end)}, read back whole.\nIt opens only with its sealing keys: ${keys}`,
  };
}

async function restore(runtime: Runtime, file: string): Promise<CommandEnd | string> {
  const { config, now } = runtime;
  if (!statSync(file, { throwIfNoEntry: false })?.isFile()) return `There is no file ${file}.`;
  if (!hasKeys(config))
    return `Put the backup's sealing.key into ${config.dataDir} first (mode 600), or set SEALING_KEYS: without them nothing in it can be read.`;
  const { path, keys } = embeddedStore(config);
  const before = `${path}.before-${new Date(now()).toISOString().replaceAll(/[:.]/gu, '-')}`;
  async function checkCopy(draft: string): Promise<void> {
    const { store, sealer, mark } = openEmbedded(draft, keys, now);
    try {
      if (await mark.claim(() => beginAudit({ store, sealer }))) return;
    } finally {
      await store.close();
    }
    throw new Error(
      `The sealing keys do not open it. Put back the ones it was made with: ${keysOf(config)}.`,
    );
  }
  const end = await putBackStoreFile(path, file, { before, checkCopy });
  const kept = end.before === undefined ? '' : `\nThe store that was there is kept: ${end.before}.`;
  const words = `Restored ${path} from ${file}: ${contentsWords(end)}.${kept}\nThe bot knows nothing that happened since the backup. Before you start it, read docs/operating.md, Restore.`;
  return await noteInNewStore(runtime, { exitCode: 0, words }, 'restore');
}

function contentsWords({ records, work }: CopyContents): string {
  return `${counted(records, 'record')}, ${work} of them work`;
}

function keysOf({ sealingKeys = [], dataDir }: Runtime['config']): string {
  return sealingKeys.length > 0 ? 'SEALING_KEYS' : join(dataDir, 'sealing.key');
}
