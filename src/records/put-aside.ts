import { errorCode, ServiceFailure, StoreUnavailable } from '../domain/failure.ts';
import { growingDelayMs } from '../deadline.ts';
import { newErrorId, type Log } from '../log.ts';
import type { Entry, Store } from '../store/store.ts';
import { entriesOf } from './pages.ts';
import { NewerRelease, isNewer } from './newer-release.ts';
import { isUnreadable } from './records.ts';
import type { Kind } from './worker.ts';

/** `unreadable`: cannot be opened or parsed, or is of no known kind. `failing`: its work threw time after time. */
export const asideReasons = ['unreadable', 'failing'] as const;
type Reason = (typeof asideReasons)[number];

type PutAside = {
  /** The same kinds, and one for what is of none: what they throw concerns their record alone, unless it is outside. */
  guard: (kinds: readonly Kind[]) => Kind[];
  /** Makes all that was put aside due once more: the key may be back, or another release runs. Once in a process. */
  takeUp: () => Promise<void>;
};

/** What mends a record that cannot be opened. */
export const sealingKeyFix = 'Put the sealing key it was sealed with back at the end of SEALING_KEYS.';

/** What was put aside, each a record beside its own, whose lists stay as they are. */
const asidePrefix = 'aside:';
export const asideList = 'aside';

/** How long a lane is left to the newer replicas before this one looks at it again. */
const leaveMs = 1_000;
const mostFailures = 5;
const failingForMs = 120_000;
const firstRetryMs = 10_000;
const longestRetryMs = 60_000;

/**
 * A record that cannot be worked on is put aside: kept as it is and not due any more, so that it stops nothing. What
 * cannot be read is put aside at once; what its work throws, at its fifth failure in a row in this process, after two
 * minutes at the soonest. Where the store, Slack or the payments service is away the record waits for its lease to end.
 * What a newer release wrote, and what is about that, keeps its place in its lane for a replica of that release.
 */
export function createPutAside(options: {
  /** The whole one, which is shared by all accounts. */
  store: Pick<Store, 'create' | 'read' | 'write' | 'list'>;
  /** Tells the operators, once of each record. */
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

  /** Held and not written: so it is neither due later nor overtaken by what is behind it. */
  async function leave(entry: Entry): Promise<void> {
    const { key } = entry;
    if (!isNewerTold) log('warn', 'a record of a newer release is left to its replicas', { key });
    isNewerTold = true;
    await store.write(entry, entry.value, { holdMs: leaveMs });
  }

  async function judge(entry: Entry, error: unknown): Promise<void> {
    if (error instanceof NewerRelease) {
      // It is about such a record.
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

  /** As it stands now. Undefined: its work has ended all the same, or somebody else has it. */
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
    // Listed first: after a crash in between it is due all the same.
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
          // Its turn comes, and fails by itself.
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

/** Also what Node and Slack's client say of a network: their errors carry a code. */
function isOutside(error: unknown): boolean {
  if (error instanceof StoreUnavailable || error instanceof ServiceFailure) return true;
  const code = errorCode(error);
  return code !== undefined && !code.startsWith('ERR_');
}
