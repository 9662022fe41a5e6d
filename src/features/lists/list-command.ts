import type { Account } from '../../account.ts';
import { csvHead, csvRows, type CsvColumn } from '../../csv.ts';
import { parsed, problem, type Parsed } from '../../domain/wording.ts';
import type { Reading, ListRequest, ServiceList } from './service-list.ts';
import { defineCommand, type Command, type Conversation, type MenuEntry } from '../../slack/command.ts';
import {
  type FileEnd,
  type ListButton,
  type ListPress,
  type ListSubject,
  exportingMessage,
  fileColumns,
  fileNews,
  listActionId,
  listFile,
  listMessage,
  listPress,
  readingMessage,
} from './list-message.ts';
import type { SlackMessage } from '../../slack/kit/message.ts';
import { oneLine } from '../../slack/kit/text.ts';

type Question = { which: ListButton | 'typed' } & ListPress;

/** The first word of a button's press, which arrives as command words. A person who types it gets the same answer. */
const pressedWord = '--list';

const longestFilter = 100;
/** The service's calls for the first answer to a filter. Usually a match is among these pages. */
const callsAtFirst = 4;
/** The service's calls for one request, which read 50,000 items. Then the person has to press a button to continue. */
const callsAtMost = 1_000;

const buttonKinds: readonly ListButton[] = ['back', 'next', 'all', 'csv', 'reload'];

type ListVerb<Item> = {
  subject: ListSubject<Item>;
  summary: string;
  examples: readonly string[];
  menu: Pick<MenuEntry, 'actionId' | 'text'>;
  list: ServiceList<Item>;
  /** The CSV file's columns, headed by the specification's field names. */
  columns: readonly CsvColumn<Item>[];
};

type Listing<Item> = Pick<Account, 'shownAccount' | 'slack' | 'now'> & ListVerb<Item>;

/** A command that shows a list of the service, filtered by the words after it. */
export function listCommand<Item>(account: Account, verb: ListVerb<Item>): Command {
  const { subject, summary, examples, menu } = verb;
  const listing = { ...account, ...verb };
  return defineCommand<Question>({
    verb: subject.verb,
    usage: '[filter]',
    summary,
    examples,
    permission: subject.verb,
    menu: { ...menu, opens: 'message' },
    effect: 'none',
    buttons: buttonKinds.map((which) => ({
      actionId: listActionId(subject, which),
      words: (value) => [pressedWord, which, value],
    })),
    parse: parseQuestion,
    run: (question, conversation) =>
      question.which === 'csv'
        ? answerCsv(listing, question, conversation)
        : answer(listing, question, conversation),
  });
}

function parseQuestion(words: readonly string[]): Parsed<Question> {
  const [first, which, value] = words;
  if (first === pressedWord) {
    const press = listPress.read(value ?? '');
    const kind = buttonKinds.find((one) => one === which);
    return press && kind
      ? parsed({ which: kind, ...press })
      : problem('This button has expired. Type the command instead.');
  }
  const filter = oneLine(words.join(' '));
  return filter.length > longestFilter
    ? problem(`A filter has at most ${longestFilter} characters.`)
    : parsed({ which: 'typed', filter, number: 0 });
}

/**
 * *Reload* and a command without a filter read the list from the start; everything else continues from cached pages.
 */
async function answer<Item>(
  { subject, list, shownAccount }: Listing<Item>,
  { which, filter, number }: Question,
  { whileWaiting }: Conversation,
): Promise<SlackMessage> {
  const seen: { reading?: Reading; found: number } = { found: 0 };
  const request: ListRequest = {
    filter,
    number,
    mostCalls: which === 'all' || filter === '' ? callsAtMost : callsAtFirst,
    reload: which === 'reload' || (which === 'typed' && filter === ''),
    progress: (reading, found) => Object.assign(seen, { reading, found }),
  };
  const page = await whileWaiting(list(request), () =>
    readingMessage(subject, { filter, reading: seen.reading, found: seen.found }),
  );
  return listMessage(subject, { filter, page }, shownAccount);
}

/** Makes the file while showing progress, then shows the list with the result above it. */
async function answerCsv<Item>(
  listing: Listing<Item>,
  { filter, number }: Question,
  { caller, whileWaiting }: Conversation,
): Promise<SlackMessage> {
  const { subject, list, shownAccount } = listing;
  const seen: { reading?: Reading; rows: number } = { rows: 0 };
  const work = makeCsv(listing, filter, { userId: caller.userId, seen });
  const end = await whileWaiting(work, () => exportingMessage({ subject, filter }, seen));
  const page = await list({ filter, number, mostCalls: callsAtFirst });
  return listMessage(subject, { filter, page, news: fileNews({ subject, filter }, end) }, shownAccount);
}

/**
 * Sends the person the whole list, or its matches, as a file by direct message. No file if the list wasn't fully read.
 */
async function makeCsv<Item>(
  { subject, list, columns, shownAccount, slack, now }: Listing<Item>,
  filter: string,
  { userId, seen }: { userId: string; seen: { reading?: Reading; rows: number } },
): Promise<FileEnd> {
  const { items, reading, stop } = await list({
    filter,
    mostCalls: callsAtMost,
    progress: (soFar, rows) => Object.assign(seen, { reading: soFar, rows }),
  });
  const rows = items.length;
  if (stop) return { kind: 'stopped', stop, rows, reading };
  if (rows === 0) return { kind: 'nothing' };
  const cleaned = fileColumns(columns);
  const content = { text: csvHead(cleaned) + csvRows(cleaned, items), rows, reading };
  const file = listFile({ subject, filter }, content, { shownAccount, nowMs: now() });
  return { kind: 'made', upload: await slack.uploadFile({ channel: userId }, file), rows };
}
