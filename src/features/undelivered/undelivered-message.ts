import type { Undelivered } from '../../messages/delivery.ts';
import {
  actions,
  bold,
  button,
  code,
  confirmDialog,
  context,
  isPerson,
  moment,
  personOrChannel,
  plainText,
  rich,
  richText,
} from '../../slack/kit/blocks.ts';
import { noteMessage } from '../../slack/kit/note.ts';
import { word } from '../../slack/words/evidence.ts';
import type { SlackMessage } from '../../slack/kit/message.ts';

/** The button's id; its value is the channel. */
export const deliverAgainId = 'undelivered.deliver_again';

/** More than a person reads at once; each takes two blocks. */
const mostShown = 10;

/**
 * What could not be delivered, by channel: how much, since when, why, the fix, and the button that tries again.
 */
export function undeliveredMessage(all: readonly Undelivered[]): SlackMessage {
  const items = all.map((one) => [
    richText(
      rich`${bold(counted(one.messages))} for ${personOrChannel(one.channel)}`,
      rich`Refused since ${moment(one.sinceMs)} · Slack says ${code(word(one.slackError) ?? '')}`,
      rich`First: ${one.fix}`,
    ),
    actions(deliverAgainButton(one)),
  ]);
  if (items.length === 0) return noteMessage({ state: '✅ Everything was delivered' });
  const total = all.reduce((sum, { messages }) => sum + messages, 0);
  const hidden = items.length - mostShown;
  const more = hidden > 0 ? [context(plainText(`And ${hidden} more, once these are delivered.`))] : [];
  return noteMessage({
    state: `⚠️ ${counted(total)} could not be delivered`,
    about: [placesOf(all)],
    body: [...items.slice(0, mostShown).flat(), ...more],
  });
}

/** `messages`: how many are work again because of this very press. */
export function deliveringAgainMessage(channel: string, messages: number): SlackMessage {
  if (messages === 0) return noteMessage({ state: 'Nothing left to deliver here' });
  return noteMessage({
    state: `📨 ${counted(messages)} on the way again`,
    body: [
      rich`To ${personOrChannel(channel)}, in order, about one a second. What Slack still refuses comes back to this list.`,
    ],
  });
}

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
