import { describe, expect, it } from 'vitest';
import type { LimitRefusal, OwnLimits, SeenLimits } from '../../src/domain/charge-limits.ts';
import { homeLimits, leftWords, limitErrors, limitRefusalModal } from '../../src/slack/charge/limit-words.ts';
import { findBlockProblems, findViewProblems } from '../../src/slack/assert-blocks.ts';
import { agree, errorsOf, fields, form, readBack, sends, twin } from './charge-form.ts';
import { agent, createStage, nowMs } from './charge-stage.ts';
import { modalOf, textOf } from './shown-modal.ts';

const over: Extract<LimitRefusal, { kind: 'over' }> = {
  kind: 'over',
  limit: 'per_agent_per_day',
  money: { minor: 1_250_000, currency: 'NGN' },
  limitMinor: 50_000_000,
  usedMinor: 49_900_000,
  leftMinor: 100_000,
  freesAtMs: nowMs + 3_600_000,
  timeZone: 'Africa/Lagos',
  whoCan: ['lead'],
};
const perCharge: LimitRefusal = {
  kind: 'over',
  limit: 'per_charge',
  money: over.money,
  limitMinor: 1_000_000,
  usedMinor: 0,
  leftMinor: 1_000_000,
  timeZone: 'UTC',
  whoCan: [],
};
const currency: LimitRefusal = {
  kind: 'currency',
  currency: 'USD',
  allowed: ['NGN', 'GHS'],
  whoCan: ['a', 'b'],
};
const seen: SeenLimits = {
  currency: 'NGN',
  limits: { per_charge: 5_000_000, per_agent_per_day: 50_000_000, per_card_per_day: 10_000_000 },
  used: { agentMinor: 1_000_000, cardMinor: 12_000_000 },
  freesAtMs: nowMs,
};

describe('a limit at the form', () => {
  it.each<[LimitRefusal, string, string]>([
    [
      over,
      fields.amount,
      'This is above your limit per day: NGN 1,000.00 of NGN 500,000.00 is left until midnight (Africa/Lagos). Who can: a colleague with enough left today, or people in the role lead.',
    ],
    [
      { ...over, limit: 'per_card_per_day', whoCan: [] },
      fields.amount,
      'This is above your limit per day for one card: NGN 1,000.00 of NGN 500,000.00 is left until midnight (Africa/Lagos). Who can: nobody by payops.yml.',
    ],
    [
      perCharge,
      fields.amount,
      'This is above your limit per charge: NGN 10,000.00. Who can: nobody by payops.yml.',
    ],
    [currency, fields.currency, 'You may not charge USD, only NGN, GHS. Who can: people in the roles a, b.'],
    [{ kind: 'no_role' }, fields.amount, 'None of your roles may charge any more.'],
  ])('is told at its field, and nothing is read back: %o', async (refusal, field, words) => {
    const stage = createStage();
    stage.desk.answers.limits = { kind: 'refused', refusal };
    expect(await errorsOf(stage, form)).toEqual({ [field]: words });
    expect(stage.desk.kept.size).toBe(0);
  });

  it('refuses whose roles Slack cannot tell, in words', () => {
    expect(limitErrors({ kind: 'unknown_standing' })).toEqual({
      [fields.amount]: expect.stringContaining('Slack didn’t confirm your roles'),
    });
  });

  it('says no colleague could charge what is above everybody’s day', () => {
    const refusal = { ...over, money: { minor: 50_000_001, currency: 'NGN' } };
    expect(limitErrors(refusal)[fields.amount]).toMatch(/Who can: people in the role lead\.$/);
  });
});

describe('the read-back', () => {
  it('says what is left before the charge, also when it asks about a twin', async () => {
    const stage = createStage();
    stage.desk.answers.limits = { kind: 'allowed', seen };
    const words = 'Left today, before this charge: NGN 490,000.00 for you, NGN 0.00 for this card.';
    const terms = await readBack(stage);
    expect(textOf(terms)).toContain(words);
    stage.desk.answers.twin = twin;
    expect(textOf(modalOf(await agree(stage, terms)))).toContain(words);
  });

  it('says nothing of limits where no day has one', async () => {
    expect(leftWords({ ...seen, limits: { per_charge: 1 } })).toBeUndefined();
    expect(textOf(await readBack(createStage()))).not.toContain('Left today');
  });

  it('shows why a limit that was used up meanwhile refuses it: nothing is sent', async () => {
    const stage = createStage();
    const terms = await readBack(stage);
    stage.desk.answers.overLimit = over;
    const modal = modalOf(await agree(stage, terms));
    const text = textOf(modal);
    for (const words of [
      'Nothing was charged.',
      'NGN 12,500.00',
      'NGN 500,000.00 per day for you',
      'NGN 499,000.00, left NGN 1,000.00',
      `"timestamp":${over.freesAtMs! / 1_000}`,
      'people in the role lead',
    ]) {
      expect(text).toContain(words);
    }
    expect(modal.submit).toBeUndefined();
    expect(sends(stage)).toEqual([]);
  });
});

describe('the App Home', () => {
  const own: OwnLimits = {
    kind: 'limited',
    timeZone: 'Africa/Lagos',
    freesAtMs: nowMs,
    currencies: [
      { currency: 'NGN', limits: seen.limits, agentMinor: 12_000_000 },
      { currency: 'GHS', limits: {}, agentMinor: 5 },
    ],
  };

  it('tells the person’s limits and what is used of their day', async () => {
    const stage = createStage();
    stage.desk.answers.ownLimits = own;
    const blocks = (await stage.verb('charge').home?.({ userId: agent })) ?? [];
    expect(findBlockProblems('home', [...blocks])).toEqual([]);
    const text = textOf(blocks);
    expect(text).toContain(
      'at most NGN 50,000.00 per charge · today NGN 120,000.00 used, NGN 380,000.00 of NGN 500,000.00 left · NGN 100,000.00 per card and day',
    );
    expect(text).toContain('no limit');
  });

  it('says nothing to whom nothing limits, and says so when nobody knows', () => {
    expect(homeLimits({ kind: 'none' })).toEqual([]);
    expect(textOf(homeLimits({ kind: 'unknown' }))).toContain('They cannot be shown now');
  });
});

describe('at its longest', () => {
  const most = Number.MAX_SAFE_INTEGER;
  const roles = Array.from({ length: 300 }, (_, index) => `${'𝓇'.repeat(200)}${index}`);
  const codes = Array.from({ length: 300 }, (_, index) => `A${String.fromCodePoint(65 + (index % 26))}Z`);
  const place = { environment: 'live', account: '𝓁'.repeat(40) } as const;

  it.each<LimitRefusal>([
    { ...over, money: { minor: most, currency: 'NGN' }, limitMinor: most, usedMinor: most, whoCan: roles },
    { ...perCharge, whoCan: roles },
    { kind: 'currency', currency: 'USD', allowed: codes, whoCan: roles },
    { kind: 'no_role' },
    { kind: 'unknown_standing' },
  ])('the modal is one that Slack takes: $kind', (refusal) => {
    expect(findViewProblems(limitRefusalModal(refusal, place))).toEqual([]);
    for (const words of Object.values(limitErrors(refusal))) expect(words.length).toBeLessThan(1_500);
  });

  it('the Home is one that Slack takes', () => {
    const currencies = codes.map((code) => ({ currency: code, limits: seen.limits, agentMinor: most }));
    const own: OwnLimits = {
      kind: 'limited',
      timeZone: 'America/Argentina/ComodRivadavia',
      freesAtMs: nowMs,
      currencies,
    };
    expect(findBlockProblems('home', homeLimits(own))).toEqual([]);
  });
});
