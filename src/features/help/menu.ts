import { noteMessage } from '../../slack/kit/note.ts';
import type { ActionsBlock } from '@slack/types';
import { withDeadline } from '../../deadline.ts';
import { parsed } from '../../domain/wording.ts';
import { type Log, newErrorId } from '../../log.ts';
import {
  type Run,
  actions,
  bold,
  button,
  code,
  context,
  plainText,
  richText,
  words,
} from '../../slack/kit/blocks.ts';
import {
  type Caller,
  type Command,
  type MayRun,
  type OpenItems,
  anyone,
  defineCommand,
} from '../../slack/command.ts';
import type { MessageBlock, SlackMessage } from '../../slack/kit/message.ts';
import { limits } from '../../slack/kit/limits.ts';
import { type ListedVerbs, nothingAllowed, sortByPermit } from './help.ts';

/** A slow command must not delay the menu. */
const openMs = 1_000;

/** `/pay` alone: the person's waiting items, most urgent first, and buttons for what they may do. */
export function menuCommand(
  verbs: () => readonly Command[],
  /** Other accounts, with their commands that have waiting items. */
  others: () => readonly ListedVerbs[],
  mayRun: MayRun,
  log: Log,
): Command {
  async function menuFor(caller: Caller): Promise<SlackMessage> {
    const permitted = await sortByPermit(caller, verbs(), mayRun);
    const refusal = nothingAllowed(permitted);
    if (refusal) return refusal;
    const { allowed } = permitted;
    const elsewhere = others().map(async (account) => {
      const there = await sortByPermit(caller, account.verbs, account.mayRun);
      return await Promise.all(there.allowed.map((verb) => openOf(verb, caller, log, account)));
    });
    const own = allowed.map((verb) => openOf(verb, caller, log));
    const asked = [...(await Promise.all(own)), ...(await Promise.all(elsewhere)).flat()];
    const open = asked.filter((items) => items !== undefined && items !== 'unknown');
    return menuMessage(allowed, open, asked.includes('unknown'));
  }
  return defineCommand<undefined>({
    verb: '',
    usage: '',
    summary: 'Show what you can do',
    examples: [],
    permission: anyone,
    effect: 'none',
    parse: () => parsed(undefined),
    run: (_, { caller }) => menuFor(caller),
  });
}

/** Waiting items of another account name it, and the command that shows them. */
async function openOf(
  { verb, open }: Command,
  caller: Caller,
  log: Log,
  account?: ListedVerbs,
): Promise<OpenItems | undefined | 'unknown'> {
  if (!open) return undefined;
  try {
    const items = await withDeadline(openMs, () => open(caller));
    if (!items || !account?.merchant) return items;
    const there = code(`/pay ${verb} --account ${account.merchant.name}`);
    return { ...items, line: [...items.line, words(` · ${account.label} · `), there] };
  } catch (error) {
    const message = 'A part of the menu could not be shown';
    log('error', message, { errorId: newErrorId(), verb, userId: caller.userId }, error);
    return 'unknown';
  }
}

/** A command as a menu button. */
type MenuVerb = Pick<Command, 'verb' | 'menu'>;

/** More don't fit at a glance. */
const mostLines = 6;

/** Buttons for what the person may do, in the order of help: the most used first. */
export function menuButtons(verbs: readonly MenuVerb[]): ActionsBlock[] {
  const buttons = verbs.flatMap(({ menu }) =>
    menu === undefined ? [] : [button({ actionId: menu.actionId, text: menu.text })],
  );
  return buttons.length === 0 ? [] : [actions(...buttons.slice(0, limits.actionsElements))];
}

/** The menu's message. */
export function menuMessage(
  verbs: readonly MenuVerb[],
  open: readonly OpenItems[],
  isPartial = false,
): SlackMessage {
  const count = open.reduce((sum, items) => sum + items.count, 0);
  const state =
    count === 0
      ? 'Nothing waits for you'
      : `🔔 ${count} ${count === 1 ? 'thing waits' : 'things wait'} for you`;
  const warning = isPartial ? [context(plainText('⚠️ Some of what waits for you can’t be shown now.'))] : [];
  return noteMessage({
    state,
    body: [...warning, ...openLines(open), ...menuButtons(verbs), ...hints(verbs)],
  });
}

/** By deadline; items without one keep the commands' order. */
function openLines(open: readonly OpenItems[]): MessageBlock[] {
  const sorted = open.toSorted(
    ({ untilMs = Number.MAX_SAFE_INTEGER }, other) => untilMs - (other.untilMs ?? Number.MAX_SAFE_INTEGER),
  );
  return sorted.length === 0 ? [] : [richText(...sorted.slice(0, mostLines).map(({ line }) => line))];
}

function hints(verbs: readonly MenuVerb[]): Run[][] {
  const lookUp: Run[][] = verbs.some(({ verb }) => verb === 'lookup')
    ? [[code('/pay <reference>'), words('  looks a payment up.')]]
    : [];
  const others = verbs.filter(({ verb, menu }) => menu === undefined && verb !== 'lookup');
  return [
    ...lookUp,
    [
      words('Also: '),
      ...others.flatMap(({ verb }, at) => [...(at > 0 ? [words('  ')] : []), code(`/pay ${verb}`)]),
    ],
    [words('All that’s open: the '), bold('Home'), words(' tab.')],
  ];
}
