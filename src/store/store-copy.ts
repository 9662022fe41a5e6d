import {
  chmodSync,
  chownSync,
  closeSync,
  copyFileSync,
  existsSync,
  linkSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { errorCode, StoreUnavailable } from '../domain/failure.ts';
import { explainStoreError } from './explain-error.ts';
import { syncToDisk } from './storage.ts';
import { isDamaged, lockStoreFile, movedAway, schemaOf, unopened } from './sqlite-file.ts';

/** The number of records in a copy, and how many of them are work. */
export type CopyContents = { records: number; work: number };

type CopyEnd =
  | ({ kind: 'copied' } & CopyContents)
  /** The file already exists; it was not touched. */
  | { kind: 'exists' };

/**
 * Writes a snapshot of the store's file to the new file `copy`, readable for its owner only, and reads it back. Running
 * bots are not blocked. The copy is complete and on the disk, or doesn't exist. Throws StoreUnavailable if the store's
 * file can't be read, and an error that names the copy if that can't be written.
 */
export function copyStoreFile(path: string, copy: string): CopyEnd {
  if (existsSync(copy)) return { kind: 'exists' };
  const draft = `${copy}.part`;
  // A killed run may have left one.
  removeStoreFile(draft);
  try {
    // Create it empty first: SQLite keeps its mode, so others can't read the copy even for a moment.
    closeSync(openSync(draft, 'wx', 0o600));
    const db = openForCopy(path);
    try {
      db.prepare('vacuum into ?').run(draft);
    } catch (error) {
      const asStore = unopened(path, error);
      throw isDamaged(asStore) ? asStore : error;
    } finally {
      db.close();
    }
    const contents = contentsOf(draft);
    syncToDisk(draft);
    renameSync(draft, copy);
    syncToDisk(dirname(copy));
    return { kind: 'copied', ...contents };
  } catch (error) {
    if (error instanceof StoreUnavailable) throw error;
    throw new Error(
      `${copy} cannot be written (${error instanceof Error ? error.message : 'unknown reason'}). Free some of its disk, or let this user write to that folder.`,
      { cause: error },
    );
  } finally {
    removeStoreFile(draft);
  }
}

function openForCopy(path: string): DatabaseSync {
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(path, { timeout: 5000, readOnly: true });
    if (schemaOf(db) === 'moved') throw new Error(movedAway);
    return db;
  } catch (error) {
    db?.close();
    throw unopened(path, error);
  }
}

/** `before`: where the store that was there is now, if there was one. */
type PutBack = { before: string | undefined } & CopyContents;

/**
 * Replaces the store's file at `path` with a copy, and with the log beside the copy (`-wal`), if there is one. First
 * `checkCopy` opens and closes the copy; it must throw if the copy is unusable (another schema, other keys), and then
 * nothing changes. The old file is renamed to `before`. After a crash either the old or the new file is there. Throws
 * what `checkCopy` throws, an error that names a copy that is no whole store, StoreUnavailable if another process has
 * the store's file open, and an error of the disk.
 */
export async function putBackStoreFile(
  path: string,
  copy: string,
  { before, checkCopy }: { before: string; checkCopy: (draft: string) => Promise<void> },
): Promise<PutBack> {
  const draft = `${path}.restoring`;
  removeStoreFile(draft);
  try {
    // A snapshot of the disk, or the file of a killed bot, has its newest changes only in the log beside it.
    for (const part of ['', '-wal'].filter((each) => existsSync(copy + each))) {
      copyFileSync(copy + part, draft + part);
      chmodSync(draft + part, 0o600);
    }
    const contents = contentsOfBackup(draft, copy);
    await checkCopy(draft);
    const isReplacing = existsSync(path);
    if (process.getuid?.() === 0) {
      // The bot runs as another user than the root who restores.
      const { uid, gid } = statSync(isReplacing ? path : dirname(path));
      chownSync(draft, uid, gid);
    }
    syncToDisk(draft);
    const lock = isReplacing ? lockForReplacing(path) : undefined;
    try {
      if (isReplacing) linkSync(path, before);
      // A damaged file, or one that was moved away by hand, may have left its log here. SQLite would apply that to the
      // new file; so move it away, too.
      if (existsSync(`${path}-wal`)) renameSync(`${path}-wal`, `${before}-wal`);
      rmSync(`${path}-shm`, { force: true });
      renameSync(draft, path);
      syncToDisk(dirname(path));
    } finally {
      lock?.close();
    }
    return { before: isReplacing ? before : undefined, ...contents };
  } catch (error) {
    const why = errorCode(error) === undefined ? undefined : explainStoreError(String(error));
    throw why ? new Error(`${path} cannot be replaced: ${why.detail}. ${why.fix}`, { cause: error }) : error;
  } finally {
    removeStoreFile(draft);
  }
}

/** Locks the file; undefined if it is damaged and can't be locked. */
function lockForReplacing(path: string): DatabaseSync | undefined {
  let db: DatabaseSync | undefined;
  try {
    db = lockStoreFile(path);
    // Leaving WAL mode moves everything into the one file; it stays locked.
    db.exec('commit; pragma journal_mode = delete');
    return db;
  } catch (cause) {
    db?.close();
    const error = cause instanceof StoreUnavailable ? cause : unopened(path, cause);
    if (isDamaged(error)) return undefined;
    throw error;
  }
}

/** Counts the records. Throws if the file is not a whole store. */
function contentsOf(path: string): CopyContents {
  const db = new DatabaseSync(path);
  try {
    const found = String(db.prepare('pragma integrity_check(1)').get()?.['integrity_check']);
    if (found !== 'ok') throw new Error(found);
    const row = db.prepare('select count(*) as records, count(due_at) as work from entries').get();
    return { records: Number(row?.['records']), work: Number(row?.['work']) };
  } finally {
    db.close();
  }
}

/** The same of a backup's draft. The error names the backup: the store itself has no fault. */
function contentsOfBackup(draft: string, copy: string): CopyContents {
  try {
    return contentsOf(draft);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : 'unknown reason';
    throw new Error(`${copy} is not a whole store of Payops: ${reason}`, { cause });
  }
}

function removeStoreFile(path: string): void {
  for (const part of ['', '-journal', '-wal', '-shm']) rmSync(path + part, { force: true });
}
