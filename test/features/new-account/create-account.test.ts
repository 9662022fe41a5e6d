import { expect, it } from 'vitest';
import type { AccountAnswer } from '../../../src/payments/accounts.ts';
import { endOfLookUp, generateAccountRef } from '../../../src/features/new-account/create-account.ts';

const wanted = { accountName: 'Yaba Kiosk' };
const refused = { kind: 'refused', message: undefined } as const;
const found = (account: { accountName?: string }): AccountAnswer => ({ kind: 'found', account });

// How often an account is requested, and what people are told: test/records/cases.test.ts.
it.each<[string, AccountAnswer, object]>([
  ['not found', { kind: 'not_found' }, { kind: 'doubt', lookUp: 'not_found' }],
  ['found', found({ accountName: 'Yaba Kiosk' }), { kind: 'created' }],
  ['of another name', found({ accountName: 'X' }), { kind: 'doubt', lookUp: 'another' }],
  ['refused', refused, { kind: 'doubt', lookUp: 'failed' }],
  ['found without a name', found({}), { kind: 'doubt', lookUp: 'failed' }],
])('a new account whose answer was lost is looked up: %s', (_what, answer, end) => {
  expect(endOfLookUp({ wanted }, answer)).toMatchObject(end);
  expect(endOfLookUp({ wanted, settled: 'created' }, answer).kind).toBe('created');
});

it('generates references of exactly 20 characters, the same for the same view', () => {
  const byDefault = { shortest: 20, longest: 20 };
  const refs = Array.from({ length: 500 }, (_, index) => generateAccountRef(`V${index}`, byDefault));
  expect(refs.every((ref) => /^PAY[A-HJ-NP-Z2-9]{17}$/.test(ref))).toBe(true);
  expect(new Set(refs).size).toBe(500);
  expect(generateAccountRef('V1', byDefault)).toBe(refs[1]);
  expect(generateAccountRef('V1', { shortest: 6, longest: 12 })).toHaveLength(12);
  expect(generateAccountRef('V1', { shortest: 0, longest: 3_000 })).toHaveLength(20);
});
