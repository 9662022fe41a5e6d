import { describe, expect, it } from 'vitest';
import { auditOfCharge } from '../../../src/features/charge/charge-audit.ts';
import {
  charge,
  hourMs,
  minuteMs,
  openWorld,
  reference,
  startProcess,
  type Plan,
  type Process,
} from '../charge-house.ts';
import { paid, story } from '../../tapes/charge-story.ts';

/** Makes a charge while the audit is away; then the audit is back. */
async function audited(plan: Plan) {
  const world = openWorld(plan);
  const process = startProcess(world);
  const { write } = process.account.audit;
  process.account.audit.write = async () => false;
  await charge(process);
  await process.work(world.clock.nowMs + 2 * minuteMs);
  expect(world.audited.size).toBe(0);
  const before = await recordOf(process);
  process.account.audit.write = write;
  await process.work(world.clock.nowMs + 2 * minuteMs);
  const record = await recordOf(process);
  expect([...world.audited.values()]).toEqual(auditOfCharge(record.intent.history));
  expect(record.auditedAt).toBe(record.intent.at);
  return { world, before, record };
}

async function recordOf({ records }: Process) {
  const record = await records.read(reference);
  if (!record) throw new Error('there is no charge');
  return record;
}

describe('a charge’s steps', () => {
  it('never delay a charge: it ends while the audit is away, and its steps are written afterwards', async () => {
    const { world, before } = await audited('approved');
    expect(before.intent.told).toEqual(['approved']);
    expect(world.bank.posts).toHaveLength(1);
  });

  it('make a charge due early only for the audit: a declined charge is not looked up a day too soon', async () => {
    const { world, record } = await audited('declined');
    const results = [...world.audited.values()].map(({ result }) => result);
    expect(results).not.toContainEqual(expect.stringMatching(/^look_up/));
    expect((record.intent.dueAt ?? 0) - record.intent.at).toBeGreaterThan(23 * hourMs);
  });

  it('include the payment that a look-up found after a crash had cut off the one before', () => {
    const paidLate = story();
    paidLate.answered({ kind: 'unknown' });
    paidLate.due();
    paidLate.due();
    paidLate.found(paid);
    const entries = auditOfCharge(paidLate.now().history);
    expect(entries.at(-1)).toMatchObject({ result: 'look_up_paid', after: 'approved' });
  });

  it('leave out look-ups that find the same again', async () => {
    const world = openWorld('lost');
    const process = startProcess(world);
    process.account.payments.findTransaction = () => Promise.reject(new Error('away'));
    await charge(process);
    await process.work(world.clock.nowMs + 2 * hourMs);
    const failed = [...world.audited.values()].filter(({ result }) => result === 'look_up_failed');
    expect(failed.length).toBeLessThan(4);
    const record = await recordOf(process);
    expect(record.auditedAt).toBe(record.intent.at);
  });
});
