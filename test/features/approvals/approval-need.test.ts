import { describe, expect, it } from 'vitest';
import { needFor } from '../../../src/features/approvals/approval-case.ts';
import type { ApprovalRule } from '../../../src/domain/approval.ts';

const rules: ApprovalRule[] = [
  { what: 'charge', currency: 'NGN', fromMinor: 5_000_000, needed: 1 },
  { what: 'charge', currency: 'NGN', fromMinor: 50_000_000, needed: 2 },
  { what: 'charge', currency: 'USD', fromMinor: 0, needed: 1 },
  { what: 'retry', needed: 1 },
  { what: 'card_email', needed: 3 },
];
const charge = (minor: number, currency = 'NGN') => ({ kind: 'charge', money: { minor, currency } }) as const;

describe('needFor', () => {
  it('asks nobody below the threshold, and one person from it on', () => {
    expect(needFor(rules, charge(4_999_999))).toBeUndefined();
    expect(needFor(rules, charge(5_000_000))).toEqual({
      needed: 1,
      rule: 'Charges from NGN 50,000.00 need one approver',
    });
  });

  it('goes by the rule that asks for the most', () => {
    expect(needFor(rules, charge(50_000_000))).toEqual({
      needed: 2,
      rule: 'Charges from NGN 500,000.00 need 2 different approvers',
    });
    const reversed = rules.toReversed();
    expect(needFor(reversed, charge(50_000_000))).toEqual(needFor(rules, charge(50_000_000)));
  });

  it('knows every currency by rules of its own', () => {
    expect(needFor(rules, charge(1, 'USD'))).toEqual({ needed: 1, rule: 'Charges in USD need one approver' });
    expect(needFor(rules, charge(99_999_999, 'GHS'))).toBeUndefined();
  });

  it('judges an override as an override and as a charge: it is no easier way to a large amount', () => {
    const override = { ...charge(1), overridesRest: true } as const;
    expect(needFor(rules, override)).toEqual({
      needed: 1,
      rule: 'Charging a card on hold needs one approver',
    });
    expect(needFor(rules, { ...charge(50_000_000), overridesRest: true })).toMatchObject({ needed: 2 });
    expect(needFor(rules, { kind: 'retry' })).toMatchObject({ needed: 1 });
    expect(needFor([], { kind: 'retry' })).toBeUndefined();
  });

  it('asks for what has no amount by its own rule alone', () => {
    expect(needFor(rules, { kind: 'card_email' })).toEqual({
      needed: 3,
      rule: 'Changing a saved card’s e-mail needs 3 different approvers',
    });
    expect(needFor(rules.slice(0, -1), { kind: 'card_email' })).toBeUndefined();
  });
});
