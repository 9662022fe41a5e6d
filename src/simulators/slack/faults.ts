import type { Often } from '../faults.ts';

/**
 * What goes wrong between the bot and Slack. Without `method` and `channel` it is for every call the bot makes.
 * `setFaults({ kind: 'error_500', share: 0.01 }, { kind: 'answer_lost', method: 'chat.postMessage', times: 1 })`.
 */
export type SlackFault = Often & {
  /** A method of the Web API; `response_url` for an answer to one, `upload` for the bytes of a file. */
  method?: string;
  /** The channel that the call names, or that its response_url is of. */
  channel?: string;
} & (
    | {
        /**
         * `down`: the connection is cut and nothing carried out; for every call, Socket Mode's connections are cut too.
         * `answer_lost`: carried out, and the connection cut instead of an answer. `hang`: not carried out, and no answer
         * until the faults are set again, which cuts the connection.
         */
        kind: 'down' | 'answer_lost' | 'hang' | 'error_500' | 'rate_limited';
      }
    /** Slack's word for why not. */
    | { kind: 'refused'; error: string }
    /** An old workspace: it takes no message or view with a block of these types. */
    | { kind: 'unknown_blocks'; types: readonly string[] }
  );

/** What a fault needs to know of a call. */
export type FaultedCall = {
  method: string;
  channel: string | undefined;
  /** Its blocks' types, those in a view included. */
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

/** Counted since the start: what really reached Slack and what it answered, whatever the bot believes. */
export type SlackStats = {
  /** By method of the Web API, faulted ones included; `response_url` and `upload` beside them. */
  calls: Record<string, number>;
  /** Messages that chat.postMessage put into a channel, answered or not. */
  posts: number;
  /** The least time between two calls of chat.postMessage for one channel, by the workspace's clock; Infinity before the second. */
  closestPostsMs: number;
  /** 429s given, for the pace or by a fault. */
  rateLimited: number;
  /** Those of them that answered chat.postMessage. */
  rateLimitedPosts: number;
  historyReads: number;
  /** Calls that a fault struck, by its kind. */
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
