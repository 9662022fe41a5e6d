import { withDeadline } from '../../deadline.ts';
import { parsed } from '../../domain/parsed.ts';
import { newErrorId, type Log } from '../../log.ts';
import { context, plainText } from '../../slack/kit/blocks.ts';
import {
  anyone,
  defineCommand,
  type Caller,
  type Command,
  type MayRun,
  type OpenItems,
} from '../../slack/command.ts';
import { menuMessage } from './menu-message.ts';
import type { SlackMessage } from '../../slack/kit/message.ts';
import { nothingAllowed, sortByPermit, type ListedVerbs } from './help.ts';

/** One verb that hangs must not keep the menu from the person. */
const openMs = 1_000;

/** `/pay` alone: what waits for the person, the most urgent first, and a button for what they may do. */
export function menuCommand({ verbs, others, ...deps }: MenuDeps): Command {
  return defineCommand<undefined>({
    verb: '',
    usage: '',
    summary: 'Show what you can do',
    examples: [],
    permission: anyone,
    effect: 'none',
    parse: () => parsed(undefined),
    run: (_, { caller }) => menuFor(caller, { verbs, others, ...deps }),
  });
}

type MenuDeps = {
  verbs: () => readonly Command[];
  /** Of other accounts: verbs that have something waiting for the person and do not stand in the menu. */
  others: () => readonly ListedVerbs[];
  mayRun: MayRun;
  log: Log;
};

async function menuFor(caller: Caller, { verbs, others, mayRun, log }: MenuDeps): Promise<SlackMessage> {
  const permitted = await sortByPermit(caller, verbs(), mayRun);
  const refusal = nothingAllowed(permitted);
  if (refusal) return refusal;
  const { allowed } = permitted;
  const elsewhere = await Promise.all(
    others().map((account) => sortByPermit(caller, account.verbs, account.mayRun)),
  );
  const waiting = [...allowed, ...elsewhere.flatMap((account) => account.allowed)];
  const asked = await Promise.all(waiting.map((verb) => openOf(verb, caller, log)));
  const open = asked.filter((items) => items !== undefined && items !== 'unknown');
  const { text, blocks } = menuMessage(allowed, open);
  if (!asked.includes('unknown')) return { text, blocks };
  const [first, ...rest] = blocks;
  const warning = context(plainText('⚠️ Some of what waits for you can’t be shown now.'));
  return { text, blocks: first ? [first, warning, ...rest] : [warning] };
}

async function openOf(
  { verb, open }: Command,
  caller: Caller,
  log: Log,
): Promise<OpenItems | undefined | 'unknown'> {
  if (!open) return undefined;
  try {
    return await withDeadline(openMs, () => open(caller));
  } catch (error) {
    const message = 'A part of the menu could not be shown';
    log('error', message, { errorId: newErrorId(), verb, userId: caller.userId }, error);
    return 'unknown';
  }
}
