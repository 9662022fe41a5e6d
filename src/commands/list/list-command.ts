import { isJsonObject } from '../../domain/json-pointer.ts';
import { parsed, problem, type Parsed } from '../../domain/parsed.ts';
import type { Reading } from '../../domain/service-page.ts';
import type { ListOf } from '../../operations/service-pages.ts';
import type { ServiceList } from '../../operations/service-list.ts';
import type { ChargePlace } from '../../slack/charge/charge-place.ts';
import { defineCommand, type Button, type Command, type Conversation } from '../../slack/command.ts';
import {
  goneMessage,
  listActionId,
  listMessage,
  readingMessage,
  type ListButton,
  type ListPress,
  type ListSubject,
} from '../../slack/list/list-message.ts';
import type { SlackMessage } from '../../slack/message.ts';
import { oneLine } from '../../slack/text.ts';

/** What was typed, or which button of a list was pressed. */
type Question = { kind: 'typed'; filter: string } | { kind: 'pressed'; which: ListButton; press: ListPress };

/** The first words of a button; nobody types it, and whoever does is answered from their own lists alone. */
const pressedWord = '--list';

const longestFilter = 100;
/** So that a filter mostly has an answer at once, without a call of every page. */
const callsAtFirst = 4;
/** Fifty thousand items; after that a person is asked again. */
const callsAtMost = 1_000;

const buttonKinds: readonly ListButton[] = ['back', 'next', 'all', 'anew'];

type Verb<Item> = {
  subject: ListSubject<Item>;
  summary: string;
  examples: readonly string[];
  permission: string;
};

/** A verb that lists what the service gives in pages, filtered by what is typed behind it. */
export function listCommand<Item>(
  verb: Verb<Item>,
  { list, place }: { list: ServiceList<Item>; place: ChargePlace },
): Command {
  const { subject, summary, examples, permission } = verb;
  return defineCommand<Question>({
    verb: subject.verb,
    usage: '[filter]',
    summary,
    examples,
    permission,
    menu: { text: capitalised(subject.many), opens: 'message' },
    effect: 'none',
    buttons: buttonKinds.map((which) => buttonOf(subject.verb, which)),
    parse: parseQuestion,
    run: (question, conversation) => answer({ subject, list, place }, question, conversation),
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
      : problem('This button is of no use any more.');
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

type Listing<Item> = { subject: ListSubject<Item>; list: ServiceList<Item>; place: ChargePlace };

async function answer<Item>(
  listing: Listing<Item>,
  question: Question,
  { caller, whileWaiting }: Conversation,
): Promise<SlackMessage> {
  const { subject } = listing;
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

async function show<Item>(
  { subject, list, place }: Listing<Item>,
  question: Question,
  owner: string,
  progress: (reading: Reading, found: number) => void,
): Promise<SlackMessage> {
  const { filter, number, mostCalls } = wantedOf(question);
  const of = await listOf(list, question, owner);
  const page = await list.show({ ...of, filter, number, mostCalls, progress });
  if (page.kind === 'gone') return goneMessage(subject, filter);
  return listMessage(subject, { list: of.list, filter, page }, place);
}

/** A new list for its beginning, the remembered one for all else: what was read is not read again. */
async function listOf<Item>(list: ServiceList<Item>, question: Question, owner: string): Promise<ListOf> {
  if (question.kind === 'pressed') {
    return question.which === 'anew' ? await list.begin(owner) : { owner, list: question.press.list };
  }
  const latest = question.filter === '' ? undefined : await list.latest(owner);
  return latest ?? (await list.begin(owner));
}

function wantedOf(question: Question): { filter: string; number: number; mostCalls: number } {
  if (question.kind === 'typed') {
    const { filter } = question;
    return { filter, number: 0, mostCalls: filter === '' ? 0 : callsAtFirst };
  }
  const { which, press } = question;
  const { filter, number } = press;
  if (which === 'anew') return { filter, number: 0, mostCalls: filter === '' ? 0 : callsAtFirst };
  if (which === 'all') return { filter, number, mostCalls: callsAtMost };
  return { filter, number, mostCalls: filter === '' ? 1 : 0 };
}
