import { Agent, request } from 'node:http';
import { setTimeout as rest } from 'node:timers/promises';
import { signatureHeader, signWebhook } from '../../src/simulators/payments/webhooks-out.ts';
import type { Acknowledged } from './checker.ts';
import type { Delivery } from './plan.ts';
import type { Random } from './random.ts';

export type SenderOptions = {
  deliveries: readonly Delivery[];
  secret: string;
  /** The address of a bot that takes events; undefined if none ever listened. */
  target: () => string | undefined;
  random: Random;
  /** Concurrent deliveries. */
  atOnce: number;
  /** Asked before each new delivery: false while the bots have enough to post. */
  mayGo: () => boolean;
  /** Aborts the run: `run` then rejects. */
  over: AbortSignal;
  /** Called as soon as the bot at that address has answered 2xx. */
  answered: (url: string) => void;
};

export type Sender = {
  /** Sends; resolves when every delivery was answered 2xx. */
  run: () => Promise<void>;
  /** By reference: events answered 2xx. */
  acknowledged: ReadonlyMap<string, Acknowledged>;
  /** All references that were sent. */
  sent: ReadonlySet<string>;
  counts: {
    answered2xx: number;
    /** Attempts with another answer, by status; 0: no answer. */
    refused: Map<number, number>;
    slowestAnswerMs: number;
  };
};

/** After this an attempt counts as unanswered, like for a real sender. */
const answerTimeoutMs = 10_000;
const holdBackMs = 10;

/** Sends every delivery until it is answered 2xx, like the service, in order and several at once. */
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

/** The status, or why there was no answer. */
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
