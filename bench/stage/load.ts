/**
 * The load, in a process of its own: sends so many requests, each another one, over some connections at a time, and
 * checks every answer. Told by LOAD what to do, it prints one line of JSON. All is made and signed before the clock
 * starts, so that making it does not slow the sending.
 */
import { Agent, request } from 'node:http';
import { setTimeout as rest } from 'node:timers/promises';
import autocannon, { type Request } from 'autocannon';
import { eventRequest, type EventOrder } from '../ingest/event.ts';
import { commandRequest, type CommandOrder } from '../slash/command.ts';

export type LoadOrder = {
  url: string;
  count: number;
  connections: number;
  /** In each request, so that no other load sends the same. */
  name: string;
  what: EventOrder | CommandOrder;
  /**
   * So many a second, evenly, whatever the answers take, each timed from when it was to leave; as fast as they come when
   * absent.
   */
  perSecond?: number;
};

export type LoadResult = {
  perSecond: number;
  p50Ms: number;
  p99Ms: number;
  wrong: number;
  right: number;
  /** The first answer that was wrong. */
  example?: string;
};

const { url, count, connections, name, what, perSecond } = JSON.parse(process.env['LOAD'] ?? '') as LoadOrder;
const requests = Array.from({ length: count }, (_, index): Request =>
  what.kind === 'command' ? commandRequest(what, `${name}-${index}`) : eventRequest(what, `${name}-${index}`),
);
let next = 0;
let setUp = 0;
const latencies: number[] = [];
let right = 0;
let badStatus = 0;
let example: string | undefined;
let firstAt: number | undefined;
let lastAt = 0;

const failed = perSecond === undefined ? await sendAsTheyCome() : await sendEvenly(perSecond);

function isRight(text: string): boolean {
  // Events: all variants say in these words that it is new and kept.
  const holds =
    what.kind === 'command'
      ? what.answer === ''
        ? text === ''
        : text.includes(what.answer)
      : text.includes('"result":"new"');
  if (holds) right += 1;
  else example ??= text.slice(0, 300);
  return holds;
}

function answered(status: number | undefined, tookMs: number): void {
  lastAt = performance.now();
  firstAt ??= lastAt - tookMs;
  latencies.push(tookMs);
  if (status !== 200) badStatus += 1;
}

/** Gives how many came to nothing. */
async function sendAsTheyCome(): Promise<number> {
  const run = autocannon({
    url,
    connections,
    amount: count,
    sampleInt: 50,
    setupClient(client) {
      // As autocannon parts the amount.
      const share = Math.floor(count / connections) + (setUp < count % connections ? 1 : 0);
      setUp += 1;
      client.setRequests(requests.slice(next, next + share));
      next += share;
    },
    verifyBody: (body) => isRight(body.toString()),
  });
  run.on('response', (_client, status, _bytes, tookMs) => answered(status, tookMs));
  const { errors, timeouts } = await run;
  return errors + timeouts;
}

/** The same; autocannon’s own rate is by the second, at whose beginning it sends as fast as answers come. */
async function sendEvenly(aSecond: number): Promise<number> {
  const agent = new Agent({ keepAlive: true });
  const startsAt = performance.now();
  const sent: Promise<number>[] = [];
  for (const [index, one] of requests.entries()) {
    const dueAt = startsAt + (index / aSecond) * 1_000;
    while (performance.now() < dueAt) await rest(1);
    sent.push(sendOne(one, agent, dueAt));
  }
  const all = await Promise.all(sent);
  agent.destroy();
  return all.reduce((sum, one) => sum + one, 0);
}

function sendOne({ method, path, headers, body }: Request, agent: Agent, dueAt: number): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>();
  const asked = request(`${url}${path}`, { method, headers, agent }, (response) => {
    let text = '';
    response.setEncoding('utf8').on('data', (part: string) => void (text += part));
    response.on('end', () => {
      answered(response.statusCode, performance.now() - dueAt);
      isRight(text);
      resolve(0);
    });
  });
  asked.on('error', () => resolve(1)).end(body);
  return promise;
}

latencies.sort((a, b) => a - b);
const result: LoadResult = {
  perSecond: count / ((lastAt - (firstAt ?? 0)) / 1_000),
  p50Ms: latencies[Math.floor(count * 0.5)] ?? Number.NaN,
  p99Ms: latencies[Math.floor(count * 0.99)] ?? Number.NaN,
  wrong: badStatus + failed + (count - right),
  right,
  ...(example === undefined ? {} : { example }),
};
console.log(JSON.stringify(result));
