import { nextLookAtMs } from '../../domain/approval-decision.ts';
import type { Approval, ApprovalShown, ApprovalTerms } from '../../domain/approval.ts';
import { growingDelayMs } from '../../domain/growing-delay.ts';
import { withoutUndefined } from '../../domain/without-undefined.ts';
import type { Entry, Index } from '../../store/store.ts';
import type { Sealer } from '../../domain/sealer.ts';

/** One request as the store keeps it, sealed whole. */
export type ApprovalRecord = {
  approval: Approval;
  /** Gone once nothing more is to be done: they hold a token key. */
  terms?: ApprovalTerms;
  /** Rises with everything that is to be told; `told`: up to which it was. */
  turn: number;
  told: number;
  /** So many lines of its audit are on the chain. */
  audited: number;
  /** Who is doing what was approved; another may take over when `untilMs` is over. */
  run?: { id: string; untilMs: number };
  /** What cannot be asked twice was asked: from here on nobody asks again. */
  asked?: true;
  /** How often doing it was put off in a row. */
  misses: number;
};

export const approvalPrefix = 'approval:';

export function approvalKey(id: string): string {
  return `${approvalPrefix}${id}`;
}

/** The lists of requests: those not decided and done yet, and each person's own, in the order they were asked for. */
export const approvalLists = { open: 'open-approvals', of: (userId: string) => `approvals-of:${userId}` };

export function listsOfApproval({ approval }: ApprovalRecord): Index {
  const { by, askedAtMs } = approval;
  const open = isEnded(approval) ? {} : { [approvalLists.open]: askedAtMs };
  return { [approvalLists.of(by)]: askedAtMs, ...open };
}

function isEnded({ state }: Approval): boolean {
  return state.kind !== 'waiting' && state.kind !== 'approved';
}

export function sealApproval(sealer: Sealer, record: ApprovalRecord): string {
  return sealer.seal(approvalKey(record.approval.id), JSON.stringify(record));
}

/** It was typed when it was sealed, under a key only this program holds. Throws when it was sealed with a lost key. */
export function openApproval(sealer: Sealer, entry: Pick<Entry, 'key' | 'value'>): ApprovalRecord {
  return JSON.parse(sealer.open(entry.key, entry.value)) as ApprovalRecord;
}

/** Without the token key: what goes to Slack is made of this alone. */
export function shownOf(terms: ApprovalTerms): ApprovalShown {
  switch (terms.kind) {
    case 'charge': {
      const { reference, card: cardFingerprint, overridesRest, terms: agreed } = terms;
      const { money, card, customerEmail, customerId, reason, alert } = agreed;
      return {
        kind: 'charge',
        reference,
        money,
        card,
        cardFingerprint,
        customerEmail,
        ...withoutUndefined({ customerId, reason, alert, overridesRest }),
      };
    }
    case 'card_email': {
      const { card, currentEmail, newEmail } = terms.terms;
      return { kind: 'card_email', card, cardFingerprint: terms.card, currentEmail, newEmail };
    }
    case 'redrive':
      return terms;
  }
}

const firstAgainMs = 2_000;
const longestAgainMs = 60_000;

/** How long it rests once all of it is told; undefined when nothing is left to do but to remember it. */
export function restOf({ approval, run, misses }: ApprovalRecord, nowMs: number): number | undefined {
  const lookAtMs = nextLookAtMs(approval);
  if (lookAtMs !== undefined) return Math.max(0, lookAtMs - nowMs);
  if (approval.state.kind !== 'approved') return undefined;
  if (run) return Math.max(0, run.untilMs - nowMs);
  return misses === 0 ? 0 : growingDelayMs(firstAgainMs, misses - 1, longestAgainMs);
}
