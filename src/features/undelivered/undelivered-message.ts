import type { Undelivered } from '../../messages/delivery.ts';
import {
  actions,
  bold,
  button,
  code,
  confirmDialog,
  context,
  headline,
  isPerson,
  moment,
  personOrChannel,
  plainText,
  richText,
  words,
  type Run,
} from '../../slack/kit/blocks.ts';
import { word } from '../../slack/words/evidence.ts';
import type { SlackMessage } from '../../slack/kit/message.ts';

/** The button's id; its value is the channel. */
export const deliverAgainId = 'undelivered.deliver_again';

/** More than a person reads at once; each takes two blocks. */
const mostShown = 10;

/** What Slack refuses and is tried again by itself: what it is for, Slack's word, and what a person must do. */
export type BeingTried = Pick<Undelivered, 'channel' | 'slackError' | 'fix'>;

/**
 * What could not be delivered, by channel: how much, since when, why, the fix, and the button that tries again. `tried`:
 * what is refused and not given up yet, without a button; it is behind the others, and left out where they name it.
 */
export function undeliveredMessage(
  all: readonly Undelivered[],
  tried: readonly BeingTried[] = [],
): SlackMessage {
  const stillTried = tried.filter(({ channel }) => !all.some((one) => one.channel === channel));
  if (all.length === 0 && stillTried.length > 0) return beingTriedMessage(stillTried);
  if (all.length === 0) {
    const { text, block } = headline('✅ Everything was delivered', []);
    return { text, blocks: [block] };
  }
  const total = all.reduce((sum, { messages }) => sum + messages, 0);
  const { text, block } = headline(`⚠️ ${counted(total)} could not be delivered`, [placesOf(all)]);
  const items = all
    .slice(0, mostShown)
    .flatMap((one) => [
      richText(
        [bold(counted(one.messages)), words(' for '), personOrChannel(one.channel)],
        [
          words('Refused since '),
          moment(one.sinceMs),
          words(' · Slack says '),
          code(word(one.slackError) ?? ''),
        ],
        [words(`First: ${one.fix}`)],
      ),
      actions(deliverAgainButton(one)),
    ]);
  const hidden = all.length - mostShown;
  const more = hidden > 0 ? [context(plainText(`And ${hidden} more, once these are delivered.`))] : [];
  return { text, blocks: [block, ...items, ...more, ...stillTried.slice(0, mostShown).map(triedBlock)] };
}

function beingTriedMessage(tried: readonly BeingTried[]): SlackMessage {
  const { text, block } = headline('⚠️ Slack refuses messages; the bot keeps trying', [placesOf(tried)]);
  const line = 'They arrive once the reason is fixed.';
  const hidden = tried.length - mostShown;
  const more = hidden > 0 ? [context(plainText(`And ${hidden} more.`))] : [];
  const blocks = [block, richText([words(line)]), ...tried.slice(0, mostShown).map(triedBlock), ...more];
  return { text, blocks };
}

function triedBlock({ channel, slackError, fix }: BeingTried) {
  return richText(
    [bold('Still trying'), words(' for '), personOrChannel(channel)],
    [words('Slack says '), code(word(slackError) ?? '')],
    [words(`First: ${fix}`)],
  );
}

/** `messages`: how many are work again because of this very press. */
export function deliveringAgainMessage(channel: string, messages: number): SlackMessage {
  if (messages === 0) {
    const { text, block } = headline('Nothing left to deliver here', []);
    return { text, blocks: [block] };
  }
  const { text, block } = headline(`📨 ${counted(messages)} on the way again`, []);
  const line: Run[] = [
    words('To '),
    personOrChannel(channel),
    words(messages === 1 ? refusedAgain.one : refusedAgain.many),
  ];
  return { text, blocks: [block, richText(line)] };
}

const refusedAgain = {
  one: '. If Slack still refuses it, it comes back to this list.',
  many: ', in order, about one a second. What Slack still refuses comes back to this list.',
};

function deliverAgainButton({ channel, messages }: Undelivered) {
  const place = isPerson(channel) ? 'person' : 'channel';
  return button({
    actionId: deliverAgainId,
    text: 'Deliver again',
    value: channel,
    confirm: confirmDialog({
      title: 'Deliver again?',
      // It shows no names, and an id would tell nobody which channel that is.
      text: `${counted(messages)} for the ${place} above. Fix the reason first.`,
      confirm: 'Deliver again',
      deny: 'Not now',
    }),
  });
}

function placesOf(all: readonly { channel: string }[]): string {
  const people = all.filter(({ channel }) => isPerson(channel)).length;
  const channels = all.length - people;
  const parts = [
    ...(channels > 0 ? [channels === 1 ? 'one channel' : `${channels} channels`] : []),
    ...(people > 0 ? [people === 1 ? 'one person' : `${people} people`] : []),
  ];
  return parts.join(' and ');
}

function counted(messages: number): string {
  return messages === 1 ? 'One message' : `${messages} messages`;
}
