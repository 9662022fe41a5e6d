import { describe, expect, it } from 'vitest';
import type { OrderReference } from '../../src/domain/order-reference.ts';
import {
  dueForLink,
  restOfLink,
  stepLink,
  type LinkEvent,
  type LinkState,
  type PaymentLink,
} from '../../src/domain/payment-link.ts';

const rules = { askAgainMs: 45_000, followMs: 72 * 3_600_000 };
const nowMs = 1_000_000;
const asked: PaymentLink = {
  reference: 'LINK-1' as OrderReference,
  terms: { money: { minor: 15_000, currency: 'NGN' }, customerEmail: 'jane@example.com', savesCard: true },
  by: 'U0AGENT01',
  askedAtMs: nowMs,
  state: { kind: 'asking' },
  misses: 0,
  places: ['U0AGENT01'],
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

describe('stepLink', () => {
  it.each(['asking', 'lost', 'unanswered'] as const)(
    'opens a link that is %s when its answer comes',
    (kind) => {
      expect(become({ kind }, created)).toMatchObject({ state: { kind: 'open' }, order: { orderId: 'S-1' } });
    },
  );

  it('keeps what an event said while the answer was awaited', () => {
    const state = { kind: 'confirming', sinceMs: nowMs, looks: 0 } as const;
    expect(become(state, created)).toMatchObject({
      state: { kind: 'confirming' },
      order: { orderId: 'S-1' },
    });
  });

  it('calls a link lost, never refused, once an earlier request may have made its order', () => {
    const exists = { kind: 'answered', end: { kind: 'exists' } } as const;
    expect(become({ kind: 'asking' }, { ...exists, isRepeat: true })?.state.kind).toBe('lost');
    expect(become({ kind: 'asking' }, { ...exists, isRepeat: false })?.state.kind).toBe('refused');
    const refused = { kind: 'answered', end: { kind: 'refused', why: 'no' }, isRepeat: true } as const;
    expect(become({ kind: 'asking' }, refused)?.state.kind).toBe('unanswered');
  });

  it('is never paid by an event alone', () => {
    for (const kind of ['lost', 'unanswered', 'open'] as const) {
      expect(become({ kind }, { kind: 'payment_success' })?.state.kind).toBe('confirming');
    }
    expect(become({ kind: 'aged', atMs: nowMs }, { kind: 'payment_success' })?.state.kind).toBe('confirming');
    expect(become({ kind: 'refused', why: 'no' }, { kind: 'payment_success' })).toBeUndefined();
  });

  it('takes no payment for its own before anybody has it', () => {
    const events: LinkEvent[] = [{ kind: 'payment_success' }, { kind: 'payment_failed' }, found(true)];
    for (const event of events) expect(become({ kind: 'asking' }, event)).toBeUndefined();
  });

  it('says nothing of a card that was not to be saved', () => {
    const terms = { ...asked.terms, savesCard: false };
    const link: PaymentLink = { ...asked, terms, state: { kind: 'open' } };
    const event: LinkEvent = { kind: 'payment_success', cardSaved: { kind: 'no_token' } };
    expect(stepLink(link, event, nowMs, rules)).not.toHaveProperty('cardSaved');
  });

  it('takes the card whose token came after all, and never loses it again', () => {
    const link: PaymentLink = {
      ...asked,
      state: { kind: 'paid', money: asked.terms.money, atMs: nowMs },
      cardSaved: { kind: 'no_token' },
    };
    const cardSaved = { kind: 'kept', face: { lastFour: '1111' } } as const;
    const kept = stepLink(link, { kind: 'payment_success', cardSaved }, nowMs, rules);
    expect(kept).toMatchObject({ cardSaved });
    const without: LinkEvent = { kind: 'payment_success', cardSaved: { kind: 'no_token' } };
    expect(kept && stepLink(kept, without, nowMs, rules)).toBeUndefined();
    expect(stepLink(link, without, nowMs, rules)).toBeUndefined();
  });

  it('is reviewed at once when the payment that an event told is over without money', () => {
    const refunded: LinkEvent = {
      kind: 'looked_up',
      lookup: { kind: 'not_paid', transaction: {}, money: undefined, evidence: evidence(false) },
    };
    const confirming: LinkState = { kind: 'confirming', sinceMs: nowMs, looks: 1 };
    expect(become(confirming, refunded)?.state.kind).toBe('review');
    expect(become({ kind: 'open' }, refunded)).toBeUndefined();
  });

  it('is reviewed at once when a payment is found that is not as agreed', () => {
    const confirming: LinkState = { kind: 'confirming', sinceMs: nowMs, looks: 0 };
    expect(become(confirming, found(true))?.state.kind).toBe('review');
    expect(become({ kind: 'open' }, found(true))?.state.kind).toBe('review');
    expect(become(confirming, found(false))?.state).toMatchObject({ kind: 'confirming', looks: 1 });
    expect(become({ kind: 'open' }, found(false))).toBeUndefined();
  });

  it('stays paid, whatever comes later', () => {
    const state: LinkState = { kind: 'paid', money: asked.terms.money, atMs: nowMs };
    const events: LinkEvent[] = [
      { kind: 'payment_success' },
      { kind: 'payment_failed', why: 'late' },
      { kind: 'looked_up', lookup: { kind: 'not_found' } },
    ];
    for (const event of events) expect(become(state, event)).toBeUndefined();
  });

  it('ages only when the service was asked and its time is over', () => {
    const overMs = nowMs + rules.followMs;
    const open: LinkState = { kind: 'open' };
    const away: LinkEvent = { kind: 'looked_up', lookup: { kind: 'unchecked', failure: 'timeout' } };
    const none: LinkEvent = { kind: 'looked_up', lookup: { kind: 'not_found' } };
    expect(become(open, none, overMs - 1)).toBeUndefined();
    expect(become(open, away, overMs)).toBeUndefined();
    expect(become(open, none, overMs)?.state.kind).toBe('aged');
  });

  it('is looked at for a while when an unsigned reference names one that is no longer followed', () => {
    const aged: LinkState = { kind: 'aged', atMs: nowMs };
    const hinted = become(aged, { kind: 'hinted' });
    expect(hinted).toMatchObject({ state: aged, hintedAtMs: nowMs });
    expect(hinted && dueForLink(hinted, nowMs + 5_000, rules)).toBe('look_up');
    expect(hinted && dueForLink(hinted, nowMs + 600_000, rules)).toBeUndefined();
    expect(dueForLink({ ...asked, state: aged }, nowMs, rules)).toBeUndefined();
    for (const kind of ['paid', 'refused'] as const) {
      const over = {
        paid: { kind: 'paid', money: asked.terms.money, atMs: nowMs },
        refused: { kind: 'refused', why: 'no' },
      } as const;
      expect(become(over[kind], { kind: 'hinted' })).toBeUndefined();
    }
  });

  it('leaves no link that still waits for something without a time', () => {
    const waiting: LinkState[] = [
      { kind: 'asking' },
      { kind: 'open' },
      { kind: 'confirming', sinceMs: nowMs, looks: 7 },
    ];
    for (const state of waiting) {
      expect(restOfLink({ ...asked, state }, nowMs + 2 * rules.followMs, rules)).toBeGreaterThan(0);
    }
    expect(restOfLink({ ...asked, state: { kind: 'lost' } }, nowMs, rules)).toBeUndefined();
  });
});
