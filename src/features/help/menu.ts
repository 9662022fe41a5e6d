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
import { type ListedAccount, nothingAllowed, sortByPermit } from './help.ts';

/** The most that a command's waiting items may take: a slow command must not delay the menu. */
const openMs = 1_000;

/** `/pay` alone: the person's waiting items, most urgent first, and buttons for what they may do. */
export function menuCommand(
  commands: () => readonly Command[],
  /** Other accounts, with their commands that have waiting items. */
  others: () => readonly ListedAccount[],
  mayRun: MayRun,
  log: Log,
): Command {
  async function menuFor(caller: Caller): Promise<SlackMessage> {
    const permitted = await sortByPermit(caller, commands(), mayRun);
    const refusal = nothingAllowed(permitted);
    if (refusal) return refusal;
    const { allowed } = permitted;
    const elsewhere = others().map(async (account) => {
      const there = await sortByPermit(caller, account.commands, account.mayRun);
      return await Promise.all(there.allowed.map((command) => openOf(command, caller, log, account)));
    });
    const own = allowed.map((command) => openOf(command, caller, log));
    const answers = [...(await Promise.all(own)), ...(await Promise.all(elsewhere)).flat()];
    const open = answers.filter((items) => items !== undefined && items !== 'unknown');
    return menuMessage(allowed, open, answers.includes('unknown'));
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

/** A command's waiting items. Those of another account name the account, and the command that shows them. */
async function openOf(
  { verb, open }: Command,
  caller: Caller,
  log: Log,
  account?: ListedAccount,
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

type MenuCommand = Pick<Command, 'verb' | 'menu'>;

/** More lines don't fit at a glance. */
const mostLines = 6;

/** Buttons for what the person may do, in the order of help: most used first. */
export function menuButtons(commands: readonly MenuCommand[]): ActionsBlock[] {
  const buttons = commands.flatMap(({ menu }) =>
    menu === undefined ? [] : [button({ actionId: menu.actionId, text: menu.text })],
  );
  return buttons.length === 0 ? [] : [actions(...buttons.slice(0, limits.actionsElements))];
}

export function menuMessage(
  commands: readonly MenuCommand[],
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
    body: [...warning, ...openLines(open), ...menuButtons(commands), ...hints(commands)],
  });
}

/** The next to expire first; items that never expire keep the order of their commands. */
function openLines(open: readonly OpenItems[]): MessageBlock[] {
  const sorted = open.toSorted(
    ({ untilMs = Number.MAX_SAFE_INTEGER }, other) => untilMs - (other.untilMs ?? Number.MAX_SAFE_INTEGER),
  );
  return sorted.length === 0 ? [] : [richText(...sorted.slice(0, mostLines).map(({ line }) => line))];
}

function hints(commands: readonly MenuCommand[]): Run[][] {
  const lookUp: Run[][] = commands.some(({ verb }) => verb === 'lookup')
    ? [[code('/pay <reference>'), words('  looks a payment up.')]]
    : [];
  const others = commands.filter(({ verb, menu }) => menu === undefined && verb !== 'lookup');
  return [
    ...lookUp,
    [
      words('Also: '),
      ...others.flatMap(({ verb }, at) => [...(at > 0 ? [words('  ')] : []), code(`/pay ${verb}`)]),
    ],
    [words('All that’s open: the '), bold('Home'), words(' tab.')],
  ];
}
