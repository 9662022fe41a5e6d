import { findBlockProblems, findViewProblems } from '../../../src/simulators/slack/assert-blocks.ts';
import { createRandom } from '../../chaos/random.ts';
import { agent, colleague } from '../../features/charge/seen-charges.ts';
import { alertSurfaces } from './alert-surfaces.ts';
import { approvalSurfaces } from './approval-surfaces.ts';
import { botSurfaces } from './bot-surfaces.ts';
import type { SlackMessage } from '../../../src/slack/kit/message.ts';
import { isGeneratedReference } from '../../../src/domain/order-reference.ts';
import { firstLine, unescaped } from '../../slack/shown-text.ts';
import { cardsSurfaces, listSurfaces } from './list-surfaces.ts';
import { chargeSurfaces } from './charge-surfaces.ts';
import { lookUpSurfaces, storySurfaces } from './look-up-surfaces.ts';
import { findLiveText } from './find-live-text.ts';
import { hostileText } from './hostile-texts.ts';
import type { Shown, Surface } from './surface.ts';

export type TextsResult = {
  texts: number;
  /** How many messages, forms and parts of the App Home were made. */
  shown: number;
  /** Places where outside words could act. */
  live: string[];
  /** Payloads that Slack would refuse. */
  unfit: string[];
};

export const surfaces: readonly Surface[] = [
  ...alertSurfaces,
  ...chargeSurfaces,
  ...cardsSurfaces,
  ...approvalSurfaces,
  ...botSurfaces,
  ...listSurfaces,
  ...storySurfaces,
  ...lookUpSurfaces,
];

export const own = {
  users: ['U0OWN00001', 'U0OWN00002', agent, colleague],
  groups: ['S0OWN00001'],
  channels: ['C0OWN00001'],
};

/** Puts this many hostile texts through every screen of the bot. The same seed makes the same messages. */
export function runTexts(options: { count: number; seed: number }): TextsResult {
  const random = createRandom(options.seed);
  const result: TextsResult = { texts: 0, shown: 0, live: [], unfit: [] };
  const outside = {
    random,
    text() {
      result.texts += 1;
      return hostileText(random);
    },
  };
  while (result.texts < options.count) {
    const surface = surfaces[result.shown % surfaces.length];
    if (!surface) throw new Error('The bot shows nothing.');
    const number = result.shown;
    result.shown += 1;
    const where = `${surface.name}, number ${number}`;
    try {
      const shown = surface.compose(outside);
      result.live.push(
        ...findLiveText(shown.payload, { ...own, paymentLink: shown.paymentLink }).map(
          (problem) => `${where}: ${problem}`,
        ),
      );
      result.unfit.push(...unfit(shown).map((problem) => `${where}: ${problem}`));
    } catch (error) {
      result.unfit.push(`${where}: threw ${error instanceof Error ? error.stack : String(error)}`);
    }
  }
  return result;
}

function unfit(shown: Shown): string[] {
  if (shown.kind === 'modal') return findViewProblems(shown.payload);
  const problems = findBlockProblems(shown.kind, shown.payload.blocks);
  return shown.kind === 'message'
    ? [...problems, ...unheard(shown.payload), ...tooLong(shown.payload)]
    : problems;
}

/** Slack's 4,000, minus room for an account's name in front. */
const longestText = 3_950;

function tooLong({ text }: SlackMessage): string[] {
  return text.length > longestText ? [`its text has ${text.length} characters`] : [];
}

/**
 * Screen readers and notifications use only `text`: it must have the first line, and the generated reference below it.
 */
function unheard(message: SlackMessage): string[] {
  const heard = unescaped(message.text).trim();
  const [seen = '', below = ''] = firstLine(message).split('\n');
  const whole = isGeneratedReference(below) ? `${seen} · ${below}` : seen;
  return heard === whole.trim() ? [] : [`its text is “${heard}”, and its first line “${seen}”`];
}
