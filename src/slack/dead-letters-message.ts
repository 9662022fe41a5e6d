import type { Undelivered } from '../domain/delivery.ts';
import {
  actions,
  bold,
  button,
  channelName,
  code,
  confirmDialog,
  context,
  headline,
  moment,
  person,
  plainText,
  richText,
  words,
  type Run,
} from './blocks.ts';
import { word } from './evidence.ts';
import type { SlackMessage } from './message.ts';

/** The button's id; its value is the channel. */
export const deliverAgainId = 'undelivered.deliver_again';

/** More than a person reads at once; each takes two blocks. */
const mostShown = 10;

/** What could not be delivered, by channel: how much, since when, why, the fix, and the button that tries again. */
export function undeliveredMessage(all: readonly Undelivered[]): SlackMessage {
  if (all.length === 0) {
    const { text, block } = headline('✅ Nothing is undelivered', []);
    const line = 'Slack takes what is for every channel and person, or it is still being tried.';
    return { text, blocks: [block, richText([words(line)])] };
  }
  const total = all.reduce((sum, { messages }) => sum + messages, 0);
  const { text, block } = headline(`⚠️ ${counted(total)} could not be delivered`, [
    all.length === 1 ? 'one channel or person' : `${all.length} channels and people`,
  ]);
  const items = all
    .slice(0, mostShown)
    .flatMap((one) => [
      richText(
        [bold(counted(one.messages)), words(' for '), whereOf(one.channel)],
        [
          words('Refused since '),
          moment(one.sinceMs),
          words(' · Slack’s word '),
          code(word(one.slackError) ?? ''),
        ],
        [words(`First: ${one.fix}`)],
      ),
      actions(deliverAgainButton(one)),
    ]);
  const hidden = all.length - mostShown;
  const more = hidden > 0 ? [context(plainText(`And ${hidden} more, once these are delivered.`))] : [];
  return { text, blocks: [block, ...items, ...more] };
}

/** `messages`: how many are work again because of this very press. */
export function deliveringAgainMessage(channel: string, messages: number): SlackMessage {
  if (messages === 0) {
    const { text, block } = headline('Nothing is left to deliver again here', []);
    return {
      text,
      blocks: [block, richText([words('It was delivered, is on its way already, or is forgotten.')])],
    };
  }
  const { text, block } = headline(`📨 ${counted(messages)} on the way again`, []);
  const line: Run[] = [
    words('To '),
    whereOf(channel),
    words(', in their old order, about one a second. What Slack refuses again comes back to this list.'),
  ];
  return { text, blocks: [block, richText(line)] };
}

function deliverAgainButton({ channel, messages }: Undelivered) {
  return button({
    actionId: deliverAgainId,
    text: 'Deliver again',
    value: channel,
    confirm: confirmDialog({
      title: 'Deliver again?',
      text: `${counted(messages)} for ${channel}, about one a second. Do it once the reason is mended: else Slack refuses each of them once more.`,
      confirm: 'Deliver again',
      deny: 'Not now',
    }),
  });
}

/** Names of channels and people that only those see who may. */
function whereOf(channel: string): Run {
  return /^[UW]/.test(channel) ? person(channel) : channelName(channel);
}

function counted(messages: number): string {
  return messages === 1 ? 'One message' : `${messages} messages`;
}
