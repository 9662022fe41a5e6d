import { describe, expect, it } from 'vitest';
import type { AuditEntry } from '../../../src/domain/audit-entry.ts';
import { auditOfCharge, type ChargeRecord } from '../../../src/features/charge/charge-record.ts';
import { replay } from '../../../src/features/charge/machine.ts';
import { StoreUnavailable } from '../../../src/domain/failure.ts';
import { createAuditNotes } from '../../../src/audit/audit-trail.ts';
import {
  charge,
  everyPoint,
  hourMs,
  minuteMs,
  openWorld,
  recordsIn,
  reference,
  rightCode,
  startProcess,
  type Plan,
  type Points,
  type Process,
  type World,
} from '../charge-house.ts';

const agent = 'U0AGENT01';

/** The chain as all processes of a world have it, and whether it can be reached. */
type Chain = { entries: AuditEntry[]; isAway: boolean };

/** A process whose charges are written into that chain. */
function startAudited(world: World, chain: Chain, points: Points = everyPoint()): Process {
  const process = startProcess(world, points);
  const { account } = process;
  const notes = createAuditNotes({
    audit: (entry) =>
      points.pass('audit', () => {
        if (chain.isAway) throw new StoreUnavailable('the chain is away');
        // Read twice it counts once.
        const before = chain.entries.find(({ id }) => id === entry.id);
        expect(before ?? entry).toEqual(entry);
        if (!before) chain.entries.push(entry);
      }),
    now: account.now,
    wait: () => Promise.resolve(),
    log: () => undefined,
  });
  account.audit.write = notes.of(undefined).write;
  return process;
}

async function recordOf({ store }: World): Promise<ChargeRecord> {
  const record = await recordsIn(store).read(reference);
  if (!record) throw new Error('there is no charge');
  return record;
}

async function enterCode(process: Process, code: string): Promise<void> {
  const triesLeft = (await process.desk.find(reference))?.otp?.triesLeft ?? 0;
  const result = await process.desk.submitCode({ reference, code, by: agent, triesLeft });
  await result?.carryOn?.();
  await process.drained();
}

/** The chain has the charge's history, each step once. */
async function expectAll(world: World, { entries }: Chain): Promise<void> {
  const record = await recordOf(world);
  const own = entries.filter((entry) => entry.reference === reference);
  expect(own).toEqual(auditOfCharge(record.intent.history));
  expect(record.auditedAt).toBe(record.intent.at);
}

describe('a charge’s steps', () => {
  it('wait for nothing: while the audit is away a charge ends as it would, and it is written down when it is back', async () => {
    const world = openWorld('approved');
    const chain: Chain = { entries: [], isAway: true };
    const process = startAudited(world, chain);
    await charge(process);
    expect((await recordOf(world)).intent.told).toEqual(['approved']);
    expect(chain.entries).toEqual([]);
    await process.work(world.clock.nowMs + 2 * minuteMs);
    expect(chain.entries).toEqual([]);
    chain.isAway = false;
    await process.work(world.clock.nowMs + 2 * minuteMs);
    await expectAll(world, chain);
    expect(world.bank.posts).toHaveLength(1);
  });

  it('come before their time for the audit alone: a declined charge is not looked up a day too soon', async () => {
    const world = openWorld('declined');
    const chain: Chain = { entries: [], isAway: true };
    const process = startAudited(world, chain);
    await charge(process);
    chain.isAway = false;
    await process.work(world.clock.nowMs + 2 * minuteMs);
    await expectAll(world, chain);
    expect(chain.entries.filter(({ result }) => result?.startsWith('look_up') === true)).toEqual([]);
    const { dueAt = 0, at } = (await recordOf(world)).intent;
    expect(dueAt - at).toBeGreaterThan(23 * hourMs);
  });

  it('leave out what finds the same again and again', async () => {
    const world = openWorld('lost');
    const chain: Chain = { entries: [], isAway: false };
    const process = startAudited(world, chain);
    process.account.payments.findTransaction = () => Promise.reject(new Error('away'));
    await charge(process);
    await process.work(world.clock.nowMs + 2 * hourMs);
    expect(chain.entries.filter(({ result }) => result === 'look_up_failed').length).toBeLessThan(4);
    expect((await recordOf(world)).auditedAt).toBe((await recordOf(world)).intent.at);
  });
});

describe('a charge whose process is killed at any await', () => {
  const plans: { plan: Plan; codes: string[] }[] = [
    { plan: 'approved', codes: [] },
    { plan: 'otp', codes: ['000000', rightCode] },
    { plan: 'declined', codes: [] },
  ];
  it.each(plans)('has each step once in the audit afterwards ($plan)', async ({ plan, codes }) => {
    let awaits = 1;
    for (let killAt = 0; killAt < awaits; killAt += 1) {
      const world = openWorld(plan);
      const chain: Chain = { entries: [], isAway: false };
      const points = everyPoint(killAt);
      async function live(): Promise<void> {
        const process = startAudited(world, chain, points);
        await charge(process);
        for (const code of codes) await enterCode(process, code);
      }
      // oxlint-disable-next-line no-await-in-loop -- one death after the other
      await Promise.race([live(), points.killed]);
      // One that was killed passed as many points as it was given; one that was not has passed them all.
      awaits = Math.max(awaits, points.passed.length + (points.passed.length === killAt ? 2 : 0));
      const next = startAudited(world, chain);
      // oxlint-disable-next-line no-await-in-loop
      await next.work(world.clock.nowMs + 20 * minuteMs);
      // oxlint-disable-next-line no-await-in-loop
      const record = await recordsIn(world.store).read(reference);
      // Killed before anything was stored.
      if (!record) continue;
      const ids = chain.entries.map(({ id }) => id);
      const { history } = record.intent;
      const expected = auditOfCharge(history).map(({ id }) => id);
      // No field of it is lost by being kept.
      expect({ ...replay(history), history }, `killed at ${killAt}`).toEqual(record.intent);
      // A look-up that was news may have become one of many since, which the history counts.
      expect(
        expected.filter((id) => !ids.includes(id)),
        `killed at ${killAt}`,
      ).toEqual([]);
      expect(record.auditedAt, `killed at ${killAt}`).toBe(record.intent.at);
    }
    expect(awaits).toBeGreaterThan(30);
  });
});
