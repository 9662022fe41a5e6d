import { describe, expect, it } from 'vitest';
import type { DailySummary } from '../../../src/domain/daily-summary.ts';
import { assertBlocks } from '../../../src/slack/assert-blocks.ts';
import { dailySummaryMessage } from '../../../src/slack/alert/daily-summary-message.ts';
import { shownLines } from '../shown-text.ts';

const nowMs = Date.UTC(2026, 10, 21, 7);
const place = { environment: 'live', account: 'main account' } as const;
const summary: DailySummary = {
  fromMs: nowMs - 86_400_000,
  untilMs: nowMs,
  failed: { count: 2, sums: [{ minor: 500_000, currency: 'NGN' }], withoutAmount: 1 },
  paid: { count: 1, sums: [], withoutAmount: 1 },
  proven: 0,
  disputed: { failed: 0, paid: 0 },
  late: 0,
  notYet: 0,
  toldHere: 2,
  reasons: [{ reason: '<!channel> *funds* <@U0ADA00001>', count: 2 }],
  cards: {
    open: [{ id: 'k', orderReference: 'SUB-1', receivedAtMs: nowMs - 3 * 3_600_000 }],
    acknowledged: 3,
    snoozed: 0,
    leftOut: 0,
  },
  muted: [
    {
      name: 'no-funds',
      match: {},
      channels: ['C0QUIET001'],
      mention: { kind: 'group', id: 'S0ONCALL01' },
      mutedUntilMs: Date.UTC(2026, 11, 1),
      goesOn: false,
    },
  ],
  nowMs,
};

function linesWith(more: Partial<DailySummary>): string {
  const told = { summary: { ...summary, ...more }, key: 'k', mayBeRepeat: false };
  return shownLines(dailySummaryMessage(told, place)).join('\n');
}

describe('a daily summary in words', () => {
  it('says what came, how the alerts stand and which rules are silent until when, and calls nobody', () => {
    const message = dailySummaryMessage({ summary, key: 'k', mayBeRepeat: true }, place);
    assertBlocks('message', message.blocks);
    const lines = shownLines(message).join('\n');
    expect(lines).toContain('📋 Daily summary · 2 failed charges · 1 successful payment · 33.3 % succeeded');
    expect(lines).toContain('Failed, by the events: 2 · NGN 5,000.00 · 1 of them without an amount');
    expect(lines).toContain('1 open · 3 acknowledged');
    expect(lines).toContain('SUB-1 · open for 3 h');
    expect(lines).toMatch(/by rule no-funds; .*muted until.*/);
    expect(JSON.stringify(message.blocks)).toContain('2026-12-01 00:00 UTC');
    expect(lines).toContain('May be a repeat');
    const whole = JSON.stringify(message.blocks);
    expect(whole).not.toContain('S0ONCALL01');
    expect(whole).not.toMatch(/"type":"(user|usergroup|broadcast)"/);
    expect(message.text).not.toContain('<!');
  });

  it('says by what it counts payments, how many are proven, and what its look-ups contradict', () => {
    const paid = { count: 3, sums: [{ minor: 500_000, currency: 'NGN' }], withoutAmount: 0 };
    const lines = linesWith({ paid, proven: 2, disputed: { failed: 1, paid: 2 } });
    expect(lines).toContain('Succeeded, by the events: 3 · NGN 5,000.00 · 2 of them proven by look-up');
    expect(lines).toContain('🚨 1 event of a failure, and the look-up says Paid (confirmed): not counted.');
    expect(lines).toContain('⚠️ 2 events of a payment that the look-up did not confirm: not counted.');
    expect(linesWith({})).not.toContain('not counted');
  });

  it('says what came before this day, and what the next summary counts, and else nothing of it', () => {
    expect(linesWith({ late: 3, notYet: 1 })).toContain(
      '3 of all these came before this day and were not known yet.\n1 more was known too late for this summary: the next one counts it.',
    );
    expect(linesWith({ late: 1, notYet: 2 })).toContain(
      '1 of all these came before this day and was not known yet.\n2 more were known too late for this summary: the next one counts them.',
    );
    expect(linesWith({})).not.toContain('known');
  });

  it('fits one message however much there is', () => {
    const open = Array.from({ length: 5_000 }, (_, index) => ({ id: `${index}`, receivedAtMs: 0 }));
    const muted = summary.muted.flatMap((rule) =>
      Array.from({ length: 100 }, (_, index) => ({
        ...rule,
        match: { reasonPart: 'x'.repeat(500), emailDomain: 'x'.repeat(500), account: 'x'.repeat(500) },
        name: `${'n'.repeat(36)}-${index}`,
      })),
    );
    const reasons = Array.from({ length: 5 }, () => ({ reason: 'x'.repeat(5_000), count: 1 }));
    const full = { ...summary, cards: { ...summary.cards, open }, muted, reasons };
    const message = dailySummaryMessage({ summary: full, key: 'k', mayBeRepeat: false }, place);
    assertBlocks('message', message.blocks);
    expect(shownLines(message).join()).toContain('… and 4995 that came later.');
    for (const { name } of muted) expect(shownLines(message).join()).toContain(name);
  });
});
