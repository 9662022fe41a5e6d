import { describe, expect, it } from 'vitest';
import { lookupCommand } from '../../src/commands/lookup.ts';
import type { KnownDecline } from '../../src/domain/decline-reason.ts';
import type { Transaction } from '../../src/domain/transaction.ts';
import { assertBlocks } from '../../src/slack/assert-blocks.ts';
import type { SlackMessage } from '../../src/slack/message.ts';
import { shownLines } from '../slack/shown-text.ts';
import { noSharing } from './no-sharing.ts';

const paid: Transaction = {
  status: 'SUCCESS',
  orderReference: 'INV-2041',
  amountMinor: 1_250_000,
  currency: 'NGN',
  orderAmountMinor: 1_250_000,
  orderCurrency: 'NGN',
};

const nowMs = 1_700_000_000_000;

function lookup(found: Transaction | undefined, declined?: KnownDecline) {
  return lookupCommand({
    ...noSharing,
    declineOf: async () => declined,
    findTransaction: async () => found,
    environment: 'live',
    account: 'Main shop',
    now: () => nowMs,
  });
}

async function run(
  words: string[],
  found: Transaction | undefined,
  declined?: KnownDecline,
): Promise<SlackMessage> {
  const prepared = lookup(found, declined).prepare(words);
  if (!prepared.ok) throw new Error(prepared.problem);
  const message = await prepared.value.run({
    caller: { userId: 'U1' },
    openModal: () => Promise.reject(new Error('a look-up opens no modal')),
    whileWaiting: (work) => work,
  });
  if (!message) throw new Error('a look-up answers with a message');
  assertBlocks('message', message.blocks);
  return message;
}

function problemOf(words: string[]): string {
  const prepared = lookup(undefined).prepare(words);
  return prepared.ok ? 'read' : prepared.problem;
}

describe('lookup', () => {
  it('says paid with proof', async () => {
    expect((await run(['INV-2041'], paid)).text).toContain('Paid (confirmed)');
  });

  it('holds the person’s amount against the record', async () => {
    expect((await run(['INV-2041', '12,500.00'], paid)).text).toContain('Paid (confirmed)');
    expect((await run(['INV-2041', '12,500.01'], paid)).text).toContain('Not confirmed');
  });

  it('asks with the same amount again when refreshed', async () => {
    const message = await run(['INV-2041', '12,500.01'], paid);
    const [button] = lookup(paid).buttons ?? [];
    const value = /"value":("(?:[^"\\]|\\.)*")/.exec(JSON.stringify(message.blocks))?.[1] ?? '""';
    expect(button?.words(JSON.parse(value))).toEqual(['INV-2041', '12500.01']);
  });

  it('says of a known decline that it was declined, since when, in the bank’s words, and what helps', async () => {
    const declined = { atMs: nowMs - 60_000, nextTryFrom: nowMs + 3_600_000 } as const;
    const message = await run(
      ['INV-2041'],
      { ...paid, status: 'FAILED' },
      {
        ...declined,
        reason: 'insufficient_funds',
        bankWords: 'Insufficient funds',
      },
    );
    expect(message.text).toMatch(/^❌ Declined by the bank · NGN 12,500.00/);
    expect(shownLines(message).slice(1, -2)).toEqual([
      'The bank says:',
      '| Insufficient funds',
      'Declined since 2023-11-14 22:12 UTC.',
      'Next: Try again from 2023-11-14 23:13 UTC, or use another card.',
      '✗ status FAILED  ✓ reference  ✓ amount',
    ]);
  });

  it('says not found as an answer', async () => {
    expect((await run(['INV-2041'], undefined)).text).toContain('Not found');
  });

  it('refuses a reference of 51 characters and takes one of 50', () => {
    expect(problemOf(['x'.repeat(51)])).toContain('at most 50');
    expect(problemOf(['x'.repeat(50)])).toBe('read');
  });

  it('says how to type what it cannot read', () => {
    expect(problemOf([])).toContain('A reference is missing');
    expect(problemOf(['INV', '2041x'])).toMatch(/An amount is digits.*goes in quotes/);
    expect(problemOf(['ORDER', '17', 'B'])).toContain('goes in quotes');
  });
});
