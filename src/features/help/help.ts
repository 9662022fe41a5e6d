import { noteMessage } from '../../slack/kit/note.ts';
import { type Parsed, parsed, problem, nearestWord } from '../../domain/wording.ts';
import {
  type AccountSide,
  type Caller,
  type Command,
  type MayRun,
  type Permission,
  type Permit,
  type Refused,
  anyone,
  defineCommand,
  permissionsOf,
} from '../../slack/command.ts';
import { asTyped, refuse } from '../../slack/answer.ts';
import { refusalMessage } from '../../slack/words/error-message.ts';
import type { SlackMessage } from '../../slack/kit/message.ts';
import { type TextRun, bold, code, codeLines, richText, words, rich } from '../../slack/kit/blocks.ts';

/** `/pay help [verb]`, from the commands' own definitions; lists what the caller may use. */
export function helpCommand(commands: () => readonly Command[], mayRun: MayRun): Command {
  /** The overview by list of allowed commands. A list never changes, so its message doesn't. */
  const overviews = new WeakMap<readonly Command[], SlackMessage>();
  /** Lists what the caller may use. A person without any permission reads a refusal, and whom to ask. */
  async function overviewFor(caller: Caller): Promise<SlackMessage> {
    const permitted = await sortByPermit(caller, commands(), mayRun);
    const refusal = nothingAllowed(permitted);
    if (refusal) return refusal;
    const message = overviews.get(permitted.allowed) ?? helpMessage(permitted.allowed);
    overviews.set(permitted.allowed, message);
    return message;
  }
  return defineCommand<Command | undefined>({
    verb: 'help',
    usage: '[verb]',
    summary: 'What you can type',
    examples: ['help', 'help lookup'],
    permission: anyone,
    effect: 'none',
    parse: (words) => findCommand(words, commands()),
    run: async (command, { caller }) =>
      command
        ? ((await refuse(caller, permissionsOf(command), mayRun, asTyped(command)))?.message ??
          helpMessage(commands(), command))
        : overviewFor(caller),
  });
}

/** An account, and the commands that help, menu or App Home show of it. */
export type ListedAccount = AccountSide & {
  commands: readonly Command[];
  /** The account's name for people. */
  label: string;
  /** Environment and name; undefined with one account. */
  accountLabel: string | undefined;
};

type Permitted = { allowed: readonly Command[]; refused: Refused | undefined };

/** The refusal for a person who may use only help and menu; undefined for others. */
export function nothingAllowed({ allowed, refused }: Permitted): SlackMessage | undefined {
  if (!refused || allowed.some(({ permission }) => permission !== anyone)) return undefined;
  return refusalMessage({ ...refused, what: 'every command but help' });
}

type Sorting = {
  /** What the commands need, each permission once. */
  permissions: readonly Permission[];
  /** The allowed commands for each outcome of the checks. */
  allowed: Map<string, readonly Command[]>;
  /**
   * Results by `mayRun`'s answer about the first permission. For a second `mayRun` returns the same promise to a person, so the
   * same promise means the same person and the same result.
   */
  recent: WeakMap<Promise<Permit>, Promise<Permitted>>;
};

const alwaysAllowed = Promise.resolve<Permit>({ kind: 'allowed' });
/** By list of commands, which never changes. */
const sortings = new WeakMap<readonly Command[], Sorting>();

/** The commands that the caller may use, in order; and the first refusal, if any command is refused. */
export function sortByPermit(caller: Caller, every: readonly Command[], mayRun: MayRun): Promise<Permitted> {
  const sorting = sortings.get(every) ?? {
    permissions: [...new Set(every.filter(isListed).flatMap(permissionsOf))].filter(
      (each) => each !== anyone,
    ),
    allowed: new Map(),
    recent: new WeakMap(),
  };
  sortings.set(every, sorting);
  const { permissions, recent } = sorting;
  const [first] = permissions;
  const answer = first === undefined ? alwaysAllowed : mayRun(first, caller);
  const permitted =
    recent.get(answer) ??
    sortBy(sorting, every, [answer, ...permissions.slice(1).map((each) => mayRun(each, caller))]);
  recent.set(answer, permitted);
  return permitted;
}

async function sortBy(
  { permissions, allowed }: Sorting,
  every: readonly Command[],
  answers: readonly Promise<Permit>[],
): Promise<Permitted> {
  const permits = await Promise.all(answers);
  const holds = (permission: Permission) =>
    permission === anyone || permits[permissions.indexOf(permission)]?.kind === 'allowed';
  const key = permits.map(({ kind }) => kind).join(' ');
  const commands =
    allowed.get(key) ??
    every.filter((command) => isListed(command) && permissionsOf(command).some((each) => holds(each)));
  allowed.set(key, commands);
  return { allowed: commands, refused: permits.find((permit) => permit.kind === 'refused') };
}

export function isListed({ hidden }: Command): boolean {
  return hidden !== true;
}

function findCommand(words: readonly string[], commands: readonly Command[]): Parsed<Command | undefined> {
  const [typed] = words;
  if (typed === undefined) return parsed(undefined);
  const command = commands.find((each) => each.verb === typed.toLowerCase());
  if (command) return parsed(command);
  const names = commands.filter(isListed).map((each) => each.verb);
  const nearest = nearestWord(typed, names);
  const hint = nearest === undefined ? 'Type /pay help for what you can do.' : `Did you mean “${nearest}”?`;
  return problem(`“${typed}” isn’t a command. ${hint}`);
}

/** Help shows the command's own definition, so help is never out of date. */
type HelpEntry = Pick<Command, 'verb' | 'usage' | 'summary' | 'examples'>;

/** Keeps a block well below Slack's limit of length, even if every summary is long. */
const entriesPerBlock = 8;

/**
 * All that the caller can type, one line per command; with `detail`, everything about that command. Short, because people
 * read help on a phone.
 */
export function helpMessage(entries: readonly HelpEntry[], detail?: HelpEntry): SlackMessage {
  return detail === undefined ? overview(entries) : details(detail);
}

function overview(entries: readonly HelpEntry[]): SlackMessage {
  // The last line is about help.
  const lines = entries
    .filter(({ verb }) => verb !== 'help')
    .map((entry): TextRun[] => [code(typed(entry)), words(`  ${entry.summary}`)]);
  const parts = Array.from({ length: Math.ceil(lines.length / entriesPerBlock) }, (_, index) =>
    richText(...lines.slice(index * entriesPerBlock, (index + 1) * entriesPerBlock)),
  );
  const more = richText(rich`${code('/pay help <command>')}  Examples`);
  return noteMessage({ state: 'What you can do with /pay', body: [...parts, more] });
}

function details(entry: HelpEntry): SlackMessage {
  const examples =
    entry.examples.length === 0 ? [] : [[bold('For example:')], codeLines(entry.examples.map(withCommand))];
  return noteMessage({
    state: `/pay ${entry.verb}`,
    about: [entry.summary],
    body: [rich`${bold('Type: ')}${code(typed(entry))}`, ...examples],
  });
}

function typed(entry: HelpEntry): string {
  return `/pay ${entry.verb} ${entry.usage}`.trim();
}

function withCommand(example: string): string {
  return example.startsWith('/') ? example : `/pay ${example}`;
}
