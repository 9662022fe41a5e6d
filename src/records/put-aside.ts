import { errorCode, ServiceFailure, StoreUnavailable } from '../domain/failure.ts';
import { growingDelayMs } from '../deadline.ts';
import { newErrorId, type Log } from '../log.ts';
import { SealBroken, type Entry, type Store } from '../store/store.ts';
import { allEntries } from './pages.ts';
import { NewerRelease, isNewer } from './newer-release.ts';
import { isUnreadable } from './records.ts';
import type { WorkKind } from './worker.ts';

/**
 * Why a record is put aside. `unreadable`: it can't be opened or parsed, or is of an unknown kind. `failing`: working
 * on it kept throwing.
 */
export const asideReasons = ['unreadable', 'failing'] as const;
type Reason = (typeof asideReasons)[number];

/** What to do about a record that threw this error when it was read. */
export function unreadableFix(error: unknown): string {
  if (error instanceof SealBroken)
    return 'Put the sealing key it was sealed with back: at the end of SEALING_KEYS, or as the file sealing.key in DATA_DIR.';
  if (error instanceof NewerRelease) return 'None needed: replicas of the newer release read it.';
  return 'Report this line: it takes another release of the bot.';
}

/**
 * Each record that was put aside has a marker with this prefix; the record itself stays in its own lists. The marker's key
 * has the record's number of attempts. If they differ now, the record was taken again, and is no longer put aside.
 */
const asidePrefix = 'aside:';
export const asideList = 'aside';

/** How long a newer release's record holds its lane before it is due again, for a newer replica to take it. */
const newerHoldMs = 1_000;
/** A record is put aside after so many failures in a row, and not before this time has passed since the first. */
const mostFailures = 5;
const failingForMs = 120_000;
const firstRetryMs = 10_000;
const longestRetryMs = 60_000;

/**
 * Puts aside records that can't be worked on: they are kept but no longer due, so they block nothing. Unreadable ones
 * at once; failing ones after several failures in this process. If the store, Slack or the payments service is away,
 * the record waits until its lease ends. A newer release's record keeps its place in its lane until a newer replica
 * takes it.
 */
export function createPutAside(options: {
  /** Shared by all merchant accounts. */
  store: Pick<Store, 'create' | 'read' | 'write' | 'list'>;
  /** Notifies the operators; called once per record and start. */
  tell: (entry: Entry, errorId: string) => Promise<void>;
  count: (reason: Reason) => void;
  now: () => number;
  log: Log;
}) {
  const { store, tell, count, now, log } = options;
  let isNewerLogged = false;
  const failing = new Map<string, { failures: number; sinceMs: number }>();
  let retried: Promise<void> | undefined;

  /** Extends the record's lease for a moment, so that later records of its lane don't overtake the record. */
  async function holdInPlace(entry: Entry): Promise<void> {
    const { key } = entry;
    if (!isNewerLogged) log('warn', 'a record of a newer release is left to its replicas', { key });
    isNewerLogged = true;
    await store.write(entry, entry.value, { holdMs: newerHoldMs });
  }

  async function handleFailure(entry: Entry, error: unknown): Promise<void> {
    if (!(error instanceof NewerRelease) && isOutage(error)) throw error;
    const held = await stillTaken(entry);
    if (!held) return;
    // This record is readable, but the work on it needed a record of a newer release.
    if (error instanceof NewerRelease) return await holdInPlace(held);
    const errorId = newErrorId();
    const { key } = entry;
    if (isUnreadable(error) || error instanceof UnknownKind)
      return await putAside(held, 'unreadable', { errorId, error });
    const { failures, sinceMs } = failing.get(key) ?? { failures: 0, sinceMs: now() };
    if (failures + 1 >= mostFailures && now() - sinceMs >= failingForMs)
      return await putAside(held, 'failing', { errorId, error });
    failing.set(key, { failures: failures + 1, sinceMs });
    const about = { errorId, key, attempt: failures + 1 };
    log('error', 'a record cannot be worked on; it is retried', about, error);
    await store.write(held, held.value, { delayMs: growingDelayMs(firstRetryMs, failures, longestRetryMs) });
  }

  /** The record's entry, if its lease is still ours; undefined: the work was finished, or another worker has it. */
  async function stillTaken(entry: Entry): Promise<Entry | undefined> {
    const found = await store.read(entry.key);
    if (found?.version === entry.version) return found;
    // The record was changed, but no other worker took it: renew the lease.
    return found?.attempts === entry.attempts
      ? await store.write(found, found.value, { holdMs: firstRetryMs })
      : undefined;
  }

  async function putAside(
    held: Entry,
    reason: Reason,
    { errorId, error }: { errorId: string; error: unknown },
  ): Promise<void> {
    const { key, attempts } = held;
    // Write the marker first: if the process dies in between, the record is still due.
    await store.create(`${asidePrefix}${attempts} ${key}`, '', { index: { [asideList]: now() } });
    if (!(await store.write(held, held.value))) return;
    failing.delete(key);
    const about = { errorId, key, fix: unreadableFix(error) };
    log('error', 'a record is put aside until the next start', about, error);
    count(reason);
    await tell(held, errorId);
  }

  async function retryAll(): Promise<void> {
    for (const item of await allEntries(store, asideList)) {
      const [, attempts, key = ''] = /^(\d+) (.*)$/s.exec(item.key.slice(asidePrefix.length)) ?? [];
      const found = await store.read(key);
      if (found?.attempts === Number(attempts)) await store.write(found, found.value, { delayMs: 0 });
      await store.write(item, '', { ttlMs: 0, index: {} });
    }
  }

  function guarded({ prefix, work, prepare }: WorkKind): WorkKind {
    return {
      prefix,
      async work(entry) {
        if (isNewer(entry.value)) return await holdInPlace(entry);
        try {
          await work(entry);
          failing.delete(entry.key);
        } catch (error) {
          await handleFailure(entry, error);
        }
      },
      ...(prepare && {
        prepare: {
          ...prepare,
          async run(entry) {
            if (isNewer(entry.value)) return undefined;
            try {
              return await prepare.run(entry);
            } catch (error) {
              if (isOutage(error)) throw error;
              // Leave the error to `work`, which fails in the same way when it is the record's turn.
              return entry;
            }
          },
        },
      }),
    };
  }

  return {
    /**
     * Wraps the kinds, and adds one for unknown records. An error in their work delays the record or puts it aside; it
     * is thrown only if the store, Slack or the service is away.
     */
    guard: (kinds: readonly WorkKind[]): WorkKind[] => [
      ...kinds.map(guarded),
      guarded({ prefix: '', work: rejectUnknown }),
    ],
    /** Makes all put-aside records due again, once per process: a key may be back, or this is another release. */
    async retryAll(): Promise<void> {
      retried ??= retryAll();
      await retried.catch((error: unknown) => {
        retried = undefined;
        throw error;
      });
    },
  };
}

class UnknownKind extends Error {}

function rejectUnknown(): Promise<void> {
  return Promise.reject(new UnknownKind('No part of this release works on such a record.'));
}

/**
 * Whether the error means that the store, the service or Slack is away. Network errors have a code; one that begins
 * with `ERR_` is a bug of ours.
 */
function isOutage(error: unknown): boolean {
  if (error instanceof StoreUnavailable || error instanceof ServiceFailure) return true;
  const code = errorCode(error);
  return code !== undefined && !code.startsWith('ERR_');
}
