/**
 * The load, in a process of its own: sends so many different requests over some connections, and checks every answer.
 * LOAD says what to do; prints one line of JSON. All requests are made and signed before the clock starts, so that making
 * them does not slow the sending.
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
  /** Part of each request, so that no other load sends the same. */
  name: string;
  what: EventOrder | CommandOrder;
  /**
   * Requests a second, evenly, each timed from its planned start, even if answers are slow. Absent: as fast as answers
   * come.
   */
  perSecond?: number;
};

export type LoadResult = {
  perSecond: number;
  p50Ms: number;
  p99Ms: number;
  wrong: number;
  right: number;
  /** The first wrong answer. */
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
  // Events: all variants use these words for new and stored.
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

/** Returns how many requests got no answer. */
async function sendAsTheyCome(): Promise<number> {
  const run = autocannon({
    url,
    connections,
    amount: count,
    sampleInt: 50,
    setupClient(client) {
      // The same share as autocannon's.
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

/** The same at an even rate: autocannon’s own rate sends each second's requests at the second's start. */
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
