import type { Account } from '../../account.ts';
import { StoreUnavailable, type PartHealth } from '../../domain/failure.ts';
import { readUndelivered, redrive } from '../../messages/undelivered.ts';
import type { Store } from '../../store/store.ts';
import { askedHereAlone } from '../../slack/words/charge-place.ts';
import { defineCommand, itself } from '../../slack/command.ts';
import { nothingAfter } from '../../slack/command-text.ts';
import { deliverAgainId, deliveringAgainMessage, undeliveredMessage } from './undelivered-message.ts';

export type Undelivered = ReturnType<typeof createUndelivered>;

/** `/pay undelivered`: what Slack refused for so long that it is kept until somebody has it delivered again. */
export function createUndelivered({ store, place, wake, log }: Account) {
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
      const all = await readUndelivered(store);
      const message = undeliveredMessage(all);
      return all.length === 0 ? askedHereAlone(message, place) : message;
    },
  });
  return {
    verbs: [verb],
    health: () => undeliveredHealth(store),
    /** How many messages there are, a thousand at most. */
    count: async () => countOf(await readUndelivered(store)),
  };
}

export async function undeliveredHealth(store: Pick<Store, 'list'>): Promise<PartHealth> {
  try {
    return judge(await readUndelivered(store));
  } catch (error) {
    // The store says so itself, and a part that is down takes the whole bot out.
    if (error instanceof StoreUnavailable) return { state: 'degraded', detail: 'the store does not answer' };
    throw error;
  }
}

function judge(all: Awaited<ReturnType<typeof readUndelivered>>): PartHealth {
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
