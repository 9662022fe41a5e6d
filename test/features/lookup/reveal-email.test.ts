import { describe, expect, it } from 'vitest';
import type { AuditEntry } from '../../../src/records/shapes.ts';
import { ServiceFailure, StoreUnavailable } from '../../../src/domain/failure.ts';
import type { OrderReference } from '../../../src/domain/order-reference.ts';
import type { Transaction } from '../../../src/domain/transaction.ts';
import type { Account } from '../../../src/account.ts';
import { createRevealEmail } from '../../../src/features/lookup/reveal.ts';

const reference = 'ORDER-1' as OrderReference;
const asked = { reference, by: 'U0ADA00001', where: 'C0DESK0001' };
const theirs = 'service@example.com';
const own = 'own@example.com';

type RevealParts = {
  findTransaction: Account['payments']['findTransaction'];
  ownEmail: Parameters<typeof createRevealEmail>[1];
  audit: Account['audit']['append'];
};

function stage(more: Partial<RevealParts> = {}) {
  const entries: AuditEntry[] = [];
  const logged: string[] = [];
  const found: Transaction = { orderReference: reference, customerEmail: theirs };
  const { findTransaction = () => Promise.resolve(found), ownEmail = () => Promise.resolve(undefined) } =
    more;
  const append = more.audit ?? (async (entry: AuditEntry) => void entries.push(entry));
  const account = {
    payments: { findTransaction },
    audit: { append },
    name: 'lagos',
    now: () => 1_700_000_000_000,
    log: (...line: unknown[]) => logged.push(JSON.stringify(line.slice(1))),
  } as unknown as Account;
  const reveal = createRevealEmail(account, ownEmail);
  return { entries, logged, reveal: () => reveal(asked) };
}

function silent(): Promise<never> {
  return Promise.reject(new ServiceFailure('timeout', 'no answer'));
}

describe('revealEmail', () => {
  it('reveals only after the audit entry is written, and nothing if the audit fails', async () => {
    const order: string[] = [];
    const slow = stage({
      async audit() {
        await new Promise((resolve) => setImmediate(resolve));
        order.push('on record');
      },
    });
    await slow.reveal().then(() => order.push('given'));
    expect(order).toEqual(['on record', 'given']);

    const away = stage({ audit: () => Promise.reject(new StoreUnavailable('away')) });
    expect(await away.reveal()).toEqual({ kind: 'not_on_record' });
    expect(away.logged).toHaveLength(1);
    expect(away.logged.join()).not.toContain('@example.com');
    await expect(stage({ audit: () => Promise.reject(new Error('a bug')) }).reveal()).rejects.toThrow(
      'a bug',
    );
  });

  it('reveals the bot’s own record if the service has no e-mail, no record or no answer', async () => {
    const ownEmail = (): Promise<string> => Promise.resolve(own);
    const revealed = { kind: 'revealed', email: own };
    expect(await stage({ ownEmail, findTransaction: () => Promise.resolve(undefined) }).reveal()).toEqual(
      revealed,
    );
    expect(
      await stage({
        ownEmail,
        findTransaction: () => Promise.resolve({ orderReference: reference }),
      }).reveal(),
    ).toEqual(revealed);
    expect(await stage({ ownEmail, findTransaction: silent }).reveal()).toEqual(revealed);
    await expect(stage({ findTransaction: silent }).reveal()).rejects.toThrow(ServiceFailure);
  });

  it('never reveals another order’s customer, and writes no audit entry without an e-mail', async () => {
    const { reveal, entries } = stage({
      findTransaction: () => Promise.resolve({ orderReference: 'ORDER-2', customerEmail: theirs }),
    });
    expect(await reveal()).toEqual({ kind: 'no_address' });
    expect(entries).toEqual([]);
  });
});
