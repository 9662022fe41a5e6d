import { setTimeout as sleep } from 'node:timers/promises';
import { approvalRules } from '../config/approval-checks.ts';
import { chargesFrom, needFor } from '../domain/approval-rules.ts';
import type { AuditNotes } from '../operations/audit/audit-notes.ts';
import type { HoldersOf, StandingOf } from '../domain/standing.ts';
import type { ApprovalDesk, ApprovalGate, TellApproval } from '../operations/approval/approval-desk.ts';
import { createApprovals, type Approvals as Deciding } from '../operations/approval/approvals.ts';
import {
  createTellApproval,
  type ApprovalTelling,
  type TellApprovalDeps,
} from '../operations/approval/tell-approval.ts';
import { termsHash } from '../operations/approval/terms-hash.ts';
import { openFingerprint } from '../operations/work/fingerprint.ts';
import type { MerchantIds } from '../slack/merchant-ids.ts';
import { createShowApproval } from '../slack/show-approval.ts';
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
  tell: TellApproval;
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
function createApprovalsOf(outside: Outside, parts: ApprovalParts): Approvals {
  const { config, log, now } = outside;
  const { kept, tell, hands } = parts;
  const { store, sealer } = kept;
  const { approvals: policy } = config.policy;
  const rules = approvalRules(config.policy, config.merchant?.name);
  const background = createBackground(outside, 'what was approved');
  const accountId = config.paymentsAccountId ?? '';
  const deciding = createApprovals({
    store,
    sealer,
    rememberMs: config.chargeRememberDays * 86_400_000,
    expireMs: (policy?.expire_minutes ?? usualExpireMinutes) * 60_000,
    termsHash: (terms) => termsHash(accountId, terms),
    fingerprint: openFingerprint({ store, sealer, log }),
    standingOf: parts.standingOf,
    chargeExists: async (reference) => (await hands().charges.find(reference)) !== undefined,
    submitApproved: (charge, atMs) => hands().charges.submitApproved(charge, atMs),
    changeCardEmail: (terms, by) => hands().charges.cardEmails.change(terms, by),
    deliverAgain: (channel) => hands().undelivered.deliverAgain(channel),
    tell,
    audit: parts.notes.write,
    wake: parts.wake,
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
    async charged(reference: string) {
      const approval = await desk.find(reference);
      if (approval) await tell.refresh(approval);
    },
  };
  return {
    desk,
    gate: rules.length > 0 ? gate : undefined,
    work: (entry) => deciding.work(entry),
    drained: background.drained,
  };
}

type FourEyesParts = Omit<ApprovalParts, 'tell'> &
  Omit<TellingParts, 'approvers' | 'find'> & { holdersOf: HoldersOf };

/** Deciding and telling, which ask each other: what is decided is told, and what is told is what was decided. */
export function createFourEyes(
  outside: Outside,
  { holdersOf, ...parts }: FourEyesParts,
): { telling: ApprovalTelling; approvals: Approvals } {
  const telling = createApprovalTelling(outside, {
    ...parts,
    approvers: () => holdersOf('approve'),
    find: (id) => approvals.desk.find(id),
  });
  const approvals: Approvals = createApprovalsOf(outside, { ...parts, tell: telling });
  return { telling, approvals };
}

type TellingParts = Pick<TellApprovalDeps, 'approvers' | 'find' | 'wake'> & {
  kept: Kept;
  clients: SlackClients;
  /** The ids of its windows; undefined in a bot that knows one account alone. */
  ids: MerchantIds | undefined;
};

/** Where requests for a second person are told. */
function createApprovalTelling({ config, log, now }: Outside, parts: TellingParts): ApprovalTelling {
  const { kept, clients, ids, ...rest } = parts;
  return createTellApproval({
    ...rest,
    store: kept.store,
    sealer: kept.sealer,
    channel: config.policy.approvals?.channel,
    show: createShowApproval({ client: clients.interactive, place: chargePlace(config), log, ids }),
    rememberMs: config.chargeRememberDays * 86_400_000,
    now,
  });
}
