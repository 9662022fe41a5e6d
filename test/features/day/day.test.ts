import { describe, expect, it } from 'vitest';
import type { Finder } from '../../../src/account.ts';
import type { FoundRecord } from '../../../src/domain/found-record.ts';
import { dayCsv, readDay } from '../../../src/features/day/day.ts';
import { eventsList } from '../../../src/messages/message-record.ts';
import { ownPaymentsList } from '../../../src/records/found-by.ts';
import { openModelStore } from '../../store/model-store.ts';

const dayMs = 86_400_000;
const fromMs = Date.parse('2026-11-20T00:00:00Z');
const span = { fromMs, untilMs: fromMs + dayMs };
const finders: Finder[] = [{ prefix: '', read: async ({ value }) => JSON.parse(value) as FoundRecord }];

function record(more: Partial<FoundRecord>): FoundRecord {
  return {
    kind: 'charge',
    state: '✅ Paid (confirmed)',
    atMs: fromMs + 1_000,
    money: { minor: 1_250_000, currency: 'NGN' },
    isProven: true,
    isInDoubt: false,
    isFailed: false,
    isOpen: false,
    ...more,
  };
}

async function dayOf(
  own: readonly FoundRecord[],
  events: readonly FoundRecord[],
  heard: readonly string[] = [],
) {
  const store = openModelStore(() => fromMs);
  for (const [list, records] of [
    [ownPaymentsList, own],
    [eventsList, events],
  ] as const) {
    for (const [at, one] of records.entries()) {
      await store.create(`${list}/${at}`, JSON.stringify(one), { index: { [list]: one.atMs } });
    }
  }
  const hasEvent = async (reference: string): Promise<boolean> => heard.includes(reference);
  return await readDay({ store }, finders, { span, hasEvent });
}

/** A CSV's cells, line by line, without the byte order mark. */
function cells(csv: string): string[][] {
  return csv
    .replace('\uFEFF', '')
    .trimEnd()
    .split('\r\n')
    .map((line) => line.split(','));
}

describe('a day for finance', () => {
  it('has the records that began that day, and none of the day before or after', async () => {
    const times = [fromMs - 1, fromMs, fromMs + dayMs - 1, fromMs + dayMs];
    const { rows } = await dayOf(
      times.map((atMs) => record({ atMs, reference: `R-${atMs}` })),
      times.map((atMs) => record({ atMs, kind: 'payment' })),
    );
    expect(rows.map(({ atMs }) => atMs).toSorted((one, other) => one - other)).toEqual([
      fromMs,
      fromMs,
      fromMs + dayMs - 1,
      fromMs + dayMs - 1,
    ]);
  });

  it('puts records in doubt first, then proven payments without an event, then the rest by time', async () => {
    const { rows } = await dayOf(
      [
        record({ reference: 'HEARD', atMs: fromMs + 1 }),
        record({ reference: 'SILENT', atMs: fromMs + 3 }),
        record({ reference: 'DOUBT', atMs: fromMs + 4, isProven: false, isInDoubt: true }),
      ],
      [record({ reference: 'EVENT', atMs: fromMs + 2, kind: 'payment', isProven: false })],
      ['HEARD'],
    );
    expect(rows.map(({ reference, attention = '' }) => [reference, attention])).toEqual([
      ['DOUBT', 'in doubt'],
      ['SILENT', 'no event'],
      ['HEARD', ''],
      ['EVENT', ''],
    ]);
  });

  it('writes amounts that a spreadsheet can sum, totals in their own column, and no formula', async () => {
    const day = await dayOf(
      [
        record({ reference: '=1+1', agent: 'U0ADA00001' }),
        record({ reference: 'B', money: { minor: 50, currency: 'NGN' } }),
      ],
      [
        record({
          kind: 'alert',
          state: '❌ Declined by the bank',
          isProven: false,
          money: { minor: 700, currency: 'USD' },
        }),
      ],
      ['=1+1', 'B'],
    );
    const [head = [], ...lines] = cells(dayCsv(day));
    const column = (name: string): string[] => lines.map((line) => line[head.indexOf(name)] ?? '');
    expect(column('amount')).toEqual(['12500.00', '0.50', '7.00', '', '', '']);
    expect(column('total')).toEqual(['', '', '', '12500.50', '7.00', '']);
    expect(column('kind')).toEqual(['charge', 'charge', 'alert', 'total of 2', 'total of 1', '']);
    expect(column('reference')[0]).toBe("'=1+1");
    expect(column('agent')[0]).toBe('U0ADA00001');
    expect(column('proven')).toEqual(['yes', 'yes', 'no', '', '', '']);
    expect(column('by')).toEqual(['look-up', 'look-up', 'event', '', '', '']);
    expect(column('state')[2]).toBe('Declined by the bank');
    expect(dayCsv(day)).toContain('what came through this bot alone');
  });

  it('counts the records it can’t read', async () => {
    const store = openModelStore(() => fromMs);
    await store.create('broken', 'no json', { index: { [eventsList]: fromMs } });
    const day = await readDay({ store }, finders, { span, hasEvent: async () => true });
    expect(day).toEqual({ rows: [], unread: 1 });
    expect(dayCsv(day)).toContain("1 record can't be read");
  });
});
