import { describe, expect, it } from 'vitest';
import type { AlertRule } from '../../../src/domain/alert-route.ts';
import type { StormItem, StormRow, StormSeen } from '../../../src/domain/storm-summary.ts';
import { emptySummary, summarise } from '../../../src/domain/storm-summary.ts';
import { stormDirectMessage, stormMessage } from '../../../src/slack/alert/storm-message.ts';
import { rowsPerPage, stormCsv, stormListModal } from '../../../src/slack/alert/storm-list.ts';
import { readListPage, writeListPage } from '../../../src/slack/alert/storm-actions.ts';
import { assertBlocks } from '../../../src/slack/assert-blocks.ts';

const atMs = Date.UTC(2026, 10, 21, 10);
const about = { key: 'k', mayBeRepeat: true, isFirst: false };
const hostile = [
  '<!channel> *x* <https://e.example|y>',
  '<@U0ADA00001>',
  '\u202Egnp.exe',
  '4111 1111 1111 1111',
  '='.repeat(4_000),
  '',
];

function items(count: number): StormItem[] {
  return Array.from({ length: count }, (_, index) => ({
    id: `payment_failed/order/O-${index}`,
    receivedAtMs: atMs + index * 1_000,
    addedAtMs: atMs + index * 1_000,
    reference: `=O-${index}-${hostile[index % 3]}`,
    customerEmail: `jane.doe${index}@example.com`,
    amountMinor: 9_000_000_000_000 + index,
    currency: `C${index % 12}`,
    reason: `${hostile[index % hostile.length]}${index % 60 < 30 ? '' : index}`,
  }));
}

function storm(count: number, more: Partial<StormSeen> = {}): StormSeen {
  return {
    id: `C0ALERTS01/${atMs}`,
    gathers: 'payment_failed',
    count,
    summary: items(count).reduce(summarise, emptySummary),
    isOver: false,
    recovered: 0,
    muted: [],
    environment: 'live',
    account: 'main account',
    ...more,
  };
}

function paid(count: number, more: Partial<StormSeen> = {}): StormSeen {
  const proven = items(count).map((item, index) =>
    index % 2 === 0 ? { ...item, isConfirmed: true as const } : item,
  );
  return {
    ...storm(count, more),
    gathers: 'payment_success',
    summary: proven.reduce(summarise, emptySummary),
  };
}

const rows: StormRow[] = items(rowsPerPage).map((item) => ({ ...item, card: { kind: 'open' } }));

function mutedRule(name: string): AlertRule {
  return {
    name,
    match: { event: 'payment_failed', reasonPart: hostile[0] ?? '' },
    channels: ['C0ALERTS01'],
    mention: { kind: 'group', id: 'S0ONCALL01' },
    goesOn: false,
    mutedUntilMs: Date.UTC(2026, 10, 23),
  };
}

describe('the digest of a storm', () => {
  it('says what is muted meanwhile and until when, and calls nobody by that', () => {
    const shown = JSON.stringify(stormMessage(storm(3, { muted: [mutedRule('quiet-one')] }), about).blocks);
    expect(shown).toMatch(/Muted now.*quiet-one.*muted until.*"timestamp":1795392000/);
    expect(shown).not.toContain('S0ONCALL01');
    const many = Array.from({ length: 8 }, (_, index) => mutedRule(`rule-${index}`));
    expect(JSON.stringify(stormMessage(storm(3, { muted: many }), about).blocks)).toContain('rule-7 until ');
    expect(JSON.stringify(stormMessage(storm(3), about).blocks)).not.toContain('Muted');
  });

  it('is a message Slack takes at the extremes, whatever the events say', () => {
    const taken = { by: 'U0ADA00001', at: atMs };
    for (const seen of [
      storm(1),
      storm(2_000),
      storm(2_000, { taken, recovered: 9 }),
      storm(1, { isOver: true, taken }),
      storm(2_000, { taken, muted: Array.from({ length: 9 }, () => mutedRule('M'.repeat(80))) }),
    ]) {
      const shown = stormMessage(seen, about);
      expect(() => assertBlocks('message', shown.blocks)).not.toThrow();
      expect(() => assertBlocks('message', stormDirectMessage(seen, about).blocks)).not.toThrow();
      const text = JSON.stringify(shown.blocks.filter(({ type }) => type === 'rich_text'));
      expect(text).not.toMatch(/"type":"(link|broadcast|usergroup)"/);
      expect(text).not.toContain('4111 1111');
      expect(text).not.toContain('\u202E');
    }
  });

  it.each([storm, paid])('says from when to when once, and one time where all came in one minute', (made) => {
    const times = (count: number) =>
      (JSON.stringify(stormMessage(made(count), about).blocks).match(/"type":"date"|<!date/g) ?? []).length;
    expect(times(60)).toBe(1);
    expect(times(61)).toBe(2);
  });

  it('names nobody when it is first posted, because that would ping whoever pressed', () => {
    const seen = storm(3, { taken: { by: 'U0ADA00001', at: atMs } });
    const people = (isFirst: boolean) =>
      JSON.stringify(stormMessage(seen, { ...about, isFirst }).blocks).match(/"type":"user"/g);
    expect([people(true), people(false)]).toEqual([null, ['"type":"user"']]);
  });
});

describe('the digest of many payments', () => {
  it('is no alarm: nothing to acknowledge, no reasons, and no more called proven than is', () => {
    const { text, blocks } = stormMessage(paid(3), about);
    expect(text).toMatch(/^📥 Many payments: 3 · .* · as their events say$/);
    const shown = JSON.stringify(blocks);
    expect(shown).toContain('2 of 3');
    expect(shown).not.toMatch(/Acknowledge|Reasons|🚨|failed/);
  });

  it('says how many are proven, and the currencies where there are two', () => {
    const one = items(3).map((item) => ({ ...item, currency: 'NGN', isConfirmed: true as const }));
    const proven = paid(3, { summary: emptySummary });
    const all = JSON.stringify(
      stormMessage({ ...proven, summary: one.reduce(summarise, emptySummary) }, about).blocks,
    );
    expect(all).toContain('3 of 3');
    expect(all).not.toContain('By currency');
    const some = JSON.stringify(stormMessage(paid(3), about).blocks);
    expect(some).toMatch(/2 of 3.*By currency/);
  });

  it('is a message and a list that Slack takes at the extremes, whatever the events say', () => {
    for (const seen of [paid(1), paid(2_000), paid(2_000, { isOver: true })]) {
      expect(() => assertBlocks('message', stormMessage(seen, about).blocks)).not.toThrow();
    }
    const many = paid(2_000, { muted: Array.from({ length: 9 }, () => mutedRule('M'.repeat(80))) });
    const { blocks } = stormMessage(many, about);
    expect(() => assertBlocks('message', blocks)).not.toThrow();
    const shown = JSON.stringify(blocks.filter(({ type }) => type === 'rich_text'));
    expect(shown).not.toMatch(/"type":"(link|broadcast|usergroup)"/);
    expect(() => assertBlocks('modal', stormListModal(many, 1, rows).blocks)).not.toThrow();
  });

  it('lists which of them a look-up proved, on screen and in the CSV', () => {
    const some: StormRow[] = rows.map((row, index) => (index === 0 ? { ...row, isConfirmed: true } : row));
    const modal = JSON.stringify(stormListModal(paid(100), 0, some));
    expect(modal).toContain('"text":"Many payments"');
    expect(modal.match(/Proven by look-up/g)).toHaveLength(1);
    expect(modal.match(/By its event alone/g)).toHaveLength(rowsPerPage - 1);
    const lines = stormCsv('payment_success', some).trim().split('\r\n');
    expect(lines.filter((line) => line.includes(',confirmed,'))).toHaveLength(1);
    expect(lines.filter((line) => line.includes(',event_alone,'))).toHaveLength(rowsPerPage - 1);
  });
});

describe('the list of a storm', () => {
  it('is a modal Slack takes, masked, with a way to each neighbouring page', () => {
    const modal = stormListModal(storm(100), 1, rows);
    expect(() => assertBlocks('modal', modal.blocks)).not.toThrow();
    const text = JSON.stringify(modal);
    expect(text).toContain('page 2 of 4');
    expect(text).not.toContain('jane.doe');
    expect([...text.matchAll(/"value":"(\d)\|/g)].map(([, page]) => page)).toEqual(['0', '2']);
  });

  it('has pages that are read back as they were written, and no others', () => {
    expect(readListPage(writeListPage('C0ALERTS01/17', 3))).toEqual({ storm: 'C0ALERTS01/17', page: 3 });
    expect([readListPage('-1|x'), readListPage('x'), readListPage('1|')]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  it('is a CSV that no spreadsheet runs, one line a failure, masked', () => {
    const lines = stormCsv('payment_failed', rows).trim().split('\r\n');
    expect(lines).toHaveLength(rowsPerPage + 1);
    expect(
      lines
        .slice(1)
        .flatMap((line) => line.split(','))
        .filter((cell) => /^"?[=+@\t]/.test(cell)),
    ).toEqual([]);
    expect(lines[1]).toMatch(/^'=O-0-/);
    expect(lines.join()).not.toContain('jane.doe');
    expect(lines.join()).not.toContain('4111 1111');
  });
});
