import { describe, expect, it } from 'vitest';
import { createProof, proofLines } from '../../../src/features/lookup/proof.ts';
import type { TransactionView } from '../../../src/slack/words/transaction-message.ts';
import { parseOrderReference, type OrderReference } from '../../../src/domain/order-reference.ts';
import { confirm } from '../../../src/domain/transaction.ts';
import { accountOf } from '../../support/account.ts';

const atMs = Date.parse('2026-11-27T13:03:00Z');
const reference = parsedReference('ORDER-1001');

function parsedReference(text: string): OrderReference {
  const read = parseOrderReference(text);
  if (!read.ok) throw new Error(read.problem);
  return read.value;
}

describe('the proof for a customer', () => {
  it('is three lines: the reference, the amount, and when and by whom it was confirmed, in the merchant’s time zone', () => {
    const proof = {
      reference,
      money: { minor: 1_250_000, currency: 'NGN' },
      atMs,
      merchant: 'Lagos Store',
    };
    expect(proofLines({ ...proof, timeZone: 'Africa/Lagos' })).toEqual([
      'Payment ORDER-1001',
      'NGN 12,500.00',
      expect.stringMatching(/^27 November 2026 at 14:03 (WAT|GMT\+1), confirmed by Lagos Store$/),
    ]);
    expect(proofLines({ ...proof, timeZone: 'UTC' })[2]).toContain('13:03 UTC');
  });

  it('is shown only if a new look-up proves the payment, with the time at which the bot first proved it', async () => {
    const shown: string[] = [];
    const account = accountOf({
      settings: { policy: { timezone: 'UTC' }, merchantName: 'Lagos Store' } as never,
      now: () => atMs,
      slack: {
        showResult: async (_: unknown, end: { modal: unknown }) => void shown.push(JSON.stringify(end.modal)),
      },
    });
    const transaction = {
      status: 'SUCCESS',
      outcome: 'paid',
      orderReference: reference,
      amountMinor: 5_000,
      currency: 'NGN',
    };
    async function press(status: string, outcome: string, provenAt?: number): Promise<string> {
      const found = { ...transaction, status, outcome } as never;
      const view = (): TransactionView => ({
        reference,
        confirmation: confirm({ reference, amount: { minor: 5_000, source: 'person' } }, found),
        environment: 'live',
        account: 'main',
        checkedAtMs: atMs,
      });
      const proof = createProof(
        account,
        async () => view(),
        async () => provenAt,
      );
      const pressed = {
        value: '["ORDER-1001"]',
        caller: { userId: 'U1' },
        openModal: async () => 'V1',
      };
      await proof.press(pressed as never);
      return shown.at(-1) ?? '';
    }
    expect(await press('SUCCESS', 'paid')).toContain('13:03 UTC, confirmed by Lagos Store');
    expect(await press('SUCCESS', 'paid', atMs - 3_600_000)).toContain('12:03 UTC');
    const other = await press('REVERSED', 'not_paid');
    expect(other).not.toContain('confirmed by');
    expect(other).toContain('REVERSED');
  });
});
