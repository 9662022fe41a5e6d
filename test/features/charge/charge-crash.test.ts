import { isDeepStrictEqual } from 'node:util';
import { describe, expect, it } from 'vitest';
import type { ChargeState } from '../../../src/domain/charge.ts';
import { StoreUnavailable } from '../../../src/domain/failure.ts';
import { auditOfCharge } from '../../../src/features/charge/charge-audit.ts';
import { replay } from '../../../src/features/charge/machine.ts';
import {
  ada,
  isToldPaid,
  minuteMs,
  notesIn,
  oneADay,
  openWorld,
  reference,
  rightCode,
  startProcess,
  terms,
  usedOf,
  viewId,
  type Plan,
  type Process,
  type World,
} from '../charge-house.ts';
import { someOf } from '../../support/counts.ts';
import { everyPoint, momentsOf, type Points } from '../../support/every-point.ts';

/** The alert that the charge is begun from. */
const alert = 'payment_failed/order/ORDER-1';
/** The service repeats it until it is acknowledged. */
const failedEvent = { kind: 'payment_failed', key: 'event', orderReference: reference } as const;

/** What the agent does, and repeats if their modal says that nothing happened. */
async function chargeWithCodes(process: Process, codes: readonly string[]): Promise<void> {
  const draft = await process.operations.keepDraft(viewId, { ...terms, alert });
  const submitted = await process.operations.submit({ viewId, draft, by: ada });
  if (submitted.kind === 'begun') await submitted.carryOn();
  await enterCodes(process, codes);
  await process.drained();
}

async function enterCodes(process: Process, codes: readonly string[]): Promise<void> {
  for (const code of codes) {
    const triesLeft = (await process.operations.find(reference))?.otp?.triesLeft ?? 0;
    const result = await process.operations.submitCode({ reference, code, by: ada, triesLeft });
    await result?.carryOn?.();
  }
}

async function runUntilKilled(world: World, points: Points, codes: readonly string[]): Promise<void> {
  await Promise.race([chargeWithCodes(startProcess(world, points), codes), points.killed]);
}

/** Another process continues the charge. If the agent is asked for a code, they enter the right one. */
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
  return (await process.operations.find(reference))?.state;
}

const stories: { plan: Plan; codes: string[]; ends: ChargeState['kind'][]; awaits: number }[] = [
  { plan: 'approved', codes: [], ends: ['approved'], awaits: 40 },
  { plan: 'lost', codes: [], ends: ['approved'], awaits: 40 },
  { plan: 'declined', codes: [], ends: ['declined'], awaits: 30 },
  { plan: 'rejected', codes: [], ends: ['rejected'], awaits: 30 },
  // May expire: if the first answer was lost, so is its transaction id, and no code can be submitted.
  { plan: 'otp', codes: [rightCode], ends: ['approved', 'expired'], awaits: 50 },
  { plan: 'otp', codes: ['000000', rightCode], ends: ['approved', 'expired'], awaits: 70 },
];

/** What is wrong with the outcome. */
async function judge(
  world: World,
  state: ChargeState | undefined,
  ends: readonly string[],
): Promise<string[]> {
  const { bank, audited } = world;
  if (state === undefined) return bank.posts.length === 0 ? [] : ['sent without an intent'];
  const process = startProcess(world);
  const record = await process.records.read(reference);
  if (!record) throw new Error('a charge has gone');
  const made = [...bank.charges.values()];
  const moneyMoved = made.some(({ status }) => status === 'SUCCESS');
  const verdicts = (await notesIn(world)).flatMap((note) =>
    note.kind === 'told' && note.what !== 'otp' ? [note.what] : [],
  );
  const { history } = record.intent;
  // An audited look-up may have been merged with later ones since, and then has no entry of its own.
  const unaudited = auditOfCharge(history).filter(({ id }) => !audited.has(id));
  const isHeld = (await process.operations.alertTaken(alert)) !== undefined;
  const isPaid = state.kind === 'approved';
  const wrongs: [boolean, string][] = [
    [made.length > 1, 'made more than once'],
    [new Set(bank.posts).size !== 1, 'sent under another reference, or not at all'],
    [!ends.includes(state.kind), `ends ${state.kind}`],
    [isPaid !== moneyMoved, 'says another thing than the bank'],
    [bank.codes.length > 3, 'a fourth code'],
    [verdicts.join() !== state.kind, `told ${verdicts.join()}`],
    // The alert is held only while money may have moved, and it was told of a payment.
    [isHeld !== isPaid || isToldPaid(world, reference) !== isPaid, 'the alert does not say so'],
    [(await usedOf(process)) !== (isPaid ? terms.money.minor : 0), 'the limits count something else'],
    [unaudited.length > 0 || record.auditedAt !== record.intent.at, 'the audit lacks a step'],
    [!isDeepStrictEqual({ ...replay(history), history }, record.intent), 'its history is not what it is'],
  ];
  return wrongs.filter(([isWrong]) => isWrong).map(([, words]) => words);
}

/** One run for each failure. `isLeft: false`: the process that began the charge must also finish it. */
async function wrongsOf(
  { plan, codes, ends }: (typeof stories)[number],
  runs: readonly { at: string; points: Points; isLeft?: false }[],
): Promise<string[]> {
  const wrong: string[] = [];
  for (const { at, points, isLeft } of runs) {
    const world = openWorld(plan, oneADay);
    await runUntilKilled(world, points, codes);
    const wrongs: string[] = [];
    const mayHaveMoved = [...world.bank.charges.values()].some(({ status }) => status !== 'FAILED');
    const used = await usedOf(startProcess(world));
    if (mayHaveMoved && used !== terms.money.minor) wrongs.push('not counted while it may move money');
    const toldAtOnce = (await notesIn(world)).length > 0;
    wrongs.push(...(await judge(world, await recover(world), ends)));
    if (isLeft === false && !toldAtOnce) wrongs.push('left to a worker');
    wrong.push(...wrongs.map((words) => `${at}: ${words}`));
  }
  return wrong;
}

/**
 * Points at which the store's answer to one change of the charge or its card, counted from 0, is lost. `isMade`: the
 * change itself is made.
 */
function losingAnswer(loseAt: number, isMade: boolean): Points {
  const whole = everyPoint();
  let changes = 0;
  return {
    ...whole,
    async pass(name, effect) {
      if (!/^(create|write) (charge|card)$/.test(name)) return await whole.pass(name, effect);
      changes += 1;
      if (changes !== loseAt + 1) return await whole.pass(name, effect);
      if (isMade) await effect();
      throw new StoreUnavailable('the answer is lost');
    },
  };
}

describe.each(stories)('a charge killed at every await: $plan $codes', (story) => {
  it('is made once, ends correctly, and is counted, told and audited once', async () => {
    const whole = everyPoint();
    await runUntilKilled(openWorld(story.plan, oneADay), whole, story.codes);
    expect(whole.passed.length).toBeGreaterThan(story.awaits);
    const runs = someOf(momentsOf([...whole.passed, 'the end'])).map(({ name, killAt }) => ({
      at: `killed at ${killAt}, ${name}`,
      points: everyPoint(killAt),
    }));
    expect(await wrongsOf(story, runs)).toEqual([]);
  });

  it('also does so if any single answer of the store is lost, with the change made or not', async () => {
    const whole = everyPoint();
    await runUntilKilled(openWorld(story.plan, oneADay), whole, story.codes);
    const changes = whole.passed.filter((name) => /^before (create|write) (charge|card)$/.test(name));
    expect(changes.length).toBeGreaterThan(5);
    const runs = changes.flatMap((name, loseAt) =>
      [true, false].map((isMade) => ({
        at: `lost at ${loseAt}, ${name}, ${isMade ? 'made' : 'not made'}`,
        points: losingAnswer(loseAt, isMade),
        isLeft: false as const,
      })),
    );
    expect(await wrongsOf(story, runs)).toEqual([]);
  });
});
