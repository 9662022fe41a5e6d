import { randomInt } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createRandom, type Random } from '../chaos/random.ts';
import { candidateReferences } from '../../src/domain/candidate-references.ts';

const own = 'pay-mfrggzdfmztwq2lknnwg23tpob';

describe('candidateReferences', () => {
  it.each([
    ['is INV-2041 paid?', ['INV-2041']],
    [`the charge ${own}, twice`, [own]],
    ['Customer says (ORDER_17/B) failed.', ['ORDER_17/B']],
    ['Reference: SPRING', ['SPRING']],
    ['order no. #A1, ref=B2', ['A1', 'B2']],
    ['look at “ORDER 17 B” please', ['ORDER 17 B']],
    ['`ORD 1` and `ORD 2`', ['ORD 1', 'ORD 2']],
    ['20261121001 was charged', ['20261121001']],
    ['заказ-17 и 注文-18', ['заказ-17', '注文-18']],
    ['INV-1 and INV-1 again', ['INV-1']],
    ['Order #10023 failed, and invoice 2041 too', ['10023', '2041']],
  ])('finds in %j %j', (text, expected) => {
    expect(candidateReferences([text])).toEqual(expected);
  });

  it.each([
    'thanks, I will look',
    'an order of 12 items, order 12 more; invoice 5,000.00 paid',
    'NGN 12,500.00 on 2026-11-21 at 14:32, the 3rd in 24h',
    'call +2348012345678 or write to ada1@example.com',
    'see https://example.com/orders/INV-9 and www.example2.com',
    '₦5,000 or $12.50, 100%, 192.168.1.1',
    'order id 9f0c3f0e-1111-4222-8333-444455556666',
    'Visa ·· 4081',
    '',
  ])('finds nothing in %j', (text) => {
    expect(candidateReferences([text])).toEqual([]);
  });

  it('puts the most certain first, each once, at most ten', () => {
    const many = Array.from({ length: 30 }, (_, index) => `X-${index}`).join(' ');
    const found = candidateReferences([`${many} Reference: SPRING "ORDER 17 B" ${own}`]);
    expect(found.slice(0, 3)).toEqual([own, 'ORDER 17 B', 'SPRING']);
    expect(found).toHaveLength(10);
  });

  it('finds a reference of 50 characters of any kind, and none of 51', () => {
    const longest = `Ω1${'𝒳'.repeat(48)}`;
    expect(candidateReferences([`Reference: ${longest}`])).toEqual([longest]);
    expect(candidateReferences([`Reference: ${longest}𝒳`])).toEqual([]);
  });

  it.each(['-', '.', '\u200B'])('is quick in a message with one long word of %j', (sign) => {
    const text = `a${sign.repeat(38_000)}a INV-2041`;
    const startedAtMs = performance.now();
    expect(candidateReferences([text])).toEqual(['INV-2041']);
    // A quadratic search would take over a second.
    expect(performance.now() - startedAtMs).toBeLessThan(500);
  });

  it.each([
    'card 4111111111111111',
    'card 4111 1111 1111 1111',
    'card 4111-1111-1111-1111',
    'card "4111 1111 1111 1111"',
    'card: 41111111 11111111',
    'ref: 4111111111111111',
    'x4111111111111111',
    'order #41111111 11111111',
    'PAN-41111111 11111111',
  ])('finds nothing in the card number of %j', (text) => {
    expect(candidateReferences([text])).toEqual([]);
  });

  it('finds no part of a card number, with any separator and any words around it', () => {
    const seed = randomInt(2 ** 31);
    const random = createRandom(seed);
    for (let round = 0; round < 3_000; round += 1) {
      const number = cardNumber(random);
      const size = random.pick([4, 8, 16]);
      const groups = number.match(new RegExp(`.{1,${size}}`, 'g')) ?? [];
      const shown = groups.join(random.pick([' ', '-', '  ', '\n']));
      const around = random.pick(['', 'ref: ', 'order #', '“', 'PAN-', 'INV-7 ', 'card=']);
      const text = `${around}${shown}${around === '“' ? '”' : ''} ${random.pick(['', 'INV-2041', 'thanks'])}`;
      const digits = candidateReferences([text]).map((one) => one.replaceAll(/\D/g, '').length);
      expect(Math.max(0, ...digits), `seed ${seed}: ${text}`).toBeLessThanOrEqual(4);
    }
  });

  it('finds a reference beside a card number', () => {
    expect(candidateReferences([`4111 1111 1111 1111 for INV-2041 and ${own}`])).toEqual([own, 'INV-2041']);
  });

  it('is quick in a hostile text', () => {
    const startedAt = performance.now();
    candidateReferences([
      '"'.repeat(40_000),
      'order '.repeat(8_000),
      `ref${' '.repeat(40_000)}`,
      'a-1'.repeat(20_000),
    ]);
    expect(performance.now() - startedAt).toBeLessThan(2_000);
  });
});

/** A Visa number with its check digit. */
function cardNumber(random: Random): string {
  const digits = `4${Array.from({ length: 14 }, () => random.below(10)).join('')}`;
  const sum = [...digits].reduce((total, digit, index) => {
    const doubled = index % 2 === 0 ? Number(digit) * 2 : Number(digit);
    return total + (doubled > 9 ? doubled - 9 : doubled);
  }, 0);
  return `${digits}${(10 - (sum % 10)) % 10}`;
}
