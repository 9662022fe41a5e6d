import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { CardEmailTerms } from '../../../src/domain/card-email.ts';
import type { EmailChange, EmailChangeAnswer } from '../../../src/domain/charge-answer.ts';
import { ServiceFailure } from '../../../src/domain/failure.ts';
import { StoreUnavailable } from '../../../src/domain/store-unavailable.ts';
import { createCardLedger } from '../../../src/operations/card/card-ledger.ts';
import { createCardEmails, type CardEmailBeginning } from '../../../src/operations/card/change-card-email.ts';
import { openFingerprint } from '../../../src/operations/work/fingerprint.ts';
import { createSealer } from '../../../src/store/sealed.ts';
import { memoryStore } from '../memory-store.ts';

const sealer = createSealer([{ id: 'k1', key: randomBytes(32) }]);
const tokenKey = 'canary-token-key';
const old = 'old.canary@example.com';
const next = 'new.canary@example.org';
const terms: CardEmailTerms = {
  tokenKey,
  card: { cardType: 'Visa', lastFour: '4242' },
  currentEmail: old,
  newEmail: next,
};
const changed: EmailChangeAnswer = { kind: 'changed', card: undefined };
const lost = new ServiceFailure('timeout', 'no answer');

async function away(): Promise<never> {
  throw new StoreUnavailable('away');
}

async function desk(answer: EmailChangeAnswer, options: { ledger?: 'on' | 'off' | 'away' } = {}) {
  const store = memoryStore({ nowMs: 1_000 });
  const lines: unknown[] = [];
  const log = (...line: unknown[]) => void lines.push(line.slice(0, 3));
  const ledger = createCardLedger({
    keepMs: 1_095 * 86_400_000,
    store,
    sealer,
    fingerprint: openFingerprint({ store, sealer, log }),
    now: () => 1_000,
  });
  await ledger.remember({ tokenKey, cardType: 'Visa', cardPan: '4242', customerEmail: old });
  lines.length = 0;
  const asked: EmailChange[] = [];
  const waits: number[] = [];
  const ledgers = {
    on: ledger,
    off: undefined,
    away: { idOf: (key: string) => ledger.idOf(key), changeEmail: away, forgetEmail: away },
  };
  const cardEmails = createCardEmails({
    store,
    sealer,
    async changeCardEmail(change) {
      asked.push(change);
      return answer;
    },
    ledger: ledgers[options.ledger ?? 'on'],
    log,
    wait: async (ms) => waits.push(ms),
  });
  async function begin(): Promise<CardEmailBeginning> {
    const draft = await cardEmails.keepDraft('V1', terms);
    return await cardEmails.begin({ viewId: 'V1', draft, by: 'U1' });
  }
  async function make() {
    const beginning = await begin();
    if (beginning.kind !== 'begun') throw new Error(beginning.kind);
    return await beginning.carryOn();
  }
  const listed = async () => (await ledger.find(await ledger.idOf(tokenKey)))?.customerEmail;
  return { cardEmails, asked, waits, lines, store, make, begin, listed };
}

describe('a change of a card’s e-mail', () => {
  it('asks the service for exactly what was read back, and the ledger has the new address', async () => {
    const { make, asked, listed } = await desk(changed);
    expect(await make()).toEqual({ kind: 'changed', list: 'current' });
    expect(asked).toEqual([{ tokenKey, currentEmail: old, newEmail: next }]);
    expect(await listed()).toBe(next);
  });

  it('is asked for once however often it is agreed to', async () => {
    const { cardEmails, asked } = await desk(changed);
    const draft = await cardEmails.keepDraft('V1', terms);
    const request = { viewId: 'V1', draft, by: 'U1' };
    const begun = await Promise.all([cardEmails.begin(request), cardEmails.begin(request)]);
    for (const one of begun) {
      // oxlint-disable-next-line no-await-in-loop
      if (one.kind === 'begun') await one.carryOn();
    }
    expect(begun.map(({ kind }) => kind).toSorted()).toEqual(['begun', 'known']);
    expect(asked).toHaveLength(1);
  });

  it('is not begun on terms that are others by now', async () => {
    const { cardEmails, asked } = await desk(changed);
    const draft = await cardEmails.keepDraft('V1', terms);
    await cardEmails.keepDraft('V1', { ...terms, newEmail: 'x@example.org' });
    expect(await cardEmails.begin({ viewId: 'V1', draft, by: 'U1' })).toEqual({ kind: 'stale' });
    expect(asked).toEqual([]);
  });

  it.each<EmailChangeAnswer>([
    { kind: 'not_linked', message: 'no' },
    { kind: 'rejected', reason: 'email_mismatch', message: 'no' },
  ])('that is not linked makes the ledger forget the address it offered: %o', async (answer) => {
    const { make, listed } = await desk(answer);
    expect(await make()).toEqual({ kind: 'not_linked', message: 'no' });
    expect(await listed()).toBeUndefined();
  });

  it.each<[EmailChangeAnswer, string]>([
    [{ kind: 'no_such_card' }, 'no_such_card'],
    [{ kind: 'rejected', reason: 'invalid_token', message: 'Invalid card token' }, 'no_such_card'],
    [{ kind: 'rejected', reason: 'email_invalid', message: 'no' }, 'rejected'],
    [{ kind: 'not_made', failure: 'forbidden', cause: lost }, 'not_made'],
    [{ kind: 'unknown', cause: lost }, 'unknown'],
  ])('with any other end leaves the ledger alone and is not repeated: %o', async (answer, kind) => {
    const { make, listed, asked } = await desk(answer);
    expect((await make()).kind).toBe(kind);
    expect(await listed()).toBe(old);
    expect(asked).toHaveLength(1);
  });

  it('says that the list is behind when the store is away by then; the answer stands', async () => {
    const { make, waits } = await desk(changed, { ledger: 'away' });
    expect(await make()).toEqual({ kind: 'changed', list: 'behind' });
    expect(waits).toHaveLength(2);
  });

  it('goes without a ledger', async () => {
    const { make } = await desk(changed, { ledger: 'off' });
    expect(await make()).toEqual({ kind: 'changed', list: 'current' });
  });

  it('writes one line, and nothing secret into it or into the store', async () => {
    const { make, lines, store } = await desk({ kind: 'unknown', cause: lost });
    await make();
    const fields = { verb: 'card-email', userId: 'U1', result: 'unknown', failure: 'timeout' };
    expect(lines).toEqual([['info', 'Asked for a change of a card’s e-mail', fields]]);
    const values = await Promise.all(store.keys().map(async (key) => (await store.read(key))?.value));
    expect([...store.keys(), ...values].join()).not.toMatch(/canary|4242/);
  });

  it('shows everything but the token key', async () => {
    const { begin } = await desk(changed);
    const { tokenKey: _secret, ...shown } = terms;
    expect(await begin()).toMatchObject({ kind: 'begun', terms: shown });
    expect(JSON.stringify(await begin())).not.toContain(tokenKey);
  });
});
