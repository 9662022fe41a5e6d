import { describe, expect, it } from 'vitest';
import type { CardRefusal, Twin } from '../../../src/domain/card-refusal.ts';
import { findViewProblems } from '../../../src/slack/assert-blocks.ts';
import { readTermsMetadata, staleTermsModal, termsModal } from '../../../src/slack/charge/terms-modal.ts';
import { agent, colleague, live, minuteMs, nowMs, sandbox, seen } from './seen-charges.ts';
import { buttons, page } from './shown.ts';

const { terms, reference } = seen();
const draft = 'd'.repeat(32);
const twin: Twin = { reference, by: colleague, at: nowMs - 4 * minuteMs, outcome: 'approved' };

function submitOf(minor: number, currency = 'NGN', withTwin?: Twin): string | undefined {
  const view = termsModal({
    place: live,
    terms: { ...terms, money: { minor, currency } },
    draft,
    nowMs,
    ...(withTwin && { twin: withTwin }),
  });
  expect(findViewProblems(view)).toEqual([]);
  return view.submit?.text;
}

describe('termsModal', () => {
  it('reads the exact terms back, the e-mail whole, and says what pressing does', () => {
    const view = termsModal({ place: live, terms, draft, nowMs });
    expect(findViewProblems(view)).toEqual([]);
    expect(page(view)).toEqual([
      '# Review · LIVE',
      '## NGN 12,500.00',
      'Charge NGN 12,500.00 to Visa ·· 4242 of ada.obi@example.com.',
      '⚠️ LIVE: real money moves.',
      'Account  Lagos',
      'Customer id  CUST-7',
      'Reason (not sent)  September rent',
      '[Change]',
      'Nothing sent yet. This review expires in 30 minutes.',
      '<Charge NGN 12,500.00>',
    ]);
    expect(buttons(view).map(({ actionId }) => actionId)).toEqual(['charge_change']);
  });

  it('cannot be taken for the other environment', () => {
    const shown = page(termsModal({ place: sandbox, terms, draft, nowMs })).join('\n');
    expect(shown).toContain('ℹ️ SANDBOX: a test, no real money moves.');
    expect(shown).not.toContain('LIVE');
  });

  it('says LIVE and real money above all else in a bot that has sandbox accounts too, with the longest name', () => {
    const among = { ...live, account: `🟦 ${'𝕷'.repeat(200)} (blue)`, isMixed: true };
    const view = termsModal({ place: among, terms, draft, nowMs, twin });
    expect(findViewProblems(view)).toEqual([]);
    expect(page(view)[1]).toMatch(/^## 🔴 LIVE · 🟦 𝕷/u);
    const shown = page(termsModal({ place: { ...live, isMixed: true }, terms, draft, nowMs }));
    expect(shown[1]).toBe('## 🔴 LIVE · Lagos: real money');
    const test = page(termsModal({ place: { ...sandbox, isMixed: true }, terms, draft, nowMs }));
    expect(test.join('\n')).not.toContain('LIVE');
  });

  it('has a submit button that names the amount whole and with its currency, or not at all', () => {
    expect(submitOf(1_250_000)).toBe('Charge NGN 12,500.00');
    expect(submitOf(123_456_789_000)).toBe('Charge');
    expect(submitOf(Number.MAX_SAFE_INTEGER)).toBe('Charge');
    expect(submitOf(100_000, 'NGN', twin)).toBe('Again: NGN 1,000.00');
    expect(submitOf(10_000, 'NGN', twin)).toBe('Charge again NGN 100.00');
    expect(submitOf(Number.MAX_SAFE_INTEGER, 'NGN', twin)).toBe('Charge again');
  });

  it('names who charged the same before, when, and what became of it, before anything else', () => {
    const lines = page(termsModal({ place: live, terms, draft, nowMs, twin }));
    expect(lines.slice(1, 4)).toEqual([
      '⚠️ A charge of the same card and amount was begun 4 minutes ago. Charge it again only if the customer owes it twice.',
      `The first: @${colleague}, 2026-09-14 13:33 UTC, ${reference}`,
      'What became of it: Paid (confirmed). Charging again takes the money a second time.',
    ]);
    const outcomes = (['approved', 'declined', 'three_d_secure', 'cleared', 'review'] as const).map(
      (outcome) => page(termsModal({ place: live, terms, draft, nowMs, twin: { ...twin, outcome } }))[3],
    );
    expect(new Set(outcomes).size).toBe(5);
    expect(outcomes.filter((line) => /\bpaid\b/i.test(line ?? ''))).toHaveLength(1);
  });

  it('does not say of one under review that no money moved', () => {
    const beside = termsModal({ place: live, terms, draft, nowMs, twin: { ...twin, outcome: 'review' } });
    expect(page(beside)[3]).toContain('money may have moved');
    expect(page(beside)[3]).not.toContain('no money');
  });

  it('names the person by a mention, which no name can fake', () => {
    const view = termsModal({ place: live, terms, draft, nowMs, twin: { ...twin, by: agent } });
    expect(JSON.stringify(view)).toContain(`{"type":"user","user_id":"${agent}"}`);
  });
});

const holds: readonly CardRefusal[] = [
  { kind: 'resting', nextTryFrom: nowMs + minuteMs, attemptsLeft: 1 },
  { kind: 'stopped', declines: 3, nextTryFrom: nowMs + minuteMs },
  { kind: 'save_again' },
  { kind: 'under_way', reference, by: colleague, at: nowMs - 4 * minuteMs },
];
const approval = { rule: 'Charges from NGN 10,000.00 need one approver', needed: 1 };

describe('a restriction on the review', () => {
  it.each([
    [
      holds[0],
      'Card on hold until: 2026-09-14 13:38 UTC after a decline. Retrying earlier would waste an attempt.',
    ],
    [holds[1], 'Card on hold until: 2026-09-14 13:38 UTC: the bank declined it 3 times. Use another card.'],
    [holds[2], 'Send a payment link'],
    [holds[3], `Another charge of this card is still open: @${colleague}, 4 minutes ago, ${reference}.`],
  ])('is said before the button, and there is none that charges (%#)', (hold, words) => {
    const view = termsModal({ place: live, terms, draft, nowMs, hold: hold! });
    expect(findViewProblems(view)).toEqual([]);
    expect(page(view).join('\n')).toContain(words);
    expect(view.submit).toBeUndefined();
    expect(buttons(view).map(({ actionId }) => actionId)).toContain('charge_change');
  });

  it('makes the button ask where it asks', () => {
    const view = termsModal({ place: live, terms, draft, nowMs, approval });
    expect(findViewProblems(view)).toEqual([]);
    expect(page(view)).toContain('Needs a second person: Charges from NGN 10,000.00 need one approver.');
    expect(view.submit?.text).toBe('Ask for approval');
    const onHold = termsModal({ place: live, terms, draft, nowMs, approval, hold: holds[0]! });
    expect(findViewProblems(onHold)).toEqual([]);
    expect(JSON.stringify(onHold.blocks)).toContain('Why now');
    expect(onHold.submit?.text).toBe('Ask for approval');
  });

  it('leaves a review of at most 40 words without one', () => {
    const { customerId: _id, reason: _reason, ...bare } = terms;
    const shown = page(termsModal({ place: live, terms: bare, draft, nowMs })).join(' ');
    expect(shown.split(/[\s·#<>[\]]+/u).filter((word) => /\w/.test(word)).length).toBeLessThanOrEqual(40);
  });
});

describe('staleTermsModal', () => {
  it('says that nothing was charged, and how to go on', () => {
    const view = staleTermsModal(live);
    expect(findViewProblems(view)).toEqual([]);
    expect(page(view).join('\n')).toContain('Nothing was charged.');
    expect(page(view).join('\n')).toContain('/pay charge');
  });
});

describe('readTermsMetadata', () => {
  it('gives back the draft, and the twin that was shown', () => {
    const alone = termsModal({ place: live, terms, draft, nowMs });
    expect(readTermsMetadata(alone.private_metadata ?? '')).toEqual({ draft });
    const beside = termsModal({ place: live, terms, draft, nowMs, twin });
    expect(readTermsMetadata(beside.private_metadata ?? '')).toEqual({ draft, despite: reference });
  });

  it('gives nothing for what is not ours', () => {
    for (const text of ['', '{', 'null', '[]', '{}', '{"draft":""}', '{"draft":1}']) {
      expect(readTermsMetadata(text)).toBeUndefined();
    }
  });
});
