import { setTimeout as rest } from 'node:timers/promises';
import { signSlack, slashBody } from '../support/slack-requests.ts';

export type Asker = {
  /** Ends when `over` is. Never rejects. */
  run: () => Promise<void>;
  /** Commands that a bot has taken. */
  counts: { acknowledged: number };
};

/** Often enough that every kill finds some entry of the audit under way, and too seldom to be a load. */
const everyMs = 50;

/**
 * People who ask for help all the while, so that bots have something for the audit when they are killed. `now` is the
 * bots' clock: a signature that is five minutes old is refused.
 */
export function createAsker(options: {
  target: () => string | undefined;
  secret: string;
  /** Must take the answers: a refused one becomes a direct message, and so many of those are past Slack’s pace. */
  responseUrl: string;
  now: () => number;
  over: AbortSignal;
}): Asker {
  const counts = { acknowledged: 0 };
  let serial = 0;

  async function ask(url: string): Promise<void> {
    serial += 1;
    const typed = { text: 'help', triggerId: `chaos.${serial}`, responseUrl: options.responseUrl };
    const request = signSlack(slashBody(typed), { secret: options.secret, atMs: options.now() });
    const signal = AbortSignal.timeout(3_000);
    const answer = await fetch(`${url}/slack/events`, { method: 'POST', ...request, signal });
    await answer.text();
    if (answer.status === 200) counts.acknowledged += 1;
  }

  return {
    counts,
    async run() {
      while (!options.over.aborted) {
        const url = options.target();
        // A bot that is killed meanwhile answers nothing, and is asked for nothing.
        // oxlint-disable-next-line no-await-in-loop -- one after the other
        if (url !== undefined) await ask(url).catch(() => undefined);
        // oxlint-disable-next-line no-await-in-loop
        await rest(everyMs);
      }
    },
  };
}
