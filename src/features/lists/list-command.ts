import type { Account } from '../../account.ts';
import type { CsvColumn } from '../../csv.ts';
import { isJsonObject } from '../../domain/json-pointer.ts';
import { parsed, problem, type Parsed } from '../../domain/parsed.ts';
import type { ListPage, Reading } from '../../domain/service-page.ts';
import { createListExporter, type ListExport, type ListExporter } from './export-list.ts';
import type { ListOf, ListRequest, ServiceList } from './service-list.ts';
import {
  defineCommand,
  type Button,
  type Caller,
  type Command,
  type Conversation,
} from '../../slack/command.ts';
import {
  type ListButton,
  type ListNews,
  type ListPress,
  type ListSubject,
  anewNews,
  exportingMessage,
  fileColumns,
  fileNews,
  listActionId,
  listFile,
  listMessage,
  readingMessage,
} from './list-message.ts';
import type { SlackMessage } from '../../slack/kit/message.ts';
import type { ShareFile, SharedFile } from '../../slack/kit/share-file.ts';
import { oneLine } from '../../slack/kit/text.ts';

/** What was typed, or which button of a list was pressed. */
type Question = { kind: 'typed'; filter: string } | { kind: 'pressed'; which: ListButton; press: ListPress };

/** The first words of a button; nobody types it, and whoever does is answered from their own lists alone. */
const pressedWord = '--list';

const longestFilter = 100;
/** So that a filter mostly has an answer at once, without a call of every page. */
const callsAtFirst = 4;
/** Fifty thousand items; after that a person is asked again. */
const callsAtMost = 1_000;

const buttonKinds: readonly ListButton[] = ['back', 'next', 'all', 'csv', 'anew'];

type Verb<Item> = {
  subject: ListSubject<Item>;
  summary: string;
  examples: readonly string[];
  list: ServiceList<Item>;
  /** Of its file: under the specification’s own names. */
  columns: readonly CsvColumn<Item>[];
};

type Listing<Item> = Pick<Account, 'place' | 'now'> &
  Pick<Verb<Item>, 'subject' | 'list' | 'columns'> & {
    shareFile: ShareFile;
    exportList: ListExporter<Item>;
  };

/** A verb that lists what the service gives in pages, filtered by what is typed behind it. */
export function listCommand<Item>(
  { store, place, slack, now }: Account,
  { subject, summary, examples, list, columns }: Verb<Item>,
): Command {
  const exportList = createListExporter({ store, name: subject.verb, list, now });
  const listing = { subject, list, columns, place, now, exportList, shareFile: slack.shareFile };
  return defineCommand<Question>({
    verb: subject.verb,
    usage: '[filter]',
    summary,
    examples,
    permission: subject.verb,
    menu: { text: capitalised(subject.many), opens: 'message' },
    effect: 'none',
    buttons: buttonKinds.map((which) => buttonOf(subject.verb, which)),
    parse: parseQuestion,
    run: (question, conversation) => answer(listing, question, conversation),
  });
}

function capitalised(word: string): string {
  return word.slice(0, 1).toUpperCase() + word.slice(1);
}

function buttonOf(verb: string, which: ListButton): Button {
  return { actionId: listActionId(verb, which), words: (value) => [pressedWord, which, value] };
}

function parseQuestion(words: readonly string[]): Parsed<Question> {
  const [first, which, value] = words;
  if (first === pressedWord) {
    const press = readPress(value ?? '');
    const kind = buttonKinds.find((one) => one === which);
    return press && kind
      ? parsed({ kind: 'pressed', which: kind, press })
      : problem('This button has expired.');
  }
  const filter = oneLine(words.join(' '));
  return filter.length > longestFilter
    ? problem(`A filter has at most ${longestFilter} characters.`)
    : parsed({ kind: 'typed', filter });
}

function readPress(value: string): ListPress | undefined {
  const { list, filter, number, all } = parseObject(value);
  if (typeof list !== 'string' || typeof filter !== 'string') return undefined;
  if (typeof number !== 'number' || !Number.isSafeInteger(number) || number < 0) return undefined;
  return { list, filter, number, ...(all === true ? { all } : {}) };
}

function parseObject(value: string): Record<string, unknown> {
  try {
    const read: unknown = JSON.parse(value);
    return isJsonObject(read) ? read : {};
  } catch {
    return {};
  }
}

async function answer<Item>(
  listing: Listing<Item>,
  question: Question,
  conversation: Conversation,
): Promise<SlackMessage> {
  if (question.kind === 'pressed' && question.which === 'csv') {
    return await answerCsv(listing, question.press, conversation);
  }
  const { subject } = listing;
  const { caller, whileWaiting } = conversation;
  const filter = question.kind === 'typed' ? question.filter : question.press.filter;
  const seen: { reading?: Reading; found: number } = { found: 0 };
  const work = show(listing, question, caller.userId, (reading, found) => {
    seen.reading = reading;
    seen.found = found;
  });
  return await whileWaiting(work, () =>
    readingMessage(subject, { filter, reading: seen.reading, found: seen.found }),
  );
}

/** Makes the file, tells how far it is, and gives the list back with what became of it above. */
async function answerCsv<Item>(
  listing: Listing<Item>,
  press: ListPress,
  { caller, whileWaiting }: Conversation,
): Promise<SlackMessage> {
  const { subject } = listing;
  const { list, filter, number } = press;
  const of = { owner: caller.userId, list };
  const seen: { reading?: Reading; rows: number } = { rows: 0 };
  const work = exportCsv(listing, { caller, list, filter }, (reading, rows) => {
    seen.reading = reading;
    seen.rows = rows;
  });
  const end = await whileWaiting(work, () => exportingMessage({ subject, filter }, seen));
  if (end.kind === 'gone') return await showAnew(listing, { owner: of.owner, filter }, 'gone');
  const news = fileNews({ subject, filter }, end);
  const callsBefore = 'reading' in end ? (end.reading?.calls ?? 0) : 0;
  return await showPage(listing, { ...of, filter, number, mostCalls: 0 }, { callsBefore, news });
}

async function show<Item>(
  listing: Listing<Item>,
  question: Question,
  owner: string,
  progress: ListRequest['progress'],
): Promise<SlackMessage> {
  const { of, callsBefore } = await listOf(listing.list, question, owner);
  const request = { ...of, ...wantedOf(question), ...(progress && { progress }) };
  return await showPage(listing, request, { callsBefore });
}

/**
 * A list that has expired is begun again, and the person told so. With a filter what was found before the
 * service refused its own cursor is worth more than a new beginning.
 */
async function showPage<Item>(
  listing: Listing<Item>,
  request: ListRequest,
  { callsBefore, news }: { callsBefore: number; news?: ListNews },
): Promise<SlackMessage> {
  const { subject, list, place } = listing;
  const { owner, list: name, filter } = request;
  const page = await list.show(request);
  if (page.kind === 'gone') return await showAnew(listing, { owner, filter }, 'gone');
  if (page.stop?.kind === 'cursor_refused' && filter === '') {
    return await showAnew(listing, { owner, filter }, 'cursor_refused');
  }
  const shown = { list: name, filter, page: withCalls(page, callsBefore), ...(news && { news }) };
  return listMessage(subject, shown, place);
}

async function showAnew<Item>(
  { subject, list, place }: Listing<Item>,
  { owner, filter }: { owner: string; filter: string },
  why: 'gone' | 'cursor_refused',
): Promise<SlackMessage> {
  const of = await list.begin(owner);
  const page = await list.show({ ...of, ...fromTheBeginning(filter) });
  if (page.kind === 'gone') throw new Error('A list was forgotten as soon as it was read.');
  const shown = { list: of.list, filter, page: withCalls(page, 1), news: anewNews(subject, why) };
  return listMessage(subject, shown, place);
}

/** What is told as called for this is all of it, the call that began the list included. */
function withCalls<Item>(page: ListPage<Item>, more: number): ListPage<Item> {
  return { ...page, reading: { ...page.reading, calls: page.reading.calls + more } };
}

/** A new list for its beginning, the remembered one for all else: what was read is not read again. */
async function listOf<Item>(
  list: ServiceList<Item>,
  question: Question,
  owner: string,
): Promise<{ of: ListOf; callsBefore: number }> {
  if (question.kind === 'pressed' && question.which !== 'anew') {
    return { of: { owner, list: question.press.list }, callsBefore: 0 };
  }
  const latest = question.kind === 'typed' && question.filter !== '' ? await list.latest(owner) : undefined;
  return latest ? { of: latest, callsBefore: 0 } : { of: await list.begin(owner), callsBefore: 1 };
}

type Wanted = { filter: string; number: number; mostCalls: number };

function wantedOf(question: Question): Wanted {
  if (question.kind === 'typed') return fromTheBeginning(question.filter);
  const { which, press } = question;
  const { filter, number } = press;
  if (which === 'anew') return fromTheBeginning(filter);
  if (which === 'all') return { filter, number, mostCalls: callsAtMost };
  return { filter, number, mostCalls: filter === '' ? 1 : 0 };
}

function fromTheBeginning(filter: string): Wanted {
  return { filter, number: 0, mostCalls: filter === '' ? 0 : callsAtFirst };
}

/** The whole list, or what matches of it, as a file where the person is. */
async function exportCsv<Item>(
  { subject, place, columns, exportList, shareFile, now }: Listing<Item>,
  { caller, list, filter }: { caller: Caller; list: string; filter: string },
  progress: (reading: Reading, rows: number) => void,
): Promise<ListExport<SharedFile>> {
  return await exportList({
    owner: caller.userId,
    list,
    filter,
    columns: fileColumns(columns),
    progress,
    place: (made) => shareFile(caller, listFile({ subject, filter }, made, { place, nowMs: now() })),
  });
}
