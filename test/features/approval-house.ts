import { needFor } from '../../src/features/approvals/approval-need.ts';
import type { ApprovalRule, Approval, ApprovalGate } from '../../src/domain/approval.ts';
import type { AuditEntry } from '../../src/domain/audit-entry.ts';
import type { EmailChangeAnswer } from '../../src/domain/charge-answer.ts';
import type { Standing } from '../../src/slack/people/role.ts';
import { createApprovals } from '../../src/features/approvals/approval-desk.ts';
import { createCardEmails } from '../../src/features/card-email/change-card-email.ts';
import { createBackground } from '../../src/under-way.ts';
import { termsHash } from '../../src/features/approvals/approval-case.ts';
import type { Entry } from '../../src/store/store.ts';
import {
  bola,
  everyPoint,
  minuteMs,
  openWorld,
  startProcess,
  submit,
  type Plan,
  type Points,
} from './charge-house.ts';

export const accountId = '8b0e2f74-16c9-4d3a-b5a7-90c4d1e26f38';
export const expireMinutes = 240;
/** Charges of the house's usual terms need one approver, larger ones two. */
const usualRules: ApprovalRule[] = [
  { what: 'charge', currency: 'NGN', fromMinor: 1_000_000, needed: 1 },
  { what: 'charge', currency: 'NGN', fromMinor: 100_000_000, needed: 2 },
  { what: 'retry', needed: 1 },
  { what: 'card_email', needed: 1 },
];

/** What outlives a process of a bot with four eyes: also what was told and audited, and what was asked of the service. */
export function openApprovalWorld(plan: Plan = 'approved', rules = usualRules) {
  return {
    ...openWorld(plan),
    approvalRules: [...rules],
    told: new Set<string>(),
    audited: new Map<string, AuditEntry>(),
    emailChanges: [] as string[],
    emailAnswer: { kind: 'changed' } as EmailChangeAnswer,
    /** What whoever asked may do by now. */
    standing: { kind: 'known', roles: ['support-agent'] } as Standing,
  };
}

export type ApprovalWorld = ReturnType<typeof openApprovalWorld>;

/** One process, with all that it awaits passing through `points`. */
export function startApprovals(world: ApprovalWorld, points: Points = everyPoint()) {
  const process = startProcess(world, points);
  const { account, around, store } = process;
  const { sealer, fingerprint, now, log, wait } = account;
  const background = createBackground(log, 'an approval');
  const approvals = createApprovals({
    store,
    sealer,
    fingerprint,
    now,
    log,
    wait,
    inBackground: background.add,
    rememberMs: 365 * 86_400_000,
    expireMs: expireMinutes * minuteMs,
    termsHash: (terms) => termsHash(accountId, terms),
    standingOf: () => points.pass('standing', () => world.standing),
    chargeExists: async (reference) => (await process.desk.find(reference)) !== undefined,
    submitApproved: process.charges.submitApproved,
    changeCardEmail: (terms, by) => cardEmails.change(terms, by),
    channel: 'C0APPROVE1',
    approvers: async () => [bola],
    messages: {
      keep: (_key, { kind }) => points.pass('keep', () => void world.told.add(kind)),
      post: (_key, { body }) => points.pass('note', () => void ('what' in body && world.told.add(body.what))),
      refresh: async () => undefined,
    },
    audit: (entry) => points.pass('audit', () => world.audited.set(entry.id, entry) !== undefined),
    wake: () => undefined,
  });
  const gate: ApprovalGate = {
    needFor: (question) => needFor(world.approvalRules, question),
    desk: approvals.desk,
    charged: () => Promise.resolve(),
  };
  around.approvals = gate;
  account.payments.changeCardEmail = ({ newEmail }) =>
    points.pass('change_email', () => {
      world.emailChanges.push(newEmail);
      return world.emailAnswer;
    });
  const cardEmails = createCardEmails(account, undefined, gate);
  /** What an approval began goes on as a charge. */
  async function drained(): Promise<void> {
    await background.drained();
    await process.drained();
  }
  async function workOn(entry: Entry): Promise<void> {
    await (entry.key.startsWith('approval:') ? approvals.work(entry) : process.workOn(entry));
    await drained();
  }
  return {
    ...process,
    drained,
    cardEmails,
    gate,
    approvals: approvals.desk,
    workOn,
    /** Does all that is due until so long from now, as the worker does. */
    async workFor(ms: number): Promise<void> {
      const untilMs = world.clock.nowMs + ms;
      for (;;) {
        const [entry] = await world.store.take(45_000);
        if (entry) await workOn(entry);
        else if (world.clock.nowMs < untilMs) world.clock.nowMs += 1_000;
        else return;
      }
    },
  };
}

export type ApprovalProcess = ReturnType<typeof startApprovals>;

/** What was asked for by the usual dialogue. */
export async function asked(process: ApprovalProcess): Promise<Approval> {
  const result = await submit(process);
  if (result.kind !== 'awaiting_approval') throw new Error(result.kind);
  return result.approval;
}

/** Somebody else approves it, and what follows is done. */
export async function approve(process: ApprovalProcess, { id, termsHash }: Approval, by = bola) {
  const result = await process.approvals.approve({ id, by, termsHash });
  await process.drained();
  return result;
}
