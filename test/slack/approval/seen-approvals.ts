import type { Approval, ApprovalState } from '../../../src/domain/approval.ts';
import type { OrderReference } from '../../../src/domain/order-reference.ts';

export const [agent, lead, onCall] = ['U0AGENT01', 'U0LEAD0001', 'U0ONCALL01'];
export const at = Date.UTC(2026, 10, 21, 14, 2);

/** A charge that needs one approver, not decided yet; `change` says what is different. */
export function anApproval(change: Partial<Approval> = {}): Approval {
  return {
    id: 'pay-mfrggzdfmztwq2lknnwg23tpob',
    shown: {
      kind: 'charge',
      reference: 'pay-mfrggzdfmztwq2lknnwg23tpob' as OrderReference,
      money: { minor: 1_250_000, currency: 'NGN' },
      card: { cardType: 'Visa', lastFour: '4242' },
      cardFingerprint: '3f9a0d1c2b4e5f60718293a4b5c6d7e8',
      customerEmail: 'jane.doe@example.com',
      customerId: 'CUST-7',
      reason: 'Renewal, asked for by phone',
    },
    termsHash: '81acf00d99887766554433221100ffeeddccbbaa',
    rule: 'Charges from NGN 10,000.00 need one approver',
    by: agent,
    askedAtMs: at,
    expiresAtMs: at + 4 * 3_600_000,
    needed: 1,
    approvals: [],
    isWarned: false,
    state: { kind: 'waiting' },
    ...change,
  };
}

const approvals = [{ by: lead, atMs: at }];

/** One in every state there is. */
export const everyState: readonly Approval[] = (
  [
    { kind: 'waiting' },
    { kind: 'approved', atMs: at },
    { kind: 'executed', atMs: at, result: 'The charge was begun.' },
    { kind: 'stopped', atMs: at, why: 'The card has no attempt left.' },
    { kind: 'refused', atMs: at, by: lead, reason: 'The order was cancelled' },
    { kind: 'expired', atMs: at },
    { kind: 'withdrawn', atMs: at },
  ] satisfies ApprovalState[]
).map((state) =>
  anApproval({
    state,
    approvals: ['approved', 'executed', 'stopped'].includes(state.kind) ? approvals : [],
  }),
);
