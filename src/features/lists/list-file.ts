// A list as a CSV file: what is told while it is made, what the file is called, and what became of it.

import type { CsvColumn } from '../../csv.ts';
import type { Reading, ReadingStop } from '../../domain/service-page.ts';
import { bold, headline, richText, words, type Run } from '../../slack/kit/blocks.ts';
import { counted } from '../../domain/counted.ts';
import { plain } from '../../slack/words/charge-facts.ts';
import type { ChargePlace } from '../../slack/words/charge-place.ts';
import { placeWords } from '../../slack/words/evidence.ts';
import type { SlackMessage } from '../../slack/kit/message.ts';
import type { SharedFile } from '../../slack/kit/share-file.ts';
import { mrkdwnText, outsideText } from '../../slack/kit/text.ts';
import type { UploadedFile } from '../../slack/kit/upload-file.ts';
import { failureSentence, numbered, type ListNews, type ListSubject } from './list-message.ts';

const longestFilter = 60;
const longestCell = 1_000;
const longestComment = 500;

/** What stands in a file that Slack keeps is what may stand in its messages. */
export function fileColumns<Item>(columns: readonly CsvColumn<Item>[]): CsvColumn<Item>[] {
  return columns.map(({ head, cell }) => ({
    head,
    cell: (item) => outsideText(cell(item) ?? '', longestCell),
  }));
}

type Wanted<Item> = { subject: ListSubject<Item>; filter: string };
type Made = { text: string; rows: number; reading: Reading };

export function listFile<Item>(
  { subject, filter }: Wanted<Item>,
  { text, rows, reading }: Made,
  { place, nowMs }: { place: ChargePlace; nowMs: number },
): UploadedFile {
  const title = rowsWords({ subject, filter }, rows);
  const of = filter === '' ? '' : `, of ${numbered(reading.items, subject.one, subject.many)}`;
  const comment = [`${title}${of}`, placeWords(place.environment, place.account)];
  const ends =
    reading.end === 'repeated_cursor' ? ['the list may be longer: the service gave a cursor twice'] : [];
  return {
    name: `${subject.verb}-${new Date(nowMs).toISOString().slice(0, 16).replace('T', '-').replace(':', '')}.csv`,
    title: `CSV of ${title}`,
    text,
    comment: mrkdwnText([...comment, ...ends].filter((part) => part !== '').join(' · '), longestComment),
  };
}

/** "10,000 terminals", "166 terminals that match “Lekki Kiosk”". */
function rowsWords<Item>({ subject, filter }: Wanted<Item>, rows: number): string {
  const count = numbered(rows, subject.one, subject.many);
  if (filter === '') return count;
  return `${count} that ${rows === 1 ? 'matches' : 'match'} “${outsideText(filter, longestFilter)}”`;
}

/** While it is made: how far it is. */
export function exportingMessage<Item>(
  { subject, filter }: Wanted<Item>,
  seen: { reading?: Reading; rows: number },
): SlackMessage {
  const { reading, rows } = seen;
  const what = filter === '' ? `all ${subject.many}` : `what matches “${outsideText(filter, longestFilter)}”`;
  const far = reading ? [`read ${counted(reading.pages, 'page')}, ${numbered(rows, 'row', 'rows')}`] : [];
  const { text, block } = headline(`⏳ Making the CSV of ${what} …`, far);
  const line = plain('The list comes back here when the file is there.');
  return { text, blocks: [block, richText(line)] };
}

export type FileEnd =
  | { kind: 'placed'; placed: SharedFile; rows: number }
  | { kind: 'nothing' }
  | { kind: 'stopped'; stop: ReadingStop; rows: number; reading: Reading | undefined }
  | { kind: 'running' };

/** What became of it, to stand above the list. */
export function fileNews<Item>(wanted: Wanted<Item>, end: FileEnd): ListNews {
  switch (end.kind) {
    case 'placed':
      return placedNews(wanted, end);
    case 'nothing':
      return news(`No CSV: there is no ${wanted.subject.one} to write`, []);
    case 'stopped': {
      const { reading, stop } = end;
      const read = reading
        ? [`read ${counted(reading.pages, 'page')}, ${numbered(end.rows, 'row', 'rows')}`]
        : [];
      return news('⚠️ The CSV was not made', read, plain(stoppedWords(stop)));
    }
    case 'running':
      return news('⏳ A CSV of yours is already being made', [], plain('One at a time.'));
  }
}

function placedNews<Item>(
  wanted: Wanted<Item>,
  { placed, rows }: Extract<FileEnd, { kind: 'placed' }>,
): ListNews {
  const what = `CSV of ${rowsWords(wanted, rows)}`;
  switch (placed.kind) {
    case 'here':
      return news(`📄 ${what}`, ['in this conversation']);
    case 'direct':
      return news(
        `📄 ${what}`,
        ['in your direct messages with the bot'],
        [
          words('The bot can’t put files here. '),
          ...(placed.fix === '' ? [] : [bold('To change that: '), words(placed.fix)]),
        ],
      );
    case 'failed':
      return news(
        `⚠️ ${what} couldn’t be put into Slack`,
        [],
        [words(`${placed.why} `), bold('Next: '), words(placed.fix)],
      );
  }
}

function stoppedWords(stop: ReadingStop): string {
  switch (stop.kind) {
    case 'enough_calls':
      return 'That was a lot of pages. Press CSV again to go on.';
    case 'cursor_refused':
      return 'The service’s list has expired. Reload it, and press CSV again.';
    case 'failure':
      return `${failureSentence(stop.failure)}. Press CSV again to go on.`;
  }
}

function news(state: string, details: readonly string[], line?: readonly Run[]): ListNews {
  const { text, block } = headline(state, details);
  return { text, blocks: [block, ...(line === undefined ? [] : [richText(line)])] };
}
