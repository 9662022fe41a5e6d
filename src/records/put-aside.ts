import { errorCode, ServiceFailure, StoreUnavailable } from '../domain/failure.ts';
import { growingDelayMs } from '../deadline.ts';
import { newErrorId, type Log } from '../log.ts';
import type { Entry, Store } from '../store/store.ts';
import { entriesOf } from './pages.ts';
import { NewerRelease, isNewer } from './newer-release.ts';
import { isUnreadable } from './records.ts';
import type { Kind } from './worker.ts';

/** `unreadable`: can't be opened or parsed, or is of no known kind. `failing`: its work kept throwing. */
export const asideReasons = ['unreadable', 'failing'] as const;
type Reason = (typeof asideReasons)[number];

type PutAside = {
  /** Known kinds, plus a fallback for unknown ones. What they throw stops their record alone, unless the outside is broken. */
  guard: (kinds: readonly Kind[]) => Kind[];
  /** Makes all of it due again, once a process: the key may be back, or another release runs. */
  takeUp: () => Promise<void>;
};

export const sealingKeyFix = 'Put the sealing key it was sealed with back at the end of SEALING_KEYS.';

/** A marker beside each record that was put aside; the record's own lists stay. */
const asidePrefix = 'aside:';
export const asideList = 'aside';

/** How long a lane is left to newer replicas. */
const leaveMs = 1_000;
const mostFailures = 5;
const failingForMs = 120_000;
const firstRetryMs = 10_000;
const longestRetryMs = 60_000;

/**
 * Puts a record that can't be worked on aside: kept, no longer due, so it stops nothing. Unreadable: at once. Failing: at
 * the fifth failure in a row in this process, after two minutes at the soonest. If the store, Slack or the payments service
 * is away, the record waits for its lease to end. A newer release's record keeps its place in the lane for such a replica.
 */
export function createPutAside(options: {
  /** Shared by all merchant accounts. */
  store: Pick<Store, 'create' | 'read' | 'write' | 'list'>;
  /** Tells operators, once per record. */
  tell: (entry: Entry, errorId: string) => Promise<void>;
  count: (reason: Reason) => void;
  now: () => number;
  log: Log;
  /** Absent: this release's. */
  newestForm?: number;
}): PutAside {
  const { store, tell, count, now, log, newestForm } = options;
  let isNewerTold = false;
  const failing = new Map<string, { failures: number; sinceMs: number }>();
  let taken: Promise<void> | undefined;

  /** Holds the record without changing it: it isn't delayed, and later records don't pass it. */
  async function leave(entry: Entry): Promise<void> {
    const { key } = entry;
    if (!isNewerTold) log('warn', 'a record of a newer release is left to its replicas', { key });
    isNewerTold = true;
    await store.write(entry, entry.value, { holdMs: leaveMs });
  }

  async function judge(entry: Entry, error: unknown): Promise<void> {
    if (error instanceof NewerRelease) {
      // Its work needed such a record.
      const own = await stillTaken(entry);
      if (own) await leave(own);
      return;
    }
    if (isOutside(error)) throw error;
    const errorId = newErrorId();
    const { key } = entry;
    const { failures, sinceMs } = failing.get(key) ?? { failures: 0, sinceMs: now() };
    const isLast = failures + 1 >= mostFailures && now() - sinceMs >= failingForMs;
    const isOpen = !isUnreadable(error) && !(error instanceof UnknownKind);
    const reason = !isOpen ? 'unreadable' : isLast ? 'failing' : undefined;
    const held = await stillTaken(entry);
    if (!held) return;
    if (reason !== undefined) {
      await putAside(held, reason, { errorId, error });
      return;
    }
    failing.set(key, { failures: failures + 1, sinceMs });
    log(
      'error',
      'a record cannot be worked on; it is retried',
      { errorId, key, attempt: failures + 1 },
      error,
    );
    await store.write(held, held.value, { delayMs: growingDelayMs(firstRetryMs, failures, longestRetryMs) });
  }

  /** The current entry. Undefined: its work ended after all, or another worker has it. */
  async function stillTaken(entry: Entry): Promise<Entry | undefined> {
    const found = await store.read(entry.key);
    if (found?.version === entry.version) return found;
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
    // List it first: after a crash in between it is still due.
    await store.create(`${asidePrefix}${attempts} ${key}`, '', { index: { [asideList]: now() } });
    if (!(await store.write(held, held.value))) return;
    failing.delete(key);
    const fix =
      reason === 'unreadable' ? sealingKeyFix : 'Report this line: it takes another release of the bot.';
    log('error', 'a record is put aside until the next start', { errorId, key, fix }, error);
    count(reason);
    await tell(held, errorId);
  }

  async function takeUp(): Promise<void> {
    for (const item of await entriesOf(store, asideList)) {
      const [, attempts, key = ''] = /^(\d+) (.*)$/s.exec(item.key.slice(asidePrefix.length)) ?? [];
      const found = await store.read(key);
      if (found?.attempts === Number(attempts)) await store.write(found, found.value, { delayMs: 0 });
      await store.write(item, '', { ttlMs: 0, index: {} });
    }
  }

  function guarded({ prefix, work, ahead }: Kind): Kind {
    return {
      prefix,
      async work(entry) {
        if (isNewer(entry.value, newestForm)) return await leave(entry);
        try {
          await work(entry);
          failing.delete(entry.key);
        } catch (error) {
          await judge(entry, error);
        }
      },
      async ahead(entry) {
        if (isNewer(entry.value, newestForm)) return undefined;
        try {
          return ahead ? await ahead(entry) : entry;
        } catch (error) {
          if (isOutside(error)) throw error;
          // `work` will fail the same way, in its turn.
          return entry;
        }
      },
    };
  }

  return {
    guard: (kinds) => [...kinds.map(guarded), guarded({ prefix: '', work: ofNoKind })],
    async takeUp() {
      taken ??= takeUp();
      await taken.catch((error: unknown) => {
        taken = undefined;
        throw error;
      });
    },
  };
}

class UnknownKind extends Error {}

function ofNoKind(): Promise<void> {
  return Promise.reject(new UnknownKind('No part of this release works on such a record.'));
}

/** Network errors of Node and of Slack's client carry a code. */
function isOutside(error: unknown): boolean {
  if (error instanceof StoreUnavailable || error instanceof ServiceFailure) return true;
  const code = errorCode(error);
  return code !== undefined && !code.startsWith('ERR_');
}
