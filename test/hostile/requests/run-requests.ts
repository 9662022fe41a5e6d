import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { connect } from 'node:net';
import { type Duplex, duplexPair } from 'node:stream';
import { createHttpServer } from '../../../src/http/server.ts';
import type { PaymentEvent } from '../../../src/domain/payment-event.ts';
import { defaultEventPointers } from '../../../src/webhooks/event.ts';
import { createWebhookHandler } from '../../../src/webhooks/route.ts';
import { createRandom, type Random } from '../../chaos/random.ts';
import { eventBody, type Sender, senders, toleranceMs } from './senders.ts';
import { bodyMutations, contentType, headerMutations, type Scene } from './mutate-headers.ts';
import { type Genuine, type Original, rememberGenuine, wireBytes, type WireRequest } from './same-request.ts';

export type RequestsResult = {
  /** Mutated requests that no sender signed, and their answers. */
  forged: number;
  statuses: Map<number, number>;
  /** Mutated, but with every signed part unchanged: may be accepted. */
  same: { sent: number; accepted: number };
  /** Not mutated: must be accepted. */
  genuine: { sent: number; accepted: number };
  overTcp: number;
  /** Accepted forgeries, and genuine requests that were understood differently than signed. */
  wrong: string[];
};

const nowMs = Date.UTC(2026, 8, 29, 10, 51, 44, 250);
/** A request signed at such an offset is out of time; `onTime` includes the edges of the tolerance. */
const offTime = [-toleranceMs - 1_500, -86_400_000, toleranceMs + 1_500, 3_600_000];
const onTime = [0, -1_000, 60_000, -toleranceMs + 2_000, toleranceMs - 2_000];
const originalsOfEach = 60;
const atOnce = 16;
/** This share goes through a real socket and the bot's own server; the others to node:http as bytes. */
const tcpShare = 0.05;
const mostShown = 20;

type Planned = { request: WireRequest; how: string; number: number };

/**
 * Sends requests to the bot's webhook endpoint, through the HTTP parser, until this many forged ones were sent. Each was
 * signed by a sender and mutated one to three times. The same seed sends the same requests.
 */
export async function runRequests(options: { count: number; seed: number }): Promise<RequestsResult> {
  const result: RequestsResult = {
    forged: 0,
    statuses: new Map(),
    same: { sent: 0, accepted: 0 },
    genuine: { sent: 0, accepted: 0 },
    overTcp: 0,
    wrong: [],
  };
  const shares = senders.map((_, index) => Math.floor((options.count + index) / senders.length));
  for (const [index, sender] of senders.entries()) {
    const random = createRandom(options.seed).fork(sender.name);
    await runSender(sender, random, result.forged + (shares[index] ?? 0), result);
  }
  return result;
}

async function runSender(
  sender: Sender,
  random: Random,
  until: number,
  result: RequestsResult,
): Promise<void> {
  const originals = makeOriginals(sender, random);
  const genuine = rememberGenuine(sender, originals);
  const draw = random.fork('mutations');
  let number = 0;
  async function work(): Promise<void> {
    const door = await openDoor(sender);
    while (result.forged < until) {
      number += 1;
      const planned = plan(sender, originals, draw, number);
      await sendAndJudge({ sender, genuine, door, planned, result });
    }
    await door.close();
  }
  await Promise.all(Array.from({ length: atOnce }, work));
}

function makeOriginals(sender: Sender, random: Random): Original[] {
  return Array.from({ length: originalsOfEach }, (_, number) => {
    const isTimely = random.chance(0.7);
    const atMs = nowMs + random.pick(isTimely ? onTime : offTime);
    const event = eventBody(random, number, atMs);
    const isGenuine = random.chance(0.85);
    const secret = isGenuine ? random.pick(sender.secrets) : sender.stranger;
    const headers = [...contentType, ...sender.sign(secret, event, atMs)];
    return { sender, request: { headers, body: event.body }, event, atMs, isGenuine };
  });
}

const headerNames = Object.keys(headerMutations);
const bodyNames = Object.keys(bodyMutations);

function plan(sender: Sender, originals: readonly Original[], random: Random, number: number): Planned {
  const original = random.pick(originals);
  const other = random.pick(originals);
  if (random.chance(0.02)) return { request: original.request, how: 'as it was', number };
  const scene: Scene = { random, sender, original, other, nowMs };
  const times = random.chance(0.8) ? 1 : 2 + random.below(2);
  // If a signature does not cover the body, changing it is no forgery.
  const headerShare = sender.covers === 'body' ? 0.5 : 0.9;
  let { request } = original;
  const how: string[] = [];
  for (let time = 0; time < times; time += 1) {
    const isHeader = random.chance(headerShare);
    const name = random.pick(isHeader ? headerNames : bodyNames);
    how.push(name);
    const body =
      request.body.length > 0 ? bodyMutations[name]?.(request.body, random, other.event) : undefined;
    const headers = request.headers.length > 0 ? headerMutations[name]?.(request, scene) : undefined;
    request = { headers: headers ?? request.headers, body: body ?? request.body };
  }
  return { request, how: how.join(', then '), number };
}

async function sendAndJudge(parts: {
  sender: Sender;
  genuine: Genuine;
  door: Door;
  planned: Planned;
  result: RequestsResult;
}): Promise<void> {
  const { sender, genuine, door, planned, result } = parts;
  const isTcp = planned.number % Math.round(1 / tcpShare) === 0;
  if (isTcp) result.overTcp += 1;
  const original = genuine.find(planned.request, nowMs);
  if (!original) result.forged += 1;
  const { status, received } = await door.send(wireBytes(planned.request), isTcp);
  const isAccepted = status < 300 || received.length > 0;
  if (!original) {
    result.statuses.set(status, (result.statuses.get(status) ?? 0) + 1);
    if (isAccepted) complain(result, parts, `accepted with ${status}`);
    return;
  }
  const tally = planned.how === 'as it was' ? result.genuine : result.same;
  tally.sent += 1;
  if (isAccepted) tally.accepted += 1;
  else if (tally === result.genuine && isPlain(original))
    complain(result, parts, `refused with ${status} though nothing was changed`);
  const misread = received.find((event) => !saysWhatWasSigned(sender, original, event));
  if (misread) complain(result, parts, `read otherwise than signed: ${JSON.stringify(misread)}`);
}

function complain(
  result: RequestsResult,
  { sender, planned }: { sender: Sender; planned: Planned },
  what: string,
): void {
  const request = result.wrong.length < mostShown ? `\n${wireBytes(planned.request).toString('latin1')}` : '';
  result.wrong.push(`${sender.name}, request ${planned.number} (${planned.how}): ${what}${request}`);
}

/** A signed field with a separator in it may be refused: it can't be read back unambiguously. */
function isPlain({ sender, event }: Original): boolean {
  return sender.covers !== 'fields' || !/[:|]/.test(event.orderId);
}

/** The bot must use only signed parts. */
function saysWhatWasSigned(sender: Sender, { event }: Original, received: PaymentEvent): boolean {
  if (sender.covers === 'nothing') return true;
  const { kind, orderReference, orderId, amountMinor, currency, reason } = received;
  const isSameOrder = kind === event.kind && orderReference === event.reference && orderId === event.orderId;
  const rest = [amountMinor, currency, reason, received.customerId, received.transactionId];
  if (sender.covers === 'fields') return isSameOrder && rest.every((value) => value === undefined);
  return (
    isSameOrder && amountMinor === event.amountMinor && currency === event.currency && reason === event.reason
  );
}

type Door = {
  send: (bytes: Buffer, overTcp: boolean) => Promise<{ status: number; received: readonly PaymentEvent[] }>;
  close: () => Promise<void>;
};

async function openDoor(sender: Sender): Promise<Door> {
  const received: PaymentEvent[] = [];
  const handle = createWebhookHandler({
    scheme: sender.scheme,
    secrets: sender.secrets,
    pointers: defaultEventPointers,
    receive: async (event) => {
      received.push(event);
      return 'new';
    },
    keepUnknown: async () => undefined,
    count: () => undefined,
    log: silent,
    now: () => nowMs,
    lingerMs: 1,
  });
  const injected: Server = createServer((request, response) => void handle(request, response));
  const listening = createHttpServer([{ method: 'POST', path: '/webhooks/payments', handle }], silent);
  const port = await listening.listen(0, '127.0.0.1');
  return {
    async send(bytes, overTcp) {
      received.length = 0;
      const status = await statusOf(overTcp ? connect(port, '127.0.0.1') : inject(injected), bytes);
      return { status, received: [...received] };
    },
    close: () => listening.close(100),
  };
}

function silent(): void {}

/** A connection without a socket, as node:http allows. */
function inject(server: Server): Duplex {
  const [ours, theirs] = duplexPair();
  server.emit('connection', theirs);
  return ours;
}

async function statusOf(connection: Duplex, bytes: Buffer): Promise<number> {
  let answer = '';
  connection.setEncoding('latin1');
  connection.on('data', (chunk: string) => {
    answer += chunk;
  });
  connection.on('error', () => undefined);
  const over = Promise.race([once(connection, 'end'), once(connection, 'close')]).catch(() => undefined);
  connection.write(bytes);
  await over;
  connection.destroy();
  return Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1] ?? 0);
}
