import { describe, expect, it } from 'vitest';
import type { Lookup } from '../../../src/domain/alert.ts';
import type { OrderReference } from '../../../src/domain/order-reference.ts';
import { linkModal, linkNoteMessage } from '../../../src/features/links/link-screens.ts';
import { dayMs } from '../../../src/domain/span.ts';
import { sentenceOf } from '../../../src/features/story/story-words.ts';
import {
  linkDueInMs,
  linkRules,
  stepLink,
  type LinkEvent,
  type LinkState,
  type PaymentLink,
} from '../../../src/features/links/link-case.ts';

const rules = { retryMs: 45_000, followMs: 72 * 3_600_000 };
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
  terms: asked.terms,
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
const refusedWith = (isRepeat: boolean, isByAlert?: true): LinkEvent => ({
  kind: 'answered',
  terms: asked.terms,
  end: { kind: 'refused', why: 'no', ...(isByAlert && { isByAlert }) },
  isRepeat,
});
const success: LinkEvent = { kind: 'payment_success' };
const paid: LinkState = { kind: 'paid', money: asked.terms.money, atMs: nowMs };
const overMs = nowMs + rules.followMs;

const unanswered: LinkEvent = {
  kind: 'answered',
  terms: asked.terms,
  end: { kind: 'unknown', why: '' },
  isRepeat: true,
};

/** Applies the same event whenever the link is due, until it never is again; counts how often. */
function follow(
  link: PaymentLink,
  answer: LinkEvent,
  atMs = nowMs,
  looks = 0,
): PaymentLink & { looks: number } {
  const dueInMs = linkDueInMs(link, atMs, rules);
  if (dueInMs === undefined) return { ...link, looks };
  return follow(stepLink(link, answer, atMs + dueInMs, rules) ?? link, answer, atMs + dueInMs, looks + 1);
}

it('has no Copy proof for what may be a second payment', () => {
  const shownAccount = { environment: 'live', account: 'Lagos' } as const;
  const link: PaymentLink = { ...asked, state: { kind: 'paid', money: asked.terms.money, atMs: nowMs } };
  const alertNews = { kind: 'paid', failed: 'ORDER-1', reference: 'ORDER-2' } as const;
  expect(JSON.stringify(linkModal(link, shownAccount))).toContain('"button"');
  expect(JSON.stringify(linkModal({ ...link, alertNews }, shownAccount))).not.toContain('"button"');
  // An edit notifies nobody, so the note must warn, too.
  const note = linkNoteMessage('paid', { ...link, alertNews }, shownAccount, {
    key: 'k',
    mayBeRepeat: false,
  });
  expect(JSON.stringify(note)).toMatch(/was already paid.*don’t deliver twice/);
});

it('has an audit entry of its own, even if it replaces a refused link within a millisecond', () => {
  const { auditEntries } = linkRules(rules, { fingerprint: async () => '', log: () => undefined });
  const ids = [1, 3].map((turn) => auditEntries({ after: asked, turn, atMs: nowMs })[0]?.id);
  expect(new Set(ids).size).toBe(2);
});

it.each<[string, PaymentLink, LinkEvent]>([
  ['asks for no order because of its alert', asked, refusedWith(false, true)],
  [
    'learns what ended its alert',
    { ...asked, state: { kind: 'open' } },
    { kind: 'alert_ended', news: { kind: 'paid', reference: 'INV-9', failed: 'INV-1' } },
  ],
])('is audited as the bot’s own step when it %s', (_what, before, event) => {
  const { auditEntries } = linkRules(rules, { fingerprint: async () => '', log: () => undefined });
  const after = stepLink(before, event, nowMs, rules) ?? before;
  const [entry] = auditEntries({ before, event, after, turn: 2, atMs: nowMs });
  expect(entry).toMatchObject({ who: 'payops', what: 'step' });
  expect(JSON.stringify(entry && sentenceOf(entry))).not.toMatch(/answer|link_/);
});

describe('stepLink', () => {
  it('notes once what else ended its alert, even if the stored record has another order of keys', () => {
    const reference = 'INV-9';
    const heard: LinkEvent = { kind: 'alert_ended', news: { kind: 'paid', reference, failed: 'INV-1' } };
    const link = stepLink({ ...asked, state: open }, heard, nowMs, rules);
    expect(link?.alertNews).toEqual(heard.news);
    const alertNews = { failed: 'INV-1', reference, kind: 'paid' } as const;
    expect(stepLink({ ...asked, state: open, alertNews }, heard, nowMs, rules)).toBeUndefined();
  });

  it.each<[string, LinkState, LinkEvent, LinkState['kind'] | 'as it was', number?]>([
    ['opens when the answer comes', { kind: 'asking' }, created, 'open'],
    ['opens even when lost, if the answer comes', { kind: 'lost' }, created, 'open'],
    ['keeps an event that came before the answer', confirming, created, 'confirming'],
    [
      'is refused if no earlier request has an unknown result',
      { kind: 'asking' },
      refusedWith(false),
      'refused',
    ],
    [
      'is lost if an earlier request may have created the order',
      { kind: 'asking' },
      refusedWith(true),
      'lost',
    ],
    ['is never paid by an event alone', open, success, 'confirming'],
    ['is never paid by an event alone, when lost', { kind: 'lost' }, success, 'confirming'],
    ['is never paid by an event alone, when aged', { kind: 'aged', atMs: nowMs }, success, 'confirming'],
    ['takes no payment when refused', { kind: 'refused', why: 'no' }, success, 'as it was'],
    ['takes no payment while the order is only requested', { kind: 'asking' }, success, 'as it was'],
    [
      'takes no failure while the order is only requested',
      { kind: 'asking' },
      { kind: 'payment_failed' },
      'as it was',
    ],
    [
      'takes no look-up’s result while the order is only requested',
      { kind: 'asking' },
      found(true),
      'as it was',
    ],
    [
      'needs review if an event said paid, and the look-up says it is over without money',
      confirming,
      refunded,
      'review',
    ],
    ['stays open if a payment without an event has failed', open, refunded, 'as it was'],
    ['needs review if the payment differs from the terms', confirming, found(true), 'review'],
    [
      'needs review if the payment differs from the terms, also without an event',
      open,
      found(true),
      'review',
    ],
    ['keeps waiting for proof', confirming, found(false), 'confirming'],
    ['stays open without proof', open, found(false), 'as it was'],
    ['stays paid after another payment event', paid, success, 'as it was'],
    ['stays paid after a failed try', paid, { kind: 'payment_failed', why: 'late' }, 'as it was'],
    ['stays paid when a look-up finds nothing', paid, none, 'as it was'],
    ['does not age before its time', open, none, 'as it was', overMs - 1],
    ['does not age during an outage of the service', open, away, 'as it was', overMs],
    ['ages once its time is over', open, none, 'aged', overMs],
    ['needs review a day after the event, without proof', confirming, none, 'review', nowMs + dayMs],
    ['needs no review during an outage of days', confirming, away, 'confirming', nowMs + 7 * dayMs - 1],
    ['needs review after an outage of a week', confirming, away, 'review', nowMs + 7 * dayMs],
  ])('%s', (...[, state, event, after, atMs]) => {
    expect(become(state, event, atMs)?.state.kind ?? 'as it was').toBe(after);
  });

  it('ignores card data if the card was not to be saved', () => {
    const terms = { ...asked.terms, savesCard: false };
    const event: LinkEvent = { kind: 'payment_success', cardSaved: { kind: 'no_token' } };
    expect(stepLink({ ...asked, terms, state: open }, event, nowMs, rules)).not.toHaveProperty('cardSaved');
  });

  it('takes a card whose token came late, and never loses it', () => {
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
      'needs review when a day of look-ups proves nothing',
      { ...asked, state: confirming },
      found(false),
      'review',
      400,
    ],
    ['ages without a payment', { ...asked, state: open }, none, 'aged', 500],
    ['is lost after six lost answers', asked, unanswered, 'lost', 6],
  ])('%s, after growing waits', (...[, link, answer, end, most]) => {
    const { state, looks } = follow(link, answer);
    expect(state.kind).toBe(end);
    expect(looks).toBeGreaterThan(5);
    expect(looks).toBeLessThanOrEqual(most);
  });

  it.each([
    [0, 30_000],
    [3 * 3_600_000, 600_000],
  ])('is looked up again after waits that grow with its age (open for %d ms: %d ms)', (afterMs, withinMs) => {
    expect(linkDueInMs({ ...asked, state: open }, nowMs + afterMs, rules)).toBe(withinMs);
  });

  it('is looked up for a week under review, since the proof may come late', () => {
    const review: LinkState = { kind: 'review', atMs: nowMs };
    expect(linkDueInMs({ ...asked, state: review }, nowMs, rules)).toBe(3_600_000);
    expect(linkDueInMs({ ...asked, state: review }, nowMs + 3 * dayMs, rules)).toBe(dayMs);
    expect(linkDueInMs({ ...asked, state: review }, nowMs + 7 * dayMs, rules)).toBeUndefined();
    const proven = looked({
      kind: 'confirmed',
      transaction: {},
      money: asked.terms.money,
      evidence: evidence(true),
    });
    expect(become(review, proven)?.state.kind).toBe('paid');
  });

  it('always schedules a link that still waits for something', () => {
    for (const state of [{ kind: 'asking' } as const, open, confirming]) {
      expect(linkDueInMs({ ...asked, state }, nowMs + 2 * rules.followMs, rules)).toBeGreaterThan(0);
    }
    expect(linkDueInMs({ ...asked, state: { kind: 'lost' } }, nowMs, rules)).toBeUndefined();
  });
});
