import type { Account } from '../../account.ts';
import { askedHereAlone } from '../../slack/words/charge-place.ts';
import { defineCommand, itself } from '../../slack/command.ts';
import {
  deliverAgainId,
  deliveringAgainMessage,
  undeliveredMessage,
  type BeingTried,
} from './undelivered-message.ts';
import type { SlackMessage } from '../../slack/kit/message.ts';
import { watchUndelivered } from './watch-undelivered.ts';
import { nothingAfter } from '../../slack/command-text.ts';

/** What this verb needs of other features. */
type Around = {
  /** What Slack refuses and is not given up yet, as far as this process saw it. */
  tried: () => readonly BeingTried[];
  /**
   * Makes what is listed for the channel work again, unless a second person must decide that first: then gives what
   * is said of the request.
   */
  deliverAgain: (channel: string, by: string) => Promise<Redelivery>;
};

export type Redelivery =
  /** How many messages are work again because of this very call. */
  { kind: 'again'; messages: number } | { kind: 'awaiting_approval'; said: SlackMessage };

export type Undelivered = ReturnType<typeof createUndelivered>;

/** `/pay undelivered`: what Slack refused for so long that it is kept until somebody has it delivered again. */
export function createUndelivered({ store, place, wake, log, now }: Account, around: Around) {
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
        async press({ caller, value, reply }) {
          const redelivery = await around.deliverAgain(value, caller.userId);
          await reply(
            redelivery.kind === 'again'
              ? deliveringAgainMessage(value, redelivery.messages)
              : redelivery.said,
          );
        },
      },
    ],
    parse: nothingAfter(
      'Nothing follows “undelivered”: it lists every channel and person that Slack refuses.',
    ),
    async run() {
      const [all, tried] = [await undelivered.all(), around.tried()];
      const message = undeliveredMessage(all, tried);
      return all.length + tried.length === 0 ? askedHereAlone(message, place) : message;
    },
  });
  return {
    verbs: [verb],
    health: undelivered.health,
    count: undelivered.count,
    /** Whether or not a second person must decide that: for what they have decided. */
    async redrive(channel: string): Promise<number> {
      const messages = await undelivered.redrive(channel);
      log('info', 'undelivered messages are work again', { channel, result: String(messages) });
      wake();
      return messages;
    },
  };
}
