import { describe, expect, it, vi } from 'vitest';
import type { Approval, ApprovalRule } from '../../../src/domain/approval.ts';
import { approvalPrefix, type ApprovalCase } from '../../../src/features/approvals/approval-case.ts';
import {
  ada,
  bola,
  charge,
  minuteMs,
  openWorld,
  type Plan,
  type Process,
  reference,
  startProcess,
  submit,
  terms,
  viewId,
  type World,
} from '../charge-house.ts';
import { approvalMessage, approvalNoteMessage } from '../../../src/features/approvals/approval-screens.ts';
import { everyPoint, type Points } from '../../support/every-point.ts';
import { shownLines } from '../../slack/shown-text.ts';
import { sealer } from '../house.ts';

const chidi = 'U0CHIDI01';
/** Charges of the house's usual terms need one approver, larger ones two. */
const usualRules: ApprovalRule[] = [
  { what: 'charge', currency: 'NGN', fromMinor: 1_000_000, needed: 1 },
  { what: 'charge', currency: 'NGN', fromMinor: 100_000_000, needed: 2 },
  { what: 'retry', needed: 1 },
  { what: 'card_email', needed: 1 },
];

function openApprovalWorld(plan: Plan = 'approved'): World {
  return { ...openWorld(plan), approvalRules: [...usualRules] };
}

/** Requests approval of the usual charge, despite these other payments. */
async function asked(process: Process, view = viewId, despite?: readonly string[]): Promise<Approval> {
  const result = await submit(process, view, ada, despite);
  if (result.kind !== 'awaiting_approval') throw new Error(result.kind);
  return result.approval;
}

/** Another person approves; resolves when the work that follows is done. */
async function approve(
  process: Process,
  { id, termsHash }: Approval,
  by = bola,
  despite: readonly string[] = [],
) {
  const result = await process.approvals.approve({ id, by, termsHash, despite });
  await process.drained();
  return result;
}

describe('a charge that needs approval', () => {
  it('is one request, even if its modal is submitted again, with other terms or after the end', async () => {
    const process = startProcess(openApprovalWorld());
    const approval = await asked(process);
    expect(await asked(process)).toEqual(approval);
    // In a modal of its own, the second amount would need no approval.
    for (const minor of [5_000_000, 100]) {
      const draft = await process.operations.keepDraft(viewId, {
        ...terms,
        money: { minor, currency: 'NGN' },
      });
      expect(await process.operations.submit({ viewId, draft, by: ada })).toEqual({
        kind: 'awaiting_approval',
        approval,
      });
    }
    await process.approvals.refuse({ id: approval.id, by: bola, reason: 'Not this month' });
    expect((await asked(process)).state).toMatchObject({
      kind: 'refused',
      by: bola,
      reason: 'Not this month',
    });
    expect(await process.approvals.waiting()).toEqual([]);
  });

  it('is not approved by a person who saw other terms', async () => {
    const process = startProcess(openApprovalWorld());
    const approval = await asked(process);
    expect(await approve(process, { ...approval, termsHash: 'another' })).toMatchObject({
      kind: 'other_terms',
    });
    expect(await process.approvals.approve({ id: 'pay-none', by: bola, termsHash: '' })).toBeUndefined();
  });

  it('stores the card’s token key sealed, and only until the request ends', async () => {
    const world = openApprovalWorld();
    const process = startProcess(world);
    const approval = await asked(process);
    const kept = async () => (await world.store.read(approvalPrefix + approval.id))?.value ?? '';
    expect(await kept()).not.toContain(terms.tokenKey);
    expect(sealer.open('', await kept())).toContain(terms.tokenKey);
    await process.approvals.refuse({ id: approval.id, by: bola, reason: 'no' });
    await process.drained();
    expect(sealer.open('', await kept())).toContain(approval.id);
    expect(sealer.open('', await kept())).not.toContain(terms.tokenKey);
  });
});

it.each(['expired', 'stopped', 'withdrawn'] as const)(
  'a request for an alert that has %s leads back to it',
  async (kind) => {
    const process = startProcess(openApprovalWorld());
    const draft = await process.operations.keepDraft(viewId, {
      ...terms,
      alert: 'payment_failed/order/ORDER-9',
    });
    const result = await process.operations.submit({ viewId, draft, by: ada });
    if (result.kind !== 'awaiting_approval') throw new Error(result.kind);
    const approval = { ...result.approval, state: { kind, atMs: 1, why: 'Why' } };
    const shownAccount = { environment: 'live', account: 'main account' } as const;
    const said = approvalNoteMessage(kind, { approval, to: 'requester' }, shownAccount, {
      key: 'k',
      mayBeRepeat: false,
    });
    expect(JSON.stringify(said)).toMatch(/alert of.*ORDER-9/);
  },
);

it('a request says in words which other payments its requester accepted, and counts those it leaves out', async () => {
  const world = openWorld('approved');
  const process = startProcess(world);
  await charge(process);
  world.approvalRules.push(...usualRules);
  const links = Array.from({ length: 9 }, (_, index) => `LINK-${index} (perhaps_paid)`);
  const approval = await asked(process, 'V0SECOND1', [`${reference} (approved)`, ...links]);
  const view = { approval, to: 'approver' } as const;
  const shownAccount = { environment: 'live', account: 'main account' } as const;
  const said = approvalMessage(view, shownAccount, { key: 'k', mayBeRepeat: false });
  const [line] = shownLines(said).filter((one) => one.startsWith('Other payments'));
  expect(line).toMatch(`${reference} (Paid), LINK-0 (may be paid), LINK-1 (may be paid)`);
  expect(line).toMatch(/ and 4 more$/);
});

/** Approves while nothing can be executed, makes the change, and lets the worker run. */
async function approvedBefore(world: World, change: (process: Process) => unknown): Promise<Approval> {
  world.heldRoles = { kind: 'unknown' };
  const process = startProcess(world);
  await approve(process, await asked(process));
  expect(world.bank.posts).toEqual([]);
  world.heldRoles = { kind: 'known', roles: ['support-agent'] };
  await change(process);
  await process.workFor(10 * minuteMs);
  const found = await process.approvals.find(reference);
  if (!found) throw new Error('gone');
  return found;
}

/** A process that freezes before or after its nth await after Slack’s answer, until another run has stopped the request. */
async function frozenAfterRoles(
  awaits: number,
  at: 'before' | 'after',
): Promise<{ isStopped: boolean; posts: string[] }> {
  const world = openApprovalWorld();
  const [isFrozen, isThawed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let left: number | undefined;
  async function freeze(): Promise<void> {
    isFrozen.resolve();
    await isThawed.promise;
  }
  const frozen = startProcess(world, {
    ...everyPoint(),
    async pass(name, effect) {
      if (left !== undefined) left -= 1;
      if (name === 'heldRoles') left = awaits;
      const isIt = left === 0;
      if (isIt && at === 'before') await freeze();
      const result = await effect();
      if (isIt && at === 'after') await freeze();
      return result;
    },
  });
  const { id, termsHash } = await asked(frozen);
  await frozen.approvals.approve({ id, by: bola, termsHash });
  await isFrozen.promise;
  world.heldRoles = { kind: 'known', roles: [] };
  const other = startProcess(world);
  await other.workFor(5 * minuteMs);
  const isStopped = (await other.approvals.find(id))?.state.kind === 'stopped';
  isThawed.resolve();
  await frozen.drained();
  await other.workFor(30 * minuteMs);
  return { isStopped, posts: world.bank.posts };
}

describe('an approved request is checked again before it is carried out', () => {
  it('is carried out once Slack gives the requester’s roles again', async () => {
    const world = openApprovalWorld();
    expect((await approvedBefore(world, () => undefined)).state.kind).toBe('executed');
    expect(world.bank.posts).toEqual([reference]);
  });

  it('is stopped if the requester may not charge any more', async () => {
    const world = openApprovalWorld();
    const { state } = await approvedBefore(world, () => (world.heldRoles = { kind: 'known', roles: [] }));
    expect(state).toMatchObject({ kind: 'stopped', why: 'The requester may not charge any more.' });
    expect(world.bank.posts).toEqual([]);
  });

  it.each([
    ['SUCCESS', 'stopped', []],
    ['FAILED', 'executed', [reference]],
  ] as const)('that retries a failed payment whose record now says %s is %s', async (status, kind, posts) => {
    const world = openApprovalWorld();
    const process = startProcess(world);
    const alert = 'payment_failed/order/ORDER-9';
    const money = { amountMinor: terms.money.minor, currency: 'NGN' };
    await process.receive({ kind: 'payment_failed', key: alert, orderReference: 'ORDER-9', ...money }, 'f');
    const draft = await process.operations.keepDraft(viewId, { ...terms, alert });
    await process.operations.submit({ viewId, draft, by: ada });
    // The customer paid meanwhile, and the event of that was lost.
    world.bank.charges.set('ORDER-9', { status, amountMinor: terms.money.minor, wrong: 0 });
    const approval = await process.approvals.find(reference);
    if (approval) await approve(process, approval);
    expect((await process.approvals.find(reference))?.state.kind).toBe(kind);
    expect(world.bank.posts).toEqual(posts);
  });

  it('is not charged by a process that was frozen at any await while another run stopped it', async () => {
    for (const at of ['before', 'after'] as const) {
      for (let awaits = 0; awaits <= 12; awaits++) {
        const { isStopped, posts } = await frozenAfterRoles(awaits, at);
        const charged = posts.length > 0;
        expect(`${at} await ${awaits}: ${isStopped === charged ? 'both or neither' : 'one'}`).toBe(
          `${at} await ${awaits}: one`,
        );
      }
    }
  });

  it.each([
    [
      1,
      /^This is above the requester’s limit per day: NGN 12,499.99 of NGN 24,999.99 is left .*role lead\.$/,
    ],
    [0, /^Since then, another payment of the same was begun or changed: pay-\S+\. Still owed\? Ask again\.$/],
  ])(
    'is stopped, as the second of two equal ones, by a limit or as a twin (the limit lacks %d), and counts for no limit',
    async (lacking, why) => {
      const { minor } = terms.money;
      const limits = { NGN: { per_agent_per_day: 2 * minor - lacking } };
      const rules = { timeZone: 'UTC', roles: { agent: { limits }, lead: {} } };
      const process = startProcess({ ...openApprovalWorld(), rules });
      const first = await asked(process);
      const second = await asked(process, 'V0SECOND1');
      await approve(process, first);
      await approve(process, second);
      const { state } = (await process.approvals.find(second.id)) ?? {};
      expect(state).toMatchObject({ kind: 'stopped', why: expect.stringMatching(why) });
      expect(await process.operations.limitsOf(ada)).toMatchObject({ currencies: [{ usedMinor: minor }] });
    },
  );

  it('is charged despite the twins that its approver saw, but stopped by a later one', async () => {
    const world = openApprovalWorld();
    const process = startProcess(world);
    const first = await asked(process);
    const [second, third] = [await asked(process, 'V0SECOND1'), await asked(process, 'V0THIRD01')];
    await approve(process, first);
    expect(await process.approvals.twinsOf(third)).toMatchObject([{ reference: first.id, by: ada }]);
    const seen = [`${first.id} (approved)`];
    await approve(process, second, bola, seen);
    expect(world.bank.posts).toEqual([first.id, second.id]);
    await approve(process, third, bola, seen);
    const { state } = (await process.approvals.find(third.id)) ?? {};
    expect(state).toMatchObject({
      kind: 'stopped',
      why: expect.stringContaining(`was begun or changed: ${second.id}. Still owed?`),
    });
    expect(world.audited.get(`approval:${second.id}:1`)?.reason).toBe(
      `1 of 1, despite ${first.id} (approved)`,
    );
  });

  it('shows a twin under review to its approver once that is paid, although the requester accepted it', async () => {
    const world = openWorld('approved');
    const process = startProcess(world);
    const inHalf = { status: 'SUCCESS', amountMinor: terms.money.minor / 2, wrong: 0 } as const;
    world.bank.charge = (one) => {
      world.bank.charges.set(one, { ...inHalf });
      return { kind: 'approved' };
    };
    await charge(process);
    expect((await process.operations.find(reference))?.state.kind).toBe('review');
    world.approvalRules.push(...usualRules);
    const second = await asked(process, 'V0SECOND1', [`${reference} (review)`]);
    expect(await process.approvals.twinsOf(second)).toEqual([]);
    world.bank.charges.set(reference, { ...inHalf, amountMinor: terms.money.minor });
    await process.workFor(2 * 60 * minuteMs);
    const twins = [{ reference, outcome: 'approved' }];
    expect(await process.approvals.twinsOf(second)).toMatchObject(twins);
    await approve(process, second);
    const { state } = (await process.approvals.find(second.id)) ?? {};
    expect(state).toMatchObject({ kind: 'stopped', why: expect.stringContaining(`changed: ${reference}`) });
  });

  it('counts for the day of the request, even if it is approved after midnight', async () => {
    const { minor } = terms.money;
    const limits = { NGN: { per_agent_per_day: 2 * minor - 1 } };
    const rules = { timeZone: 'UTC', roles: { agent: { limits }, lead: {} } };
    const world = { ...openApprovalWorld(), rules };
    const process = startProcess(world);
    world.clock.nowMs = Date.parse('2027-02-01T23:30:00Z');
    const first = await asked(process);
    const second = await asked(process, 'V0SECOND1');
    world.clock.nowMs = Date.parse('2027-02-02T00:10:00Z');
    await approve(process, first);
    expect(world.bank.posts).toEqual([reference]);
    world.clock.nowMs = Date.parse('2027-02-02T03:00:00Z');
    await approve(process, second);
    const { state } = (await process.approvals.find(second.id)) ?? {};
    const why =
      'This is above the requester’s limit per day: NGN 12,499.99 of NGN 24,999.99 was left of the day it was asked for.';
    expect(state).toMatchObject({ kind: 'stopped', why: expect.stringContaining(why) });
    expect(await process.operations.limitsOf(ada)).toMatchObject({ currencies: [{ usedMinor: 0 }] });
  });

  it.each([
    ['amount', { money: { minor: 125_000_000, currency: 'NGN' } }, {}],
    ['card', {}, { tokenKey: 'tok-of-another' }],
  ])('is stopped if the stored %s is not what was approved', async (_what, otherTerms, other) => {
    const world = openApprovalWorld();
    const { state } = await approvedBefore(world, async () => {
      const key = approvalPrefix + reference;
      const entry = await world.store.read(key);
      const kept = entry && (JSON.parse(sealer.open(key, entry.value)) as { state: ApprovalCase });
      if (!entry || kept?.state.approval.shown.kind !== 'charge') throw new Error('no such request');
      Object.assign(kept.state.approval.shown.terms, otherTerms);
      Object.assign(kept.state, other);
      await world.store.write(entry, sealer.seal(key, JSON.stringify(kept)), { delayMs: 0 });
    });
    expect(state).toMatchObject({ kind: 'stopped', why: 'The terms are not the ones that were approved.' });
    expect(world.bank.posts).toEqual([]);
  });

  it('is stopped if another charge of the card is under way', async () => {
    const world = openApprovalWorld('otp');
    const { state } = await approvedBefore(world, async (process) => {
      world.approvalRules.length = 0;
      const other = await submit(process, 'V0OTHER01', chidi);
      expect(other.kind).toBe('begun');
    });
    expect(state).toMatchObject({ kind: 'stopped', why: 'Another charge of the card is still open.' });
  });
});

async function askedEmail(process: Process): Promise<Approval> {
  const emails = { currentEmail: 'a@example.com', newEmail: 'b@example.com' };
  const draft = await process.cardEmails.keepDraft({ tokenKey: 'canary-token', card: {}, ...emails });
  const begun = await process.cardEmails.begin(draft, ada);
  if (begun.kind !== 'awaiting_approval') throw new Error(begun.kind);
  return begun.approval;
}

describe('an approved change of a card’s e-mail', () => {
  it('is stopped, with the reason, if the service did not make it', async () => {
    const world = openApprovalWorld();
    world.emailAnswer = { kind: 'not_linked', message: undefined };
    const process = startProcess(world);
    const { id, termsHash } = await askedEmail(process);
    await process.approvals.approve({ id, by: bola, termsHash });
    await process.drained();
    const why = expect.stringContaining('nothing was changed');
    expect((await process.approvals.find(id))?.state).toMatchObject({ kind: 'stopped', why });
  });

  it('is not requested a second time if the first run dies during the call', async () => {
    const world = openApprovalWorld();
    const answered = vi.fn<() => Promise<never>>(() => new Promise(() => undefined));
    const dying: Points = {
      ...everyPoint(),
      pass: async (name, effect) => (name === 'change_email' ? await answered() : await effect()),
    };
    const first = startProcess(world, dying);
    const { id, termsHash } = await askedEmail(first);
    await first.approvals.approve({ id, by: bola, termsHash });
    await vi.waitFor(() => expect(answered).toHaveBeenCalledTimes(1));
    const second = startProcess(world, dying);
    await second.workFor(5 * minuteMs);
    expect((await second.approvals.find(id))?.state).toMatchObject({
      kind: 'executed',
      result: expect.stringContaining('may have been changed'),
    });
    expect(answered).toHaveBeenCalledTimes(1);
  });
});
