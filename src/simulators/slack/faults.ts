import type { Often } from '../faults.ts';

/**
 * Faults between the bot and Slack. Without `method` and `channel`, for every call of the bot. `setFaults({ kind:
 * 'error_500', share: 0.01 }, { kind: 'answer_lost', method: 'chat.postMessage', times: 1 })`.
 */
export type SlackFault = Often & {
  /** A method of the Web API; `response_url` for an answer through one, `upload` for the bytes of a file. */
  method?: string;
  /** The channel of the call, or of its response_url. */
  channel?: string;
} & (
    | {
        /**
         * `down`: the connection is cut and nothing carried out; without method and channel, Socket Mode connections are
         * cut too. `answer_lost`: carried out, but the connection is cut instead of an answer. `hang`: not carried out,
         * and no answer until the faults are next set, which cuts the connection.
         */
        kind: 'down' | 'answer_lost' | 'hang' | 'error_500' | 'rate_limited';
      }
    /** `error`: Slack's error word. */
    | { kind: 'refused'; error: string }
    /** An old workspace: refuses messages and views with blocks of these types. */
    | { kind: 'unknown_blocks'; types: readonly string[] }
  );

/** The parts of a call that decide which fault applies. */
export type FaultedCall = {
  method: string;
  channel: string | undefined;
  /** The types of its blocks, also in a view. */
  blockTypes: () => readonly string[];
};

export function isFaultFor(fault: SlackFault, call: FaultedCall): boolean {
  if (fault.method !== undefined && fault.method !== call.method) return false;
  if (fault.channel !== undefined && fault.channel !== call.channel) return false;
  return fault.kind !== 'unknown_blocks' || call.blockTypes().some((type) => fault.types.includes(type));
}

export function isDown(faults: readonly SlackFault[]): boolean {
  return faults.some(
    ({ kind, method, channel, share }) =>
      kind === 'down' && method === undefined && channel === undefined && share === undefined,
  );
}

/** Counted since the start: what really reached Slack and how it answered, even if the bot got no answer. */
export type SlackStats = {
  /** By Web API method, faulted calls included; also `response_url` and `upload`. */
  calls: Record<string, number>;
  /** Messages posted by chat.postMessage, whether its answer arrived or not. */
  posts: number;
  /**
   * The shortest time between two chat.postMessage calls for one channel, by the workspace's clock; Infinity before the
   * second.
   */
  closestPostsMs: number;
  /** All 429 answers, for the rate limit or by a fault. */
  rateLimited: number;
  /** Those 429 answers that were to chat.postMessage. */
  rateLimitedPosts: number;
  historyReads: number;
  /** Faulted calls, by kind. */
  faults: Record<string, number>;
};

export function createCounter(now: () => number) {
  const calls: Record<string, number> = {};
  const lastPostAt = new Map<string, number>();
  let posts = 0;
  let closestPostsMs = Infinity;
  let rateLimited = 0;
  let rateLimitedPosts = 0;

  return {
    called(method: string, channel: string | undefined) {
      calls[method] = (calls[method] ?? 0) + 1;
      if (method !== 'chat.postMessage' || channel === undefined) return;
      const at = now();
      closestPostsMs = Math.min(closestPostsMs, at - (lastPostAt.get(channel) ?? -Infinity));
      lastPostAt.set(channel, at);
    },
    posted() {
      posts += 1;
    },
    rateLimited(method: string) {
      rateLimited += 1;
      if (method === 'chat.postMessage') rateLimitedPosts += 1;
    },
    read: () => ({
      calls: { ...calls },
      posts,
      closestPostsMs,
      rateLimited,
      rateLimitedPosts,
      historyReads: (calls['conversations.history'] ?? 0) + (calls['conversations.replies'] ?? 0),
    }),
  };
}
