import type { ActionsBlock } from '@slack/types';
import type { AuditEntry } from '../../domain/audit-entry.ts';
import type { ChargeSeen } from '../../domain/charge.ts';
import type { PaymentEvent } from '../../domain/payment-event.ts';
import type { Chapter } from '../../account.ts';
import {
  actions,
  button,
  context,
  moment,
  plainText,
  rich,
  richText,
  words,
  type Run,
} from '../../slack/kit/blocks.ts';
import { counted } from '../../domain/wording.ts';
import { amountWord, chargeHead } from '../../slack/words/charge-facts.ts';
import { messageFoot, type ChargePlace } from '../../slack/words/charge-place.ts';
import {
  customerWord,
  referenceWord,
  typedLookUpButton,
  typedReference,
} from '../../slack/words/evidence.ts';
import type { SlackMessage } from '../../slack/kit/message.ts';
import { noteMessage } from '../../slack/kit/note.ts';
import type { UploadOutcome } from '../../slack/kit/upload-file.ts';
import { actorOf, sentenceOf, stateWord } from './story-words.ts';

/** The buttons of a story; each carries the words that follow the verb, the file's the reference alone. */
export const storyActions = { earlier: 'story_earlier', later: 'story_later', file: 'story_file' } as const;

/** What the message needs of a story. */
type ToldStory = {
  reference: string;
  charge?: ChargeSeen;
  link?: Chapter['link'];
  event?: Pick<PaymentEvent, 'kind' | 'amountMinor' | 'currency' | 'customerEmail'>;
  entries: readonly AuditEntry[];
};

/** As much as a person reads at once, and what fits into one message with the longest words. */
const linesOnAPage = 12;

export function pagesOf({ entries }: Pick<ToldStory, 'entries'>): number {
  return Math.max(1, Math.ceil(entries.length / linesOnAPage));
}

/**
 * What happened to one reference, oldest first: when, who, what, from which state to which, and why. `page` counts
 * from 1; one that is not there is the last.
 */
export function storyMessage(
  story: ToldStory,
  page: number,
  { place, nowMs }: { place: ChargePlace; nowMs: number },
): SlackMessage {
  const pages = pagesOf(story);
  const number = Math.min(Math.max(1, page), pages);
  const lines = story.entries.slice((number - 1) * linesOnAPage, number * linesOnAPage);
  const which = pages === 1 ? '' : ` · page ${number} of ${pages}`;
  const foot = `${counted(story.entries.length, 'entry', 'entries')}, oldest first${which}`;
  const { text, blocks } = noteMessage({
    ...headOf(story),
    body: [richText(...lines.map(lineOf)), context(plainText(foot))],
    foot: messageFoot(place, 'told', nowMs),
  });
  return { text, blocks: [...blocks, ...storyButtons(story, number, pages)] };
}

function lineOf(entry: AuditEntry): Run[] {
  return [
    moment(entry.atMs, '{date_short_pretty} {time_secs}'),
    words('  '),
    actorOf(entry),
    words(' '),
    ...sentenceOf(entry),
  ];
}

/** State, amount, customer, reference: as the thing's own message says them. */
function headOf(story: ToldStory): { state: string; about: string[] } {
  const { charge, link, event, reference } = story;
  if (charge) return chargeHead(charge);
  if (link) {
    const { terms, state } = link;
    const about = [amountWord(terms.money), customerWord(terms.customerEmail), referenceWord(reference)];
    return { state: `📄 ${stateWord(`link_${state.kind}`)}`, about };
  }
  const { amountMinor, currency, customerEmail } = event ?? {};
  const amount =
    amountMinor === undefined ? '' : amountWord({ minor: amountMinor, currency: currency ?? '' });
  return { state: '📄 Story', about: [amount, customerWord(customerEmail), referenceWord(reference)] };
}

function storyButtons({ reference }: ToldStory, page: number, pages: number): ActionsBlock[] {
  if (pages === 1) return [];
  const turn = (actionId: string, text: string, to: number) =>
    button({ actionId, text, value: JSON.stringify([reference, String(to)]) });
  return [
    actions(
      ...(page > 1 ? [turn(storyActions.earlier, 'Earlier', page - 1)] : []),
      ...(page < pages ? [turn(storyActions.later, 'Later', page + 1)] : []),
      button({ actionId: storyActions.file, text: 'CSV', value: reference }),
    ),
  ];
}

/** The bot has nothing on record of it; the service may. */
export function noStoryMessage(reference: string): SlackMessage {
  return noteMessage({
    state: 'The bot has nothing on this reference',
    about: [typedReference(reference)],
    body: [rich`The payments service itself may know it.`],
    buttons: typedLookUpButton('Look it up', reference),
  });
}

/** Where the file with all of it came to stand. */
export function storyFileMessage(reference: string, placed: UploadOutcome): SlackMessage {
  const about = [referenceWord(reference)];
  return placed.kind === 'failed'
    ? noteMessage({
        state: '⚠️ The file couldn’t be put into Slack',
        about,
        body: [rich`${placed.why} Next: ${placed.fix}`],
      })
    : noteMessage({
        state: '📄 The whole story as a file',
        about,
        body: [rich`It is in your direct messages with the bot.`],
      });
}
