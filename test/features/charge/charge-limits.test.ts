import { describe, expect, it } from 'vitest';
import type { LimitRules } from '../../../src/domain/charge.ts';
import {
  ada,
  bola,
  charge,
  everyPoint,
  loseKey,
  minuteMs,
  openWorld,
  reference,
  startProcess,
  submit,
  terms,
  type Plan,
  type Process,
} from '../charge-house.ts';

const { minor } = terms.money;

/** One charge of the house fits into each, two do not. */
const rules: LimitRules = {
  timeZone: 'UTC',
  roles: {
    agent: { limits: { NGN: { per_agent_per_day: 2 * minor - 1, per_card_per_day: 2 * minor - 1 } } },
  },
};

async function usedOf({ desk }: Process, by = ada): Promise<number | undefined> {
  const own = await desk.limitsOf(by);
  return own.kind === 'limited' ? own.currencies[0]?.agentMinor : undefined;
}

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

  it('until nobody has entered its code in time', async () => {
    const world = openWorld('otp', rules);
    const process = startProcess(world);
    await charge(process);
    expect(await usedOf(process)).toBe(minor);
    world.bank.expire(reference);
    await process.work(world.clock.nowMs + 30 * minuteMs);
    expect((await process.desk.find(reference))?.state.kind).toBe('expired');
    expect(await usedOf(process)).toBe(0);
  });

  it('though the key of its record is gone, when nobody knows what it moved', async () => {
    const world = openWorld('declined', rules);
    const process = startProcess(world);
    await charge(process);
    await loseKey(world);
    world.clock.nowMs += 10 * minuteMs;
    expect(await usedOf(process)).toBe(minor);
  });

  it('of whoever submitted it, not of whoever enters the code', async () => {
    const process = startProcess(openWorld('otp', rules));
    await charge(process);
    await process.desk.takeOver({ reference, by: bola });
    expect(await usedOf(process, ada)).toBe(minor);
    expect(await usedOf(process, bola)).toBe(0);
  });

  it('again while a declined one is in doubt, and when it was paid after all', async () => {
    const world = openWorld('declined', rules);
    const process = startProcess(world);
    await charge(process);
    expect(await usedOf(process)).toBe(0);
    world.bank.charges.set(reference, { status: 'SUCCESS', amountMinor: minor, wrong: 0 });
    await process.trigger({ kind: 'payment_success', key: 'event', orderReference: reference });
    expect(await usedOf(process)).toBe(minor);
    await process.drained();
    expect((await process.desk.find(reference))?.state.kind).toBe('approved');
    expect(await usedOf(process)).toBe(minor);
  });

  it('no more when the card refuses it, or asks about its twin', async () => {
    const roomy: LimitRules = {
      timeZone: 'UTC',
      roles: { agent: { limits: { NGN: { per_agent_per_day: 3 * minor } } } },
    };
    const process = startProcess(openWorld('approved', roomy));
    await charge(process);
    const twin = await submit(process, 'V0TWIN001');
    if (twin.kind !== 'twin') throw new Error(twin.kind);
    expect(await usedOf(process)).toBe(minor);
    const again = await submit(process, 'V0TWIN001', ada, twin.twin.reference);
    expect(again.kind).toBe('begun');
    expect(await usedOf(process)).toBe(2 * minor);
    const resting = startProcess(openWorld('declined', roomy));
    await charge(resting);
    expect((await submit(resting, 'V0REST001')).kind).toBe('refused');
    expect(await usedOf(resting)).toBe(0);
  });
});

describe.each<Plan>(['approved', 'lost', 'declined', 'rejected', 'otp'])(
  'a process killed at every await of a charge that is %s',
  (plan) => {
    it('leaves counted what may have moved money, and nothing else once it is settled', async () => {
      const whole = everyPoint();
      await charge(startProcess(openWorld(plan, rules), whole));
      expect(whole.passed.some((point) => point.includes('limit'))).toBe(true);
      const wrong: string[] = [];
      for (let killAt = 0; killAt <= whole.passed.length; killAt += 1) {
        const world = openWorld(plan, rules);
        const points = everyPoint(killAt);
        await Promise.race([charge(startProcess(world, points)), points.killed]);
        const other = startProcess(world);
        const where = `killed at ${killAt}, ${whole.passed[killAt] ?? 'the end'}`;
        const moved = [...world.bank.charges.values()].some(({ status }) => status !== 'FAILED');
        if (moved && (await usedOf(other)) !== minor) wrong.push(`${where}: not counted`);
        await other.work(world.clock.nowMs + 30 * minuteMs);
        await other.drained();
        const state = (await other.desk.find(reference))?.state.kind;
        const counts = state === 'approved' || state === 'review' || state === 'confirming';
        const used = await usedOf(other);
        if (used !== (counts ? minor : 0)) wrong.push(`${where}: ${state ?? 'nothing'} counts ${used}`);
      }
      expect(wrong).toEqual([]);
    });
  },
);
