import { z } from 'zod';
import { type AuditEntry, auditEntryShape } from './shapes.ts';
import { StoreUnavailable } from '../domain/failure.ts';
import { insist } from './insist.ts';
import type { Entry, Index, Sealer, Store } from '../store/store.ts';
import { createRecords, type ListedKind, type RecordChange, type Rest, type Taken } from './records.ts';

/**
 * The rules of a kind of case. They are pure, so `test/records/cases.test.ts` can drive them through crashes, lost
 * answers and repeats.
 */
export type CaseRules<State, Event> = {
  prefix: string;
  schema: z.ZodType<State>;
  lists: (state: State) => Index | Promise<Index>;
  /** The state after the event; undefined: the event changes nothing. Called again after a write conflict. */
  step: (state: State, event: Event, nowMs: number) => State | undefined;
  /**
   * When all messages and audit entries of the case are stored: in how many ms it is due again; undefined: it is
   * finished.
   */
  restMs: (state: State, nowMs: number) => number | undefined;
  /** False: this step needs no message and no audit entry. Absent: every step needs both. */
  isTold?: (before: State, after: State) => boolean;
  /**
   * Shortens the state once all its messages and audit entries are stored; `isOver`: the case is finished. Absent:
   * keeps the state as it is.
   */
  settled?: (state: State, isOver: boolean) => State;
  /** The audit entries of a step. Ids must depend on the step alone, so that an entry written twice counts once. */
  history: (step: CaseStep<State, Event>) => readonly AuditEntry[];
};

/** One step of a case; the first one has no `event` and no `before`. `turn` numbers the steps. */
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
  /** Stores the state's messages, and sends events to other cases, each under a key. Must be idempotent. */
  tell: (state: State) => Promise<void>;
};

/**
 * A stored case. *Told* means that a turn's messages were stored: `told` is the last such turn. `unwritten` are entries
 * that the audit still lacks. `atMs` (when it was written) and `dueAtMs` are kept so that a clock that is put back
 * doesn't delay the case.
 */
export type Kept<State> = {
  state: State;
  turn: number;
  told: number;
  unwritten: readonly AuditEntry[];
  atMs?: number;
  dueAtMs?: number;
};

/** `isMoved`: whether this event changed the case. */
export type Applied<State> = Kept<State> & { isMoved: boolean };

type Begun<State> = { kind: 'begun'; kept: Kept<State> } | { kind: 'known'; state: State };

/** Every method throws StoreUnavailable. */
export type Cases<State, Event> = {
  find(id: string): Promise<State | undefined>;
  /**
   * Stores a new case. If one exists, returns that, unless `givesWay` says that the new one replaces it. With `untold`
   * the caller posts the first message and calls `settle()` (after a crash a worker does); without it the first state
   * has no message.
   */
  begin(
    id: string,
    state: State,
    options?: { givesWay?: (before: State) => boolean; untold?: true },
  ): Promise<Begun<State>>;
  /** Stores a new case in one call, without message or audit entry. False: it exists. */
  create(id: string, state: State): Promise<boolean>;
  /**
   * Applies the event, and returns the case, changed or not; undefined: there is none. A step that needs a message the
   * caller must `settle()`; if it dies, a worker does after two seconds.
   */
  apply(id: string, event: Event): Promise<Applied<State> | undefined>;
  /** Like `apply`, but the caller need not `settle()`: a worker does so at once. */
  hear(id: string, event: Event): Promise<Applied<State> | undefined>;
  /**
   * Sends the state's messages (unless `isTold`: the caller did), writes the audit, and stores when the case is due
   * next.
   */
  settle(id: string, kept: Kept<State>, isTold?: 'told'): Promise<State>;
  /** Works on a due case. */
  work(entry: Entry): Promise<State>;
  list(name: string, options: { max: number; newestFirst?: boolean }): Promise<State[]>;
  all(name: string): Promise<State[]>;
};

/** Given by a worker. `fromMs`: the case's time is at least this. `taken`: the entry it took, which saves a read. */
type Working = { fromMs?: number; taken?: Taken };

/** A changed case becomes due this late: normally its caller has settled it by then; if not, a worker does. */
const settledWithinMs = 2_000;
/**
 * A case that is due at once is continued by the worker that has it; if that one dies, the case is due again this late.
 * Longer than a look-up takes.
 */
const goesOnWithinMs = 60_000;

/** The record kind of a case, for lists that contain records of several kinds. */
export function caseKind<State>({
  prefix,
  schema,
  lists,
}: Pick<CaseRules<State, never>, 'prefix' | 'schema' | 'lists'>): ListedKind<Kept<State>> {
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
  const { rememberMs, now, wake, audit } = account;
  const records = createRecords(account, caseKind(rules));

  function unwrittenAfter(kept: Kept<State> | undefined, step: CaseStep<State, Event>): AuditEntry[] {
    return audit ? [...(kept?.unwritten ?? []), ...rules.history(step)] : [];
  }

  /** A case's time never runs backwards. */
  function timeOf(kept: Pick<Kept<State>, 'atMs'> | undefined, fromMs = 0): number {
    return Math.max(now(), fromMs, kept?.atMs ?? 0);
  }

  function writeOf<Result>(
    kept: Kept<State>,
    rest: Rest,
    atMs: number,
    resultOf: (kept: Kept<State>) => Result,
  ) {
    const { dueAtMs: _last, ...others } = kept;
    const value = { ...others, atMs, ...('delayMs' in rest && { dueAtMs: atMs + rest.delayMs }) };
    return { kind: 'write', value, rest, result: resultOf(value) } as const;
  }

  function move(
    id: string,
    event: Event,
    delayMs: number,
    { fromMs = 0, taken }: Working = {},
  ): Promise<Applied<State> | undefined> {
    function judge(kept: Kept<State> | undefined): RecordChange<Kept<State>, Applied<State> | undefined> {
      const atMs = timeOf(kept, fromMs);
      const after = kept && rules.step(kept.state, event, atMs);
      if (!after) return { kind: 'keep', result: kept && { ...kept, isMoved: false } };
      const { state: before } = kept;
      if (rules.isTold?.(before, after) === false) {
        const value = { ...kept, state: after };
        // An earlier turn is not told yet, so keep the delay with which it is retried.
        return kept.told < kept.turn
          ? writeOf(value, { delayMs }, atMs, asMoved)
          : settledWrite(value, atMs, asMoved, taken ? goesOnWithinMs : 0);
      }
      const turn = kept.turn + 1;
      const unwritten = unwrittenAfter(kept, { before, event, after, turn, atMs });
      return writeOf({ ...kept, state: after, turn, unwritten }, { delayMs }, atMs, asMoved);
    }
    return records.change(id, judge, taken);
  }

  async function write(entries: readonly AuditEntry[]): Promise<void> {
    for (const entry of entries) {
      if (audit && !(await audit(entry))) throw new StoreUnavailable('The audit cannot be written to.');
    }
  }

  function restOf({ state }: Kept<State>, atMs: number): Rest {
    const delayMs = rules.restMs(state, atMs);
    return delayMs === undefined ? { ttlMs: rememberMs } : { delayMs };
  }

  /**
   * The change to a case whose messages and audit entries are all stored. `atOnceMs`: the delay for a case that would
   * be due at once.
   */
  function settledWrite<Result>(
    kept: Kept<State>,
    atMs: number,
    resultOf: (kept: Kept<State>) => Result,
    atOnceMs = 0,
  ) {
    const isOver = !('delayMs' in restOf(kept, atMs));
    const value = rules.settled ? { ...kept, state: rules.settled(kept.state, isOver) } : kept;
    const rest = restOf(value, atMs);
    const isAtOnce = 'delayMs' in rest && rest.delayMs === 0;
    return writeOf(value, isAtOnce ? { delayMs: atOnceMs } : rest, atMs, resultOf);
  }

  async function settle(
    id: string,
    kept: Kept<State>,
    { isTold, fromMs = 0, taken }: Working & { isTold?: 'told' | undefined } = {},
  ): Promise<State> {
    if (kept.told < kept.turn && !isTold) await effects.tell(kept.state);
    await write(kept.unwritten);
    function judge(current: Kept<State> | undefined): RecordChange<Kept<State>, Kept<State>> {
      // Another event has changed it meanwhile, and that event's caller settles it.
      if (current?.turn !== kept.turn) return { kind: 'keep', result: current ?? kept };
      const atMs = timeOf(current, fromMs);
      return settledWrite({ ...current, told: current.turn, unwritten: [] }, atMs, (after) => after);
    }
    const settled = await records.change(id, judge, taken);
    if (rules.restMs(settled.state, timeOf(settled, fromMs)) === 0) wake();
    return settled.state;
  }

  return {
    find: async (id) => (await records.read(id))?.state,
    begin: (id, state, { givesWay = () => false, untold } = {}) =>
      records.change<Begun<State>>(id, (before) => {
        if (before && !givesWay(before.state)) {
          return { kind: 'keep', result: { kind: 'known', state: before.state } };
        }
        // Start after the replaced case's turn, so that a late `settle` of the old case changes nothing.
        const turn = (before?.turn ?? 0) + 1;
        const atMs = timeOf(before);
        const first = { after: state, turn, atMs };
        const kept = {
          state,
          turn,
          told: untold ? turn - 1 : turn,
          unwritten: unwrittenAfter(before, first),
        };
        const rest = untold ? { delayMs: settledWithinMs } : restOf(kept, atMs);
        return writeOf(kept, rest, atMs, (begun) => ({ kind: 'begun', kept: begun }));
      }),
    create(id, state) {
      const kept = { state, turn: 1, told: 1, unwritten: [] };
      const { value, rest } = settledWrite(kept, now(), () => undefined);
      return records.create(id, value, rest);
    },
    apply: (id, event) => move(id, event, settledWithinMs),
    async hear(id, event) {
      const kept = await move(id, event, 0);
      if (kept?.isMoved) wake();
      return kept;
    },
    settle: (id, kept, isTold) => settle(id, kept, { isTold }),
    async work(entry) {
      const id = records.idOf(entry);
      const taken: Taken = { entry };
      let kept = records.open(entry);
      for (;;) {
        // If the clock was put back, go by the due time: the store gives out only what is due.
        const fromMs = now() < (kept.atMs ?? 0) ? timeOf(kept, kept.dueAtMs) : now();
        // `due` before `tell`: people would have to read two messages if the state changed right after the first.
        const done = await effects.due(kept.state, fromMs);
        if (!done) return await settle(id, kept, { fromMs, taken });
        const { event, isOnce } = done;
        const apply = (): Promise<Applied<State> | undefined> =>
          move(id, event, settledWithinMs, { fromMs, taken });
        const moved = await (isOnce ? insist(account, apply) : apply());
        if (!moved?.isMoved || moved.told < moved.turn || moved.unwritten.length > 0) {
          return await settle(id, moved ?? kept, { fromMs, taken });
        }
        // The step needs no message, so it is already stored with its next due time. Continue if it is due at once.
        if (rules.restMs(moved.state, timeOf(moved, fromMs)) !== 0) return moved.state;
        kept = moved;
      }
    },
    list: async (name, options) => (await records.list(name, options)).map(({ state }) => state),
    all: async (name) => (await records.all(name)).map(({ state }) => state),
  };
}

function asMoved<State>(kept: Kept<State>): Applied<State> {
  return { ...kept, isMoved: true };
}
