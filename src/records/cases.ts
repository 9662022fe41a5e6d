import { z } from 'zod';
import { type AuditEntry, auditEntryShape } from './shapes.ts';
import { StoreUnavailable } from '../domain/failure.ts';
import { insist } from './insist.ts';
import type { Entry, Index, Sealer, Store } from '../store/store.ts';
import { createRecords, type ListedKind, type RecordChange, type Rest, type Taken } from './records.ts';

/** What a case is: pure, so that a model test can drive it through everything that may happen. */
export type CaseRules<State, Event> = {
  prefix: string;
  schema: z.ZodType<State>;
  lists: (state: State) => Index | Promise<Index>;
  /** What an event makes of it; undefined: nothing. Called again from what stands then when somebody else was faster. */
  step: (state: State, event: Event, nowMs: number) => State | undefined;
  /** When it is work again once all of it is told; undefined: nothing is left to do but to remember it. */
  restMs: (state: State, nowMs: number) => number | undefined;
  /** False of a step that nobody hears of, and the audit neither. Absent: all are told. */
  isTold?: (before: State, after: State) => boolean;
  /** What is left of it once all of it is told, and `isOver`: when nothing is left to do but to remember it; absent: all. */
  settled?: (state: State, isOver: boolean) => State;
  /** What the audit says of a step. The same step must give the same ids, so that written twice it is one. */
  history: (step: CaseStep<State, Event>) => readonly AuditEntry[];
};

/** `event` and `before` are absent of the first. `turn` counts the steps of one case. */
export type CaseStep<State, Event> = {
  before?: State;
  event?: Event;
  after: State;
  turn: number;
  atMs: number;
};

/** What is done outside: both run after the state that asks for them is stored, and again after a crash. */
type CaseEffects<State, Event> = {
  /**
   * What is due of it now, and what came of that. `isOnce`: the answer cannot be had a second time, and is held on to
   * while the store is away.
   */
  due: (state: State, nowMs: number) => Promise<{ event: Event; isOnce?: boolean } | undefined>;
  /** Everybody who must hear of it, by messages and events to other cases, each under a key: again is the same as once. */
  tell: (state: State) => Promise<void>;
};

/**
 * A case as it is kept: up to `told` its turns were told, and the audit lacks `unwritten`. `atMs` is when it was written
 * and `dueAtMs` when it is work again: a clock that is put back must not make it wait for longer than it was to.
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

/** All of it throws StoreUnavailable. */
export type Cases<State, Event> = {
  find(id: string): Promise<State | undefined>;
  /**
   * Stores a new one; one that is there gives way to it only where `givesWay` says so, and else is given. `untold`: what
   * it begins with is told by whoever begins it, who settles it, and after a crash by a worker; else nobody hears of that.
   */
  begin(
    id: string,
    state: State,
    options?: { givesWay?: (before: State) => boolean; untold?: true },
  ): Promise<Begun<State>>;
  /** A new one, in one call: nobody hears of what it begins with, and the audit neither. False: it is there already. */
  create(id: string, state: State): Promise<boolean>;
  /**
   * The case after what happened, whether that changed it or not; undefined: there is none. Whoever calls this settles
   * it; what a crash leaves unsettled is work in two seconds.
   */
  apply(id: string, event: Event): Promise<Applied<State> | undefined>;
  /** The same for an event that somebody reports and does not wait for: what it moved is work at once. */
  hear(id: string, event: Event): Promise<Applied<State> | undefined>;
  /** Tells all of it (unless `isTold`: whoever waits for it is told), has it audited, and lets it rest until it is due. */
  settle(id: string, kept: Kept<State>, isTold?: 'told'): Promise<State>;
  /** For work of its prefix. */
  work(entry: Entry): Promise<State>;
  list(name: string, options: { max: number; newestFirst?: boolean }): Promise<State[]>;
  all(name: string): Promise<State[]>;
};

/** Of a worker. `fromMs`: it is that late, at least. */
type Working = { fromMs?: number; taken?: Taken };

/** Whoever changed it settles it at once; a crash leaves that to a worker. */
const settledWithinMs = 2_000;
/** A worker goes on with a case that is due at once; after a crash it is due again this late. Longer than a look-up. */
const goesOnWithinMs = 60_000;

/** A case as a record: for readers of lists that hold records of several kinds. */
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
 * A row of cases: each a record that one pure step moves. The state is stored before anything is done about it, and
 * whoever loses a compare-and-swap does nothing; what is to be told or called is on record until it has happened.
 */
export function createCases<State, Event>(
  account: {
    store: Pick<Store, 'create' | 'read' | 'write' | 'list'>;
    sealer: Sealer;
    wait: (ms: number) => Promise<unknown>;
    /** How long a case is remembered once nothing is left to do about it. */
    rememberMs: number;
    now: () => number;
    /** Called after something was stored that is work at once. */
    wake: () => void;
    /** True once it is on the audit's chain. Absent: nothing is audited. */
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

  /** The time of a case never runs backwards, whatever the clock does. */
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
        // What is not told yet is told as soon as before.
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

  /** All of it is told. `atOnceMs`: when it is work again that is due at once. */
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
      // One that went on meanwhile is settled by whoever moved it.
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
        // Behind the turns of one that gave way: whoever is still to settle that one settles nothing of this.
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
        // Its clock was put back since: the store says that it is due, and so its time has come.
        const fromMs = now() < (kept.atMs ?? 0) ? timeOf(kept, kept.dueAtMs) : now();
        // First what may change it: a message that is edited twice in a row is read twice.
        const done = await effects.due(kept.state, fromMs);
        if (!done) return await settle(id, kept, { fromMs, taken });
        const { event, isOnce } = done;
        const apply = (): Promise<Applied<State> | undefined> =>
          move(id, event, settledWithinMs, { fromMs, taken });
        const moved = await (isOnce ? insist(account, apply) : apply());
        if (!moved?.isMoved || moved.told < moved.turn || moved.unwritten.length > 0) {
          return await settle(id, moved ?? kept, { fromMs, taken });
        }
        // Nobody hears of the step: it is at rest already, or due at once.
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
