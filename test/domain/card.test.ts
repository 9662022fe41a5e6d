import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { faceOf, holdsCardNumber, maskNumbers } from '../../src/domain/card.ts';

const zeroWidthSpace = '\u200B';
const softHyphen = '\u00AD';

/** A number for each issuer and length: the networks' published test numbers, or made for this test. */
const numbers = [
  '4111111111111111',
  '4222222222222',
  '5555555555554444',
  '2223003122003222',
  '2720999999999996',
  '378282246310005',
  '30569309025904',
  '38520000023237',
  '6011111111111117',
  '6200000000000005',
  '3530111333300000',
  '5060666666666666666',
  '5061000000000000007',
  '6500020000000000',
  '6759649826438453',
  '501800000009',
];

/** The digits with the check digit that makes them pass the Luhn check. */
function withCheckDigit(digits: string): string {
  const passing = Array.from({ length: 10 }, (_, check) => `${digits}${check}`).find(passesLuhn);
  return passing ?? digits;
}

function passesLuhn(digits: string): boolean {
  const sum = Array.from(digits)
    .toReversed()
    .map((digit, index) => Number(digit) * (index % 2 === 0 ? 1 : 2))
    .reduce((total, part) => total + (part > 9 ? part - 9 : part), 0);
  return sum % 10 === 0;
}

describe('holdsCardNumber', () => {
  it.each(numbers)('knows %s', (number) => {
    expect(holdsCardNumber(number)).toBe(true);
  });

  it.each([
    '4111 1111 1111 1111',
    '4111  1111  1111  1111',
    '4111\u00A01111\u00A01111\u00A01111',
    '4111\n1111\n1111\n1111',
    '5555-5555-5555-4444',
    '5555 - 5555 - 5555 - 4444',
    '5555–5555–5555–4444',
    '4111_1111_1111_1111',
    '4111-1111 1111_1111',
    '4111/1111/1111/1111',
    '5399.8383.8383.8381',
    '3782 822463 10005',
    '3782-822463-10005',
    '3056 930902 5904',
    '5060 6666 6666 6666 666',
    '41111111 11111111',
    '4111 11111111 1111',
    '4 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1',
    '41 11 11 11 11 11 11 11',
    `4111${zeroWidthSpace}1111${zeroWidthSpace}1111${zeroWidthSpace}1111`,
    `411111111111${softHyphen}1111`,
    `\u202D4111 1111 1111 1111\u202C`,
    '４１１１１１１１１１１１１１１１',
    '4️⃣1️⃣1️⃣1️⃣1️⃣1️⃣1️⃣1️⃣1️⃣1️⃣1️⃣1️⃣1️⃣1️⃣1️⃣1️⃣',
  ])('finds one written as %j', (text) => {
    expect(holdsCardNumber(text)).toBe(true);
  });

  it.each([
    '4111 1111 1111 1111 12/27 123',
    '4111 1111 1111 1111 12 27 123',
    '4111111111111111 500',
    '4111111111111111 12,500.00',
    '4111111111111111 12/27',
    '4111111111111111-12-27',
    '4111-1111-1111-1111-12-27',
    '4111-1111-1111-1111/12/27',
    '4111111111111111|12|2027|123',
    ';4111111111111111=27121010000012345678?',
    'PAN4111111111111111',
    'PAN:4111111111111111CVV123',
    'card_4111111111111111',
    'lookup INV-7 4111 1111 1111 1111',
    '12 500 4111 1111 1111 1111',
    'please charge 378282246310005 today',
    '+234 803 123 4567 4111 1111 1111 1111',
    '1a5c0c1e-6a2b-4f7e-9a3e-0c4f5d6e7f80 4111111111111111',
    '<tel:4111111111111111|4111 1111 1111 1111>',
    '{"cardNumber":"4111111111111111"}',
  ])('finds one beside other text: %j', (text) => {
    expect(holdsCardNumber(text)).toBe(true);
  });

  it('finds every number that its issuer could have given, with any text around it', () => {
    const lengths = new Map([
      ['4', 16],
      ['55', 16],
      ['2345', 16],
      ['34', 15],
      ['36', 14],
      ['6011', 16],
      ['623', 19],
      ['3540', 16],
      ['506100', 19],
      ['650002', 18],
      ['6762', 13],
    ]);
    const number = fc.constantFrom(...lengths).chain(([prefix, length]) => {
      const missing = length - prefix.length - 1;
      return fc
        .string({ unit: fc.constantFrom(...'0123456789'), minLength: missing, maxLength: missing })
        .map((digits) => withCheckDigit(prefix + digits));
    });
    const before = fc.constantFrom('', 'PAN', 'pan: ', 'INV-1 ', '500 ', '#');
    const after = fc.constantFrom('', ' 12/27', ' 12/27 123', '-12-27', ' 500', ' 12,500.00', 'exp1227', '.');
    const written = fc.constantFrom<(digits: string) => string>(
      (digits) => digits,
      (digits) => digits.replace(/(\d{4})(?=\d)/g, '$1 '),
      (digits) => digits.replace(/(\d{4})(?=\d)/g, '$1-'),
      (digits) => Array.from(digits).join(zeroWidthSpace),
    );
    fc.assert(
      fc.property(number, before, after, written, (digits, start, end, write) => {
        expect(holdsCardNumber(`${start}${write(digits)}${end}`)).toBe(true);
      }),
    );
  });

  it.each([
    // One digit wrong, or too few, or too many.
    '4111111111111112',
    'ORDER-4111111111111112',
    '4111 1111 1111',
    '41111111111111111111',
    '411111 xxxxxx 1111',
    '**** **** **** 1111',
    // With the right check digit, but no issuer's numbers begin so.
    '1234567812345670',
    '7992739871300008',
    '0000000000000000',
    '41111111111114',
    // References, and references beside their amount.
    'INV-2041',
    'ORD-2026-0411-5512',
    'MRCH_20261120_000000018',
    'TXN/2026/11/000123456789',
    'lookup INV-2041 12,500.00',
    '41234567 12500',
    '45012345678 12509',
    '512345678901 1256',
    '4501234567 812509',
    '41234567 125000.06',
    '36123456 1250.02',
    '50180000 0009',
    'SUB-1001 5000.00',
    // Telephone numbers.
    '+234 803 123 4567',
    '+2348031234567',
    '0803 123 4567',
    '0803 412 3456 0805 123 4569',
    '+49 1512 3456789',
    '+4915123456787',
    '+44 7911 123456',
    '(0)803-412-3456, (0)805-123-4567',
    // Times.
    '20261120191633001',
    '2026-11-20 19:16:33.001',
    '2026-11-20T19:16:33Z',
    '1760000000000',
    '1760000000.123456',
    '1760000000000000000',
    '20261120 191633',
    // Ids: accounts, banks, ours, the service's, Slack's.
    '45321234-5678-4122-8123-411111111111',
    '41111111-1111-4111-8111-111111111111',
    '1a5c0c1e-6a2b-4f7e-9a3e-4111111111111',
    '8b0e2f74-16c9-4d3a-b5a7-90c4d1e26f38',
    'FR76 3000 6000 0112 3456 7890 189',
    'DE89 3704 0044 0532 0130 00',
    'GB29 NWBK 6016 1331 9268 19',
    '0123456789 22345678901',
    'pay-abcdefghijklmnopqrstuvwxyz',
    'pay-4b5c2d3e6f7g2h3i4j5k6l7m2n',
    'evt_1MqqbKLt4dXK03v5qaIbNCCG',
    'payment_success/order/INV-2041',
    'once:slash:1234567890123.4567890123.0123456789abcdef0123456789abcdef',
    'C0123ALERTS U0123LEAD1 1789393020.123456',
    'a94a8fe5ccb19ba61c4c0873d391e987982fbbd3',
    // Money.
    'NGN 12,500.00',
    '4,111,111,111,111.00',
    '',
  ])('finds none in %j', (text) => {
    expect(holdsCardNumber(text)).toBe(false);
  });

  it('finds none in any account id', () => {
    const digitsOnly = fc
      .string({ unit: fc.constantFrom(...'0123456789'), minLength: 32, maxLength: 32 })
      .map((hex) => hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5'));
    fc.assert(
      fc.property(fc.oneof(fc.uuid(), digitsOnly), (id) => {
        expect(holdsCardNumber(`account ${id}`)).toBe(false);
      }),
    );
  });

  it('finds none in any time of this century, in any unit and format', () => {
    const from = Date.UTC(2000, 0);
    const to = Date.UTC(2032, 0);
    fc.assert(
      fc.property(fc.integer({ min: from, max: to }), (ms) => {
        const iso = new Date(ms).toISOString();
        const forms = [
          ms,
          ms * 1_000,
          `${ms}000000`,
          ms / 1_000,
          iso,
          iso.replace(/\D/g, ''),
          iso.replace('T', ' '),
        ];
        for (const form of forms) expect(holdsCardNumber(String(form))).toBe(false);
      }),
    );
  });
});

describe('maskNumbers', () => {
  it.each([
    // 4111 1111 1111 1111 with one digit mistyped, so the check digit is wrong.
    ['4111111111111112', '•••• 1112'],
    ['4111 1111 1111 1112', '•••• 1112'],
    ['4111-1111-1111-1112 12/27', '•••• 1212/27'],
    ['INV4111111111111112', 'INV•••• 1112'],
    ['４１１１１１１１１１１１１１１２', '•••• 1112'],
    ['4111\u200b111111111112', '•••• 1112'],
    ['1234567890123', '•••• 0123'],
  ])('keeps only the last four digits of %j', (typed, shown) => {
    expect(maskNumbers(typed)).toBe(shown);
  });

  it.each([
    'INV-2041',
    'ORDER 17 B',
    '202611221845',
    'pay-mfrggzdfmztwq2lknnwg23tpob',
    '550e8400-e29b-41d4-a716-446655440000',
    '00000000-0000-0000-0000-000000000000',
    // An account reference of the service has twenty digits.
    '12345678901234567890',
  ])('leaves %j unchanged', (typed) => {
    expect(maskNumbers(typed)).toBe(typed);
  });
});

function lastFour(cardPan: string): string | undefined {
  return faceOf({ tokenKey: 't', cardPan }).lastFour;
}

describe('faceOf', () => {
  it.each([
    '506099******4081',
    '4081',
    '**** **** **** 4081',
    'XXXX-XXXX-XXXX-4081',
    '5060 99** **** 40-81',
    'ending in 4081 ',
    '•••• ４０８１',
    '****99994081',
  ])('takes the last four digits of %s', (cardPan) => {
    expect(lastFour(cardPan)).toBe('4081');
  });

  it('keeps four digits of a whole card number, and nothing else', () => {
    expect(faceOf({ tokenKey: 't', cardPan: '4242 4242 4242 4242' })).toEqual({ lastFour: '4242' });
  });

  it.each(['', '***', '506099******', '**** 081', '4081 (12/29)', '4081****'])(
    'takes none from %j, which does not end in the last four digits',
    (cardPan) => {
      expect(lastFour(cardPan)).toBeUndefined();
    },
  );

  it('has the type as it was sent, unless it contains a card number', () => {
    expect(faceOf({ tokenKey: 't', cardType: ' Visa ' })).toEqual({ cardType: 'Visa' });
    expect(faceOf({ tokenKey: 't', cardType: 'Visa 4242424242424242' })).toEqual({});
    expect(faceOf({ tokenKey: 't', cardType: ' ' })).toEqual({});
  });
});
