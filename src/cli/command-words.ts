import { parseArgs } from 'node:util';
import { parseAccountKey, type AccountKey } from '../domain/account.ts';
import { holdsCardNumber, maskNumbers } from '../domain/card-number.ts';
import { parseAmount } from '../domain/money.ts';
import { nearestWord } from '../domain/wording.ts';
import { parseOrderReference, type OrderReference } from '../domain/order-reference.ts';
import { parsed, problem, type Parsed } from '../domain/parsed.ts';
import { oneLine } from '../slack/kit/text.ts';

export type Output = 'text' | 'json' | 'csv';

/** One question to the desk; none of them changes anything at the payments service. */
export type DeskQuestion =
  | { command: 'lookup'; output: Output; reference: OrderReference; amountMinor?: number }
  | { command: 'terminals' | 'accounts'; output: Output; filter: string; all: boolean }
  | { command: 'account'; output: Output; key: AccountKey }
  | { command: 'doubt'; output: Output };

export type ListQuestion = Extract<DeskQuestion, { filter: string }>;

export type Asked =
  /** `instead`: of what else was typed, which was not done. */
  | { kind: 'help'; instead?: true }
  | { kind: 'version' }
  | {
      kind: 'question';
      question: DeskQuestion;
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

type CommandName = DeskQuestion['command'];

type CommandDescription = {
  usage: string;
  summary: string;
  options: readonly OptionName[];
  read: (words: readonly string[], values: Values) => Parsed<DeskQuestion>;
};

export const deskCommands: Readonly<Record<CommandName, CommandDescription>> = {
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
    read: (words, values) => readList('terminals', words, values),
  },
  accounts: {
    usage: 'accounts [filter] [--all] [--csv | --json]',
    summary: 'List the sub accounts, newest first',
    options: ['all', 'csv'],
    read: (words, values) => readList('accounts', words, values),
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
    read: (words, values) =>
      words.length === 0
        ? parsed({ command: 'doubt', output: outputOf(values) })
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

function readQuestion(command: CommandDescription, words: readonly string[], values: Values): Parsed<Asked> {
  const foreign = Object.keys(values).find(
    (option) => ![...everywhere, ...command.options].some((known) => known === option),
  );
  if (foreign !== undefined) return problem(`--${foreign} is not for this command: ${command.usage}`);
  if (values.json && values.csv) return problem('Give --json or --csv, not both.');
  const port = readPort(values);
  if (!port.ok) return port;
  const question = command.read(words, values);
  if (!question.ok) return question;
  return parsed({
    kind: 'question',
    question: question.value,
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

function readLookup([first = '', second, ...rest]: readonly string[], values: Values): Parsed<DeskQuestion> {
  const reference = parseOrderReference(first);
  if (!reference.ok) return reference;
  const asked = { command: 'lookup', output: outputOf(values), reference: reference.value } as const;
  if (second === undefined) return parsed(asked);
  const amount = parseAmount(second);
  if (rest.length === 0 && amount.ok) return parsed({ ...asked, amountMinor: amount.value });
  const said = amount.ok ? 'Give one reference and at most one amount.' : amount.problem;
  return problem(`${said} A reference with spaces goes in quotes: "ORDER 17 B".`);
}

const longestFilter = 100;

function readList(
  command: 'terminals' | 'accounts',
  words: readonly string[],
  values: Values,
): Parsed<DeskQuestion> {
  const filter = oneLine(words.join(' '));
  return filter.length > longestFilter
    ? problem(`A filter has at most ${longestFilter} characters.`)
    : parsed({ command, output: outputOf(values), filter, all: values.all === true });
}

function readAccount([first = '', ...rest]: readonly string[], values: Values): Parsed<DeskQuestion> {
  if (rest.length > 0) return problem('Give one account id or reference.');
  const key = parseAccountKey(first);
  return key.ok ? parsed({ command: 'account', output: outputOf(values), key: key.value }) : key;
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
