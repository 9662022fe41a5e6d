import { z } from 'zod';
import { type AuditEntry, auditEntryShape } from './shapes.ts';
import { StoreUnavailable } from '../domain/failure.ts';
import { untilStored } from './retry.ts';
import type { Entry, Index, Sealer, Store } from '../store/store.ts';
import { createRecords, type ListedKind, type RecordChange, type Schedule, type Taken } from './records.ts';

/**
 * The rules of a kind of case. They are pure, so `test/records/two-processes.ts` can drive them through crashes, lost
 * answers and repeats.
 */
export type CaseRules<State, Event> = {
  prefix: string;
  schema: z.ZodType<State>;
  lists: (state: State) => Index | Promise<Index>;
  /** The state after the event; undefined: the event changes nothing. Called again after a write conflict. */
  step: (state: State, event: Event, nowMs: number) => State | undefined;
  /** Ms until the case is due again, once its messages and audit entries are stored; undefined: it is finished. */
  dueInMs: (state: State, nowMs: number) => number | undefined;
  /** False: this step needs no message and no audit entry. Absent: every step needs both. */
  needsMessage?: (before: State, after: State) => boolean;
  /** Shortens the state once its messages and audit entries are stored; `isOver`: the case is finished. */
  shortened?: (state: State, isOver: boolean) => State;
  /** The audit entries of a step. Ids must depend on the step alone, so that an entry written twice counts once. */
  auditEntries: (step: CaseStep<State, Event>) => readonly AuditEntry[];
};

/** One step of a case; the first one has no `event` and no `before`. `turn` counts the steps that need messages. */
export type CaseStep<State, Event> = {
  before?: State;
  event?: Event;
  after: State;
  turn: number;
  atMs: number;
};

/** Calls to Slack, the service or other cases. They run after the state was stored, and again after a crash. */
type CaseEffects<State, Event> = {
  /**
   * Makes the call that is due, and returns its outcome as an event; undefined: nothing is due. `isOnce`: the call
   * can't be repeated to get the answer again, so if the store is away, storing the answer is retried.
   */
  due: (state: State, nowMs: number) => Promise<{ event: Event; isOnce?: boolean } | undefined>;
  /** Stores the state's messages, and sends events to other cases. Must be idempotent. */
  tell: (state: State) => Promise<void>;
};

/**
 * A case as it is stored. `told`: the last turn whose messages were stored. `unwritten`: entries that the audit still
 * lacks. `atMs`: when the case was written. `dueAtMs`: when it is due. Both are used if the clock is put back.
 */
export type StoredCase<State> = {
  state: State;
  turn: number;
  told: number;
  unwritten: readonly AuditEntry[];
  atMs?: number;
  dueAtMs?: number;
};

/** `isMoved`: whether this event changed the case. */
export type Applied<State> = StoredCase<State> & { isMoved: boolean };

type Begun<State> = { kind: 'begun'; stored: StoredCase<State> } | { kind: 'known'; state: State };

/** Every method throws StoreUnavailable. */
export type Cases<State, Event> = {
  find(id: string): Promise<State | undefined>;
  /**
   * Stores a new case. An existing case is returned instead, unless `mayReplace` allows a new one. With `untold`
   * the caller stores the first message and calls `settle()` (after a crash a worker does); without it the first state
   * has no message.
   */
  begin(
    id: string,
    state: State,
    options?: { mayReplace?: (before: State) => boolean; untold?: true },
  ): Promise<Begun<State>>;
  /** Stores a new case in one call, without message or audit entry. False: it exists. */
  create(id: string, state: State): Promise<boolean>;
  /**
   * Applies the event, and returns the case, changed or not; undefined: there is none. If the step needs a message, the
   * caller must call `settle()`; if the caller dies, a worker does so after two seconds.
   */
  apply(id: string, event: Event): Promise<Applied<State> | undefined>;
  /** Like `apply`, but a worker settles the case at once, not the caller. */
  applyAndWake(id: string, event: Event): Promise<Applied<State> | undefined>;
  /** Stores the state's messages (unless `isTold`: the caller did) and audit entries, and when the case is due next. */
  settle(id: string, stored: StoredCase<State>, isTold?: 'told'): Promise<State>;
  /** Works on a due case. */
  work(entry: Entry): Promise<State>;
  list(name: string, options: { max: number; newestFirst?: boolean }): Promise<State[]>;
  all(name: string): Promise<State[]>;
};

/**
 * A worker's options. `leastMs`: the step's time is this or later, even if the clock was put back. `taken`: the entry that
 * the worker took, which spares a read.
 */
type WorkOptions = { leastMs?: number; taken?: Taken };

/** How long a caller has to settle a changed case; after that a worker does. */
const settledWithinMs = 2_000;
/**
 * How long a worker keeps a case that it continues at once: if the worker dies, another one takes the case after that.
 * Longer than a look-up takes.
 */
const continuedWithinMs = 60_000;

/** The record kind of a case, for lists that contain records of several kinds. */
export function caseKind<State>({
  prefix,
  schema,
  lists,
}: Pick<CaseRules<State, never>, 'prefix' | 'schema' | 'lists'>): ListedKind<StoredCase<State>> {
  return {
    prefix,
    schema: z.object({
      state: schema,
      turn: z.int(),
      told: z.int(),
      unwritten: z.array(auditEntryShape),
      atMs: z.number().exactOptional(),
      dueAtMs: z.number().exactOptional(),
    }),
    lists: ({ state }) => lists(state),
  };
}

/**
 * Cases are records that change only by pure steps. The state is stored before anything is done about it, by compare-
 * and-swap; a process that loses the swap steps again from the new state. Outstanding messages, calls and audit entries
 * stay on the record until they are done.
 */
export function createCases<State, Event>(
  account: {
    store: Pick<Store, 'create' | 'read' | 'write' | 'list'>;
    sealer: Sealer;
    wait: (ms: number) => Promise<unknown>;
    /** How long a finished case is kept. */
    rememberMs: number;
    now: () => number;
    /** Called after storing work that is due at once. */
    wake: () => void;
    /** Resolves to true once the entry is on the audit's chain. Absent: nothing is audited. */
    audit?: ((entry: AuditEntry) => Promise<boolean>) | undefined;
  },
  rules: CaseRules<State, Event>,
  effects: CaseEffects<State, Event>,
): Cases<State, Event> {
  type Stored = StoredCase<State>;
  const { rememberMs, now, wake, audit } = account;
  const records = createRecords(account, caseKind(rules));

  function unwrittenAfter(stored: Stored | undefined, step: CaseStep<State, Event>): AuditEntry[] {
    return audit ? [...(stored?.unwritten ?? []), ...rules.auditEntries(step)] : [];
  }

  /** A case's time never runs backwards. */
  function timeOf(stored: Pick<Stored, 'atMs'> | undefined, leastMs = 0): number {
    return Math.max(now(), leastMs, stored?.atMs ?? 0);
  }

  function changeTo<Result>(
    stored: Stored,
    schedule: Schedule,
    atMs: number,
    resultOf: (stored: Stored) => Result,
  ) {
    const { dueAtMs: _old, ...others } = stored;
    const value = { ...others, atMs, ...('delayMs' in schedule && { dueAtMs: atMs + schedule.delayMs }) };
    return { kind: 'write', value, schedule, result: resultOf(value) } as const;
  }

  function move(
    id: string,
    event: Event,
    delayMs: number,
    { leastMs = 0, taken }: WorkOptions = {},
  ): Promise<Applied<State> | undefined> {
    function decide(stored: Stored | undefined): RecordChange<Stored, Applied<State> | undefined> {
      const atMs = timeOf(stored, leastMs);
      const after = stored && rules.step(stored.state, event, atMs);
      if (!after) return { kind: 'keep', result: stored && { ...stored, isMoved: false } };
      const { state: before } = stored;
      if (rules.needsMessage?.(before, after) === false) {
        const value = { ...stored, state: after };
        // The messages of an earlier turn are not stored yet: a worker stores them after `delayMs` from now.
        return stored.told < stored.turn
          ? changeTo(value, { delayMs }, atMs, asMoved)
          : settledChange(value, atMs, asMoved, taken ? continuedWithinMs : 0);
      }
      const turn = stored.turn + 1;
      const unwritten = unwrittenAfter(stored, { before, event, after, turn, atMs });
      return changeTo({ ...stored, state: after, turn, unwritten }, { delayMs }, atMs, asMoved);
    }
    return records.change(id, decide, taken);
  }

  async function writeAudit(entries: readonly AuditEntry[]): Promise<void> {
    for (const entry of entries) {
      if (audit && !(await audit(entry))) throw new StoreUnavailable('The audit cannot be written to.');
    }
  }

  function scheduleOf({ state }: Stored, atMs: number): Schedule {
    const delayMs = rules.dueInMs(state, atMs);
    return delayMs === undefined ? { ttlMs: rememberMs } : { delayMs };
  }

  /**
   * The change to a case whose messages and audit entries are all stored. `continuedMs` replaces a delay of zero if the
   * caller continues the case itself: no worker may take it meanwhile.
   */
  function settledChange<Result>(
    stored: Stored,
    atMs: number,
    resultOf: (stored: Stored) => Result,
    continuedMs = 0,
  ) {
    const isOver = !('delayMs' in scheduleOf(stored, atMs));
    const value = rules.shortened ? { ...stored, state: rules.shortened(stored.state, isOver) } : stored;
    const schedule = scheduleOf(value, atMs);
    const isAtOnce = 'delayMs' in schedule && schedule.delayMs === 0;
    return changeTo(value, isAtOnce ? { delayMs: continuedMs } : schedule, atMs, resultOf);
  }

  async function settle(
    id: string,
    stored: Stored,
    { isTold, leastMs = 0, taken }: WorkOptions & { isTold?: 'told' | undefined } = {},
  ): Promise<State> {
    if (stored.told < stored.turn && !isTold) await effects.tell(stored.state);
    await writeAudit(stored.unwritten);
    function decide(current: Stored | undefined): RecordChange<Stored, Stored> {
      // Another event has changed the case meanwhile; that event's caller settles it.
      if (current?.turn !== stored.turn) return { kind: 'keep', result: current ?? stored };
      const atMs = timeOf(current, leastMs);
      return settledChange({ ...current, told: current.turn, unwritten: [] }, atMs, (after) => after);
    }
    const settled = await records.change(id, decide, taken);
    if (rules.dueInMs(settled.state, timeOf(settled, leastMs)) === 0) wake();
    return settled.state;
  }

  return {
    find: async (id) => (await records.read(id))?.state,
    begin: (id, state, { mayReplace = () => false, untold } = {}) =>
      records.change<Begun<State>>(id, (before) => {
        if (before && !mayReplace(before.state)) {
          return { kind: 'keep', result: { kind: 'known', state: before.state } };
        }
        // Start after the replaced case's turn, so that a late `settle` of the old case changes nothing.
        const turn = (before?.turn ?? 0) + 1;
        const atMs = timeOf(before);
        const first = { after: state, turn, atMs };
        const stored = {
          state,
          turn,
          told: untold ? turn - 1 : turn,
          unwritten: unwrittenAfter(before, first),
        };
        const schedule = untold ? { delayMs: settledWithinMs } : scheduleOf(stored, atMs);
        return changeTo(stored, schedule, atMs, (begun) => ({ kind: 'begun', stored: begun }));
      }),
    create(id, state) {
      const stored = { state, turn: 1, told: 1, unwritten: [] };
      const { value, schedule } = settledChange(stored, now(), () => undefined);
      return records.create(id, value, schedule);
    },
    apply: (id, event) => move(id, event, settledWithinMs),
    async applyAndWake(id, event) {
      const stored = await move(id, event, 0);
      if (stored?.isMoved) wake();
      return stored;
    },
    settle: (id, stored, isTold) => settle(id, stored, { isTold }),
    async work(entry) {
      const id = records.idOf(entry);
      const taken: Taken = { entry };
      let stored = records.open(entry);
      for (;;) {
        // By the store's clock the case is due. If this machine's clock was put back, use the due time instead.
        const leastMs = now() < (stored.atMs ?? 0) ? timeOf(stored, stored.dueAtMs) : now();
        // `due` before `tell`, so that people don't get two messages when the state changes at once.
        const done = await effects.due(stored.state, leastMs);
        if (!done) return await settle(id, stored, { leastMs, taken });
        const { event, isOnce } = done;
        const apply = (): Promise<Applied<State> | undefined> =>
          move(id, event, settledWithinMs, { leastMs, taken });
        const moved = await (isOnce ? untilStored(account, apply) : apply());
        if (!moved?.isMoved || moved.told < moved.turn || moved.unwritten.length > 0) {
          return await settle(id, moved ?? stored, { leastMs, taken });
        }
        // The step needed no message, so the case is stored with its next due time. Continue if that is now.
        if (rules.dueInMs(moved.state, timeOf(moved, leastMs)) !== 0) return moved.state;
        stored = moved;
      }
    },
    list: async (name, options) => (await records.list(name, options)).map(({ state }) => state),
    all: async (name) => (await records.all(name)).map(({ state }) => state),
  };
}

function asMoved<State>(stored: StoredCase<State>): Applied<State> {
  return { ...stored, isMoved: true };
}
