import { describe, expect, it } from 'vitest';
import { doubtAnswer } from '../../src/cli/doubt.ts';
import { reported, type Answer } from '../../src/cli/lines.ts';
import { lookupAnswer } from '../../src/cli/lookup.ts';
import { confirm, type Transaction } from '../../src/domain/transaction.ts';
import type { OrderReference } from '../../src/domain/order-reference.ts';
import { seen as seenCharge } from '../features/charge/seen-charges.ts';

const askedAccount = { environment: 'live', account: 'Lagos store' } as const;
/** Text that controls a terminal, fakes a line of ours, reverses the reading direction, and contains an address. */
const hostile = '\u001B[2J\u009B31m\r\n✅ Paid (confirmed)\u202Eevil evil@example.com\u2028';
const reference = 'ORDER-1' as OrderReference;

function steers(text: string): boolean {
  return /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(text);
}

const transaction: Transaction = {
  id: hostile,
  status: hostile,
  amountMinor: 500_000,
  currency: hostile,
  type: hostile,
  source: hostile,
  entryType: hostile,
  gatewayMessage: hostile,
  orderId: hostile,
  orderReference: hostile,
  orderAmountMinor: 500_100,
  customerEmail: `${hostile}ada@example.com`,
  paymentMethod: hostile,
};

describe('hostile text from the service', () => {
  const view = {
    reference,
    confirmation: confirm({ reference }, transaction),
    ...askedAccount,
    checkedAtMs: 0,
  };

  it('controls no terminal, fakes no line and shows no address in a look-up', () => {
    const [text = '', json = ''] = printed(lookupAnswer(view));
    expect(text).toContain('evil');
    expect(text.split('\n').filter((line) => line.startsWith('✅'))).toEqual([]);
    for (const words of [text, json]) {
      expect(steers(words)).toBe(false);
      expect(words).not.toMatch(/evil@|ada@/);
    }
  });

  it('does none of that in the list of charges in doubt', () => {
    const charge = seenCharge();
    const both = printed(doubtAnswer({ charges: [charge], unread: [reference], askedAccount, nowMs: 0 }));
    expect(both.filter(steers)).toEqual([]);
    expect(both.join('\n')).not.toContain(charge.terms.customerEmail);
    expect(both[0]?.split('\n').slice(2, 4)).toEqual([
      '  By: U0AGENT01, since 2026-09-14 13:35 UTC',
      '  Next: the bot checks by 2026-09-14 13:38 UTC.',
    ]);
  });
});

function printed(answer: Answer): string[] {
  return [false, true].map((isJson) => reported(answer, isJson).words);
}
