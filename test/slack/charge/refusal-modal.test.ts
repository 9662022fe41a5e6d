import { describe, expect, it } from 'vitest';
import type { CardRefusal } from '../../../src/domain/card-refusal.ts';
import { findViewProblems } from '../../../src/slack/assert-blocks.ts';
import { cardRefusalModal, staleTermsModal } from '../../../src/slack/charge/refusal-modal.ts';
import { colleague, live, minuteMs, nowMs, places, seen } from './seen-charges.ts';
import { buttons, page } from './shown.ts';

const { reference } = seen();
const refusals: readonly CardRefusal[] = [
  { kind: 'resting', nextTryFrom: nowMs + minuteMs, attemptsLeft: 1 },
  { kind: 'stopped', declines: 3, nextTryFrom: nowMs + minuteMs },
  { kind: 'save_again' },
  { kind: 'under_way', reference, by: colleague, at: nowMs - 4 * minuteMs },
];

describe('cardRefusalModal', () => {
  it.each(refusals)('says that nothing was charged, why, and what next: $kind', (refusal) => {
    for (const place of places) {
      const view = cardRefusalModal(refusal, place, { nowMs });
      expect(findViewProblems(view)).toEqual([]);
      const shown = page(view).join('\n');
      expect(shown).toContain('Nothing was charged.');
      expect(view.submit).toBeUndefined();
    }
  });

  it('tells each apart by its first line', () => {
    const first = refusals.map((refusal) => page(cardRefusalModal(refusal, live, { nowMs }))[1]);
    expect(new Set(first).size).toBe(refusals.length);
  });

  it('says from when a card may be tried', () => {
    const [resting, stopped] = refusals.map((refusal) =>
      page(cardRefusalModal(refusal, live, { nowMs })).join('\n'),
    );
    expect(resting).toContain('Card on hold until: 2026-09-14 13:38 UTC after a decline.');
    expect(stopped).toContain('Card on hold until: 2026-09-14 13:38 UTC: the bank declined it 3 times');
  });

  it('names whose charge is under way, and shows it', () => {
    const view = cardRefusalModal(refusals[3]!, live, { nowMs });
    expect(page(view)).toContain(`By: @${colleague}, 2026-09-14 13:33 UTC (4 minutes ago)`);
    expect(buttons(view)).toEqual([
      { text: 'Show it', actionId: 'charge_show', value: reference, confirm: false },
    ]);
  });
});

describe('staleTermsModal', () => {
  it('says that nothing was sent, and how to go on', () => {
    const view = staleTermsModal(live);
    expect(findViewProblems(view)).toEqual([]);
    expect(page(view).join('\n')).toContain('Nothing was charged.');
    expect(page(view).join('\n')).toContain('/pay charge');
  });
});
