/**
 * The load, in a process of its own: sends so many events, each once, over some connections at a time, and checks
 * every answer. Told by LOAD what to do, it prints one line of JSON. All is made and signed before the clock starts,
 * so that making it does not slow the sending.
 */
import autocannon from 'autocannon';
import { eventBody, signedHeaders, type EventKind, type Signing } from './event.ts';

export type LoadOrder = {
  url: string;
  events: number;
  connections: number;
  /** In the id of every event. */
  name: string;
  kind: EventKind;
  signing: Signing;
};

export type LoadResult = { perSecond: number; p50Ms: number; p99Ms: number; wrong: number; right: number };

const order = JSON.parse(process.env['LOAD'] ?? '') as LoadOrder;
const { url, events, connections } = order;
const each = events / connections;
const requests = Array.from({ length: events }, (_, index) => {
  const body = eventBody(order.kind, `${order.name}-${index}`);
  return { method: 'POST' as const, path: '/webhooks/payments', headers: signedHeaders(order.signing, body), body };
});
let next = 0;
const latencies: number[] = [];
let right = 0;
let wrong = 0;
let firstAt: number | undefined;
let lastAt = 0;

const run = autocannon({
  url,
  connections,
  amount: events,
  setupClient(client) {
    client.setRequests(requests.slice(next, next + each));
    next += each;
  },
  verifyBody: isRight,
});
run.on('response', (_client, status, _bytes, tookMs) => {
  lastAt = performance.now();
  firstAt ??= lastAt - tookMs;
  latencies.push(tookMs);
  if (status !== 200) wrong += 1;
});
const { errors, timeouts } = await run;

latencies.sort((a, b) => a - b);
const result: LoadResult = {
  perSecond: events / ((lastAt - (firstAt ?? 0)) / 1_000),
  p50Ms: latencies[Math.floor(events * 0.5)] ?? Number.NaN,
  p99Ms: latencies[Math.floor(events * 0.99)] ?? Number.NaN,
  wrong: wrong + errors + timeouts + (latencies.length - right),
  right,
};
console.log(JSON.stringify(result));

/** All variants say it in these words: the event is new and kept. */
function isRight(body: string | Buffer): boolean {
  const holds = body.toString().includes('"result":"new"');
  if (holds) right += 1;
  return holds;
}
