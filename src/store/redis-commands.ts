import type { RedisClient } from './redis-line.ts';
import type { Inspectable } from './check-redis.ts';
import type { ScriptRunner } from './redis-store.ts';

/** What the store and its check ask of Redis, on whatever connection stands at the moment. */
export type RedisCommands = ScriptRunner & Inspectable;

type Options = {
  client: () => RedisClient;
  /** Called when the node says that another one serves. */
  onElsewhere: (client: RedisClient, failure: string) => void;
  /** Called when for some seconds no call was kept by enough replicas: the node may have been replaced unheard. */
  onShort: (client: RedisClient, failure: string) => void;
  /** How many replicas must have what a call changed or saw before it is answered. */
  waitReplicas: number;
  /** A key that may be written for it, on the node that serves. */
  waitKey: string;
};

/** The second as Redis 6 has it: an error within a script. */
const servesNot = /^(MOVED|READONLY|CLUSTERDOWN|MASTERDOWN)\b|: -READONLY\b/;
/** Longer than a healthy replica takes, short of the store's own deadline. */
const replicasWithinMs = 500;
/** A replica that starts anew is back by then. */
const shortForMs = 3_000;

/**
 * Every call goes once, to one node, and is never sent again: whoever asked must decide. What the node
 * answers with ASK is refused too: while a Cluster moves the store's slot, half of its records are elsewhere,
 * and a script that ran on either half would find a claimed key unclaimed.
 */
export function createRedisCommands(options: Options): RedisCommands {
  const { client, onElsewhere, onShort, waitReplicas, waitKey } = options;
  let shortSince: number | undefined;

  async function ask<T>(call: (client: RedisClient) => Promise<T>): Promise<T> {
    const asked = client();
    try {
      return await call(asked);
    } catch (error) {
      if (error instanceof Error && servesNot.test(error.message)) {
        onElsewhere(asked, error.message);
      }
      throw error;
    }
  }

  /**
   * WAIT promises only the writes of its own connection. So it goes out right behind the script, on the same
   * one, and behind a write of our own: a script that changed nothing may have seen what another replica of
   * the bot wrote and no replica of Redis has yet, and "there already" must not be said of what can still be
   * lost. (Redis 7 waits for everybody's writes as it is; it does not say that it always will.)
   */
  async function kept<T>(asked: RedisClient, call: (client: RedisClient) => Promise<T>): Promise<T> {
    if (waitReplicas === 0) return call(asked);
    const [answer, , have] = await Promise.all([
      call(asked),
      asked.set(waitKey, ''),
      asked.wait(waitReplicas, replicasWithinMs),
    ]);
    if (have < waitReplicas) {
      const failure = `NOREPLICAS ${have} of ${waitReplicas} replicas have the change.`;
      runShort(asked, failure);
      throw new Error(failure);
    }
    shortSince = undefined;
    return answer;
  }

  /** A master that is cut off from all but the bot never says that another one serves: it has no replica left. */
  function runShort(asked: RedisClient, failure: string): void {
    const nowMs = performance.now();
    shortSince ??= nowMs;
    if (nowMs - shortSince < shortForMs) return;
    shortSince = nowMs;
    onShort(asked, failure);
  }

  return {
    evalSha: (sha1, options) => ask((asked) => kept(asked, (node) => node.evalSha(sha1, options))),
    eval: (script, options) => ask((asked) => kept(asked, (node) => node.eval(script, options))),
    configGet: (name) => ask((asked) => asked.configGet(name)),
    info: (section) => ask((asked) => asked.info(section)),
  };
}
