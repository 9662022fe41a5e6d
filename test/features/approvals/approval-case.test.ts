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
  nextLookAtMs,
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

/** The one given after these events, each at its time. */
function after(approval: Approval, ...events: readonly (readonly [number, ApprovalEvent])[]): Approval {
  return events.reduce((before, [atMs, event]) => decide(before, event, atMs).approval, approval);
}

describe('a decision of a second person', () => {
  it('is the first that comes; whoever is later is told that it is over, and nothing changes', () => {
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
    ['is never the requester’s approval', fresh, approve(ada), 1, 'own_request', 'waiting'],
    ['is never the requester’s refusal', fresh, own, 1, 'own_request', 'waiting'],
    ['is taken back by the requester', fresh, { kind: 'withdraw', by: ada }, 1, 'decided', 'withdrawn'],
    ['is taken back by nobody else', fresh, { kind: 'withdraw', by: bola }, 1, 'not_theirs', 'waiting'],
    ['is not the same person’s twice', half, approve(bola), 2, 'approved_before', 'waiting'],
    ['is enough by another person', half, approve(chidi), 2, 'decided', 'approved'],
    ['is no by one who said yes', half, { kind: 'refuse', by: bola, reason: 'x' }, 2, 'decided', 'refused'],
    ['is none about other terms', fresh, approve(bola, 'another'), 1, 'other_terms', 'waiting'],
    ['is in time until its end', fresh, approve(bola), last - 1, 'decided', 'approved'],
    ['is over at its end, and that is no refusal', fresh, approve(bola), last, 'over', 'expired'],
  ])('%s', (...[, before, event, atMs, kind, state]) => {
    const judged = decide(before, event, atMs);
    expect(judged).toMatchObject({ kind, approval: { state: { kind: state } } });
    expect(judged.approval === before).toBe(state === 'waiting');
  });

  it('is warned of once when three quarters of its time are over, and expires by its clock alone', () => {
    expect(nextLookAtMs(fresh)).toBe(3 * hourMs);
    expect(decide(fresh, { kind: 'due' }, 3 * hourMs - 1).kind).toBe('nothing_due');
    const warned = after(fresh, [3 * hourMs, { kind: 'due' }]);
    expect(warned).toEqual({ ...fresh, isWarned: true });
    expect(decide(warned, { kind: 'due' }, 3 * hourMs + 1).kind).toBe('nothing_due');
    expect(nextLookAtMs(warned)).toBe(4 * hourMs);
    const expired = after(warned, [4 * hourMs, { kind: 'due' }]);
    expect(expired.state).toEqual({ kind: 'expired', atMs: 4 * hourMs });
    expect(nextLookAtMs(expired)).toBeUndefined();
  });

  it('is executed or stopped once, and only what was approved', () => {
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

  it('lets through what was approved in time, for as long as the request would have lasted', () => {
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
  ])('stops %s, however it came to be kept', (_, kept, hash) => {
    expect(whyNotExecute(kept, hash, hourMs)).toEqual(expect.any(String));
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
    ['nobody below the threshold', of(4_999_999), undefined],
    ['one person from it on', of(5_000_000), 1, one],
    ['as many as the rule that asks for the most', of(50_000_000), 2, two],
    ['whom a currency’s own rule says', of(1, 'USD'), 1, 'Charges in USD need one approver'],
    ['nobody for a currency without a rule', of(99_999_999, 'GHS'), undefined],
    ['an override’s', { ...of(1), overridesRest: true }, 1, 'Charging a card on hold needs one approver'],
    [
      'an override and the charge, which is no easier way',
      { ...of(50_000_000), overridesRest: true },
      2,
      two,
    ],
    [
      'whether an override may be asked for',
      { kind: 'retry' },
      1,
      'Charging a card on hold needs one approver',
    ],
    [
      'what has no amount by its own rule',
      { kind: 'card_email' },
      3,
      'Changing a saved card’s e-mail needs 3 different approvers',
    ],
  ])('asks %s', (_what, question, needed, rule) => {
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

  it('changes with the account, and with each address of a change of e-mail', () => {
    expect(termsHash('1c6f6a0e-5d0b-4c3e-9d55-0a7c1f0b7e21', charge)).not.toBe(hash);
    // No two texts run into one another.
    expect(
      new Set([change('a@b.co', 'c@d.co'), change('a@b.co,c', '@d.co'), change('c@d.co', 'a@b.co')]).size,
    ).toBe(3);
  });

  it('does not depend on what changes nothing that is sent: the agent’s words, the card’s face, the dialogue', () => {
    const { reason: _reason, ...silent } = charge.terms;
    expect(termsHash(account, { ...charge, terms: { ...silent, card: {} }, viewId: 'V2' })).toBe(hash);
  });
});
