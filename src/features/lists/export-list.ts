import { randomBytes } from 'node:crypto';
import { csvHead, csvRows, type CsvColumn } from '../../csv.ts';
import type { Reading, ReadingStop } from '../../domain/service-page.ts';
import { StoreUnavailable } from '../../domain/store-unavailable.ts';
import { createChangeRecord, type ChangeRecord, type RecordStore } from '../../records/change-record.ts';
import type { ListOf, MatchingItems, ServiceList, WalkStop } from './service-list.ts';

type ExportRequest<Item, Placed> = ListOf & {
  filter: string;
  columns: readonly CsvColumn<Item>[];
  /** Told after each page. */
  progress: (reading: Reading, rows: number) => void;
  /** Puts the finished text where it is wanted. */
  place: (csv: { text: string; rows: number; reading: Reading }) => Promise<Placed>;
};

/** What became of a CSV that was asked for. */
export type ListExport<Placed> =
  | { kind: 'placed'; placed: Placed; rows: number; reading: Reading }
  /** Nothing matches, so there is no file. */
  | { kind: 'nothing'; reading: Reading }
  /** Not made: half a list looks like a whole one. What was read is kept, so the next attempt goes on from there. */
  | { kind: 'stopped'; stop: ReadingStop; rows: number; reading: Reading | undefined }
  /** The list is not remembered (any more), or is another person's. */
  | { kind: 'gone' }
  /** One of this person's is being made, on whatever replica; nothing was begun. */
  | { kind: 'running' };

/**
 * A whole list, or what matches of it, as CSV: the rows become text page by page and are dropped, so that the
 * memory it takes is the text's. One at a time for each person, because each calls the service for every page.
 * Throws StoreUnavailable when the store is away, and what `place` throws.
 */
export type ListExporter<Item> = <Placed>(
  request: ExportRequest<Item, Placed>,
) => Promise<ListExport<Placed>>;

/** Fifty thousand items; after that a person is asked again. */
const callsAtMost = 1_000;
/** Longer than one page takes, or the upload; a crash keeps the person waiting no longer than this. */
const turnMs = 120_000;
const renewAfterMs = 30_000;

type ListExporterDeps<Item> = {
  store: RecordStore;
  /** As the list is named. */
  name: string;
  list: Pick<ServiceList<Item>, 'matchingPages'>;
  now: () => number;
};

export function createListExporter<Item>(deps: ListExporterDeps<Item>): ListExporter<Item> {
  const changeRecord = createChangeRecord(deps.store);
  return async function exportList(request) {
    const turn = await takeTurn(changeRecord, `list-export:${deps.name}:${request.owner}`, deps.now);
    if (!turn) return { kind: 'running' };
    try {
      return await makeAndPlace(deps.list, request, turn.renew);
    } finally {
      await turn.end();
    }
  };
}

async function makeAndPlace<Item, Placed>(
  list: Pick<ServiceList<Item>, 'matchingPages'>,
  request: ExportRequest<Item, Placed>,
  renew: () => Promise<void>,
): Promise<ListExport<Placed>> {
  const { owner, list: name, filter, columns } = request;
  const made: Made = { pieces: [csvHead(columns)], rows: 0, reading: undefined };
  const walking = list.matchingPages({ owner, list: name, filter, mostCalls: callsAtMost });
  let end: WalkStop | undefined;
  for (;;) {
    // oxlint-disable-next-line no-await-in-loop -- a page is known by the one before it
    const next = await walking.next();
    if (next.done) {
      end = next.value;
      break;
    }
    add(made, columns, next.value);
    request.progress(next.value.reading, made.rows);
    // oxlint-disable-next-line no-await-in-loop
    await renew();
  }
  const { rows, reading } = made;
  if (end?.kind === 'gone') return end;
  if (end || !reading) return { kind: 'stopped', stop: end ?? { kind: 'enough_calls' }, rows, reading };
  if (rows === 0) return { kind: 'nothing', reading };
  const placed = await request.place({ text: made.pieces.join(''), rows, reading });
  return { kind: 'placed', placed, rows, reading };
}

type Made = { pieces: string[]; rows: number; reading: Reading | undefined };

function add<Item>(
  made: Made,
  columns: readonly CsvColumn<Item>[],
  { items, reading }: MatchingItems<Item>,
): void {
  made.pieces.push(csvRows(columns, items));
  made.rows += items.length;
  made.reading = reading;
}

type Turn = { renew: () => Promise<void>; end: () => Promise<void> };

const over = '';

/** Undefined while somebody else has it. It ends by itself when nobody renews it any more. */
async function takeTurn(
  changeRecord: ChangeRecord,
  key: string,
  now: () => number,
): Promise<Turn | undefined> {
  const own = randomBytes(9).toString('base64url');
  const isMine = await changeRecord(key, (value) =>
    value === undefined || value === over
      ? { kind: 'write', value: own, ttlMs: turnMs, result: true }
      : { kind: 'keep', result: false },
  );
  if (!isMine) return undefined;
  let renewedAt = now();
  const writeMine = (text: string): Promise<void> =>
    changeRecord(key, (value) =>
      value === own
        ? { kind: 'write', value: text, ttlMs: turnMs, result: undefined }
        : { kind: 'keep', result: undefined },
    );
  return {
    async renew() {
      if (now() - renewedAt < renewAfterMs) return;
      renewedAt = now();
      await writeMine(own);
    },
    async end() {
      try {
        await writeMine(over);
      } catch (error) {
        // It ends by itself, and what was made is made.
        if (!(error instanceof StoreUnavailable)) throw error;
      }
    },
  };
}
