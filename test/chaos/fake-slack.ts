import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Random } from './random.ts';

export type FakeSlackPost = {
  channel: string;
  ts: string;
  text: string;
  /** What the message says that it is about, in its metadata. */
  key: string | undefined;
  threadTs: string | undefined;
};

export type FakeSlack = {
  /** As SLACK_API_URL. */
  url: string;
  /** Of every command: takes what it is answered, and keeps nothing of it. */
  responseUrl: string;
  /** What stands in the channels, as it came. */
  posts: readonly FakeSlackPost[];
  counts: {
    refused500: number;
    lostAnswers: number;
    rateLimited: number;
    historyReads: number;
    /** Between two attempts in one channel, by Slack’s clock. */
    closestMs: number;
  };
  close: () => Promise<void>;
};

export type FakeSlackOptions = {
  random: Random;
  /** Of the posts: answered 500 and not kept. */
  refusedShare: number;
  /** Of the posts: kept, and the connection cut instead of an answer. */
  lostShare: number;
  /** Called when a post is kept, before it is answered. */
  taken: () => void;
  /** UTC ms, as the bots’ clock. */
  now: () => number;
  /** How many of the clock’s milliseconds pass in one real one. */
  factor: number;
};

/** Slack’s pace, by Slack’s clock. */
const paceMs = 1_000;
const answersPath = '/answers';

type Answer = { status: number; body: Record<string, unknown>; headers?: Record<string, string> };

/**
 * The part of Slack that alerts need, fast enough for thousands: keeps every post, in order, with its metadata,
 * shows it in the channel's history, takes one post a second in a channel (an attempt that fails counts) and
 * answers 429 to more. It validates nothing else: the strict workspace of the playground does that.
 */
export async function startFakeSlack(options: FakeSlackOptions): Promise<FakeSlack> {
  const posts: FakeSlackPost[] = [];
  const byChannel = new Map<string, FakeSlackPost[]>();
  const counts = { refused500: 0, lostAnswers: 0, rateLimited: 0, historyReads: 0, closestMs: Infinity };
  const lastAtMs = new Map<string, number>();
  let serial = 0;

  /** False: too soon after the last one. */
  function keepPace(channel: string): boolean {
    const atMs = performance.now() * options.factor;
    const sinceMs = atMs - (lastAtMs.get(channel) ?? -Infinity);
    counts.closestMs = Math.min(counts.closestMs, sinceMs);
    if (sinceMs < paceMs) return false;
    lastAtMs.set(channel, atMs);
    return true;
  }

  function keep(form: URLSearchParams, channel: string, key: string | undefined): FakeSlackPost {
    serial += 1;
    const seconds = Math.floor(options.now() / 1_000);
    const post: FakeSlackPost = {
      channel,
      ts: `${seconds}.${String(serial).padStart(6, '0')}`,
      text: form.get('text') ?? '',
      key,
      threadTs: form.get('thread_ts') ?? undefined,
    };
    posts.push(post);
    const before = byChannel.get(channel);
    if (before) before.push(post);
    else byChannel.set(channel, [post]);
    return post;
  }

  /** Undefined: the connection is to be cut. */
  function answerPost(form: URLSearchParams): Answer | undefined {
    const channel = form.get('channel') ?? '';
    const key = keyIn(form.get('metadata'));
    if (!keepPace(channel)) {
      counts.rateLimited += 1;
      return { status: 429, body: { ok: false, error: 'ratelimited' }, headers: { 'retry-after': '1' } };
    }
    const fate = options.random.next();
    if (fate < options.refusedShare) {
      counts.refused500 += 1;
      return { status: 500, body: {} };
    }
    const { ts } = keep(form, channel, key);
    options.taken();
    if (fate < options.refusedShare + options.lostShare) {
      counts.lostAnswers += 1;
      return undefined;
    }
    return { status: 200, body: { ok: true, channel, ts } };
  }

  /** Newest first, as Slack does. */
  function readHistory(form: URLSearchParams, isWanted: (post: FakeSlackPost) => boolean): Answer {
    counts.historyReads += 1;
    const oldest = Number(form.get('oldest') ?? 0);
    const found = (byChannel.get(form.get('channel') ?? '') ?? [])
      .filter((post) => Number(post.ts) >= oldest && isWanted(post))
      .toReversed();
    const from = Number(form.get('cursor') ?? 0);
    const end = from + Number(form.get('limit') ?? 100);
    const messages = found.slice(from, end).map((post) => ({
      type: 'message',
      ts: post.ts,
      text: post.text,
      ...(post.key === undefined
        ? {}
        : { metadata: { event_type: 'alert', event_payload: { key: post.key } } }),
    }));
    const next = end < found.length ? { response_metadata: { next_cursor: String(end) } } : {};
    return { status: 200, body: { ok: true, messages, has_more: end < found.length, ...next } };
  }

  function answer(method: string, form: URLSearchParams): Answer | undefined {
    switch (method) {
      case 'auth.test':
        return {
          status: 200,
          body: { ok: true, team_id: 'TCHAOS', user_id: 'UCHAOS', bot_id: 'BCHAOS', team: 'Chaos' },
          headers: { 'x-oauth-scopes': 'chat:write,users:read,channels:history,groups:history,commands' },
        };
      case 'users.info':
        return { status: 200, body: { ok: true, user: { id: form.get('user'), team_id: 'TCHAOS' } } };
      case 'chat.postMessage':
        return answerPost(form);
      case 'chat.update':
        return { status: 200, body: { ok: true, channel: form.get('channel'), ts: form.get('ts') } };
      case 'conversations.history':
        return readHistory(form, (post) => post.threadTs === undefined);
      case 'conversations.replies':
        return readHistory(form, (post) => post.threadTs === form.get('ts') || post.ts === form.get('ts'));
      default:
        return { status: 200, body: { ok: false, error: 'unknown_method' } };
    }
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // A bot that was killed in the middle of its request has sent nothing that Slack could read.
    const body = await text(request).catch(() => undefined);
    if (body === undefined) return;
    if (request.url === answersPath) {
      response.end('ok');
      return;
    }
    const method = (request.url ?? '').replace(/^\/api\//, '').replace(/\?.*$/, '');
    const given = answer(method, new URLSearchParams(body));
    if (!given) {
      request.socket.destroy();
      return;
    }
    response.writeHead(given.status, { 'content-type': 'application/json', ...given.headers });
    response.end(JSON.stringify(given.body));
  }

  const server = createServer((request, response) => void handle(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: `${origin}/api/`,
    responseUrl: `${origin}${answersPath}`,
    posts,
    counts,
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => void server.close(() => resolve()));
    },
  };
}

function keyIn(metadata: string | null): string | undefined {
  if (metadata === null) return undefined;
  const { event_payload: payload } = JSON.parse(metadata) as { event_payload?: { key?: unknown } };
  return typeof payload?.key === 'string' ? payload.key : undefined;
}
