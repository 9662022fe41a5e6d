import type { Account } from '../../account.ts';
import { askedHereAlone } from '../../slack/words/charge-place.ts';
import { defineCommand, itself } from '../../slack/command.ts';
import {
  deliverAgainId,
  deliveringAgainMessage,
  undeliveredMessage,
  type BeingTried,
} from './undelivered-message.ts';
import { watchUndelivered } from './watch-undelivered.ts';
import { nothingAfter } from '../../slack/command-text.ts';

export type Undelivered = ReturnType<typeof createUndelivered>;

/**
 * `/pay undelivered`: what Slack refused for so long that it is kept until somebody has it delivered again. `tried`: what
 * Slack refuses and is not given up yet, as far as this process saw it.
 */
export function createUndelivered(
  { store, place, wake, log, now }: Account,
  tried: () => readonly BeingTried[],
) {
  const undelivered = watchUndelivered(store, now);
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
        aboutOther: itself,
        // Pressed twice it delivers once.
        effect: 'none',
        async press({ caller, value: channel, reply }) {
          const messages = await undelivered.redrive(channel);
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
      const [all, yet] = [await undelivered.all(), tried()];
      const message = undeliveredMessage(all, yet);
      return all.length + yet.length === 0 ? askedHereAlone(message, place) : message;
    },
  });
  return { verbs: [verb], health: undelivered.health, count: undelivered.count };
}
