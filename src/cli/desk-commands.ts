import { parseArgs } from 'node:util';
import { holdsCardNumber, maskNumbers } from '../domain/card-number.ts';
import { parseAmount } from '../domain/money.ts';
import { nearestWord } from '../domain/wording.ts';
import { parseOrderReference, type OrderReference } from '../domain/order-reference.ts';
import { parsed, problem, type Parsed } from '../domain/parsed.ts';
import { oneLine } from '../slack/kit/text.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { accountAnswer, doubtAnswer, lookupAnswer, type Answer } from './answers.ts';
import { exitCodes } from './exit-codes.ts';
import { jsonText, type Place } from './lines.ts';
import { printList, type ListQuestion } from './list-output.ts';
import { outsideProblem } from './problem-words.ts';
import type { Screen } from './screen.ts';
import { parseAccountKey, refLength, type AccountKey } from '../domain/account.ts';
import { confirm } from '../domain/confirmation.ts';
import { newErrorId } from '../log.ts';
import { chargesInDoubt, createChargeRecords } from '../features/charge/charge-record.ts';
import {
  accountColumns,
  accountSubject,
  openLists,
  terminalColumns,
  terminalSubject,
} from '../features/lists/lists.ts';
import { type CommandEnd, withKept } from './command.ts';
import { hasStore, type Kept } from '../store/kept.ts';
import type { Outside } from '../config/config.ts';
import { createPayments, type Payments } from '../payments/payments.ts';

export type Output = 'text' | 'json' | 'csv';

export type Asked =
  /** `instead`: of what else was typed, which was not done. */
  | { kind: 'help'; instead?: true }
  | { kind: 'version' }
  | {
      kind: 'question';
      command: DeskCommand;
      ask: Ask;
      quiet: boolean;
      /** Which of several merchant accounts is asked about, as it was typed; absent: none was named. */
      account?: string;
      /** The port of the running playground whose settings are to be taken; absent: one's own settings. */
      playgroundPort?: number;
    };

const options = {
  account: { type: 'string' },
  all: { type: 'boolean' },
  csv: { type: 'boolean' },
  json: { type: 'boolean' },
  quiet: { type: 'boolean', short: 'q' },
  playground: { type: 'boolean' },
  'playground-port': { type: 'string' },
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean' },
} as const;

type OptionName = keyof typeof options;
type Values = ReturnType<typeof readWords>['values'];

/** Options of every command, or of none. */
const everywhere: readonly OptionName[] = [
  'account',
  'quiet',
  'playground',
  'playground-port',
  'help',
  'version',
  'json',
];

type Desk = {
  outside: Outside;
  kept: Kept;
  payments: Payments;
  lists: ReturnType<typeof openLists>;
  place: Place;
  screen: Screen;
};

/** What was typed, understood: it is asked of the service or of the store, and printed. */
type Ask = (desk: Desk) => Promise<CommandEnd>;

type DeskCommand = {
  usage: string;
  summary: string;
  options: readonly OptionName[];
  /** It asks the bot's own store what is in doubt: a store that was made just now, or another account's, would seem settled. */
  ofStore?: true;
  read: (words: readonly string[], values: Values) => Parsed<Ask>;
};

/** None of them changes anything at the payments service. */
export const deskCommands: Readonly<Record<string, DeskCommand>> = {
  lookup: {
    usage: 'lookup <reference> [amount] [--json]',
    summary: 'Look up a transaction: is it paid, and what proves it',
    options: [],
    read: readLookup,
  },
  terminals: {
    usage: 'terminals [filter] [--all] [--csv | --json]',
    summary: 'List the terminals, or those that a filter finds',
    options: ['all', 'csv'],
    read: (words, values) =>
      readList(words, values, (question, { lists, ...desk }) =>
        printList(
          { list: lists.terminals, subject: terminalSubject, columns: terminalColumns },
          question,
          desk,
        ),
      ),
  },
  accounts: {
    usage: 'accounts [filter] [--all] [--csv | --json]',
    summary: 'List the sub accounts, newest first',
    options: ['all', 'csv'],
    read: (words, values) =>
      readList(words, values, (question, { lists, ...desk }) =>
        printList({ list: lists.accounts, subject: accountSubject, columns: accountColumns }, question, desk),
      ),
  },
  account: {
    usage: 'account <id or reference> [--json]',
    summary: 'Look up a sub account by its id or reference',
    options: [],
    read: readAccount,
  },
  doubt: {
    usage: 'doubt [--json]',
    summary: 'List the charges whose outcome is not known, from the bot’s own store',
    options: [],
    ofStore: true,
    read: (words, values) =>
      words.length === 0
        ? parsed((desk) => listDoubts(desk, outputOf(values)))
        : problem('Nothing follows doubt: it lists every charge in doubt.'),
  },
};

/**
 * Reads what was typed behind `payops`. `others`: commands that are read elsewhere, and known here to say so. Never
 * throws, and repeats nothing that looks like a card number.
 */
export function readCommandWords(typed: readonly string[], others: readonly string[]): Parsed<Asked> {
  if (holdsCardNumber(typed.join(' '))) {
    return problem('That looks like a card number. Nothing was asked. Delete it from your shell’s history.');
  }
  let read: ReturnType<typeof readWords>;
  try {
    read = readWords(typed);
  } catch (error) {
    return problem(firstSentence(error instanceof Error ? error.message : 'Unknown option'));
  }
  const { values, positionals } = read;
  const [name, ...words] = positionals;
  // A reference may read like these, and a look-up that was not made must not end as one that found it paid.
  if (name !== undefined && (values.help || values.version)) return parsed({ kind: 'help', instead: true });
  if (values.version) return parsed({ kind: 'version' });
  if (name === undefined || name === 'help') return parsed({ kind: 'help' });
  const command = Object.entries(deskCommands).find(([one]) => one === name)?.[1];
  if (command) return readQuestion(command, words, values);
  return problem(unknownCommand(name, others));
}

function readWords(args: readonly string[]) {
  return parseArgs({ args: [...args], options, allowPositionals: true, strict: true });
}

function readQuestion(command: DeskCommand, words: readonly string[], values: Values): Parsed<Asked> {
  const foreign = Object.keys(values).find(
    (option) => ![...everywhere, ...command.options].some((known) => known === option),
  );
  if (foreign !== undefined) return problem(`--${foreign} is not for this command: ${command.usage}`);
  if (values.json && values.csv) return problem('Give --json or --csv, not both.');
  const port = readPort(values);
  if (!port.ok) return port;
  const ask = command.read(words, values);
  if (!ask.ok) return ask;
  return parsed({
    kind: 'question',
    command,
    ask: ask.value,
    quiet: values.quiet === true,
    ...(values.account === undefined ? {} : { account: values.account }),
    ...(port.value === undefined ? {} : { playgroundPort: port.value }),
  });
}

export const usualPlaygroundPort = 4400;

function readPort(values: Values): Parsed<number | undefined> {
  const written = values['playground-port'];
  if (written === undefined) return parsed(values.playground ? usualPlaygroundPort : undefined);
  const port = /^\d{1,5}$/.test(written) ? Number(written) : 0;
  return port >= 1 && port <= 65_535
    ? parsed(port)
    : problem('--playground-port is a number from 1 to 65535.');
}

function outputOf(values: Values): Output {
  if (values.csv) return 'csv';
  return values.json ? 'json' : 'text';
}

function readLookup([first = '', second, ...rest]: readonly string[], values: Values): Parsed<Ask> {
  const reference = parseOrderReference(first);
  if (!reference.ok) return reference;
  const amount = second === undefined ? parsed(undefined) : parseAmount(second);
  if (rest.length === 0 && amount.ok) {
    return parsed((desk) => lookUp(desk, reference.value, amount.value, outputOf(values)));
  }
  const said = amount.ok ? 'Give one reference and at most one amount.' : amount.problem;
  return problem(`${said} A reference with spaces goes in quotes: "ORDER 17 B".`);
}

async function lookUp(
  { payments, outside, place, screen }: Desk,
  reference: OrderReference,
  minor: number | undefined,
  output: Output,
): Promise<CommandEnd> {
  const transaction = await waited(screen, 'Looking up the transaction', payments.findTransaction(reference));
  const amount = minor === undefined ? {} : { amount: { minor, source: 'person' as const } };
  const confirmation = confirm({ reference, ...amount }, transaction);
  const view = { reference, confirmation, ...place, checkedAtMs: outside.now() };
  return await printed(screen, output, lookupAnswer(view));
}

const longestFilter = 100;

function readList(
  words: readonly string[],
  values: Values,
  print: (question: ListQuestion, desk: Desk & { now: () => number }) => Promise<CommandEnd>,
): Parsed<Ask> {
  const filter = oneLine(words.join(' '));
  const question = { output: outputOf(values), filter, all: values.all === true };
  return filter.length > longestFilter
    ? problem(`A filter has at most ${longestFilter} characters.`)
    : parsed((desk) => print(question, { ...desk, now: desk.outside.now }));
}

function readAccount([first = '', ...rest]: readonly string[], values: Values): Parsed<Ask> {
  if (rest.length > 0) return problem('Give one account id or reference.');
  const key = parseAccountKey(first);
  return key.ok ? parsed((desk) => lookUpAccount(desk, key.value, outputOf(values))) : key;
}

async function lookUpAccount(
  { payments, outside, place, screen }: Desk,
  key: AccountKey,
  output: Output,
): Promise<CommandEnd> {
  // How long a reference is, the settings say, which were not read when the words were.
  const checked = parseAccountKey(key.value, refLength(outside.config.accountNewFields));
  if (!checked.ok) return { exitCode: exitCodes.usage, words: checked.problem };
  const found = await waited(screen, 'Looking up the account', payments.findAccount(key));
  const view = { key, answer: found, place, checkedAtMs: outside.now() };
  return await printed(screen, output, accountAnswer(view));
}

async function listDoubts({ kept, outside, place, screen }: Desk, output: Output): Promise<CommandEnd> {
  const { store, sealer } = kept;
  const charges = createChargeRecords({ store, sealer, wait: sleep });
  const doubts = await chargesInDoubt({ store, charges, log: outside.log });
  return await printed(screen, output, doubtAnswer({ ...doubts, place, nowMs: outside.now() }));
}

/**
 * The desk's questions, asked with the bot's own settings, token and store, and printed. Nothing is changed at the
 * payments service, and in the store no more than what any look-up of the bot keeps there: the shared access token.
 * Never throws for what is outside.
 */
export async function askDesk(
  outside: Outside,
  { command, ask }: Pick<Extract<Asked, { kind: 'question' }>, 'command' | 'ask'>,
  screen: Screen,
): Promise<CommandEnd> {
  if (command.ofStore && !hasStore(outside.config)) return noStoreHere(outside);
  return await withKept(
    outside,
    async (kept) => {
      const desk = openDesk(outside, kept, screen);
      try {
        return await ask(desk);
      } finally {
        // A call that was given up may still be asking for one.
        await desk.payments.letGo();
      }
    },
    (error) => outsideProblem(error) ?? brokenHere(outside, error),
  );
}

/** All of it is made of the settings it is given, which are one account's: no other can be asked. */
function openDesk(outside: Outside, kept: Kept, screen: Screen): Desk {
  const { config } = outside;
  const payments = createPayments(outside, kept);
  return {
    outside,
    kept,
    payments,
    lists: openLists(payments, outside.now),
    place: { environment: config.paymentsEnvironment, account: config.paymentsAccountName },
    screen,
  };
}

async function waited<T>(screen: Screen, words: string, work: Promise<T>): Promise<T> {
  const done = screen.progress(() => words);
  try {
    return await work;
  } finally {
    done();
  }
}

async function printed(screen: Screen, output: Output, found: Answer): Promise<CommandEnd> {
  const { document, text, exitCode } = found;
  await screen.out(output === 'json' ? `${jsonText(document, 2)}\n` : text);
  return { exitCode, words: '' };
}

function noStoreHere({ config }: Outside): CommandEnd {
  const words = `No bot has its store in DATA_DIR, ${config.dataDir}. Run this with the very settings of the bot, from the folder it is started in.`;
  return { exitCode: exitCodes.settings, words };
}

/** A bug, or a store that cannot be opened, which says so itself. */
function brokenHere({ log }: Outside, error: unknown): CommandEnd {
  const errorId = newErrorId();
  log('error', 'the command broke off', { errorId }, error);
  const words = error instanceof Error ? error.message : 'Unknown error';
  return { exitCode: exitCodes.failed, words: `Nothing was changed. ${words} (error ${errorId})` };
}

function unknownCommand(name: string, others: readonly string[]): string {
  if (others.includes(name)) return `Nothing may stand before ${name}: npm run ${name}`;
  const known = [...Object.keys(deskCommands), ...others];
  const nearest = known.find((word) => word.startsWith(`${name}-`)) ?? nearestWord(name, known);
  return `Payops has no command “${maskNumbers(oneLine(name))}”.${nearest === undefined ? '' : ` Did you mean ${nearest}?`}`;
}

function firstSentence(text: string): string {
  return `${oneLine(text).replace(/\. .*$|\.$/u, '')}.`;
}
