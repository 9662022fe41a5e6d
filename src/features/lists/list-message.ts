// The message that shows one page of a list, for any kind of item.

import { z } from 'zod';
import { holdsCardNumber } from '../../domain/card.ts';
import { codec } from '../../slack/kit/form.ts';
import type { Button } from '@slack/types';
import type { ServiceFailure } from '../../domain/failure.ts';
import type { ListPage, Reading, ReadingStop } from './service-list.ts';
import { type Run, bold, button, code, rich, richText, words } from '../../slack/kit/blocks.ts';
import { type Note, noteMessage } from '../../slack/kit/note.ts';
import { counted } from '../../domain/wording.ts';
import { labelled } from '../../slack/words/charge-facts.ts';
import { type ShownAccount, checkedFoot, accountWords } from '../../slack/words/account-foot.ts';
import { failureWords } from '../../slack/words/error-message.ts';
import type { SlackMessage } from '../../slack/kit/message.ts';
import { mrkdwnText, outsideText } from '../../slack/kit/text.ts';
import { type CsvColumn, csvFileName } from '../../csv.ts';
import type { UploadedFile, UploadOutcome } from '../../slack/kit/upload-file.ts';

/** A kind of list: its words, columns and buttons. */
export type ListSubject<Item> = {
  /** The command's word after `/pay`: `terminals`. */
  verb: string;
  /** The name of one item, and of several: `terminal`, `terminals`. */
  one: string;
  many: string;
  /** A row's first line shows the first two, its second line the others. */
  columns: readonly { cell: (item: Item) => string | undefined; longest: number }[];
  /** Shown below the rows: what to do with one item. */
  next?: readonly Run[];
};

export type ListPress = { filter: string; number: number };

/** Refuses a value with a card number: no list has such a button, because the typed command would have been refused. */
export const listPress = codec<ListPress>(
  z.object({
    filter: z.string().refine((filter) => !holdsCardNumber(filter)),
    number: z.int().nonnegative(),
  }),
);

export type ListButton = 'back' | 'next' | 'all' | 'csv' | 'reload';

/** *Reload* keeps the id that buttons on people's screens have. */
export function listActionId({ verb }: { verb: string }, which: ListButton): string {
  return `${verb}.${which === 'reload' ? 'anew' : which}`;
}

const longestFilter = 60;

/** `news`: the result of a pressed button, shown above the list. */
type ShownList<Item> = { filter: string; page: ListPage<Item>; news?: SlackMessage };

/** One page: its rows, how far the list was read, and its buttons. */
export function listMessage<Item>(
  subject: ListSubject<Item>,
  { filter, page, news }: ShownList<Item>,
  account: ShownAccount,
): SlackMessage {
  const rows = page.items.map((item) => richText(...rowLines(subject, item)));
  const { text, blocks } = noteMessage({
    ...(filter === '' ? unfilteredHead(subject, page) : filterHead(subject, page, filter)),
    body: [...rows, ...noteLines(subject, page, filter)],
    buttons: listButtons(subject, filter, page),
    foot: checkedFoot(account, page.reading.readAt),
  });
  return { text: news?.text ?? text, blocks: [...(news?.blocks ?? []), ...blocks] };
}

function rowLines<Item>({ columns }: ListSubject<Item>, item: Item): Run[][] {
  const cells = columns.map(({ cell, longest }) => outsideText(cell(item) ?? '', longest));
  const [first = '', ...rest] = cells;
  const [second = '', ...others] = rest;
  return [
    [bold(first || '–'), words(second === '' ? '' : ` · ${second}`)],
    others.every((text) => text === '') ? [] : [words(others.filter((text) => text !== '').join(' · '))],
  ].filter((line) => line.length > 0);
}

type Head = { state: string; about?: string[] };

function unfilteredHead<Item>(
  { many }: ListSubject<Item>,
  { items, before, number, reading, hasNext }: ListPage<Item>,
): Head {
  const Many = many.charAt(0).toUpperCase() + many.slice(1);
  if (items.length === 0) return { state: `No ${many}` };
  const end = hasNext ? 'more follow' : `the last of ${reading.items}`;
  return {
    state: `${Many} ${before + 1}–${before + items.length}`,
    about: [`page ${number + 1}`, end],
  };
}

function filterHead<Item>(
  { one, many }: ListSubject<Item>,
  { items, before, found, reading }: ListPage<Item>,
  filter: string,
): Head {
  const word = `“${outsideText(filter, longestFilter)}”`;
  const state =
    found === 0
      ? `No ${one} matches ${word}`
      : `${numbered(found, `${one} matches`, `${many} match`)} ${word}`;
  const shown =
    found > items.length && items.length > 0 ? `shown ${before + 1}–${before + items.length}` : '';
  const searched =
    reading.end === 'more'
      ? `searched ${counted(reading.pages, 'page')} so far`
      : `searched all ${counted(reading.pages, 'page')}`;
  return { state, about: [shown, `${searched}, ${numbered(reading.items, one, many)}`] };
}

function noteLines<Item>(
  { verb, many, next }: ListSubject<Item>,
  { items, reading, stop }: ListPage<Item>,
  filter: string,
): Run[][] {
  return [
    ...(reading.end === 'repeated_cursor'
      ? [labelled('The list ends here', `the service repeated a page. There may be more ${many}.`)]
      : []),
    ...(stop === undefined ? [] : stopLines(stop, filter)),
    ...(items.length === 0 && filter !== '' && reading.end !== 'more'
      ? [rich`All of them: ${code(`/pay ${verb}`)}`]
      : []),
    ...(items.length === 0 || next === undefined ? [] : [[...next]]),
  ];
}

function stopLines(stop: ReadingStop, filter: string): Run[][] {
  switch (stop.kind) {
    case 'enough_calls':
      if (filter === '') return [];
      return [rich`There are more pages; ${code('Search all')} reads on.`];
    case 'cursor_refused':
      return [rich`Stopped: the service’s list has expired. Reload it to see the rest.`];
    case 'failure':
      return [rich`${failureSentence(stop.failure)}. You can go on from here later.`];
  }
}

/** "The payments service’s call limit is reached; it asks to wait 60 seconds": without a full stop. */
function failureSentence({ kind, retryAfterMs, said }: ServiceFailure): string {
  const theirs = outsideText(said ?? '', 300);
  const { what } = failureWords[kind];
  if (theirs !== '') return `${what}: “${theirs}”`;
  if (retryAfterMs === undefined) return what;
  return `${what}; it asks to wait ${counted(Math.ceil(retryAfterMs / 1_000), 'second')}`;
}

/** The three likeliest next steps. *Reload* is rarely among them: the typed command reads the list again, too. */
function listButtons<Item>(subject: ListSubject<Item>, filter: string, page: ListPage<Item>): Button[] {
  const choices: ButtonChoice[] = [
    ...(page.number === 0 ? [] : [{ which: 'back', text: 'Back', number: page.number - 1 } as const]),
    ...(page.hasNext ? [{ which: 'next', text: 'Next', number: page.number + 1 } as const] : []),
    ...otherButtons(page, filter),
  ];
  return choices
    .slice(0, mostButtons)
    .map(({ which, text, number = page.number }) =>
      button({ actionId: listActionId(subject, which), text, value: listPress.write({ filter, number }) }),
    );
}

type ButtonChoice = { which: ListButton; text: string; number?: number };

/** The buttons besides *Back* and *Next*, the most useful first. */
function otherButtons<Item>({ found, reading, stop }: ListPage<Item>, filter: string): ButtonChoice[] {
  const reload: ButtonChoice = { which: 'reload', text: 'Reload', number: 0 };
  if (stop?.kind === 'cursor_refused') return [reload];
  const goOn = stop?.kind === 'failure' ? 'Go on searching' : 'Search all';
  const all: ButtonChoice[] = filter !== '' && reading.end === 'more' ? [{ which: 'all', text: goOn }] : [];
  if (found === 0) return all.length === 0 ? [reload] : all;
  return [...all, { which: 'csv', text: 'CSV' }];
}

const mostButtons = 3;

export function readingMessage<Item>(
  { one, many }: ListSubject<Item>,
  { filter, reading, found }: { filter: string; reading: Reading | undefined; found: number },
): SlackMessage {
  return noteMessage({
    state: `⏳ ${filter === '' ? `Reading the ${many}` : 'Searching'} …`,
    about: [
      ...(reading === undefined ? [] : [counted(reading.pages, 'page'), numbered(reading.items, one, many)]),
      ...(filter === '' ? [] : [`${found} found for “${outsideText(filter, longestFilter)}”`]),
    ],
  });
}

function numbered(count: number, one: string, many: string): string {
  return `${count.toLocaleString('en-US')} ${count === 1 ? one : many}`;
}

const longestCell = 1_000;
const longestComment = 500;

/** Cleans a file's cells like the text of a message, because Slack stores the file, too. */
export function fileColumns<Item>(columns: readonly CsvColumn<Item>[]): CsvColumn<Item>[] {
  return columns.map(({ head, cell }) => ({
    head,
    cell: (item) => outsideText(cell(item) ?? '', longestCell),
  }));
}

type FileRequest<Item> = { subject: ListSubject<Item>; filter: string };
type FileContent = { text: string; rows: number; reading: Reading };

export function listFile<Item>(
  { subject, filter }: FileRequest<Item>,
  { text, rows, reading }: FileContent,
  { shownAccount, nowMs }: { shownAccount: ShownAccount; nowMs: number },
): UploadedFile {
  const title = rowsWords({ subject, filter }, rows);
  const of = filter === '' ? '' : `, of ${numbered(reading.items, subject.one, subject.many)}`;
  const comment = [`${title}${of}`, accountWords(shownAccount.environment, shownAccount.account)];
  const ends =
    reading.end === 'repeated_cursor' ? ['the list may be longer: the service gave a cursor twice'] : [];
  return {
    name: csvFileName(subject.verb, nowMs),
    title: `CSV of ${title}`,
    text,
    comment: mrkdwnText([...comment, ...ends].filter((part) => part !== '').join(' · '), longestComment),
  };
}

/** "10,000 terminals", "166 terminals that match “Lekki Kiosk”". */
function rowsWords<Item>({ subject, filter }: FileRequest<Item>, rows: number): string {
  const count = numbered(rows, subject.one, subject.many);
  if (filter === '') return count;
  return `${count} that ${rows === 1 ? 'matches' : 'match'} “${outsideText(filter, longestFilter)}”`;
}

export function exportingMessage<Item>(
  { subject, filter }: FileRequest<Item>,
  seen: { reading?: Reading; rows: number },
): SlackMessage {
  const what = filter === '' ? `all ${subject.many}` : `what matches “${outsideText(filter, longestFilter)}”`;
  return noteMessage({
    state: `⏳ Making the CSV of ${what} …`,
    about: readSoFar(seen.reading, seen.rows),
    body: [rich`The list comes back here when the file is there.`],
  });
}

function readSoFar(reading: Reading | undefined, rows: number): string[] {
  return reading ? [`read ${counted(reading.pages, 'page')}, ${numbered(rows, 'row', 'rows')}`] : [];
}

/** The result of a request for a file. `made`: the file was made; `upload` says whether Slack took it. */
export type FileEnd =
  | { kind: 'made'; upload: UploadOutcome; rows: number }
  | { kind: 'nothing' }
  | { kind: 'stopped'; stop: ReadingStop; rows: number; reading: Reading };

/** The result of a request for a file, shown above the list. */
export function fileNews<Item>(request: FileRequest<Item>, end: FileEnd): SlackMessage {
  switch (end.kind) {
    case 'made':
      return noteMessage(uploadNote(`CSV of ${rowsWords(request, end.rows)}`, end.upload));
    case 'nothing':
      return noteMessage({ state: `No CSV: there is no ${request.subject.one} to write` });
    case 'stopped':
      return noteMessage({
        state: '⚠️ The CSV was not made',
        about: readSoFar(end.reading, end.rows),
        body: [rich`${stoppedWords(end.stop)}`],
      });
  }
}

function uploadNote(what: string, upload: UploadOutcome): Note {
  return upload.kind === 'uploaded'
    ? { state: `📄 ${what}`, about: ['in your direct messages with the bot'] }
    : {
        state: `⚠️ ${what} couldn’t be put into Slack`,
        body: [rich`${upload.why}`, labelled('Next', upload.fix)],
      };
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
