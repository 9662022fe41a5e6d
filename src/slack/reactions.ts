import type { WebClient } from '@slack/web-api';
import type { ReactionOutcome } from '../domain/delivery.ts';
import { readSlackError } from './slack-error.ts';

type Message = { channel: string; ts: string };

export type Reactions = {
  /** Puts the bot's reaction on a message; twice is once. Never throws for anything Slack or the network does. */
  add(message: Message, name: string): Promise<ReactionOutcome>;
  remove(message: Message, name: string): Promise<ReactionOutcome>;
};

/** Needs the scope `reactions:write`; without it every reaction is quietly left out. */
export function createReactions(client: WebClient): Reactions {
  return {
    add: ({ channel, ts }, name) => attempt(() => client.reactions.add({ channel, timestamp: ts, name })),
    remove: ({ channel, ts }, name) =>
      attempt(() => client.reactions.remove({ channel, timestamp: ts, name })),
  };
}

async function attempt(call: () => Promise<unknown>): Promise<ReactionOutcome> {
  try {
    await call();
    return { kind: 'done' };
  } catch (error) {
    const problem = readSlackError(error);
    if (problem.kind === 'refused') return { kind: 'done' };
    return problem.kind === 'rate_limited'
      ? { kind: 'later', retryAfterMs: problem.retryAfterMs }
      : { kind: 'later' };
  }
}
