import { type Parsed, parsed, problem } from '../../domain/parsed.ts';
import { nearestWord } from '../../domain/wording.ts';
import {
  type AccountSide,
  type Caller,
  type Command,
  type MayRun,
  type Refused,
  anyone,
  defineCommand,
  permissionsOf,
} from '../../slack/command.ts';
import { permitFor, refuse } from '../../slack/answer.ts';
import { refusalMessage } from '../../slack/words/error-message.ts';
import type { SlackMessage } from '../../slack/kit/message.ts';
import { type Piece, bold, code, codeLines, headline, richText, words } from '../../slack/kit/blocks.ts';

/** `/pay help [verb]`, made from the verbs' own definitions; the list holds what the caller may do. */
export function helpCommand(verbs: () => readonly Command[], mayRun: MayRun): Command {
  /** By the verbs that are allowed: they are few, and what is said of them never changes. */
  const overviews = new Map<string, SlackMessage>();
  /** What the caller may do; who may do nothing is told so, and whom to ask. */
  async function overviewFor(caller: Caller): Promise<SlackMessage> {
    const permitted = await sortByPermit(caller, verbs(), mayRun);
    const key = permitted.allowed.map(({ verb }) => verb).join(' ');
    const message = nothingAllowed(permitted) ?? overviews.get(key) ?? helpMessage(permitted.allowed);
    if (permitted.allowed.length > 1) overviews.set(key, message);
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
        ? ((await refuse(caller, verb, mayRun))?.message ?? helpMessage(verbs(), verb))
        : overviewFor(caller),
  });
}

/** Verbs of one merchant account, and whom it lets run them. `label`: what people call it; `place`: whose they are, where that must be said. */
export type ListedVerbs = AccountSide & {
  verbs: readonly Command[];
  label: string;
  place: string | undefined;
};

type Permitted = { allowed: Command[]; refused: Refused | undefined };

/** What somebody reads who may do nothing but ask for help; undefined for everybody else. */
export function nothingAllowed({ allowed, refused }: Permitted): SlackMessage | undefined {
  if (!refused || allowed.some(({ permission }) => permission !== anyone)) return undefined;
  return refusalMessage({ ...refused, what: 'every command but help' });
}

/** What the caller may run of what is listed, in the order given, and the first refusal among the rest. */
export async function sortByPermit(
  caller: Caller,
  every: readonly Command[],
  mayRun: MayRun,
): Promise<Permitted> {
  const verbs = every.filter(isListed);
  const permits = await Promise.all(verbs.map((verb) => permitFor(caller, permissionsOf(verb), mayRun)));
  return {
    allowed: verbs.filter((_, index) => permits[index]?.kind === 'allowed'),
    refused: permits.find((permit) => permit.kind === 'refused'),
  };
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

/** What help tells of a verb: the verb's own definition, so that help is never out of date. */
type HelpVerb = Pick<Command, 'verb' | 'usage' | 'summary' | 'examples'>;

/** Keeps one block far below Slack's length even when every summary is long. */
const verbsPerBlock = 8;

/**
 * What the caller can type: a line for each verb, or with `detail` everything about that one. Short, because
 * it is read on a phone.
 */
export function helpMessage(verbs: readonly HelpVerb[], detail?: HelpVerb): SlackMessage {
  return detail === undefined ? overview(verbs) : details(detail);
}

function overview(verbs: readonly HelpVerb[]): SlackMessage {
  const { text, block } = headline('What you can do with /pay', []);
  // The last line says what help's own would.
  const lines = verbs
    .filter(({ verb }) => verb !== 'help')
    .map((verb): Piece[] => [code(typed(verb)), words(`  ${verb.summary}`)]);
  const parts = Array.from({ length: Math.ceil(lines.length / verbsPerBlock) }, (_, index) =>
    richText(...lines.slice(index * verbsPerBlock, (index + 1) * verbsPerBlock)),
  );
  const more = richText([code('/pay help <verb>'), words('  gives examples.')]);
  return { text, blocks: [block, ...parts, more] };
}

function details(verb: HelpVerb): SlackMessage {
  const { text, block } = headline(`/pay ${verb.verb}`, [verb.summary]);
  return {
    text,
    blocks: [
      block,
      richText([bold('Type: '), code(typed(verb))]),
      ...(verb.examples.length === 0
        ? []
        : [richText([bold('For example:')]), codeLines(verb.examples.map(withCommand))]),
    ],
  };
}

function typed(verb: HelpVerb): string {
  return `/pay ${verb.verb} ${verb.usage}`.trim();
}

function withCommand(example: string): string {
  return example.startsWith('/') ? example : `/pay ${example}`;
}
