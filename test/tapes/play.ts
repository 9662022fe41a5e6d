import { array, check, nat, property } from 'fast-check';
import type { ChargeEvent } from '../../src/features/charge/charge-intent.ts';
import type { OrderReference } from '../../src/domain/order-reference.ts';
import {
  type Answer,
  type Call,
  type Clock,
  createModelService,
  type Draw,
  readTape,
} from './model-service.ts';
import { createModelStore } from './model-store.ts';
import { type Await, type Flow, handle, type ReplicaDeps, submit, work } from './replica.ts';
import { createWatch, largestSkewMs, Violation } from './watch.ts';

const hourMs = 3_600_000;
const replicaCount = 3;
const mostTurns = 5_000;
/** A request or answer under way for longer never arrives. */
const longestOnTheWayMs = 10 * hourMs;

type Submitted = Extract<ChargeEvent, { kind: 'submitted' }>;

const anyCharge: Submitted = {
  kind: 'submitted',
  reference: 'pay-aaaaaaaaaaaaaaaaaaaaaaaaaa' as OrderReference,
  money: { minor: 1_250_000, currency: 'NGN' },
  by: 'U1',
};

type Task = {
  replica: number;
  flow: Flow;
  at: Await;
  answer: Answer | undefined;
  /** When its call was sent, if it is at one. */
  leftAt: number;
};
type World = ReturnType<typeof createWorld>;

/**
 * Plays one tape: each number is a choice. Then faults end: requests under way arrive, timers expire, and everything must
 * conclude. Throws a Violation if an invariant breaks; returns the steps made.
 */
export function play(tape: readonly number[]): { steps: number; verdict: string } {
  const { draw, isOver } = readTape(tape);
  const world = createWorld(draw);
  start(world, 0, (deps) => submit(deps, world.submitted));
  for (let head = draw(12); head > 0; head--) goOn(world);
  while (!isOver()) moves[draw(moves.length)]?.(world);
  heal(world);
  const intent = world.store.read()?.intent;
  world.watch.ends(intent, world.service.records, world.eventsComeAtLast);
  return { steps: world.counts.steps, verdict: intent?.state.kind ?? 'never created' };
}

function createWorld(draw: (count: number) => number) {
  const clock: Clock = { time: 1_800_000_000_000 };
  const counts = { steps: 0 };
  const store = createModelStore(clock);
  const service = createModelService({
    draw,
    clock,
    neverDecides: draw(16) === 15,
    asksForOtp: draw(3) === 2,
  });
  const submitted: Submitted = draw(4) === 3 ? { ...anyCharge, sendsOnce: true } : anyCharge;
  const watch = createWatch(clock, submitted);
  const finalStatuses = draw(2) === 1 ? ['FAILED'] : [];
  const skews = Array.from({ length: replicaCount }, () => draw(2 * largestSkewMs + 1) - largestSkewMs);
  const replicas = skews.map((_, index): ReplicaDeps => ({
    store,
    now: () => clock.time + (skews[index] ?? 0),
    watch,
    record: (reference) => service.records.get(reference),
    finalStatuses,
    countStep: () => {
      counts.steps += 1;
    },
  }));
  return {
    draw,
    clock,
    counts,
    store,
    service,
    submitted,
    watch,
    skews,
    replicas,
    /** Whether the service's events arrive after the tape, or are lost for good. */
    eventsComeAtLast: draw(2) === 0,
    tasks: [] as Task[],
    /** Tasks whose process is suspended, for seconds or hours, without knowing it. */
    stalled: [] as Task[],
    /** Requests whose caller is gone; they may still arrive. */
    zombies: [] as { call: Call; leftAt: number }[],
  };
}

function start(world: World, replica: number, begin: (deps: ReplicaDeps) => Flow): void {
  const deps = world.replicas[replica];
  if (!deps) return;
  const flow = begin(deps);
  const task: Task = { replica, flow, at: { kind: 'pause' }, answer: undefined, leftAt: world.clock.time };
  resume(world, task, undefined);
}

/** Runs a task to its next await. A request is sent right after its deadline check. */
function resume(world: World, task: Task, answer: Answer | undefined): void {
  if (task.at.kind === 'call') task.at.onAnswer();
  const result = task.flow.next(answer);
  world.tasks = world.tasks.filter((other) => other !== task);
  if (result.done) return;
  const at = result.value;
  if (at.kind === 'call') at.onLeave();
  world.tasks.push({ ...task, at, answer: undefined, leftAt: world.clock.time });
}

/** One step of a task: it continues, its request arrives, or its answer does. */
function advance(world: World, task: Task): void {
  if (task.at.kind === 'pause') resume(world, task, undefined);
  // A process suspended for a day can't have kept its request under way.
  else if (!task.answer && world.clock.time - task.leftAt > longestOnTheWayMs) resume(world, task, undefined);
  else if (!task.answer) task.answer = world.service.answer(task.at.call);
  else resume(world, task, task.answer);
}

function pick(world: World): Task | undefined {
  return world.tasks[world.draw(Math.max(1, world.tasks.length))];
}

/** Loses a request or its answer, or the caller stops waiting; the request may still arrive. */
function lose(world: World): void {
  const task = pick(world);
  if (task?.at.kind !== 'call') return;
  if (!task.answer && world.draw(2) === 1) world.zombies.push({ call: task.at.call, leftAt: task.leftAt });
  resume(world, task, undefined);
}

function stall(world: World): void {
  const task = pick(world);
  if (!task) return;
  world.tasks = world.tasks.filter((other) => other !== task);
  world.stalled.push(task);
}

/** A call outlasts its lease, and another replica finds the intent due. */
function outlive(world: World): void {
  const task = world.tasks.findLast(({ at }) => at.kind === 'call');
  if (!task) return;
  world.tasks = world.tasks.filter((other) => other !== task);
  world.stalled.push(task);
  passTime(world, 31_000);
  worker(world);
}

/** Resumes a suspended task, which does not notice the time. */
function wake(world: World): void {
  const [task] = world.stalled.splice(world.draw(Math.max(1, world.stalled.length)), 1);
  if (!task) return;
  world.tasks.push(task);
  goOnForAWhile(world);
}

function crash(world: World): void {
  const replica = world.draw(replicaCount);
  const dead = [...world.tasks, ...world.stalled].filter((task) => task.replica === replica);
  world.tasks = world.tasks.filter((task) => task.replica !== replica);
  world.stalled = world.stalled.filter((task) => task.replica !== replica);
  for (const { at, answer, leftAt } of dead) {
    if (at.kind === 'call' && !answer && world.draw(2) === 1) world.zombies.push({ call: at.call, leftAt });
  }
}

function arriveLate(world: World): void {
  const [zombie] = world.zombies.splice(world.draw(Math.max(1, world.zombies.length)), 1);
  if (zombie && world.clock.time - zombie.leftAt <= longestOnTheWayMs) world.service.answer(zombie.call);
}

function passTime(world: World, ms: number): void {
  world.clock.time += ms;
  world.service.tick();
}

/** Delivers any event, in any order, as often as the tape says. */
function deliverEvent(world: World): void {
  const { events } = world.service;
  const event = events[world.draw(Math.max(1, events.length))];
  if (event) anyReplica((deps) => handle(deps, event))(world);
}

/** Begins something on some replica and lets it run for a while, so that a tape gets somewhere. */
function anyReplica(begin: (deps: ReplicaDeps) => Flow): (world: World) => void {
  return (world) => {
    start(world, world.draw(replicaCount), begin);
    goOnForAWhile(world);
  };
}

function goOnForAWhile(world: World): void {
  const untilItWaits = world.draw(4) === 3;
  for (let turns = untilItWaits ? 24 : world.draw(24); turns > 0; turns--) {
    const newest = world.tasks.at(-1);
    if (!newest || (untilItWaits && newest.at.kind === 'call')) return;
    advance(world, newest);
  }
}

const goOn = (world: World): void => {
  const task = pick(world);
  if (task) advance(world, task);
};
const worker = anyReplica(work);
const typeOtp = (right: boolean) =>
  anyReplica((deps) => handle(deps, { kind: 'otp_submitted', by: 'U2' }, right));

/** Includes the very end of an OTP's 15 minutes. */
const longTimes: readonly ((draw: Draw) => number)[] = [
  (draw) => draw(5 * 60_000),
  (draw) => draw(5 * 60_000),
  (draw) => draw(16 * 60_000),
  (draw) => 885_000 + draw(20_000),
  (draw) => 885_000 + draw(20_000),
  (draw) => draw(26) * hourMs,
];

/** The meanings of a number on the tape; repeated entries are more likely. */
const moves: readonly ((world: World) => void)[] = [
  ...Array.from({ length: 24 }, () => goOn),
  worker,
  worker,
  worker,
  lose,
  lose,
  stall,
  outlive,
  outlive,
  wake,
  wake,
  crash,
  arriveLate,
  deliverEvent,
  deliverEvent,
  typeOtp(true),
  typeOtp(false),
  typeOtp(false),
  typeOtp(false),
  typeOtp(false),
  (world) => anyReplica((deps) => submit(deps, world.submitted))(world),
  anyReplica((deps) => handle(deps, { kind: 'look_up_asked', by: 'U3' })),
  (world) => world.service.decide(),
  (world) => {
    world.skews[world.draw(replicaCount)] = world.draw(2 * largestSkewMs + 1) - largestSkewMs;
  },
  (world) => passTime(world, world.draw(1_500)),
  (world) => passTime(world, world.draw(1_500)),
  (world) => passTime(world, 31_000),
  (world) => passTime(world, 31_000),
  (world) => passTime(world, world.draw(40_000)),
  (world) => passTime(world, longTimes[world.draw(longTimes.length)]?.(world.draw) ?? 0),
];

/** Ends faults; first concludes what is open without the calls still under way, then with them. */
function heal(world: World): void {
  world.skews.fill(0);
  settle(world, hourMs);
  world.tasks.push(...world.stalled.splice(0));
  settle(world, hourMs);
  while (world.zombies.length > 0) arriveLate(world);
  if (world.eventsComeAtLast) for (const event of world.service.events) startAndSettle(world, event);
  settle(world, Infinity);
}

function startAndSettle(world: World, event: ChargeEvent): void {
  start(world, 0, (deps) => handle(deps, event));
  settle(world, 0);
}

/** Runs all tasks, and all work that becomes due within `patienceMs` of the work before. */
function settle(world: World, patienceMs: number): void {
  for (let turn = 0; turn < mostTurns; turn++) {
    const [task] = world.tasks;
    if (task) {
      advance(world, task);
      continue;
    }
    const nextDue = world.store.nextDue();
    if (nextDue === undefined || nextDue - world.clock.time > patienceMs) return;
    passTime(world, Math.max(0, nextDue - world.clock.time));
    start(world, turn % replicaCount, work);
  }
  throw new Violation('every intent ends');
}

export type TapesResult = {
  /** How many tapes, with the failing one. */
  tapes: number;
  steps: number;
  verdicts: Map<string, number>;
  /** The violation, and the shortest tape that causes it. */
  failure?: { message: string; tape: readonly number[]; path: string | null };
};

const tapeOfNumbers = array(nat({ max: 0xffff_ffff }), { minLength: 40, maxLength: 160, size: 'max' });

/** Plays random tapes until one breaks an invariant. The same seed gives the same tapes. */
export function runTapes(options: { count: number; seed: number; shrink: boolean }): TapesResult {
  const verdicts = new Map<string, number>();
  let steps = 0;
  let tapes = 0;
  let failed = false;
  const plays = property(tapeOfNumbers, (tape) => {
    // After a failure, the later tapes are its own, shortened.
    if (!failed) tapes += 1;
    try {
      const result = play(tape);
      if (failed) return;
      steps += result.steps;
      verdicts.set(result.verdict, (verdicts.get(result.verdict) ?? 0) + 1);
    } catch (error) {
      failed = true;
      throw error;
    }
  });
  const details = check(plays, {
    numRuns: options.count,
    seed: options.seed,
    endOnFailure: !options.shrink,
  });
  const result = { tapes, steps, verdicts };
  if (!details.failed) return result;
  const message = details.errorInstance instanceof Error ? details.errorInstance.message : 'not an Error';
  const failure = { message, tape: details.counterexample?.[0] ?? [], path: details.counterexamplePath };
  return { ...result, failure };
}
