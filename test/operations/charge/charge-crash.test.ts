import { describe, expect, it } from 'vitest';
import type { ChargeState } from '../../../src/domain/charge-state.ts';
import { referenceOf } from '../../../src/operations/work/reference-of.ts';
import {
  everyPoint,
  openWorld,
  rightCode,
  startProcess,
  terms,
  type Plan,
  type Points,
  type Process,
  type World,
} from '../charge-house.ts';

const agent = 'U0AGENT01';
const viewId = 'V0CHARGE1';
const reference = referenceOf(viewId);
const minuteMs = 60_000;
/** What it is begun from. */
const alert = 'payment_failed/order/ORDER-1';
/** The service repeats it until somebody answers. */
const failedEvent = { kind: 'payment_failed', key: 'event', orderReference: reference } as const;

/** What a person does, and does again when their modal says that nothing came of it. */
async function chargeWithCodes(process: Process, codes: readonly string[]): Promise<void> {
  const draft = await process.desk.keepDraft(viewId, { ...terms, alert });
  const submitted = await process.desk.submit({ viewId, draft, by: agent });
  if (submitted.kind === 'begun') await submitted.carryOn();
  await enterCodes(process, codes);
  await process.drained();
}

async function enterCodes(process: Process, codes: readonly string[]): Promise<void> {
  for (const code of codes) {
    const triesLeft = (await process.desk.find(reference))?.otp?.triesLeft ?? 0;
    const result = await process.desk.submitCode({ reference, code, by: agent, triesLeft });
    if (result.kind === 'checking') await result.carryOn();
  }
}

async function runUntilKilled(world: World, points: Points, codes: readonly string[]): Promise<void> {
  await Promise.race([chargeWithCodes(startProcess(world, points), codes), points.killed]);
}

/** Another process finds what is left; the agent, if asked, enters the right code. */
async function recover(world: World): Promise<ChargeState | undefined> {
  const process = startProcess(world, everyPoint(), false);
  await process.work(world.clock.nowMs + 3 * minuteMs);
  await enterCodes(process, [rightCode]);
  await process.drained();
  await process.work(world.clock.nowMs + 20 * minuteMs);
  if (world.bank.expire(reference)) await process.trigger(failedEvent);
  await process.drained();
  await process.work(world.clock.nowMs + 10 * minuteMs);
  expect(process.failures).toEqual([]);
  return (await process.desk.find(reference))?.state;
}

const stories: { plan: Plan; codes: string[]; ends: ChargeState['kind'][]; awaits: number }[] = [
  { plan: 'approved', codes: [], ends: ['approved'], awaits: 40 },
  { plan: 'lost', codes: [], ends: ['approved'], awaits: 40 },
  { plan: 'declined', codes: [], ends: ['declined'], awaits: 30 },
  { plan: 'rejected', codes: [], ends: ['rejected'], awaits: 30 },
  // An answer that was lost took its transaction id along: no code can be entered, and its time runs out.
  { plan: 'otp', codes: [rightCode], ends: ['approved', 'expired'], awaits: 50 },
  { plan: 'otp', codes: ['000000', rightCode], ends: ['approved', 'expired'], awaits: 70 },
];

/** The alert is held while money may have moved, and by nothing else; it hears of what was paid. */
async function isAlertRight(world: World, state: ChargeState | undefined): Promise<boolean> {
  const taken = await startProcess(world).desk.alertTaken(alert);
  const isPaid = state?.kind === 'approved';
  return (taken !== undefined) === isPaid && world.paid.has(reference) === isPaid;
}

/** What is wrong with how it ended; nothing, most of all. */
function judge(
  { bank, notes }: World,
  state: ChargeState | undefined,
  ends: readonly ChargeState['kind'][],
): string[] {
  if (state === undefined) return bank.posts.length === 0 ? [] : ['sent without an intent'];
  const made = [...bank.charges.values()];
  const moneyMoved = made.some(({ status }) => status === 'SUCCESS');
  const verdicts = [...notes.values()].flatMap((note) =>
    note.kind === 'told' && note.what !== 'otp' ? [note.what] : [],
  );
  const wrongs: [boolean, string][] = [
    [made.length > 1, 'made more than once'],
    [new Set(bank.posts).size !== 1, 'sent under another reference, or not at all'],
    [!ends.includes(state.kind), `ends ${state.kind}`],
    [(state.kind === 'approved') !== moneyMoved, 'says another thing than the bank'],
    [bank.codes.length > 3, 'a fourth code'],
    [verdicts.join() !== state.kind, `told ${verdicts.join()}`],
  ];
  return wrongs.filter(([isWrong]) => isWrong).map(([, words]) => words);
}

describe.each(stories)('a charge killed at every await: $plan $codes', ({ plan, codes, ends, awaits }) => {
  it('is made once, ends rightly, and is told once', async () => {
    const whole = everyPoint();
    await runUntilKilled(openWorld(plan), whole, codes);
    expect(whole.passed.length).toBeGreaterThan(awaits);
    const wrong: string[] = [];
    for (let killAt = 0; killAt <= whole.passed.length; killAt += 1) {
      const world = openWorld(plan);
      await runUntilKilled(world, everyPoint(killAt), codes);
      const state = await recover(world);
      const wrongs = judge(world, state, ends);
      if (!(await isAlertRight(world, state))) wrongs.push('the alert does not say so');
      wrong.push(
        ...wrongs.map((words) => `killed at ${killAt}, ${whole.passed[killAt] ?? 'the end'}: ${words}`),
      );
    }
    expect(wrong).toEqual([]);
  });
});
