import { describe, expect, it } from 'vitest';
import { knownDecline, type Alert } from '../../../src/features/alerts/alert.ts';
import type { Lookup } from '../../../src/domain/alert.ts';
import { confirm, type Transaction } from '../../../src/domain/transaction.ts';
import type { OrderReference } from '../../../src/domain/order-reference.ts';
import type { PaymentEvent } from '../../../src/domain/payment-event.ts';
import { alertMessage } from '../../../src/features/alerts/alert-message.ts';
import { shownLines } from '../../slack/shown-text.ts';

const event: PaymentEvent = {
  kind: 'payment_failed',
  key: 'payment_failed:ORDER-1042',
  orderReference: 'ORDER-1042',
  orderId: '5f6c2a9e-order',
  transactionId: 'TXN-SECRET-9',
  customerId: 'cust-7',
  customerEmail: 'ada.obi@example.com',
  amountMinor: 1_250_000,
  currency: 'NGN',
  reason: 'Insufficient funds',
  isSavedCardCharge: true,
  savedCard: { tokenKey: 'TOKEN-SECRET-9', cardPan: '411111******1111' },
};

const declinedRecord: Transaction = {
  id: 'TXN-SECRET-9',
  status: 'FAILED',
  amountMinor: 1_250_000,
  currency: 'NGN',
  orderReference: 'ORDER-1042',
  customerEmail: 'ada.obi@example.com',
  paymentMethod: 'card_payment',
  gatewayMessage: 'Insufficient funds',
};

function lookup(transaction: Transaction | undefined): Lookup {
  return confirm(
    {
      reference: 'ORDER-1042' as OrderReference,
      amount: { minor: 1_250_000, currency: 'NGN', source: 'event' },
    },
    transaction,
  );
}

function alert(parts: Partial<Alert> = {}): Alert {
  return {
    event,
    lookup: lookup(declinedRecord),
    environment: 'sandbox',
    account: 'Lagos',
    receivedAtMs: Date.UTC(2026, 8, 14, 13, 37),
    mayBeRepeat: false,
    ...parts,
  };
}

/** A declined alert with its decline's next step, as `tell-alert.ts` makes it. */
function declinedAlert(event: PaymentEvent, record = declinedRecord): Alert {
  const told = alert({ event, lookup: lookup(record) });
  const rule = { threeDSecureWords: ['3D Secure'], waitMs: 8 * 3_600_000 };
  const declined = knownDecline(told, rule, { nowMs: told.receivedAtMs });
  return declined ? { ...told, declined } : told;
}

const success: PaymentEvent = { ...event, kind: 'payment_success', key: 'payment_success:ORDER-1042' };

function linesOf(event: PaymentEvent): string[] {
  return shownLines(alertMessage(alert({ event, lookup: { kind: 'no_reference' } })));
}

describe('alertMessage', () => {
  it.each([
    ['Expired card', 'Next: ask the customer for another card.'],
    ['Do not honour', 'Next: ask the customer for another card.'],
    ['Suspected fraud', 'Next: don’t try again. The customer should ask their bank.'],
    ['3-D Secure required', 'Next: send a payment link.'],
    ['Error 05', undefined],
  ])('gives the next step for the reason %j, and none for an unknown reason', (reason, next) => {
    const shown = shownLines(alertMessage(declinedAlert({ ...event, reason })));
    expect(shown.find((line) => line.startsWith('Next: '))).toBe(next);
    expect(shown.join('\n')).not.toContain('for example');
  });

  it('has at most 40 words while it is open, for any reason', () => {
    const status = { id: 'a', state: { kind: 'open' }, again: 'charge' } as const;
    for (const reason of ['Insufficient funds', '3-D Secure required', 'Invalid OTP', 'Suspected fraud']) {
      const declined = declinedAlert({ ...event, reason }, { ...declinedRecord, gatewayMessage: reason });
      const shown = shownLines(alertMessage({ ...declined, status })).join(' ');
      // A time counts as one word.
      const read = shown
        .replaceAll(/<!date[^>]*>/g, '21:37')
        .replaceAll('2026-09-14 21:37 UTC', '21:37')
        .replaceAll(/[|·~[\]✓✗❌]/gu, ' ');
      expect(read.trim().split(/\s+/).length).toBeLessThanOrEqual(40);
    }
  });

  it('warns if the event says failed and the look-up proves it paid', () => {
    const message = alertMessage(alert({ lookup: lookup({ ...declinedRecord, status: 'SUCCESS' }) }));
    expect(shownLines(message)).toMatchInlineSnapshot(`
      [
        "🚨 Event says failed, look-up says Paid (confirmed) · NGN 12,500.00 · a***@example.com · ORDER-1042",
        "The bank says:",
        "| Insufficient funds",
        "Next: don’t charge again. Ask the payments service which is wrong.",
        "SANDBOX · Lagos ~ proven ~ <!date^1789393020^{date_short_pretty} {time}|2026-09-14 13:37 UTC> ~ customer cust-7",
        "[Look up]",
      ]
    `);
  });

  it('never says declined while the record says SUCCESS, is of another order, or has no status', () => {
    const records = [
      { ...declinedRecord, status: 'SUCCESS', amountMinor: 1 },
      { ...declinedRecord, orderReference: 'ORDER-1' },
      (({ status: _status, ...rest }) => rest)(declinedRecord),
    ];
    for (const record of records) {
      const message = alertMessage(alert({ lookup: lookup(record) }));
      expect(message.text).toContain('Event says failed, look-up says Not confirmed');
      expect(JSON.stringify(message)).not.toContain('Declined by the bank');
    }
  });

  it('shows amount and customer of the event if the record is another order’s', () => {
    const other = { ...declinedRecord, amountMinor: 100, customerEmail: 'bob@other.example' };
    for (const kind of ['payment_failed', 'payment_success'] as const) {
      const found = lookup({ ...other, orderReference: 'ORDER-1' });
      const { text } = alertMessage(alert({ event: { ...event, kind }, lookup: found }));
      expect(text).toMatch(/NGN 12,500\.00 by the event · a\*\*\*@example\.com · ORDER-1042$/);
    }
  });

  it('says not checked if the service gave no answer, and labels the amount as the event’s', () => {
    const message = alertMessage(alert({ lookup: { kind: 'unchecked', failure: 'timeout' } }));
    expect(shownLines(message)).toMatchInlineSnapshot(`
      [
        "❔ Event says failed, not checked · NGN 12,500.00 by the event · a***@example.com · ORDER-1042",
        "The bank says:",
        "| Insufficient funds",
        "No answer from the payments service in time.",
        "Next: look it up before you act.",
        "SANDBOX · Lagos ~ <!date^1789393020^{date_short_pretty} {time}|2026-09-14 13:37 UTC> ~ customer cust-7",
        "[Look up]",
      ]
    `);
  });

  it('says paid only for a success whose look-up proves it', () => {
    const paid = { ...declinedRecord, status: 'SUCCESS' };
    const lookups: Lookup[] = [
      lookup(paid),
      lookup({ ...paid, amountMinor: 1 }),
      lookup(declinedRecord),
      lookup(undefined),
      { kind: 'unchecked', failure: 'server' },
      { kind: 'no_reference' },
    ];
    expect(lookups.map((lookup) => alertMessage(alert({ event: success, lookup })).text))
      .toMatchInlineSnapshot(`
        [
          "✅ Paid (confirmed) · NGN 12,500.00 · a***@example.com · ORDER-1042",
          "⚠️ Event says success, look-up says Not confirmed · NGN 0.01 · a***@example.com · ORDER-1042",
          "⚠️ Event says success, look-up says Not confirmed · NGN 12,500.00 · a***@example.com · ORDER-1042",
          "🔎 Event says success, look-up says Not found · NGN 12,500.00 by the event · a***@example.com · ORDER-1042",
          "❔ Event says success, not checked · NGN 12,500.00 by the event · a***@example.com · ORDER-1042",
          "❔ Event says success, not checked · NGN 12,500.00 by the event · a***@example.com · ORDER-1042",
        ]
      `);
    const saved = { ...success, cardSaved: { kind: 'kept', face: { lastFour: '1111' } } } as const;
    const { text } = alertMessage(alert({ event: saved, lookup: lookup(undefined) }));
    expect(text).toMatch(/^🔎 Event says success, .*, card saved/);
  });

  it('shows the signed fields of an event without a signed reference, and labels an unsigned reference', () => {
    const { orderReference: _reference, ...bare } = event;
    const signed = { ...bare, transactionId: 'T-77', signedAtMs: Date.UTC(2026, 8, 14, 13, 36) };
    const unsigned = { ...signed, referenceHint: 'ORDER-9' };
    const known = expect.stringMatching(
      /^Signed {2}payment_failed, transaction T-77, .*2026-09-14 13:36 UTC/,
    );
    expect(linesOf(signed)[0]).toBe(
      '❔ Event says failed, not checked · NGN 12,500.00 by the event · a***@example.com · transaction T-77',
    );
    expect(linesOf(signed)).toContainEqual(known);
    const other = linesOf(unsigned);
    expect(other).toContainEqual(known);
    expect(other).toContain('The reference ORDER-9 came unsigned, so it may be another payment.');
    expect(other[0]).not.toContain('ORDER-9');
    expect(other).not.toContain('[Look up]');
    const tooLong = linesOf({ ...event, orderReference: 'x'.repeat(51) });
    expect(tooLong.join()).toContain('The event has no signed order reference that can be looked up.');
  });
});
