import { z } from 'zod';
import { withoutUndefined } from '../../domain/without-undefined.ts';
import type { Log } from '../../log.ts';
import type { Entry, Store } from '../../store/store.ts';
import { createWorkUnderWay } from '../../under-way.ts';
import { createChangeRecord } from '../work/change-record.ts';

/** Whose App Home it is. */
export type HomeOwner = { userId: string; teamId?: string };

/**
 * The App Homes that may be looked at, and their being shown anew when something of their person changed: on one
 * replica, at most once in three seconds for each person, and only while it was opened within the last hour. A Home
 * that stays behind does no harm: it is made anew whenever it is opened.
 */
export type OpenHomes = {
  /** Called before the Home is made, so that what changes meanwhile is seen. Throws StoreUnavailable. */
  opened: (owner: HomeOwner) => Promise<void>;
  /** Something of theirs changed. Never throws, and nobody waits for it. */
  changed: (userIds: readonly string[]) => void;
  /** For work of the prefix `homePrefix`. */
  work: (entry: Entry) => Promise<void>;
  /** Resolves when nothing is being stored or shown. */
  drained: () => Promise<void>;
};

export type OpenHomesDeps = {
  store: Pick<Store, 'create' | 'read' | 'write'>;
  /** What Slack refuses is its own to log. */
  publish: (owner: HomeOwner) => Promise<void>;
  /** Called after work was stored. */
  wake: () => void;
  now: () => number;
  log: Log;
};

export const homePrefix = 'home:';

/** Slack does not say when it is closed. */
const watchedMs = 3_600_000;
/** One step of a charge is followed by others. */
const settleMs = 700;
const paceMs = 3_000;
/** As many as one process shows at once; what finds no room comes back. */
const atOnce = 8;
const noRoomMs = 1_000;

const homeRecord = z.object({
  teamId: z.string().exactOptional(),
  openedAt: z.number(),
  /** Something changed and is not shown yet. */
  isBehind: z.boolean(),
});
type HomeRecord = z.infer<typeof homeRecord>;

export function createOpenHomes(deps: OpenHomesDeps): OpenHomes {
  const { store, now, log } = deps;
  const changeRecord = createChangeRecord(store);
  const marking = createWorkUnderWay();
  const showing = createWorkUnderWay();

  async function markBehind(userId: string): Promise<void> {
    const isMarked = await changeRecord(homePrefix + userId, (text) => {
      const record = text === undefined ? undefined : read(text);
      // Already due: putting it off at every step would show nothing until the last.
      if (!record || record.isBehind || !isWatched(record, now())) return { kind: 'keep', result: false };
      return { kind: 'write', value: write({ ...record, isBehind: true }), delayMs: settleMs, result: true };
    });
    if (isMarked) deps.wake();
  }

  return {
    async opened({ userId, teamId }) {
      const record = { openedAt: now(), isBehind: false, ...withoutUndefined({ teamId }) };
      await changeRecord(homePrefix + userId, () => {
        return { kind: 'write', value: write(record), ttlMs: watchedMs, result: undefined };
      });
    },

    changed(userIds) {
      const marks = [...new Set(userIds)].map(markBehind);
      const told = Promise.all(marks).catch((error: unknown) =>
        log('warn', 'An App Home may be behind', {}, error),
      );
      void marking.add(told);
    },

    async work(entry) {
      const record = read(entry.value);
      const leftMs = Math.max(1, record.openedAt + watchedMs - now());
      if (showing.count() >= atOnce)
        return void (await store.write(entry, entry.value, { delayMs: noRoomMs }));
      // Before it is made: what changes from here on makes it due again.
      const shown = write({ ...record, isBehind: false });
      if (!(await store.write(entry, shown, { ttlMs: leftMs, pauseMs: paceMs }))) return;
      if (!isWatched(record, now())) return;
      const userId = entry.key.slice(homePrefix.length);
      const told = deps
        .publish({ userId, ...withoutUndefined({ teamId: record.teamId }) })
        .catch((error: unknown) => log('error', 'An App Home could not be shown anew', { userId }, error));
      void showing.add(told);
    },

    async drained() {
      await Promise.all([marking.drained(), showing.drained()]);
    },
  };
}

function isWatched({ openedAt }: HomeRecord, nowMs: number): boolean {
  return nowMs - openedAt < watchedMs;
}

function read(text: string): HomeRecord {
  return homeRecord.parse(JSON.parse(text));
}

function write(record: HomeRecord): string {
  return JSON.stringify(record);
}
