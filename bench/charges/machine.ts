import { isDeepStrictEqual } from 'node:util';
import { replay } from '../../src/features/charge/machine.ts';
import { check, counted, median, type Figure, type Size } from './figures.ts';
import { plans, play, referenceFor, type Plan, type Story } from './plans.ts';

const part = 'machine';
const startMs = 1_800_000_000_000;
const reference = referenceFor('machine');
const dayMs = 24 * 3_600_000;

/** Steps of the pure machine per second over whole stories, and what a day in doubt leaves in a record. */
export function measureMachine({ quick }: Size): Figure[] {
  const rounds = quick ? 3 : 15;
  const stories = Object.entries<Plan>(plans).map(([name, plan]) => ({ name, plan, rates: [] as number[] }));
  for (let round = 0; round < rounds; round += 1) {
    for (const { plan, rates } of stories) rates.push(stepsPerSecond(plan, quick ? 5 : 50));
  }
  const slowest = Math.min(...stories.map(({ rates }) => median(rates)));
  const figures = stories.map(({ name, rates }): Figure => {
    const perSecond = median(rates);
    const figure = { part, name, unit: 'steps/s', median: perSecond, samples: rounds };
    return { ...figure, ratio: perSecond / slowest, to: 'the slowest story' };
  });
  return [...figures, ...daysInDoubt(quick)];
}

function stepsPerSecond(plan: Plan, forMs: number): number {
  const startedAt = performance.now();
  let steps = 0;
  let last: Story | undefined;
  while (performance.now() - startedAt < forMs) {
    for (let times = 0; times < 20; times += 1) {
      last = play(plan, reference, startMs);
      steps += last.steps;
    }
  }
  const rate = steps / ((performance.now() - startedAt) / 1_000);
  check(last !== undefined, 'no story was played');
  checkEnd(plan, last);
  return rate;
}

function checkEnd(plan: Plan, { intent, lookUps }: Story): void {
  const { state, told, sends, history } = intent;
  check(state.kind === plan.ends, `a story ended ${state.kind} instead of ${plan.ends}`);
  check(told.includes(plan.ends), `${plan.ends} was not told`);
  check(sends.length === 1, 'a story sent its charge more than once');
  check(plan.ends === 'declined' || lookUps === plan.lookUp.length, `a story looked up ${lookUps} times`);
  check(intent.otp === undefined || intent.otp.tries === 3, 'a story did not use its three tries');
  check(
    isDeepStrictEqual({ ...replay(history), history }, intent),
    'the history replayed gives another state',
  );
}

/** A day without proof of a charge that the service called paid: all of it is one record, written whole at each step. */
function daysInDoubt(quick: boolean): Figure[] {
  const calledPaid: Plan = { charge: [{ kind: 'approved' }], lookUp: ['pending'], ends: 'review' };
  const flapping = Array.from({ length: 400 }, (_, index) =>
    index % 2 === 0 ? ('pending' as const) : ('failed' as const),
  );
  const days: [string, Plan][] = [
    ['a day in doubt, every look-up finds the same', calledPaid],
    ['a day in doubt, every other look-up fails', { ...calledPaid, lookUp: flapping }],
  ];
  let steadyBytes = 0;
  return days.map(([name, plan]) => {
    const { intent, steps, lookUps } = play(plan, reference, startMs, startMs + 2 * dayMs);
    check(intent.state.kind === 'review', `a day in doubt ended ${intent.state.kind}`);
    check(lookUps > 100, `a day in doubt had only ${lookUps} look-ups`);
    check(quick || isDeepStrictEqual(replay(intent.history)?.state, intent.state), 'replay differs');
    const bytes = JSON.stringify(intent).length;
    steadyBytes ||= bytes;
    const named = { part, name: `${name}: record after ${steps} steps` };
    return counted(named, 'bytes', bytes, [bytes / steadyBytes, 'the steady one']);
  });
}
