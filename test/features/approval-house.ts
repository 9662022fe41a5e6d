import type { ApprovalRule, Approval, ApprovalGate } from '../../src/domain/approval.ts';
import type { EmailChangeAnswer } from '../../src/payments/saved-cards.ts';
import type { Standing } from '../../src/slack/people/role.ts';
import { createApprovalRequests } from '../../src/features/approvals/approval-requests.ts';
import { createEmailChanges } from '../../src/features/card-email/change-card-email.ts';
import { needFor } from '../../src/features/approvals/approval-case.ts';
import type { Entry } from '../../src/store/store.ts';
import { bola, openWorld, startProcess, submit, type Plan } from './charge-house.ts';
import { everyPoint, type Points } from '../support/every-point.ts';
import { accountOf } from '../support/account.ts';

const accountId = '8b0e2f74-16c9-4d3a-b5a7-90c4d1e26f38';
/** Charges of the house's usual terms need one approver, larger ones two. */
const usualRules: ApprovalRule[] = [
  { what: 'charge', currency: 'NGN', fromMinor: 1_000_000, needed: 1 },
  { what: 'charge', currency: 'NGN', fromMinor: 100_000_000, needed: 2 },
  { what: 'retry', needed: 1 },
  { what: 'card_email', needed: 1 },
];

/** What outlives one process of a bot with approval rules; also the service's answer to a change of e-mail. */
export function openApprovalWorld(plan: Plan = 'approved', rules = usualRules) {
  return {
    ...openWorld(plan),
    approvalRules: [...rules],
    emailAnswer: { kind: 'changed' } as EmailChangeAnswer,
    /** The requester's roles when the request is carried out. */
    standing: { kind: 'known', roles: ['support-agent'] } as Standing,
  };
}

export type ApprovalWorld = ReturnType<typeof openApprovalWorld>;

/** One process. Everything that it awaits passes through `points`. */
export function startApprovals(world: ApprovalWorld, points: Points = everyPoint()) {
  const process = startProcess(world, points);
  const { account, needs } = process;
  const policy = {
    channels: { alerts: 'C0ALERTS01' },
    roles: {},
    timezone: 'UTC',
    approvals: { channel: 'C0APPROVE1', expire_minutes: 240, rules: [] },
  };
  const settings = { ...account.settings, paymentsAccountId: accountId, policy };
  const people = {
    standingOf: () => points.pass('standing', () => world.standing),
    holdersOf: async () => [bola],
  };
  const approvals = createApprovalRequests(accountOf({ ...account, settings, people }), {
    findCharge: (reference) => process.operations.find(reference),
    submitApproved: process.charges.submitApproved,
    twinsOf: process.charges.twinsOf,
    changeCardEmail: (terms, by) => cardEmails.change(terms, by),
  });
  const gate: ApprovalGate = {
    needFor: (question) => needFor(world.approvalRules, question),
    request: (request) => approvals.requests.request(request),
    find: approvals.requests.find,
    charged: () => Promise.resolve(),
  };
  needs.approvals = gate;
  account.payments.changeCardEmail = () => points.pass('change_email', () => world.emailAnswer);
  const cardEmails = createEmailChanges(account, undefined, gate);
  /** Also waits for the charges that approvals began. */
  async function drained(): Promise<void> {
    await approvals.drained();
    await process.drained();
  }
  async function workOn(entry: Entry): Promise<void> {
    await (entry.key.startsWith('approval:') ? approvals.cases[0]?.work(entry) : process.workOn(entry));
    await drained();
  }
  return {
    ...process,
    drained,
    cardEmails,
    gate,
    approvals: approvals.requests,
    workOn,
    /** Does all work that gets due within this time, like the worker. */
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

/** Requests approval of the usual charge. */
export async function asked(process: ApprovalProcess): Promise<Approval> {
  const result = await submit(process);
  if (result.kind !== 'awaiting_approval') throw new Error(result.kind);
  return result.approval;
}

/** Another person approves; resolves when the work that follows is done. */
export async function approve(
  process: ApprovalProcess,
  { id, termsHash }: Approval,
  by = bola,
  despite: readonly string[] = [],
) {
  const result = await process.approvals.approve({ id, by, termsHash, despite });
  await process.drained();
  return result;
}
