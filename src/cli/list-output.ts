import type { Reading, ReadingStop, ServiceList } from '../features/lists/service-list.ts';
import { listCsv } from '../csv.ts';
import type { ListSubject } from '../features/lists/list-message.ts';
import { outsideText } from '../slack/kit/text.ts';
import type { Output } from './desk-commands.ts';
import { exitCodes } from './exit-codes.ts';
import { isoTime, jsonText, merchantJson, shortText, type Place } from './lines.ts';
import { listGone, outsideProblem, type Problem } from './problem-words.ts';
import type { Screen } from './screen.ts';

export type DeskList<Row> = {
  list: ServiceList<Row>;
  /** Its words, and its columns for people. */
  subject: ListSubject<Row>;
  /** Its columns for programs: under the specification's own names, without what a file must not hold. */
  columns: Parameters<typeof listCsv<Row>>[0];
};

export type ListQuestion = { output: Output; filter: string; all: boolean };

export type ListDeps = { screen: Screen; place: Place; now: () => number };

type End = { kind: Reading['end'] } | { kind: 'broke_off'; problem: Problem };

/** How far the list is read; filled while it goes by. */
type Progress = { pages: number; items: number; found: number; end: End };

/**
 * Prints the list page by page, never more than one of them in memory, and says how that ended. Nothing is printed
 * when there is no first page; what throws then is the caller's. A list that broke off never ends as if it were whole.
 */
export async function printList<Row>(
  desk: DeskList<Row>,
  question: ListQuestion,
  deps: ListDeps,
): Promise<Problem> {
  const { screen, now } = deps;
  const progress: Progress = { pages: 0, items: 0, found: 0, end: { kind: 'more' } };
  const done = screen.progress(() => progressWords(desk.subject, question, progress));
  try {
    await desk.list.begin();
    const pages = foundIn(desk.list, question, progress);
    for await (const piece of piecesOf(desk, question, { ...deps, pages, progress, readAtMs: now() })) {
      if (piece !== '') await screen.out(piece);
    }
  } finally {
    done();
  }
  return endOf(desk.subject, question, progress);
}

/** A file or a search that lacks some looks like one that is whole: those are always read to the end. */
function readsOn({ all, filter, output }: ListQuestion): boolean {
  return all || filter !== '' || output === 'csv';
}

/** What the filter finds, page by page, with how far the list is read noted beside it. */
async function* foundIn<Row>(
  list: ServiceList<Row>,
  question: ListQuestion,
  progress: Progress,
): AsyncGenerator<readonly Row[]> {
  const mostCalls = readsOn(question) ? Infinity : 0;
  const walking = list.matchingPages({ filter: question.filter, mostCalls, once: true });
  let end: Reading['end'] = 'last_page';
  try {
    for (;;) {
      // oxlint-disable-next-line no-await-in-loop -- a page is known by the one before it
      const next = await walking.next();
      if (next.done) {
        progress.end = endOfWalk(next.value, end);
        return;
      }
      const { items, reading } = next.value;
      end = reading.end;
      progress.pages = reading.pages;
      progress.items = reading.items;
      progress.found += items.length;
      yield items;
    }
  } catch (error) {
    const problem = outsideProblem(error);
    if (!problem) throw error;
    progress.end = { kind: 'broke_off', problem };
  }
}

/** `last`: what the last page that was read said of the next. */
function endOfWalk(stop: ReadingStop | undefined, last: Reading['end']): End {
  switch (stop?.kind) {
    case undefined:
    case 'enough_calls':
      return { kind: last };
    case 'failure':
      throw stop.failure;
    case 'cursor_refused':
      return { kind: 'broke_off', problem: listGone };
  }
}

type Printing<Row> = ListDeps & {
  pages: AsyncIterable<readonly Row[]>;
  progress: Progress;
  readAtMs: number;
};

function piecesOf<Row>(
  desk: DeskList<Row>,
  question: ListQuestion,
  printing: Printing<Row>,
): AsyncIterable<string> {
  switch (question.output) {
    case 'csv':
      return harmless(listCsv(desk.columns, printing.pages));
    case 'json':
      return listJson(desk, question, printing);
    case 'text':
      return listText(desk.subject, printing.pages);
  }
}

/** A file may be shown on a terminal too: what would steer it is left out. */
async function* harmless(pieces: AsyncIterable<string>): AsyncGenerator<string> {
  for await (const piece of pieces) yield piece.replace(/(?![\r\n\t])\p{Cc}/gu, '');
}

/** Columns of one width each; a later page may widen them, for then what is printed is gone. */
async function* listText<Row>(
  { columns }: ListSubject<Row>,
  pages: AsyncIterable<readonly Row[]>,
): AsyncGenerator<string> {
  let widths: readonly number[] | undefined;
  for await (const rows of pages) {
    if (rows.length === 0) continue;
    const heads = columns.map(({ head }) => head);
    const cells = rows.map((row) =>
      columns.map(({ cell, longest }) => outsideText(cell(row) ?? '', longest)),
    );
    const lines = widths === undefined ? [heads, ...cells] : cells;
    const least = widths ?? heads.map(() => 0);
    widths = least.map((width, index) =>
      Math.max(width, ...lines.map((line) => [...(line[index] ?? '')].length)),
    );
    yield lines.map((line) => `${aligned(line, widths ?? least)}\n`).join('');
  }
}

function aligned(cells: readonly string[], widths: readonly number[]): string {
  return cells
    .map((cell, index) => cell + ' '.repeat((widths[index] ?? 0) - [...cell].length))
    .join('  ')
    .trimEnd();
}

/** One document, an item a line, valid however the list ends: `complete` says whether these are all. */
async function* listJson<Row>(
  { subject, columns }: DeskList<Row>,
  { filter }: ListQuestion,
  { pages, progress, place, readAtMs }: Printing<Row>,
): AsyncGenerator<string> {
  const head = {
    kind: subject.verb,
    merchant: merchantJson(place),
    filter: filter === '' ? null : filter,
    readAt: isoTime(readAtMs),
  };
  yield `${jsonText(head).slice(0, -1)},"items":[`;
  let before = '\n';
  for await (const rows of pages) {
    const items = rows.map((row) =>
      jsonText(Object.fromEntries(columns.map(({ head: name, cell }) => [name, cell(row) ?? null]))),
    );
    if (items.length > 0) yield before + items.join(',\n');
    if (items.length > 0) before = ',\n';
  }
  const { pages: read, items, found, end } = progress;
  const tail = { found, read: { pages: read, items }, end: end.kind, complete: end.kind === 'last_page' };
  yield `\n],${jsonText(tail).slice(1)}\n`;
}

function progressWords<Row>(
  { many }: ListSubject<Row>,
  { filter }: ListQuestion,
  { pages, items, found }: Progress,
): string {
  const read = `${numbered(pages, 'page', 'pages')}, ${items.toLocaleString('en-US')} read`;
  return `Reading ${many}: ${read}${filter === '' ? '' : `, ${numbered(found, 'match', 'matches')}`}`;
}

function endOf<Row>(subject: ListSubject<Row>, question: ListQuestion, progress: Progress): Problem {
  const { end, found } = progress;
  switch (end.kind) {
    case 'broke_off': {
      const { exitCode, words } = end.problem;
      return { exitCode, words: `${brokeOff(subject, progress)}\n${words}` };
    }
    case 'repeated_cursor':
      return {
        exitCode: exitCodes.noAnswer,
        words: `${brokeOff(subject, progress)}\nThe service gave the same cursor twice, so what follows cannot be read.`,
      };
    case 'more':
    case 'last_page':
      return {
        exitCode: question.filter !== '' && found === 0 ? exitCodes.notFound : exitCodes.ok,
        words: summary(subject, question, progress),
      };
  }
}

function brokeOff<Row>({ one, many }: ListSubject<Row>, { pages, items }: Progress): string {
  const read = `${numbered(pages, 'page', 'pages')}, ${numbered(items, one, many)}`;
  return `The list broke off after ${read}: what was printed is not all of it.`;
}

function summary<Row>(
  { one, many }: ListSubject<Row>,
  { filter }: ListQuestion,
  { pages, items, found, end }: Progress,
): string {
  const read = `${numbered(items, one, many)} read in ${numbered(pages, 'call', 'calls')}`;
  if (end.kind === 'more') return `${read}; more follow: --all reads them all`;
  if (filter === '') return `${read}, the last included`;
  const matches = found === 0 ? `No ${one} matches` : numbered(found, `${one} matches`, `${many} match`);
  return `${matches} “${shortText(filter)}”; ${read}, the last included`;
}

function numbered(count: number, one: string, many: string): string {
  return `${count.toLocaleString('en-US')} ${count === 1 ? one : many}`;
}
