import { setTimeout as sleep } from 'node:timers/promises';
import { approvalRules } from '../config/approval-checks.ts';
import { chargesFrom, needFor } from '../domain/approval-rules.ts';
import type { AuditNotes } from '../audit/audit-notes.ts';
import type { HoldersOf, StandingOf } from '../domain/standing.ts';
import type { ApprovalDesk, ApprovalGate } from '../features/approvals/approval-desk.ts';
import { createApprovals, type Approvals as Deciding } from '../features/approvals/approvals.ts';
import { createMessages } from '../messages/messages.ts';
import { termsHash } from '../features/approvals/terms-hash.ts';
import { openFingerprint } from '../records/fingerprint.ts';
import type { MerchantIds } from '../slack/merchant-ids.ts';
import { createShowApproval } from '../features/approvals/show-approval.ts';
import type { SlackClients } from '../slack/workspace.ts';
import { createBackground } from './background.ts';
import type { Charges } from './charges.ts';
import type { Kept } from './kept.ts';
import { chargePlace } from './merchants.ts';
import type { Outside } from './outside.ts';
import type { Undelivered } from './undelivered.ts';

export type Approvals = {
  desk: ApprovalDesk;
  /** Undefined: `payops.yml` has no rule for this account, and nothing needs a second person. */
  gate: ApprovalGate | undefined;
  work: Deciding['work'];
  /** Resolves when nothing that was approved is being done in this process. */
  drained: () => Promise<void>;
};

type ApprovalParts = {
  kept: Kept;
  standingOf: StandingOf;
  clients: SlackClients;
  holdersOf: HoldersOf;
  /** The ids of its windows; undefined in a bot that knows one account alone. */
  ids: MerchantIds | undefined;
  wake: () => void;
  notes: Pick<AuditNotes, 'write'>;
  /** What does it once it is approved; asked for late, because they ask for approvals themselves. */
  hands: () => {
    charges: Pick<Charges, 'submitApproved' | 'cardEmails' | 'find'>;
    undelivered: Pick<Undelivered, 'deliverAgain'>;
  };
};

/** What is decided when the policy file says nothing of it: a request of earlier may still wait. */
const usualExpireMinutes = 240;

/** Four eyes, put together for one merchant account. */
export function createFourEyes(outside: Outside, parts: ApprovalParts): Approvals {
  const { config, log, now } = outside;
  const { kept, clients, ids, wake, hands } = parts;
  const { store, sealer } = kept;
  const { approvals: policy } = config.policy;
  const rules = approvalRules(config.policy, config.merchant?.name);
  const background = createBackground(outside, 'what was approved');
  const accountId = config.paymentsAccountId ?? '';
  const rememberMs = config.chargeRememberDays * 86_400_000;
  const leaseMs = config.workLeaseSeconds * 1_000;
  const deciding = createApprovals({
    store,
    sealer,
    rememberMs,
    expireMs: (policy?.expire_minutes ?? usualExpireMinutes) * 60_000,
    termsHash: (terms) => termsHash(accountId, terms),
    fingerprint: openFingerprint({ store, sealer, log }),
    standingOf: parts.standingOf,
    chargeExists: async (reference) => (await hands().charges.find(reference)) !== undefined,
    submitApproved: (charge, atMs) => hands().charges.submitApproved(charge, atMs),
    changeCardEmail: (terms, by) => hands().charges.cardEmails.change(terms, by),
    deliverAgain: (channel) => hands().undelivered.deliverAgain(channel),
    messages: createMessages({ store, sealer, rememberMs, leaseMs, now, wake }),
    channel: policy?.channel,
    approvers: () => parts.holdersOf('approve'),
    show: createShowApproval({ client: clients.interactive, place: chargePlace(config), log, ids }),
    audit: parts.notes.write,
    wake,
    inBackground: background.add,
    wait: sleep,
    now,
    log,
  });
  const { desk } = deciding;
  const gate = {
    needFor: (question: Parameters<ApprovalGate['needFor']>[0]) => needFor(rules, question),
    chargesFrom: (currency: string) => chargesFrom(rules, currency),
    desk,
    charged: (reference: string) => deciding.refresh(reference),
  };
  return {
    desk,
    gate: rules.length > 0 ? gate : undefined,
    work: (entry) => deciding.work(entry),
    drained: background.drained,
  };
}
