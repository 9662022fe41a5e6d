import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { confirm, type ExpectedCharge } from '../../src/domain/confirmation.ts';
import type { OrderReference } from '../../src/domain/order-reference.ts';
import type { Transaction } from '../../src/domain/transaction.ts';
import { withoutUndefined } from '../../src/domain/without-undefined.ts';
import { assertBlocks } from '../../src/slack/assert-blocks.ts';
import { lookUpWords } from '../../src/slack/evidence.ts';
import type { SlackMessage } from '../../src/slack/message.ts';
import { lookingUpMessage, transactionMessage } from '../../src/slack/transaction-message.ts';
import { firstLine, shownLines, unescaped } from './shown-text.ts';

const reference = 'ORDER-1042' as OrderReference;
const checkedAtMs = Date.UTC(2026, 8, 14, 13, 37);

const paid: Transaction = {
  id: 'TXN-SECRET-9',
  status: 'SUCCESS',
  amountMinor: 1_250_000,
  currency: 'NGN',
  source: 'online',
  type: 'online_checkout',
  gatewayMessage: 'Approved by Financial Institution',
  entryType: 'CREDIT',
  orderId: '5f6c2a9e-order',
  orderReference: 'ORDER-1042',
  orderAmountMinor: 1_250_000,
  orderCurrency: 'NGN',
  customerEmail: 'ada.obi@example.com',
  paymentMethod: 'card_payment',
};

function told(transaction: Transaction | undefined, amount?: ExpectedCharge['amount']): SlackMessage {
  const expected = amount === undefined ? { reference } : { reference, amount };
  return transactionMessage({
    reference,
    confirmation: confirm(expected, transaction),
    environment: 'live',
    account: 'Lagos',
    checkedAtMs,
    ...(amount === undefined ? {} : { amountMinor: amount.minor }),
  });
}

describe('transactionMessage', () => {
  it('says paid with the three parts of the proof', () => {
    const message = told(paid);
    assertBlocks('message', message.blocks);
    expect(message.text).toBe('✅ Paid (confirmed) · NGN 12,500.00 · a***@example.com · ORDER-1042');
    expect(shownLines(message)).toMatchInlineSnapshot(`
      [
        "✅ Paid (confirmed) · NGN 12,500.00 · a***@example.com · ORDER-1042",
        "✓ status SUCCESS  ✓ reference  ✓ amount",
        "Method  card_payment",
        "LIVE · Lagos ~ checked <!date^1789393020^{date_short_pretty} {time}|2026-09-14 13:37 UTC> ~ order id 5f6c2a9e-order",
        "[Refresh]",
      ]
    `);
  });

  it('says which part does not hold and what to do, and never failed', () => {
    const message = told({ ...paid, status: 'PENDING' });
    assertBlocks('message', message.blocks);
    expect(shownLines(message)).toMatchInlineSnapshot(`
      [
        "⚠️ Not confirmed · NGN 12,500.00 · a***@example.com · ORDER-1042",
        "The gateway says:",
        "| Approved by Financial Institution",
        "✗ status PENDING  ✓ reference  ✓ amount",
        "Next: give no value yet. Check again later.",
        "Method  card_payment",
        "LIVE · Lagos ~ checked <!date^1789393020^{date_short_pretty} {time}|2026-09-14 13:37 UTC> ~ order id 5f6c2a9e-order",
        "[Refresh]",
      ]
    `);
    expect(JSON.stringify(message)).not.toMatch(/fail/i);
  });

  it('tells a final status as that, and not to check again', () => {
    const message = told({ ...paid, status: 'REFUNDED', outcome: 'not_paid' });
    assertBlocks('message', message.blocks);
    expect(shownLines(message).slice(0, 5)).toEqual([
      '⛔ Not paid: REFUNDED · NGN 12,500.00 · a***@example.com · ORDER-1042',
      'The gateway says:',
      '| Approved by Financial Institution',
      '✗ status REFUNDED  ✓ reference  ✓ amount',
      'This status is final: it will not become paid. Give no value.',
    ]);
  });

  it('names the other amount and the other reference when those differ', () => {
    const message = told({ ...paid, orderReference: 'ORDER-1' }, { minor: 1_000_000, source: 'person' });
    const lines = shownLines(message);
    expect(lines.slice(3, 7)).toMatchInlineSnapshot(`
      [
        "✓ status SUCCESS  ✗ reference  ✗ amount",
        "The record’s reference is ORDER-1, not ORDER-1042",
        "Amount NGN 12,500.00 differs from the amount you gave, NGN 10,000.00",
        "Next: give no value. Ask the payments service, with the order id below.",
      ]
    `);
  });

  it('tells another order amount, and a kind or an entry that is not a payment’s', () => {
    const lines = shownLines(
      told({ ...paid, orderAmountMinor: 1_500_000, type: 'refund', entryType: 'DEBIT' }),
    );
    expect(lines).toEqual(
      expect.arrayContaining(['Order amount  NGN 15,000.00', 'Kind  refund', 'Entry  DEBIT']),
    );
  });

  it('says what not found means', () => {
    const message = told(undefined);
    assertBlocks('message', message.blocks);
    expect(message.text).toBe('🔎 Not found · ORDER-1042');
    expect(shownLines(message)).toMatchInlineSnapshot(`
      [
        "🔎 Not found · ORDER-1042",
        "Lagos has no such reference. SANDBOX payments don’t show here.",
        "Next: check the spelling; it’s your own order reference. If it was charged moments ago, press Refresh.",
        "LIVE · Lagos ~ checked <!date^1789393020^{date_short_pretty} {time}|2026-09-14 13:37 UTC>",
        "[Refresh]",
      ]
    `);
  });

  it('asks the same question again on Refresh, the amount included', () => {
    expect(refreshWords(told(paid))).toEqual(['ORDER-1042']);
    expect(refreshWords(told(paid, { minor: 1_250_050, source: 'person' }))).toEqual([
      'ORDER-1042',
      '12500.50',
    ]);
  });

  it('never shows the transaction id or a whole e-mail address, wherever they stand', () => {
    const message = told({ ...paid, gatewayMessage: 'sent to ada.obi@example.com' });
    expect(JSON.stringify(message)).not.toContain('TXN-SECRET-9');
    expect(JSON.stringify(message)).not.toContain('ada.obi');
  });

  it('is one Slack takes, with text equal to its first line, whatever the service tells', () => {
    const outside = fc.option(
      fc.oneof(
        fc.string({ unit: 'binary', maxLength: 400 }),
        fc.constantFrom('', ' ', '<!channel>', '*b* _i_', 'שלום עולם', '𝒜'.repeat(5000), 'x@y.zz'),
      ),
      { nil: undefined },
    );
    const minor = fc.option(fc.nat(), { nil: undefined });
    const transaction = fc
      .record({
        id: outside,
        status: fc.oneof(outside, fc.constant('SUCCESS')),
        amountMinor: minor,
        currency: outside,
        source: outside,
        type: outside,
        gatewayMessage: outside,
        entryType: outside,
        orderId: outside,
        orderReference: outside,
        orderAmountMinor: minor,
        orderCurrency: outside,
        customerEmail: outside,
        paymentMethod: outside,
      })
      .map((record): Transaction => withoutUndefined(record));
    const references = fc.constantFrom('A', '𝒜'.repeat(50), 'أبجد-١٢٣', '<!here> & <@U1>', '*_~`x`~_*');
    fc.assert(
      fc.property(
        references,
        fc.option(transaction, { nil: undefined }),
        outside,
        (text, record, account) => {
          const reference = text as OrderReference;
          const message = transactionMessage({
            reference,
            confirmation: confirm({ reference }, record),
            environment: 'sandbox',
            account: account ?? '',
            checkedAtMs,
          });
          assertBlocks('message', message.blocks);
          expect(firstLine(message)).toBe(unescaped(message.text));
          expect(message.text).not.toMatch(/[<>]/);
          expect(refreshWords(message)).toEqual([reference]);
          expect(message.text.startsWith('✅')).toBe(confirm({ reference }, record).kind === 'confirmed');
        },
      ),
    );
  });
});

describe('lookUpWords', () => {
  it('gives nothing for a value that is not ours', () => {
    for (const value of ['', 'ORDER-1', '{}', '[1]', '[']) expect(lookUpWords(value)).toEqual([]);
  });
});

describe('lookingUpMessage', () => {
  it('names the reference, escaped in the text', () => {
    const message = lookingUpMessage('<!here>&');
    assertBlocks('message', message.blocks);
    expect(message.text).toBe('🔎 Looking up &lt;!here&gt;&amp; …');
    expect(firstLine(message)).toBe(unescaped(message.text));
  });
});

function refreshWords(message: SlackMessage): readonly string[] {
  const last = message.blocks.at(-1);
  const pressed = last?.type === 'actions' ? last.elements[0] : undefined;
  return pressed?.type === 'button' ? lookUpWords(pressed.value ?? '') : [];
}
