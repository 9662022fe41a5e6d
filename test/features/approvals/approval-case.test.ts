import { describe, expect, it } from 'vitest';
import type {
  Approval,
  ApprovalQuestion,
  ApprovalRule,
  ApprovalTerms,
} from '../../../src/domain/approval.ts';
import type { OrderReference } from '../../../src/domain/order-reference.ts';
import {
  decide,
  executeWithinMs,
  needFor,
  nextDeadlineMs,
  termsHash,
  whyNotExecute,
  type ApprovalEvent,
} from '../../../src/features/approvals/approval-case.ts';

const hourMs = 3_600_000;
const [ada, bola, chidi] = ['U0ADA0001', 'U0BOLA001', 'U0CHIDI01'];
const fresh: Approval = {
  id: 'apr-1',
  shown: {
    kind: 'card_email',
    card: 'card',
    terms: { card: {}, currentEmail: 'a@example.com', newEmail: 'b@example.com' },
  },
  termsHash: 'hash',
  rule: 'Changing a saved card’s e-mail needs one approver',
  by: ada,
  askedAtMs: 0,
  expiresAtMs: 4 * hourMs,
  needed: 1,
  approvals: [],
  isWarned: false,
  state: { kind: 'waiting' },
};
const approve = (by: string, termsHash = 'hash'): ApprovalEvent => ({ kind: 'approve', by, termsHash });

/** The request after these events, each at its time. */
function after(approval: Approval, ...events: readonly (readonly [number, ApprovalEvent])[]): Approval {
  return events.reduce((before, [atMs, event]) => decide(before, event, atMs).approval, approval);
}

describe('decide', () => {
  it('takes the first decision; a later one has no effect and gets “over”', () => {
    const approved = decide(fresh, approve(bola), hourMs);
    expect(approved).toMatchObject({
      kind: 'decided',
      approval: { state: { kind: 'approved', atMs: hourMs }, approvals: [{ by: bola, atMs: hourMs }] },
    });
    const late: ApprovalEvent[] = [
      approve(chidi),
      { kind: 'refuse', by: chidi, reason: 'no' },
      { kind: 'withdraw', by: ada },
    ];
    for (const event of late) {
      const judged = decide(approved.approval, event, hourMs + 1);
      expect(judged).toEqual({ kind: 'over', approval: approved.approval });
    }
  });

  const half = after({ ...fresh, needed: 2 }, [1, approve(bola)]);
  const [own, last] = [{ kind: 'refuse', by: ada, reason: 'x' } as const, fresh.expiresAtMs];
  it.each<[string, Approval, ApprovalEvent, number, string, string]>([
    ['refuses the requester’s own approval', fresh, approve(ada), 1, 'own_request', 'waiting'],
    ['refuses the requester’s own refusal', fresh, own, 1, 'own_request', 'waiting'],
    ['lets the requester withdraw', fresh, { kind: 'withdraw', by: ada }, 1, 'decided', 'withdrawn'],
    ['lets nobody else withdraw', fresh, { kind: 'withdraw', by: bola }, 1, 'not_theirs', 'waiting'],
    ['refuses a second approval by the same person', half, approve(bola), 2, 'approved_before', 'waiting'],
    ['is approved by the second of two people', half, approve(chidi), 2, 'decided', 'approved'],
    [
      'lets somebody refuse after approving',
      half,
      { kind: 'refuse', by: bola, reason: 'x' },
      2,
      'decided',
      'refused',
    ],
    ['refuses an approval of other terms', fresh, approve(bola, 'another'), 1, 'other_terms', 'waiting'],
    ['takes an approval until the deadline', fresh, approve(bola), last - 1, 'decided', 'approved'],
    ['expires at the deadline, instead of being refused', fresh, approve(bola), last, 'over', 'expired'],
  ])('%s', (...[, before, event, atMs, kind, state]) => {
    const judged = decide(before, event, atMs);
    expect(judged).toMatchObject({ kind, approval: { state: { kind: state } } });
    expect(judged.approval === before).toBe(state === 'waiting');
  });

  it('warns once after three quarters of the time, and expires at the deadline', () => {
    expect(nextDeadlineMs(fresh)).toBe(3 * hourMs);
    expect(decide(fresh, { kind: 'due' }, 3 * hourMs - 1).kind).toBe('nothing_due');
    const warned = after(fresh, [3 * hourMs, { kind: 'due' }]);
    expect(warned).toEqual({ ...fresh, isWarned: true });
    expect(decide(warned, { kind: 'due' }, 3 * hourMs + 1).kind).toBe('nothing_due');
    expect(nextDeadlineMs(warned)).toBe(4 * hourMs);
    const expired = after(warned, [4 * hourMs, { kind: 'due' }]);
    expect(expired.state).toEqual({ kind: 'expired', atMs: 4 * hourMs });
    expect(nextDeadlineMs(expired)).toBeUndefined();
  });

  it('ends an approved request once, and never one that waits', () => {
    const done: ApprovalEvent = { kind: 'executed', result: 'done' };
    expect(decide(fresh, done, 1)).toEqual({ kind: 'over', approval: fresh });
    const executed = after(fresh, [1, approve(bola)], [2, done]);
    expect(executed.state).toEqual({ kind: 'executed', atMs: 2, result: 'done' });
    expect(decide(executed, { kind: 'stopped', why: 'late' }, 3)).toEqual({
      kind: 'over',
      approval: executed,
    });
  });
});

describe('whyNotExecute', () => {
  const approved = after(fresh, [hourMs, approve(bola)]);

  it('lets an approved request through until its deadline, or 15 minutes after a late approval', () => {
    expect(whyNotExecute(approved, 'hash', hourMs)).toBeUndefined();
    expect(whyNotExecute(approved, 'hash', fresh.expiresAtMs - 1)).toBeUndefined();
    expect(whyNotExecute(approved, 'hash', fresh.expiresAtMs)).toContain('its time was over');
    const lastMoment = after(fresh, [fresh.expiresAtMs - 1, approve(bola)]);
    expect(whyNotExecute(lastMoment, 'hash', fresh.expiresAtMs)).toBeUndefined();
    expect(whyNotExecute(lastMoment, 'hash', fresh.expiresAtMs - 1 + executeWithinMs)).toBeDefined();
  });

  it.each<[string, Approval, string]>([
    ['other terms', approved, 'another'],
    ['too few people', { ...approved, needed: 2 }, 'hash'],
    [
      'one person twice',
      { ...approved, needed: 2, approvals: [...approved.approvals, ...approved.approvals] },
      'hash',
    ],
    ['the requester', { ...approved, approvals: [{ by: ada, atMs: 1 }] }, 'hash'],
    ['an approval after the end', { ...approved, approvals: [{ by: bola, atMs: 4 * hourMs }] }, 'hash'],
    ['a refusal', { ...approved, state: { kind: 'refused', atMs: 1, by: bola, reason: '' } }, 'hash'],
  ])('stops %s, even if it is stored as approved', (_, stored, hash) => {
    expect(whyNotExecute(stored, hash, hourMs)).toEqual(expect.any(String));
  });
});

const rules: ApprovalRule[] = [
  { what: 'charge', currency: 'NGN', fromMinor: 5_000_000, needed: 1 },
  { what: 'charge', currency: 'NGN', fromMinor: 50_000_000, needed: 2 },
  { what: 'charge', currency: 'USD', fromMinor: 0, needed: 1 },
  { what: 'retry', needed: 1 },
  { what: 'card_email', needed: 3 },
];
const of = (minor: number, currency = 'NGN') => ({ kind: 'charge', money: { minor, currency } }) as const;
const [one, two] = [
  'Charges from NGN 50,000.00 need one approver',
  'Charges from NGN 500,000.00 need 2 different approvers',
];

describe('needFor', () => {
  it.each<[string, ApprovalQuestion, number | undefined, string?]>([
    ['no approval below the threshold', of(4_999_999), undefined],
    ['one approver from the threshold on', of(5_000_000), 1, one],
    ['as many approvers as the strictest rule', of(50_000_000), 2, two],
    ['the approvers of the currency’s own rule', of(1, 'USD'), 1, 'Charges in USD need one approver'],
    ['no approval for a currency without a rule', of(99_999_999, 'GHS'), undefined],
    [
      'the approvers of the rule for a card on hold',
      { ...of(1), overridesRest: true },
      1,
      'Charging a card on hold needs one approver',
    ],
    [
      'the approvers of the charge’s rule too, for a card on hold',
      { ...of(50_000_000), overridesRest: true },
      2,
      two,
    ],
    [
      'the approvers of an override before there is a charge',
      { kind: 'retry' },
      1,
      'Charging a card on hold needs one approver',
    ],
    [
      'the approvers of a change of e-mail',
      { kind: 'card_email' },
      3,
      'Changing a saved card’s e-mail needs 3 different approvers',
    ],
  ])('needs %s', (_what, question, needed, rule) => {
    const need = needed === undefined ? undefined : { needed, rule };
    expect(needFor(rules, question)).toEqual(need);
    expect(needFor(rules.toReversed(), question)).toEqual(need);
    expect(needFor([], question)).toBeUndefined();
  });
});

const account = '8b0e2f74-16c9-4d3a-b5a7-90c4d1e26f38';
const charge = {
  kind: 'charge' as const,
  reference: 'pay-abc' as OrderReference,
  terms: {
    tokenKey: 'canary-token',
    card: { cardType: 'Visa', lastFour: '4242' },
    money: { minor: 1_250_000, currency: 'NGN' },
    customerEmail: 'jane@example.com',
    reason: 'March',
  },
  card: 'fingerprint',
  viewId: 'V1',
};
const hash = termsHash(account, charge);

const change = (currentEmail: string, newEmail: string): string =>
  termsHash(account, {
    kind: 'card_email',
    card: 'f',
    terms: { card: {}, currentEmail, newEmail },
  });

describe('termsHash', () => {
  it('is SHA-256 in hex, and the same for the same terms, whatever the order of their fields', () => {
    expect(hash).toMatch(/^[0-9a-f]{64}$/);
    const { terms, ...rest } = charge;
    expect(termsHash(account, { terms: { ...terms }, ...rest })).toBe(hash);
    expect(termsHash(account.toUpperCase(), charge)).toBe(hash);
  });

  it.each<[string, ApprovalTerms]>([
    ['amount', { ...charge, terms: { ...charge.terms, money: { minor: 1_250_001, currency: 'NGN' } } }],
    ['currency', { ...charge, terms: { ...charge.terms, money: { minor: 1_250_000, currency: 'USD' } } }],
    ['e-mail', { ...charge, terms: { ...charge.terms, customerEmail: 'jane@example.org' } }],
    ['customer id', { ...charge, terms: { ...charge.terms, customerId: 'C-1' } }],
    ['alert', { ...charge, terms: { ...charge.terms, alert: 'a1' } }],
    ['reference', { ...charge, reference: 'pay-abd' as OrderReference }],
    ['card', { ...charge, card: 'fingerprint-2' }],
    ['twin', { ...charge, despite: ['pay-twin'] }],
    ['override', { ...charge, overridesRest: true }],
  ])('changes with the %s', (_, other) => {
    expect(termsHash(account, other)).not.toBe(hash);
  });

  it('changes with the account, and with both addresses of a change of e-mail', () => {
    expect(termsHash('1c6f6a0e-5d0b-4c3e-9d55-0a7c1f0b7e21', charge)).not.toBe(hash);
    // Neighbouring texts don't run together.
    expect(
      new Set([change('a@b.co', 'c@d.co'), change('a@b.co,c', '@d.co'), change('c@d.co', 'a@b.co')]).size,
    ).toBe(3);
  });

  it('does not change with the agent’s reason, the card’s face and the modal, which are not sent', () => {
    const { reason: _reason, ...silent } = charge.terms;
    expect(termsHash(account, { ...charge, terms: { ...silent, card: {} }, viewId: 'V2' })).toBe(hash);
  });
});
