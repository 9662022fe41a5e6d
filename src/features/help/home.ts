import { withDeadline } from '../../deadline.ts';
import { newErrorId, type Log } from '../../log.ts';
import { code, context, divider, plainText, richText, words } from '../../slack/kit/blocks.ts';
import type { Caller, Command } from '../../slack/command.ts';
import { limits } from '../../slack/kit/limits.ts';
import { menuButtons } from './menu.ts';
import type { Home, MessageBlock } from '../../slack/kit/message.ts';
import { inAccount } from '../../slack/own-account.ts';
import { nothingAllowed, sortByPermit, type ListedAccount } from './help.ts';

/** The most that a command's section may take: a slow command must not delay the others. */
const sectionMs = 3_000;

/**
 * The App Home: buttons for what the caller may do, then each command's section. A section that fails or is slow becomes
 * one line; the others are still shown. At most as many blocks as Slack takes.
 */
export async function homeFor(
  caller: Caller,
  /** `others`: the other accounts, with their commands that have a section. */
  { own, others, log }: { own: ListedAccount; others: readonly ListedAccount[]; log: Log },
): Promise<Home> {
  const permitted = await sortByPermit(caller, own.commands, own.mayRun);
  const refusal = nothingAllowed(permitted);
  if (refusal) return refusal;
  const listed = permitted.allowed;
  const elsewhere = await Promise.all(
    others.map(async (account) => {
      const { allowed } = await sortByPermit(caller, account.commands, account.mayRun);
      return allowed.map((command) => ({ command, account }));
    }),
  );
  // Reversed: help lists the commands in the order of use, but here waiting items stand above finished work.
  const order = [
    ...own.commands.filter(({ isUrgent }) => isUrgent),
    ...own.commands.filter(({ isUrgent }) => !isUrgent).toReversed(),
  ].map(({ verb }) => verb);
  const sections = await Promise.all(
    [...listed.map((command) => ({ command, account: own })), ...elsewhere.flat()]
      .toSorted((one, other) => order.indexOf(one.command.verb) - order.indexOf(other.command.verb))
      .map(({ command, account }) =>
        inAccount(account.merchant, () =>
          sectionOf(command, caller, { accountLabel: account.accountLabel, log }),
        ),
      ),
  );
  const filled = sections.filter((section) => section.length > 0);
  const pressed = inAccount(own.merchant, () =>
    menuButtons(listed.filter(({ menu, field }) => menu?.opens === 'modal' && !field)),
  );
  const fields = inAccount(own.merchant, () => listed.flatMap(({ field }) => field?.() ?? []));
  // The first account's buttons need no label.
  const accountLabel = own.merchant?.isFirst === false && pressed.length > 0 ? own.accountLabel : undefined;
  const buttons = accountLabel === undefined ? pressed : [context(plainText(accountLabel)), ...pressed];
  const room = limits.viewBlocks - fields.length - buttons.length - 3;
  const all = filled.length === 0 ? [nothingOpen] : filled.flat();
  const shown = all.length <= room ? all : [...all.slice(0, room - 1), more];
  const top = fields.length + buttons.length === 0 ? [] : [...fields, ...buttons, divider()];
  const end = shown.at(-1)?.type === 'divider' ? [] : [divider()];
  return { blocks: [...top, ...shown, ...end, help] };
}

const help: MessageBlock = richText([code('/pay help'), words(' lists what you can type.')]);

const nothingOpen: MessageBlock = richText([words('Nothing waits for you.')]);

/** A command's section, below the account's name if there are several accounts. */
async function sectionOf(
  command: Command,
  caller: Caller,
  { accountLabel, log }: { accountLabel: string | undefined; log: Log },
): Promise<readonly MessageBlock[]> {
  const { home, verb } = command;
  if (!home) return [];
  try {
    const blocks = await withDeadline(sectionMs, () => home(caller));
    return accountLabel === undefined || blocks.length === 0
      ? blocks
      : [context(plainText(accountLabel)), ...blocks];
  } catch (error) {
    const errorId = newErrorId();
    const about = { errorId, verb, userId: caller.userId };
    log('error', 'A part of the App Home could not be shown', about, error);
    return [context(plainText(`⚠️ /pay ${verb} can’t be shown now, error ${errorId}.`))];
  }
}

const more: MessageBlock = context(plainText('… and more.'));
