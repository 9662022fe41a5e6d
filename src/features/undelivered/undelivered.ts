import type { Account } from '../../account.ts';
import { degradedIfAway, type PartHealth } from '../../domain/failure.ts';
import { readRefusedNow, readUndelivered, redrive, type RefusedNow } from '../../messages/undelivered.ts';
import type { Store } from '../../store/store.ts';
import { withOtherAccounts } from '../../slack/words/account-foot.ts';
import { defineCommand, wholeValue } from '../../slack/command.ts';
import { nothingAfter } from '../../slack/command-text.ts';
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
import { word } from '../../slack/words/payment-words.ts';
import type { SlackMessage } from '../../slack/kit/message.ts';

export type Undelivered = ReturnType<typeof createUndelivered>;

type DeadLetters = Awaited<ReturnType<typeof readUndelivered>>[number];

/** `/pay undelivered`: messages that Slack refused for so long that the bot retries them only on a person’s press. */
export function createUndelivered({ store, shownAccount, wake, log }: Account) {
  const verb = defineCommand<undefined>({
    verb: 'undelivered',
    usage: '',
    summary: 'Undelivered messages',
    examples: ['undelivered'],
    permission: 'undelivered',
    effect: 'none',
    presses: [
      {
        actionId: deliverAgainId,
        aboutOther: wholeValue,
        // Idempotent: pressed twice, it delivers once.
        effect: 'none',
        async press({ caller, value: channel, reply }) {
          const messages = countOf(await redrive(store, channel));
          const about = { channel, userId: caller.userId, result: String(messages) };
          log('info', 'undelivered messages are work again', about);
          wake();
          await reply(deliveringAgainMessage(channel, messages));
        },
      },
    ],
    parse: nothingAfter(
      'Nothing follows “undelivered”: it lists every channel and person that Slack refuses.',
    ),
    async run() {
      const [all, refusedNow] = await Promise.all([readUndelivered(store), readRefusedNow(store)]);
      const message = undeliveredMessage(all, refusedNow);
      return all.length + refusedNow.length === 0 ? withOtherAccounts(message, shownAccount) : message;
    },
  });
  return {
    verbs: [verb],
    /** How many messages are undelivered, counted up to a thousand. */
    count: async () => countOf(await readUndelivered(store)),
  };
}

export async function undeliveredHealth(store: Pick<Store, 'list'>): Promise<PartHealth> {
  return await degradedIfAway(async () => judge(await readUndelivered(store)));
}

function judge(all: readonly DeadLetters[]): PartHealth {
  const [first, ...others] = all;
  if (!first) return { state: 'ok' };
  const where =
    others.length === 1 ? 'another channel or person' : `${others.length} other channels and people`;
  const rest = others.length > 0 ? `, and ${countOf(others)} for ${where}` : '';
  return {
    state: 'degraded',
    detail: `${first.messages} undelivered for ${first.channel}: ${first.slackError}${rest}`,
    fix: `${first.fix} Then /pay undelivered, or npm run redrive.`,
  };
}

function countOf(all: readonly { messages: number }[]): number {
  return all.reduce((sum, { messages }) => sum + messages, 0);
}

/** The button's id; its value is the channel. */
const deliverAgainId = 'undelivered.deliver_again';

/** As many channels as a person can read at once. Each takes two of the fifty blocks that a message may have. */
const mostShown = 10;

/**
 * Dead letters by channel: how many, since when, why, the fix, and a button to redeliver. Below them the current
 * refusals, which the bot retries by itself.
 */
export function undeliveredMessage(
  all: readonly DeadLetters[],
  refusedNow: readonly RefusedNow[],
): SlackMessage {
  const waiting = refusedNow
    .slice(0, mostShown)
    .map((one) =>
      richText(
        rich`${bold('Waiting for ')}${personOrChannel(one.channel)}`,
        rich`Refused since ${moment(one.sinceMs)} · Slack says ${code(word(one.slackError) ?? '')}`,
        rich`${bold('Fix: ')}${one.fix} The next try is at ${moment(one.nextTryAtMs, '{time}')}.`,
      ),
    );
  const items = all.map((one) => [
    richText(
      rich`${bold(messageCount(one.messages))} for ${personOrChannel(one.channel)}`,
      rich`Refused since ${moment(one.sinceMs)} · Slack says ${code(word(one.slackError) ?? '')}`,
      rich`${bold('Fix: ')}${one.fix}`,
    ),
    actions(deliverAgainButton(one)),
  ]);
  if (items.length + waiting.length === 0) return noteMessage({ state: '✅ Everything was delivered' });
  if (items.length === 0) {
    return noteMessage({
      state: '⚠️ Slack refuses messages now',
      about: [recipientWords(refusedNow)],
      body: [...waiting, rich`Nothing is lost: they wait in order.`],
    });
  }
  const hidden = items.length - mostShown;
  const more = hidden > 0 ? [context(plainText(`And ${hidden} more, once these are delivered.`))] : [];
  return noteMessage({
    state: `⚠️ ${messageCount(countOf(all))} could not be delivered`,
    about: [recipientWords(all)],
    body: [...items.slice(0, mostShown).flat(), ...more, ...waiting],
  });
}

/** `messages`: how many messages this press made due again. */
export function deliveringAgainMessage(channel: string, messages: number): SlackMessage {
  if (messages === 0) return noteMessage({ state: 'Nothing left to deliver here' });
  return noteMessage({
    state: `📨 ${messageCount(messages)} on the way again`,
    body: [
      rich`To ${personOrChannel(channel)}, in order, about one a second. What Slack still refuses comes back to this list.`,
    ],
  });
}

function deliverAgainButton({ channel, messages }: DeadLetters) {
  const recipient = isPerson(channel) ? 'person' : 'channel';
  return button({
    actionId: deliverAgainId,
    text: 'Deliver again',
    value: channel,
    confirm: confirmDialog({
      title: 'Deliver again?',
      // "above": a dialog can't show a channel's name, and people don't know its id.
      text: `${messageCount(messages)} for the ${recipient} above. Fix the reason first.`,
      confirm: 'Deliver again',
      deny: 'Not now',
    }),
  });
}

function recipientWords(all: readonly { channel: string }[]): string {
  const people = all.filter(({ channel }) => isPerson(channel)).length;
  const channels = all.length - people;
  const parts = [
    ...(channels > 0 ? [channels === 1 ? 'one channel' : `${channels} channels`] : []),
    ...(people > 0 ? [people === 1 ? 'one person' : `${people} people`] : []),
  ];
  return parts.join(' and ');
}

function messageCount(messages: number): string {
  return messages === 1 ? 'One message' : `${messages} messages`;
}
