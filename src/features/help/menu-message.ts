import type { ActionsBlock } from '@slack/types';
import { actions, bold, button, code, headline, richText, words, type Run } from '../../slack/kit/blocks.ts';
import type { Command, OpenItems } from '../../slack/command.ts';
import { limits } from '../../slack/kit/limits.ts';
import type { HomeBlock, SlackMessage } from '../../slack/kit/message.ts';

/** A verb as a button of the menu. */
export type MenuVerb = Pick<Command, 'verb' | 'menu'>;

/** A button that runs a verb without words. */
export function menuActionId(verb: string): string {
  return `menu.${verb}`;
}

/** More than a person reads at a glance. */
const mostLines = 6;

/** The buttons of what the person may do, in the order of the help; the first is what most people come for. */
export function menuButtons(verbs: readonly MenuVerb[]): ActionsBlock[] {
  const buttons = verbs.flatMap(({ verb, menu }) =>
    menu === undefined ? [] : [button({ actionId: menuActionId(verb), text: menu.text })],
  );
  return buttons.length === 0 ? [] : [actions(...buttons.slice(0, limits.actionsElements))];
}

/** `/pay` alone: what waits for the person, the most urgent first, and what they may do. */
export function menuMessage(verbs: readonly MenuVerb[], open: readonly OpenItems[]): SlackMessage {
  const count = open.reduce((sum, items) => sum + items.count, 0);
  const state =
    count === 0
      ? 'Nothing waits for you'
      : `🔔 ${count} ${count === 1 ? 'thing waits' : 'things wait'} for you`;
  const { text, block } = headline(state, []);
  return {
    text,
    blocks: [block, ...openLines(open), ...menuButtons(verbs), richText(...hints(verbs))],
  };
}

/** The most urgent first; what can wait keeps the order of the verbs. */
function openLines(open: readonly OpenItems[]): HomeBlock[] {
  const sorted = open.toSorted((one, other) => urgency(one) - urgency(other));
  return sorted.length === 0 ? [] : [richText(...sorted.slice(0, mostLines).map(({ line }) => line))];
}

function hints(verbs: readonly MenuVerb[]): Run[][] {
  const lookUp: Run[][] = verbs.some(({ verb }) => verb === 'lookup')
    ? [[code('/pay <reference>'), words('  looks a transaction up.')]]
    : [];
  const others = verbs.filter(({ verb, menu }) => menu === undefined && verb !== 'lookup');
  return [
    ...lookUp,
    [
      words('Also: '),
      ...others.flatMap(({ verb }, at) => [...(at > 0 ? [words('  ')] : []), code(`/pay ${verb}`)]),
    ],
    [words('All that is open: the '), bold('Home'), words(' tab of this app.')],
  ];
}

function urgency({ untilMs = Number.MAX_SAFE_INTEGER }: OpenItems): number {
  return untilMs;
}
