import { StoreUnavailable, type PartHealth } from '../../domain/failure.ts';
import type { Undelivered as UndeliveredMessages } from '../../messages/delivery.ts';
import { readUndelivered, redrive } from '../../messages/undelivered.ts';
import type { Store } from '../../store/store.ts';

const freshMs = 5_000;

/** What Slack refused for too long: listed, delivered again, counted, and told by health. */
export function watchUndelivered(store: Store, now: () => number) {
  let lately: { atMs: number; all: ReturnType<typeof readUndelivered> } | undefined;

  /** As it was some seconds ago at most: the list can be megabytes, and every probe and scrape asks. */
  function listedLately(): ReturnType<typeof readUndelivered> {
    const ageMs = lately === undefined ? undefined : now() - lately.atMs;
    if (lately === undefined || ageMs === undefined || ageMs < 0 || ageMs >= freshMs) {
      lately = { atMs: now(), all: readUndelivered(store) };
      // A store that was away is asked again at once.
      lately.all.catch(() => (lately = undefined));
    }
    return lately.all;
  }
  async function health(): Promise<PartHealth> {
    try {
      return judge(await listedLately());
    } catch (error) {
      // The store says so itself, and a part that is down takes the whole bot out.
      if (error instanceof StoreUnavailable)
        return { state: 'degraded', detail: 'the store does not answer' };
      throw error;
    }
  }

  return {
    all: () => readUndelivered(store),
    /** What is listed for the channel is work again: so many messages. */
    async redrive(channel: string): Promise<number> {
      const redriven = await redrive(store, channel);
      lately = undefined;
      return countOf(redriven);
    },
    health,
    /** How many messages there are, a thousand at most. */
    count: async () => countOf(await listedLately()),
  };
}

function judge(all: readonly UndeliveredMessages[]): PartHealth {
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
