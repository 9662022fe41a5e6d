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
export function helpCommand(verbs: () => readonly Command[], mayRun: MayRun): Command {
  /** By list of allowed commands, which never changes. */
  const overviews = new WeakMap<readonly Command[], SlackMessage>();
  /** Lists what the caller may use; a person without any permission is told so, and whom to ask. */
  async function overviewFor(caller: Caller): Promise<SlackMessage> {
    const permitted = await sortByPermit(caller, verbs(), mayRun);
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
    parse: (words) => findVerb(words, verbs()),
    run: async (verb, { caller }) =>
      verb
        ? ((await refuse(caller, permissionsOf(verb), mayRun, asTyped(verb)))?.message ??
          helpMessage(verbs(), verb))
        : overviewFor(caller),
  });
}

/**
 * The commands of one account, with its permission check. `label`: its name for people; `place`: environment and account,
 * if there are several.
 */
export type ListedVerbs = AccountSide & {
  verbs: readonly Command[];
  label: string;
  place: string | undefined;
};

type Permitted = { allowed: readonly Command[]; refused: Refused | undefined };

/** The refusal for a person who may use nothing but help; undefined for others. */
export function nothingAllowed({ allowed, refused }: Permitted): SlackMessage | undefined {
  if (!refused || allowed.some(({ permission }) => permission !== anyone)) return undefined;
  return refusalMessage({ ...refused, what: 'every command but help' });
}

type Sorting = { asked: readonly Permission[]; allowed: Map<string, readonly Command[]> };

const free = Promise.resolve<Permit>({ kind: 'allowed' });
/**
 * By list of commands, which never changes: its permissions, each once, and the allowed commands for each set of answers.
 */
const sortings = new WeakMap<readonly Command[], Sorting>();

/** The commands that the caller may use, in order, and the first refusal of another. */
export async function sortByPermit(
  caller: Caller,
  every: readonly Command[],
  mayRun: MayRun,
): Promise<Permitted> {
  const known = sortings.get(every);
  const asked = known?.asked ?? [...new Set(every.filter(isListed).flatMap(permissionsOf))];
  const sorting = known ?? { asked, allowed: new Map() };
  sortings.set(every, sorting);
  const permits = await Promise.all(asked.map((each) => (each === anyone ? free : mayRun(each, caller))));
  const key = permits.map(({ kind }) => kind).join(' ');
  const holds = (permission: Permission) => permits[asked.indexOf(permission)]?.kind === 'allowed';
  const allowed =
    sorting.allowed.get(key) ??
    every.filter((verb) => isListed(verb) && permissionsOf(verb).some((permission) => holds(permission)));
  sorting.allowed.set(key, allowed);
  return { allowed, refused: permits.find((permit) => permit.kind === 'refused') };
}

export function isListed({ hidden }: Command): boolean {
  return hidden !== true;
}

function findVerb(words: readonly string[], verbs: readonly Command[]): Parsed<Command | undefined> {
  const [typed] = words;
  if (typed === undefined) return parsed(undefined);
  const verb = verbs.find((each) => each.verb === typed.toLowerCase());
  if (verb) return parsed(verb);
  const names = verbs.filter(isListed).map((each) => each.verb);
  const nearest = nearestWord(typed, names);
  const hint = nearest === undefined ? 'Type /pay help for what you can do.' : `Did you mean “${nearest}”?`;
  return problem(`“${typed}” isn’t a command. ${hint}`);
}

/** Help shows the command's own definition, so it is never out of date. */
type HelpVerb = Pick<Command, 'verb' | 'usage' | 'summary' | 'examples'>;

/** Keeps a block well below Slack's length even if every summary is long. */
const verbsPerBlock = 8;

/**
 * All that the caller can type, one line per command; with `detail` everything about that one. Short, because it is read
 * on a phone.
 */
export function helpMessage(verbs: readonly HelpVerb[], detail?: HelpVerb): SlackMessage {
  return detail === undefined ? overview(verbs) : details(detail);
}

function overview(verbs: readonly HelpVerb[]): SlackMessage {
  // The last line covers help itself.
  const lines = verbs
    .filter(({ verb }) => verb !== 'help')
    .map((verb): TextRun[] => [code(typed(verb)), words(`  ${verb.summary}`)]);
  const parts = Array.from({ length: Math.ceil(lines.length / verbsPerBlock) }, (_, index) =>
    richText(...lines.slice(index * verbsPerBlock, (index + 1) * verbsPerBlock)),
  );
  const more = richText(rich`${code('/pay help <verb>')}  Examples`);
  return noteMessage({ state: 'What you can do with /pay', body: [...parts, more] });
}

function details(verb: HelpVerb): SlackMessage {
  const examples =
    verb.examples.length === 0 ? [] : [[bold('For example:')], codeLines(verb.examples.map(withCommand))];
  return noteMessage({
    state: `/pay ${verb.verb}`,
    about: [verb.summary],
    body: [rich`${bold('Type: ')}${code(typed(verb))}`, ...examples],
  });
}

function typed(verb: HelpVerb): string {
  return `/pay ${verb.verb} ${verb.usage}`.trim();
}

function withCommand(example: string): string {
  return example.startsWith('/') ? example : `/pay ${example}`;
}
