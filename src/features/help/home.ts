import { withDeadline } from '../../deadline.ts';
import { newErrorId, type Log } from '../../log.ts';
import { code, context, divider, plainText, richText, words } from '../../slack/kit/blocks.ts';
import type { Caller, Command, MayRun } from '../../slack/command.ts';
import { limits } from '../../slack/kit/limits.ts';
import { menuButtons } from './menu-message.ts';
import type { HomeBlock, SlackMessage } from '../../slack/kit/message.ts';
import { nothingAllowed, sortByPermit } from './help.ts';

type HomeDeps = {
  verbs: readonly Command[];
  /** Verbs that have something for the person and do not stand in the menu. */
  others?: readonly Command[];
  /** What an account makes of the buttons. */
  ownButtons?: (blocks: readonly HomeBlock[]) => readonly HomeBlock[];
  mayRun: MayRun;
  log: Log;
};

/** One verb that hangs must not keep the rest from the person. */
const sectionMs = 3_000;

/**
 * The App Home: buttons for what the caller may do, then what each verb has for them. A verb that
 * throws or hangs is one line that says so, and hides nothing else. At most as many blocks as Slack takes.
 */
export async function homeFor(caller: Caller, deps: HomeDeps): Promise<SlackMessage> {
  const { verbs, others = [], ownButtons = (blocks) => blocks, mayRun } = deps;
  const all = await sortByPermit(caller, [...verbs, ...others], mayRun);
  const refusal = nothingAllowed(all);
  if (refusal) return refusal;
  const { allowed } = all;
  const listed = allowed.filter((verb) => !others.includes(verb));
  // What waits for somebody stands above what is done: the verbs' own order is that of their use.
  const order = verbs.map(({ verb }) => verb).toReversed();
  const inOrder = allowed.toSorted((one, other) => order.indexOf(one.verb) - order.indexOf(other.verb));
  const sections = await Promise.all(inOrder.map((verb) => sectionOf(verb, caller, deps.log)));
  const filled = sections.filter((section) => section.length > 0);
  const buttons = ownButtons(menuButtons(listed.filter(({ menu }) => menu?.opens === 'modal')));
  const room = limits.viewBlocks - buttons.length - 3;
  const shown = filled.length === 0 ? [nothingOpen] : fitInto(room, filled);
  const top = buttons.length === 0 ? [] : [...buttons, divider()];
  const end = shown.at(-1)?.type === 'divider' ? [] : [divider()];
  return { text: 'Home', blocks: [...top, ...shown, ...end, help] };
}

const help: HomeBlock = richText([code('/pay help'), words(' lists what you can type.')]);

const nothingOpen: HomeBlock = richText([words('Nothing waits for you.')]);

async function sectionOf(verb: Command, caller: Caller, log: Log): Promise<readonly HomeBlock[]> {
  const { home } = verb;
  if (!home) return [];
  try {
    return await withDeadline(sectionMs, () => home(caller));
  } catch (error) {
    const errorId = newErrorId();
    log(
      'error',
      'A part of the App Home could not be shown',
      { errorId, verb: verb.verb, userId: caller.userId },
      error,
    );
    return [context(plainText(`⚠️ /pay ${verb.verb} can’t be shown now, error ${errorId}.`))];
  }
}

/** Every section keeps its share of the room, so that a long one pushes none out. */
function fitInto(room: number, sections: readonly (readonly HomeBlock[])[]): HomeBlock[] {
  const total = sections.reduce((sum, section) => sum + section.length, 0);
  if (total <= room) return sections.flat();
  const share = Math.floor(room / sections.length);
  return sections.flatMap((section) =>
    section.length <= share ? section : [...section.slice(0, share - 1), more],
  );
}

const more: HomeBlock = context(plainText('… and more.'));
