import type { Account, Finder } from '../../account.ts';
import { csvHead, csvRows, type CsvColumn } from '../../csv.ts';
import type { FoundRecord } from '../../domain/found-record.ts';
import { wireFromMinor } from '../../domain/money.ts';
import type { Span } from '../../domain/span.ts';
import { counted } from '../../domain/wording.ts';
import { eventsList } from '../../messages/message-record.ts';
import { ownPaymentsList } from '../../records/found-by.ts';
import { pagesOf } from '../../records/pages.ts';
import { isUnreadable } from '../../records/records.ts';
import type { Entry } from '../../store/store.ts';

/** Why a person should look at a row; such rows come first. */
type Attention = 'in doubt' | 'no event';

type DayRow = FoundRecord & { attention?: Attention };

/** `unread`: how many records the present sealing keys can't open. */
type Day = { rows: readonly DayRow[]; unread: number };

/**
 * Every event that came in the span, and every charge and payment link with its outcome then, or begun then and without
 * one: a link paid a week later is in the file of that day. In its latest state; records in doubt first, then proven
 * payments without an event, then the rest by time. Throws StoreUnavailable.
 */
export async function readDay(
  { store }: Pick<Account, 'store'>,
  finders: readonly Finder[],
  { span: { fromMs, untilMs }, hasEvent }: { span: Span; hasEvent: (reference: string) => Promise<boolean> },
): Promise<Day> {
  const rows: DayRow[] = [];
  let unread = 0;

  async function open(entry: Entry): Promise<FoundRecord | undefined> {
    try {
      return await finders.find(({ prefix }) => entry.key.startsWith(prefix))?.read(entry);
    } catch (error) {
      if (!isUnreadable(error)) throw error;
      unread += 1;
      return undefined;
    }
  }

  async function withAttention(record: FoundRecord): Promise<DayRow> {
    if (record.isInDoubt) return { ...record, attention: 'in doubt' };
    const { kind, isProven, reference } = record;
    const isOwn = kind === 'charge' || kind === 'payment link';
    const isMissing = isOwn && isProven && reference !== undefined && !(await hasEvent(reference));
    return isMissing ? { ...record, attention: 'no event' } : record;
  }

  for (const list of [ownPaymentsList, eventsList]) {
    for await (const entries of pagesOf(store, list, { from: fromMs })) {
      const read = (await Promise.all(entries.map(open))).filter((record) => record !== undefined);
      const found = read.map((record) => ({ ...record, atMs: record.outcomeAtMs ?? record.atMs }));
      const ofDay = found.filter(({ atMs }) => atMs >= fromMs && atMs < untilMs);
      rows.push(...(await Promise.all(ofDay.map(withAttention))));
      // Not `some`: an earlier release listed records by when they were begun, so one of the day may still follow.
      if (found.length > 0 && found.every(({ atMs }) => atMs >= untilMs)) break;
    }
  }
  return {
    rows: rows.toSorted((one, other) => rankOf(one) - rankOf(other) || one.atMs - other.atMs),
    unread,
  };
}

/** The day's numbers in sentences. */
export function dayWords({ rows, unread }: Day, date: string): string {
  const count = (what: Attention): number => rows.filter(({ attention }) => attention === what).length;
  return `${counted(rows.length, 'record')} of ${date}: ${count('in doubt')} in doubt, ${count('no event')} without an event. It is what came through this bot.${unread === 0 ? '' : ` ${unreadWords(unread)}`}`;
}

function unreadWords(unread: number): string {
  return `${counted(unread, 'record')} can't be read: a sealing key is missing.`;
}

function rankOf({ attention }: DayRow): number {
  return attention === 'in doubt' ? 0 : attention === 'no event' ? 1 : 2;
}

/** A line of the file: a record, a total, or a sentence. */
type Line = { [Column in (typeof columnNames)[number]]?: string };

const columnNames = [
  'time',
  'reference',
  'kind',
  'amount',
  'currency',
  'state',
  'proven',
  'by',
  'agent',
  'attention',
  'total',
] as const;

const columns: readonly CsvColumn<Line>[] = columnNames.map((head) => ({ head, cell: (line) => line[head] }));

/**
 * The day as CSV text. Amounts are plain decimals, so that a spreadsheet can sum the column; totals are below, in their
 * own column. No cell can run as a formula.
 */
export function dayCsv({ rows, unread }: Day): string {
  const words = [
    'This is what came through this bot alone. It is not all of the account.',
    ...(unread === 0 ? [] : [unreadWords(unread)]),
  ];
  return (
    csvHead(columns) +
    csvRows(columns, [...rows.map(lineOf), ...totals(rows), ...words.map((state) => ({ state }))])
  );
}

function lineOf({ atMs, reference, kind, money, state, isProven, agent, attention }: DayRow): Line {
  const isEvent = kind === 'alert' || kind === 'payment' || kind === 'refund';
  return {
    time: new Date(atMs).toISOString(),
    reference: reference ?? '',
    kind,
    amount: money ? wireFromMinor(money.minor) : '',
    currency: money?.currency ?? '',
    state: plainState(state),
    proven: isProven ? 'yes' : 'no',
    by: isProven ? 'look-up' : isEvent ? 'event' : '',
    agent: agent ?? '',
    attention: attention ?? '',
  };
}

/** Removes the emoji, which some spreadsheets can't show. */
function plainState(state: string): string {
  return state.replaceAll(/[^\p{L}\p{N}\p{P}\p{Zs}]/gu, '').trim();
}

function totals(rows: readonly DayRow[]): Line[] {
  const sums = new Map<string, { currency: string; state: string; count: number; minor: number }>();
  for (const { money, state: shown } of rows) {
    if (!money) continue;
    const state = plainState(shown);
    const key = JSON.stringify([money.currency, state]);
    const sum = sums.get(key) ?? { currency: money.currency, state, count: 0, minor: 0 };
    sums.set(key, { ...sum, count: sum.count + 1, minor: sum.minor + money.minor });
  }
  return [...sums.values()]
    .toSorted((one, other) => (`${one.currency} ${one.state}` < `${other.currency} ${other.state}` ? -1 : 1))
    .map(({ currency, state, count, minor }) => ({
      kind: `total of ${count}`,
      currency,
      state,
      total: wireFromMinor(minor),
    }));
}
