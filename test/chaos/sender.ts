import { Agent, request } from 'node:http';
import { setTimeout as rest } from 'node:timers/promises';
import { signatureHeader, signWebhook } from '../../src/simulators/payments/webhooks-out.ts';
import type { Acknowledged } from './checker.ts';
import type { Delivery } from './plan.ts';
import type { Random } from './random.ts';

export type SenderOptions = {
  deliveries: readonly Delivery[];
  secret: string;
  /** One of the bots that take events, as it listens now; undefined while none ever did. */
  target: () => string | undefined;
  random: Random;
  /** Deliveries under way at once. */
  atOnce: number;
  /** Asked before each new delivery: holds the senders back while the bots have more than enough to post. */
  mayGo: () => boolean;
  /** Ends it before all is answered: `run` then rejects. */
  over: AbortSignal;
  /** Called as soon as the bot that listens there has answered 2xx. */
  answered: (url: string) => void;
};

export type Sender = {
  /** Sends; resolves when every delivery has been answered 2xx. */
  run: () => Promise<void>;
  /** By reference: what a 2xx promised. */
  acknowledged: ReadonlyMap<string, Acknowledged>;
  /** References that were sent at all. */
  sent: ReadonlySet<string>;
  counts: {
    answered2xx: number;
    /** Attempts that were answered with something else, by status; 0: no answer. */
    refused: Map<number, number>;
    slowestAnswerMs: number;
  };
};

/** Past this an attempt counts as not answered, as a sender that is not ours would have it. */
const answerTimeoutMs = 10_000;
const holdBackMs = 10;

/** Sends every delivery until it is answered 2xx, as the service does, in order and some at once. */
export function createSender(options: SenderOptions): Sender {
  const agent = new Agent({ keepAlive: true, maxSockets: options.atOnce });
  const acknowledged = new Map<string, Acknowledged>();
  const firstSentAtMs = new Map<string, number>();
  const sent = new Set<string>();
  const counts: Sender['counts'] = { answered2xx: 0, refused: new Map(), slowestAnswerMs: 0 };
  const waiting = options.deliveries.values();

  async function attempt(body: string, signature: string): Promise<number> {
    const url = options.target();
    if (url === undefined) return 0;
    const startedAtMs = performance.now();
    const status = Number(await post(agent, `${url}/webhooks/payments`, { body, signature })) || 0;
    const tookMs = performance.now() - startedAtMs;
    if (status >= 200 && status < 300) options.answered(url);
    if (status > 0) counts.slowestAnswerMs = Math.max(counts.slowestAnswerMs, tookMs);
    return status;
  }

  async function deliver({ reference, channel, body }: Delivery): Promise<void> {
    const signature = signWebhook(body, options.secret);
    sent.add(reference);
    if (!firstSentAtMs.has(reference)) firstSentAtMs.set(reference, performance.now());
    const sentAtMs = firstSentAtMs.get(reference) ?? 0;
    for (;;) {
      const status = await attempt(body, signature);
      if (status >= 200 && status < 300) break;
      counts.refused.set(status, (counts.refused.get(status) ?? 0) + 1);
      await rest(50 + options.random.below(150), undefined, { signal: options.over });
    }
    counts.answered2xx += 1;
    if (acknowledged.has(reference)) return;
    const ackedAtMs = performance.now();
    acknowledged.set(reference, { key: reference, channel, firstSentAtMs: sentAtMs, ackedAtMs });
  }

  async function work(): Promise<void> {
    for (const delivery of waiting) {
      while (!options.mayGo()) await rest(holdBackMs, undefined, { signal: options.over });
      await deliver(delivery);
    }
  }

  return {
    async run() {
      try {
        await Promise.all(Array.from({ length: options.atOnce }, () => work()));
      } finally {
        agent.destroy();
      }
    },
    acknowledged,
    sent,
    counts,
  };
}

/** The status, or why there was none. */
export function post(
  agent: Agent,
  url: string,
  { body, signature }: { body: string; signature: string },
): Promise<string> {
  return new Promise((resolve) => {
    const headers = {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      [signatureHeader]: signature,
    };
    const sending = request(url, { method: 'POST', agent, headers, timeout: answerTimeoutMs }, (response) => {
      response.resume();
      response.once('end', () => resolve(String(response.statusCode)));
      response.once('close', () => resolve('cut off'));
    });
    sending.once('timeout', () => sending.destroy(new Error('no answer in time')));
    sending.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    sending.once('close', () => resolve('cut off'));
    sending.end(body);
  });
}
