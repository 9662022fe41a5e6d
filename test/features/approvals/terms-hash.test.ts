import { describe, expect, it } from 'vitest';
import type { ApprovalTerms } from '../../../src/domain/approval.ts';
import type { OrderReference } from '../../../src/domain/order-reference.ts';
import { termsHash } from '../../../src/features/approvals/approval-case.ts';
import { approvalId } from '../../../src/records/reference-of.ts';

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
    ['twin', { ...charge, despite: 'pay-twin' }],
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

it('names what has no reference of its own by apr- and 26 characters', () => {
  expect(approvalId('x')).toMatch(/^apr-[a-z2-7]{26}$/);
  expect(approvalId('x')).toBe(approvalId('x'));
  expect(approvalId('x')).not.toBe(approvalId('y'));
});
