import { Agent, request } from 'node:http';
import { setTimeout as rest } from 'node:timers/promises';
import { signatureHeader, signWebhook } from '../../src/simulators/payments/webhooks-out.ts';
import { checkHistory, type Acknowledged, type Findings } from '../chaos/checker.ts';
import { referenceIn } from '../chaos/plan.ts';
import type { Stage } from './stage.ts';

export type LoadOptions = {
  /** Where all of it goes. */
  url: string;
  eventsPerSecond: number;
  commandsPerSecond: number;
};

export type Load = {
  /** By what became of it: a status, or why there was none. */
  readonly webhooks: ReadonlyMap<string, number>;
  /** How many look-ups were asked for. */
  commands: () => number;
  /** Of the webhooks since the last call, in milliseconds, the slowest last. */
  answerTimes: () => number[];
  /** Sends no more; resolves when all that was sent is answered. */
  stop: () => Promise<void>;
  /** Of what was acknowledged, once nothing is left to post: what was told wrongly, and look-ups that nobody answered. */
  findings: () => Findings & { unanswered: string[] };
};

const timeoutMs = 10_000;

/**
 * Sends events and commands at their pace, whatever becomes of them, each once: who sends to a bot that is restarted
 * must not have to try again. Connections are kept open, as senders and proxies do.
 */
export function startLoad({ plan, workspace, secret }: Stage, options: LoadOptions): Load {
  const agent = new Agent({ keepAlive: true });
  const webhooks = new Map<string, number>();
  const acknowledged: Acknowledged[] = [];
  const sent = new Set<string>();
  const asked: string[] = [];
  const underWay = new Set<Promise<void>>();
  const over = new AbortController();
  const deliveries = plan.deliveries.values();
  let times: number[] = [];
  workspace.connect(`${options.url}/slack/events`);

  async function deliver(): Promise<void> {
    const { value: delivery } = deliveries.next();
    if (!delivery) throw new Error('All events are sent: plan more of them.');
    const { reference: key, channel, body } = delivery;
    sent.add(key);
    const firstSentAtMs = performance.now();
    const answer = await post(agent, `${options.url}/webhooks/payments`, body, signWebhook(body, secret));
    const ackedAtMs = performance.now();
    times.push(ackedAtMs - firstSentAtMs);
    count(webhooks, answer);
    if (/^2\d\d$/.test(answer)) acknowledged.push({ key, channel, firstSentAtMs, ackedAtMs });
  }

  async function ask(): Promise<void> {
    const reference = `PAID-${String(asked.length).padStart(6, '0')}`;
    asked.push(reference);
    const typed = { channel: workspace.ids.channels.payDesk, text: `/pay ${reference}` };
    await workspace.act(workspace.ids.users.agent, { kind: 'send_message', ...typed });
  }

  async function keepPace(perSecond: number, send: () => Promise<void>): Promise<void> {
    const startedAt = performance.now();
    for (let number = 0; !over.signal.aborted; number += 1) {
      const waitMs = startedAt + (number * 1_000) / perSecond - performance.now();
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      if (waitMs > 0) await rest(waitMs, undefined, { signal: over.signal }).catch(() => undefined);
      if (over.signal.aborted) return;
      const sending = send().finally(() => underWay.delete(sending));
      underWay.add(sending);
    }
  }

  const paces = [keepPace(options.eventsPerSecond, deliver), keepPace(options.commandsPerSecond, ask)];
  return {
    webhooks,
    commands: () => asked.length,
    answerTimes() {
      const since = times.toSorted((one, other) => one - other);
      times = [];
      return since;
    },
    async stop() {
      over.abort();
      await Promise.all(paces);
      await Promise.all(underWay);
      agent.destroy();
    },
    findings() {
      const posts = workspace.posts().flatMap(({ channel, metadata, threadTs }) => {
        const key = referenceIn(String(metadata?.event_payload['key']));
        return key === undefined || threadTs !== undefined ? [] : [{ key, channel }];
      });
      const { agent: person } = workspace.ids.users;
      const screen = JSON.stringify(workspace.state(person).messages[workspace.ids.channels.payDesk]);
      const unanswered = asked.filter((reference) => !screen.includes(reference));
      return { ...checkHistory({ acknowledged, posts, sent }), unanswered };
    },
  };
}

function count(counts: Map<string, number>, what: string): void {
  counts.set(what, (counts.get(what) ?? 0) + 1);
}

/** The status, or why there was none. */
function post(agent: Agent, url: string, body: string, signature: string): Promise<string> {
  return new Promise((resolve) => {
    const headers = {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      [signatureHeader]: signature,
    };
    const sending = request(url, { method: 'POST', agent, headers, timeout: timeoutMs }, (response) => {
      response.resume();
      response.once('end', () => resolve(String(response.statusCode)));
      response.once('close', () => resolve('cut off'));
    });
    sending.once('timeout', () => sending.destroy(new Error('no answer in time')));
    sending.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    sending.end(body);
  });
}
