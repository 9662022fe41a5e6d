import { z } from 'zod';
import { type AuditEntry, auditEntryShape } from './shapes.ts';
import { StoreUnavailable } from '../domain/failure.ts';
import { insist } from './insist.ts';
import type { Entry, Index, Sealer, Store } from '../store/store.ts';
import { createRecords, type ListedKind, type RecordChange, type Rest, type Taken } from './records.ts';

/** Pure: a model test drives it through everything that may happen. */
export type CaseRules<State, Event> = {
  prefix: string;
  schema: z.ZodType<State>;
  lists: (state: State) => Index | Promise<Index>;
  /** Undefined: the event changes nothing. Called again on a write conflict. */
  step: (state: State, event: Event, nowMs: number) => State | undefined;
  /** After all is told, when it is due again; undefined: it is finished. */
  restMs: (state: State, nowMs: number) => number | undefined;
  /** False: no message and no audit entry for this step. Absent: always true. */
  isTold?: (before: State, after: State) => boolean;
  /** Trims the state once all is told; `isOver`: it is finished. Absent: nothing is trimmed. */
  settled?: (state: State, isOver: boolean) => State;
  /** The audit's entries for a step. The same step must give the same ids: written twice, it counts once. */
  history: (step: CaseStep<State, Event>) => readonly AuditEntry[];
};

/** The first step has no `event` and no `before`. `turn` counts the case's steps. */
export type CaseStep<State, Event> = {
  before?: State;
  event?: Event;
  after: State;
  turn: number;
  atMs: number;
};

/** Calls to the outside. Both run after the state was stored, and again after a crash. */
type CaseEffects<State, Event> = {
  /** Does what is due, and returns the outcome. `isOnce`: the answer can't be had twice, so it is kept while the store is away. */
  due: (state: State, nowMs: number) => Promise<{ event: Event; isOnce?: boolean } | undefined>;
  /** Sends the state's messages, and events to other cases, each under a key. Must be idempotent. */
  tell: (state: State) => Promise<void>;
};

/**
 * A stored case. Turns up to `told` were told; the audit lacks `unwritten`. With `atMs` (written) and `dueAtMs` a clock that
 * is put back doesn't delay it.
 */
export type Kept<State> = {
  state: State;
  turn: number;
  told: number;
  unwritten: readonly AuditEntry[];
  atMs?: number;
  dueAtMs?: number;
};

/** `isMoved`: this event made the step. */
export type Applied<State> = Kept<State> & { isMoved: boolean };

type Begun<State> = { kind: 'begun'; kept: Kept<State> } | { kind: 'known'; state: State };

/** Every method throws StoreUnavailable. */
export type Cases<State, Event> = {
  find(id: string): Promise<State | undefined>;
  /**
   * Stores a new case, or returns the existing one unless `givesWay` replaces it. `untold`: the caller posts the first message
   * and calls `settle()`; after a crash a worker does. Without it the first state is not told.
   */
  begin(
    id: string,
    state: State,
    options?: { givesWay?: (before: State) => boolean; untold?: true },
  ): Promise<Begun<State>>;
  /** Stores a new case in one call, without message or audit entry. False: it exists. */
  create(id: string, state: State): Promise<boolean>;
  /** The case after the event, changed or not; undefined: there is none. The caller must `settle()`; after a crash a worker does, in two seconds. */
  apply(id: string, event: Event): Promise<Applied<State> | undefined>;
  /** Like `apply`, for a caller that doesn't wait: a worker settles it at once. */
  hear(id: string, event: Event): Promise<Applied<State> | undefined>;
  /** Tells the state (unless `isTold`: the caller did), writes the audit, and stores when it is due next. */
  settle(id: string, kept: Kept<State>, isTold?: 'told'): Promise<State>;
  /** Handles work of its prefix. */
  work(entry: Entry): Promise<State>;
  list(name: string, options: { max: number; newestFirst?: boolean }): Promise<State[]>;
  all(name: string): Promise<State[]>;
};

/** A worker's context. `fromMs`: a lower bound of the time. */
type Working = { fromMs?: number; taken?: Taken };

/** The caller of a change settles it at once; after a crash a worker does, this late. */
const settledWithinMs = 2_000;
/** A worker goes on with a case due at once; after a crash it is due again this late. Longer than a look-up. */
const goesOnWithinMs = 60_000;

/** The record kind of a case, for lists that hold several kinds. */
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
 * Cases are records that a pure step moves. The state is stored before anything is done about it; the loser of a
 * compare-and-swap does nothing. What is owed (messages, calls, audit) stays on the record until it has happened.
 */
export function createCases<State, Event>(
  account: {
    store: Pick<Store, 'create' | 'read' | 'write' | 'list'>;
    sealer: Sealer;
    wait: (ms: number) => Promise<unknown>;
    /** How long a finished case is remembered. */
    rememberMs: number;
    now: () => number;
    /** Called after work that is due at once was stored. */
    wake: () => void;
    /** True once the entry is on the audit's chain. Absent: nothing is audited. */
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

  function writing<Result>(
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
        // An earlier turn is still untold: keep its delay.
        return kept.told < kept.turn
          ? writing(value, { delayMs }, atMs, asMoved)
          : resting(value, atMs, asMoved, taken ? goesOnWithinMs : 0);
      }
      const turn = kept.turn + 1;
      const unwritten = unwrittenAfter(kept, { before, event, after, turn, atMs });
      return writing({ ...kept, state: after, turn, unwritten }, { delayMs }, atMs, asMoved);
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

  /** Everything is told. `atOnceMs`: the delay of what would be due at once. */
  function resting<Result>(
    kept: Kept<State>,
    atMs: number,
    resultOf: (kept: Kept<State>) => Result,
    atOnceMs = 0,
  ) {
    const isOver = !('delayMs' in restOf(kept, atMs));
    const value = rules.settled ? { ...kept, state: rules.settled(kept.state, isOver) } : kept;
    const rest = restOf(value, atMs);
    const isAtOnce = 'delayMs' in rest && rest.delayMs === 0;
    return writing(value, isAtOnce ? { delayMs: atOnceMs } : rest, atMs, resultOf);
  }

  async function settle(
    id: string,
    kept: Kept<State>,
    { isTold, fromMs = 0, taken }: Working & { isTold?: 'told' | undefined } = {},
  ): Promise<State> {
    if (kept.told < kept.turn && !isTold) await effects.tell(kept.state);
    await write(kept.unwritten);
    function judge(current: Kept<State> | undefined): RecordChange<Kept<State>, Kept<State>> {
      // It moved on meanwhile: the mover settles it.
      if (current?.turn !== kept.turn) return { kind: 'keep', result: current ?? kept };
      const atMs = timeOf(current, fromMs);
      return resting({ ...current, told: current.turn, unwritten: [] }, atMs, (after) => after);
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
        // Start after the replaced case's turn, so a late `settle` of the old one does nothing.
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
        return writing(kept, rest, atMs, (begun) => ({ kind: 'begun', kept: begun }));
      }),
    create(id, state) {
      const kept = { state, turn: 1, told: 1, unwritten: [] };
      const { value, rest } = resting(kept, now(), () => undefined);
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
        // The clock was put back: the store says that it is due, so go by its due time.
        const fromMs = now() < (kept.atMs ?? 0) ? timeOf(kept, kept.dueAtMs) : now();
        // `due` before `tell`: a message that changes twice in a row is read twice.
        const done = await effects.due(kept.state, fromMs);
        if (!done) return await settle(id, kept, { fromMs, taken });
        const { event, isOnce } = done;
        const apply = (): Promise<Applied<State> | undefined> =>
          move(id, event, settledWithinMs, { fromMs, taken });
        const moved = await (isOnce ? insist(account, apply) : apply());
        if (!moved?.isMoved || moved.told < moved.turn || moved.unwritten.length > 0) {
          return await settle(id, moved ?? kept, { fromMs, taken });
        }
        // An untold step: already stored with its next due time, or due at once.
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
