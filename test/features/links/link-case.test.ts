import { describe, expect, it } from 'vitest';
import type { Lookup } from '../../../src/domain/alert.ts';
import type { OrderReference } from '../../../src/domain/order-reference.ts';
import { alertNewsShape } from '../../../src/records/shapes.ts';
import {
  restOfLink,
  stepLink,
  type LinkEvent,
  type LinkState,
  type PaymentLink,
} from '../../../src/features/links/link-case.ts';

const rules = { askAgainMs: 45_000, followMs: 72 * 3_600_000 };
const nowMs = 1_000_000;
const asked: PaymentLink = {
  reference: 'LINK-1' as OrderReference,
  terms: { money: { minor: 15_000, currency: 'NGN' }, customerEmail: 'jane@example.com', savesCard: true },
  by: 'U0AGENT01',
  askedAtMs: nowMs,
  state: { kind: 'asking' },
  misses: 0,
  viewId: 'V1',
  place: 'U0AGENT01',
};
const created: LinkEvent = {
  kind: 'answered',
  isRepeat: false,
  end: { kind: 'created', orderId: 'S-1', checkoutLink: 'https://pay.example/1' },
};

const check = (holds: boolean) => ({ holds, statement: 'said' });

const evidence = (paid: boolean) => ({
  status: { part: 'status' as const, ...check(paid) },
  reference: { part: 'reference' as const, ...check(true) },
  amount: { part: 'amount' as const, ...check(false) },
});

const found = (paid: boolean): LinkEvent => ({
  kind: 'looked_up',
  lookup: { kind: 'not_confirmed', transaction: {}, money: undefined, evidence: evidence(paid) },
});

function become(state: LinkState, event: LinkEvent, atMs = nowMs): PaymentLink | undefined {
  return stepLink({ ...asked, state }, event, atMs, rules);
}

const refunded: LinkEvent = {
  kind: 'looked_up',
  lookup: { kind: 'not_paid', transaction: {}, money: undefined, evidence: evidence(false) },
};
const looked = (lookup: Lookup): LinkEvent => ({ kind: 'looked_up', lookup });
const away = looked({ kind: 'unchecked', failure: 'timeout' });
const none = looked({ kind: 'not_found' });
const [open, confirming] = [{ kind: 'open' }, { kind: 'confirming', sinceMs: nowMs, looks: 0 }] as const;
const refusedWith = (isRepeat: boolean): LinkEvent => ({
  kind: 'answered',
  end: { kind: 'refused', why: 'no' },
  isRepeat,
});
const success: LinkEvent = { kind: 'payment_success' };
const paid: LinkState = { kind: 'paid', money: asked.terms.money, atMs: nowMs };
const overMs = nowMs + rules.followMs;

const unheard: LinkEvent = { kind: 'answered', end: { kind: 'unknown', why: '' }, isRepeat: true };

/** Told the same whenever it is due, until it is due no more. */
function follow(
  link: PaymentLink,
  answer: LinkEvent,
  atMs = nowMs,
  looks = 0,
): PaymentLink & { looks: number } {
  const restMs = restOfLink(link, atMs, rules);
  if (restMs === undefined) return { ...link, looks };
  return follow(stepLink(link, answer, atMs + restMs, rules) ?? link, answer, atMs + restMs, looks + 1);
}

describe('stepLink', () => {
  it('hears once what else ended its alert, in whatever order the stored record has it', () => {
    const reference = 'INV-9';
    const heard: LinkEvent = { kind: 'alert_ended', news: { kind: 'paid', reference, failed: 'INV-1' } };
    const link = stepLink({ ...asked, state: open }, heard, nowMs, rules);
    expect(link?.alertNews).toEqual(heard.news);
    const stored = alertNewsShape.parse(link?.alertNews);
    expect(stepLink({ ...asked, state: open, alertNews: stored }, heard, nowMs, rules)).toBeUndefined();
  });

  it.each<[string, LinkState, LinkEvent, LinkState['kind'] | 'as it was', number?]>([
    ['opens a link whose answer comes', { kind: 'asking' }, created, 'open'],
    ['opens one that was lost', { kind: 'lost' }, created, 'open'],
    ['keeps what an event said while the answer was awaited', confirming, created, 'confirming'],
    ['calls it refused when nothing was asked before', { kind: 'asking' }, refusedWith(false), 'refused'],
    ['calls it lost when an earlier request may have made it', { kind: 'asking' }, refusedWith(true), 'lost'],
    ['is never paid by an event alone', open, success, 'confirming'],
    ['nor when it was lost', { kind: 'lost' }, success, 'confirming'],
    ['nor when it is aged', { kind: 'aged', atMs: nowMs }, success, 'confirming'],
    ['takes no payment for what was not made', { kind: 'refused', why: 'no' }, success, 'as it was'],
    ['takes no payment for its own before anybody has it', { kind: 'asking' }, success, 'as it was'],
    ['nor a failure', { kind: 'asking' }, { kind: 'payment_failed' }, 'as it was'],
    ['nor what a look-up finds', { kind: 'asking' }, found(true), 'as it was'],
    ['is reviewed when what an event told is over without money', confirming, refunded, 'review'],
    ['stays open when a payment nobody told of is over without money', open, refunded, 'as it was'],
    ['is reviewed when a payment is not as agreed', confirming, found(true), 'review'],
    ['also of one nobody told of', open, found(true), 'review'],
    ['waits on for proof', confirming, found(false), 'confirming'],
    ['stays open without proof', open, found(false), 'as it was'],
    ['stays paid, whatever event comes', paid, success, 'as it was'],
    ['stays paid when a try failed', paid, { kind: 'payment_failed', why: 'late' }, 'as it was'],
    ['stays paid when a look-up finds nothing', paid, none, 'as it was'],
    ['does not age before its time', open, none, 'as it was', overMs - 1],
    ['does not age while the service is away', open, away, 'as it was', overMs],
    ['ages once its time is over', open, none, 'aged', overMs],
  ])('%s', (...[, state, event, after, atMs]) => {
    expect(become(state, event, atMs)?.state.kind ?? 'as it was').toBe(after);
  });

  it('says nothing of a card that was not to be saved', () => {
    const terms = { ...asked.terms, savesCard: false };
    const event: LinkEvent = { kind: 'payment_success', cardSaved: { kind: 'no_token' } };
    expect(stepLink({ ...asked, terms, state: open }, event, nowMs, rules)).not.toHaveProperty('cardSaved');
  });

  it('takes the card whose token came after all, and never loses it again', () => {
    const link: PaymentLink = { ...asked, state: paid, cardSaved: { kind: 'no_token' } };
    const cardSaved = { kind: 'kept', face: { lastFour: '1111' } } as const;
    const kept = stepLink(link, { kind: 'payment_success', cardSaved }, nowMs, rules);
    expect(kept).toMatchObject({ cardSaved });
    const without: LinkEvent = { kind: 'payment_success', cardSaved: { kind: 'no_token' } };
    expect(kept && stepLink(kept, without, nowMs, rules)).toBeUndefined();
    expect(stepLink(link, without, nowMs, rules)).toBeUndefined();
  });

  it.each<[string, PaymentLink, LinkEvent, LinkState['kind'], number]>([
    [
      'is reviewed when a day of look-ups proves nothing',
      { ...asked, state: confirming },
      found(false),
      'review',
      400,
    ],
    ['ages when nobody pays it', { ...asked, state: open }, none, 'aged', 500],
    ['is given up after six answers that nobody heard', asked, unheard, 'lost', 6],
  ])('%s, asked ever more rarely', (...[, link, answer, end, most]) => {
    const { state, looks } = follow(link, answer);
    expect(state.kind).toBe(end);
    expect(looks).toBeGreaterThan(5);
    expect(looks).toBeLessThanOrEqual(most);
  });

  it.each([
    [0, 30_000],
    [3 * 3_600_000, 600_000],
  ])('that is open for %d ms is looked at within %d', (afterMs, withinMs) => {
    expect(restOfLink({ ...asked, state: open }, nowMs + afterMs, rules)).toBe(withinMs);
  });

  it('leaves no link that still waits for something without a time', () => {
    for (const state of [{ kind: 'asking' } as const, open, confirming]) {
      expect(restOfLink({ ...asked, state }, nowMs + 2 * rules.followMs, rules)).toBeGreaterThan(0);
    }
    expect(restOfLink({ ...asked, state: { kind: 'lost' } }, nowMs, rules)).toBeUndefined();
  });
});
