import { describe, expect, it } from 'vitest';
import { asAccepted, type ChargeState, type LimitRules } from '../../../src/domain/charge.ts';
import { type ChargeRecord, hasEnded } from '../../../src/features/charge/charge-record.ts';
import {
  ada,
  bola,
  charge,
  loseKey,
  minuteMs,
  oneADay,
  openWorld,
  reference,
  startProcess,
  submit,
  terms,
  usedOf,
  type Plan,
} from '../charge-house.ts';

const { minor } = terms.money;
const rules = oneADay;

describe('a charge counts for the limits', () => {
  it.each<[Plan, number]>([
    ['approved', minor],
    ['lost', minor],
    ['otp', minor],
    ['declined', 0],
    ['rejected', 0],
  ])('when it is %s: %i', async (plan, counted) => {
    const process = startProcess(openWorld(plan, rules));
    await charge(process);
    expect(await usedOf(process)).toBe(counted);
  });

  it('until the time for its code is over', async () => {
    const world = openWorld('otp', rules);
    const process = startProcess(world);
    await charge(process);
    expect(await usedOf(process)).toBe(minor);
    world.bank.expire(reference);
    await process.work(world.clock.nowMs + 30 * minuteMs);
    expect((await process.operations.find(reference))?.state.kind).toBe('expired');
    expect(await usedOf(process)).toBe(0);
  });

  it('if its sealing key is gone, as it may have moved money', async () => {
    const world = openWorld('declined', rules);
    const process = startProcess(world);
    await charge(process);
    await loseKey(world);
    world.clock.nowMs += 10 * minuteMs;
    expect(await usedOf(process)).toBe(minor);
  });

  it('of the person who submitted it, not of the person who enters the code', async () => {
    const process = startProcess(openWorld('otp', rules));
    await charge(process);
    await process.operations.takeOver({ reference, by: bola });
    expect(await usedOf(process, ada)).toBe(minor);
    expect(await usedOf(process, bola)).toBe(0);
  });

  it('again if a declined one is in doubt, and once it was paid after all', async () => {
    const world = openWorld('declined', rules);
    const process = startProcess(world);
    await charge(process);
    expect(await usedOf(process)).toBe(0);
    world.bank.charges.set(reference, { status: 'SUCCESS', amountMinor: minor, wrong: 0 });
    await process.trigger({ kind: 'payment_success', key: 'event', orderReference: reference });
    expect(await usedOf(process)).toBe(minor);
    await process.drained();
    expect((await process.operations.find(reference))?.state.kind).toBe('approved');
    expect(await usedOf(process)).toBe(minor);
  });

  it('not if the card refuses it, or the person must confirm a twin', async () => {
    const roomy: LimitRules = {
      timeZone: 'UTC',
      roles: { agent: { limits: { NGN: { per_agent_per_day: 3 * minor } } } },
    };
    const process = startProcess(openWorld('approved', roomy));
    await charge(process);
    const twin = await submit(process, 'V0TWIN001');
    if (twin.kind !== 'twin') throw new Error(twin.kind);
    expect(await usedOf(process)).toBe(minor);
    const again = await submit(process, 'V0TWIN001', ada, twin.twins.map(asAccepted));
    expect(again.kind).toBe('begun');
    expect(await usedOf(process)).toBe(2 * minor);
    const held = startProcess(openWorld('declined', roomy));
    await charge(held);
    expect((await submit(held, 'V0HOLD001')).kind).toBe('refused');
    expect(await usedOf(held)).toBe(0);
  });
});

it.each<[ChargeState['kind'], boolean]>([
  ['charging', false],
  ['confirming', false],
  ['otp', false],
  ['otp_checking', false],
  ['approved', false],
  // For a person to decide: money may have moved.
  ['review', false],
  ['declined', true],
  ['rejected', true],
  ['abandoned', true],
  ['wrong_codes', true],
  ['expired', true],
])('a charge in state %s has ended and moved no money: %s', async (kind, isOver) => {
  const read = async () => ({ intent: { state: { kind } } }) as ChargeRecord;
  expect(await hasEnded({ read }, reference)).toBe(isOver);
});
