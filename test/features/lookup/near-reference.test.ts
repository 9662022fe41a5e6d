import { expect, it } from 'vitest';
import type { OrderReference } from '../../../src/domain/order-reference.ts';
import { createFoundLately } from '../../../src/features/lookup/near-reference.ts';

it.each([
  ['INV-2041', 'inv-2041', true],
  ['INV-2041', 'INV-2042', true],
  ['INV-2041', 'INV-204', true],
  ['INV-2041', 'INV-20441', true],
  ['INV-2041', 'INV-2401', true],
  ['INV-2041', 'INV-2014', true],
  ['INV-2041', 'INV-2052', false],
  ['INV-2041', 'INV-20', false],
  ['INV-2041', 'INV-4021', false],
  ['A1', 'A2', false],
])('%s and %s are near: %s', (one, other, near) => {
  for (const [found, typed] of [
    [one, other],
    [other, one],
  ]) {
    const lately = createFoundLately();
    lately.add('U0ADA', found as OrderReference);
    expect(lately.near('U0ADA', typed as OrderReference)).toBe(near ? found : undefined);
  }
});

it('offers the newest near reference that this person found, and none that others found', () => {
  const [first, second, typed] = ['INV-2041', 'INV-2042', 'INV-2043'] as OrderReference[];
  if (!first || !second || !typed) throw new Error('three references');
  const lately = createFoundLately();
  lately.add('U0ADA', first);
  lately.add('U0ADA', second);
  expect(lately.near('U0ADA', typed)).toBe(second);
  expect(lately.near('U0ADA', second)).toBe(first);
  expect(lately.near('U0ADA', 'inv-2041' as OrderReference), 'only the case differs').toBe(first);
  expect(lately.near('U0BOLA', typed)).toBeUndefined();
  for (let number = 0; number < 20; number += 1) lately.add('U0ADA', `OTHER-${number}00` as OrderReference);
  expect(lately.near('U0ADA', typed)).toBeUndefined();
});
