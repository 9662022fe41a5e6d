import { createHmac } from 'node:crypto';
import type { Recorder } from '../exchanges.ts';
import { eventPayload } from './payloads.ts';
import type { Envelope, SocketMode } from './socket-mode.ts';
import type { World } from './world.ts';

/** What one payload came to, in either transport. */
export type BotAnswer =
  /** `body` is what the acknowledgement carried: an object, a text, or undefined when it was empty. */
  | { kind: 'acknowledged'; body: unknown; durationMs: number }
  | { kind: 'refused'; status: number }
  | { kind: 'timeout' }
  | { kind: 'unreachable' };

type BotLineDeps = {
  signingSecret: string;
  ackTimeoutMs: number;
  now: () => number;
  record: Recorder;
  sockets: SocketMode;
};

export type BotLine = ReturnType<typeof createBotLine>;

export function createBotLine(deps: BotLineDeps) {
  let target: string | undefined;

  async function throughHttp(url: string, envelope: Envelope): Promise<BotAnswer & { status: number }> {
    const body = formBody(envelope);
    const timestamp = Math.floor(deps.now() / 1000);
    const startedAt = performance.now();
    try {
      const response = await fetch(url, {
        method: 'POST',
        redirect: 'manual',
        signal: AbortSignal.timeout(deps.ackTimeoutMs),
        headers: {
          'content-type':
            envelope.kind === 'events_api' ? 'application/json' : 'application/x-www-form-urlencoded',
          'user-agent': 'Slackbot 1.0 (+https://api.slack.com/robots)',
          'x-slack-request-timestamp': String(timestamp),
          'x-slack-signature': sign(deps.signingSecret, timestamp, body),
          ...retryHeaders(envelope),
        },
        body,
      });
      const text = await response.text();
      const { status } = response;
      if (!response.ok) return { kind: 'refused', status };
      const durationMs = Math.round(performance.now() - startedAt);
      return { kind: 'acknowledged', status, body: answerBody(text), durationMs };
    } catch (error) {
      const late = error instanceof Error && (error.name === 'TimeoutError' || error.name === 'AbortError');
      return { kind: late ? 'timeout' : 'unreachable', status: 0 };
    }
  }

  async function throughSocket(envelope: Envelope): Promise<BotAnswer & { status: number }> {
    const startedAt = performance.now();
    const answer = await deps.sockets.send(envelope, deps.ackTimeoutMs);
    if (answer.kind !== 'acknowledged') return { ...answer, status: 0 };
    const durationMs = Math.round(performance.now() - startedAt);
    return { kind: 'acknowledged', status: 200, body: emptyAsUndefined(answer.body), durationMs };
  }

  return {
    connect(botEventsUrl: string | undefined) {
      target = botEventsUrl;
    },
    /** Over an open Socket Mode connection if there is one, else as a signed request to the bot's address. */
    async send(envelope: Envelope, summary: string) {
      const bySocket = deps.sockets.open() > 0;
      const end = deps.record(() => ({
        from: 'slack',
        to: 'bot',
        method: bySocket ? 'WS' : 'POST',
        path: bySocket ? '/socket' : pathOf(target),
        summary,
        request: envelope.payload,
      }));
      const answer = await carry();
      end(() => ({
        status: answer.status,
        outcome: ` → ${inWords(answer)}`,
        response: answer.kind === 'acknowledged' ? answer.body : undefined,
      }));
      return answer;

      async function carry(): Promise<BotAnswer & { status: number }> {
        if (bySocket) return throughSocket(envelope);
        return target === undefined ? { kind: 'unreachable', status: 0 } : throughHttp(target, envelope);
      }
    },
  };
}

/** Slack's v0 signature over timestamp and raw body. */
function sign(signingSecret: string, timestamp: number, body: string): string {
  return `v0=${createHmac('sha256', signingSecret).update(`v0:${timestamp}:${body}`).digest('hex')}`;
}

function formBody(envelope: Envelope): string {
  if (envelope.kind === 'events_api') return JSON.stringify(envelope.payload);
  if (envelope.kind === 'interactive') {
    return new URLSearchParams({ payload: JSON.stringify(envelope.payload) }).toString();
  }
  const form = new URLSearchParams();
  for (const [name, value] of Object.entries(envelope.payload)) form.set(name, String(value));
  return form.toString();
}

function retryHeaders(envelope: Envelope): Record<string, string> {
  if (envelope.retry === undefined) return {};
  return { 'x-slack-retry-num': String(envelope.retry.num), 'x-slack-retry-reason': envelope.retry.reason };
}

function answerBody(text: string): unknown {
  if (text.trim() === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Socket clients acknowledge with `{}` where an HTTP server sends an empty body. */
function emptyAsUndefined(body: unknown): unknown {
  const isEmpty = typeof body === 'object' && body !== null && Object.keys(body).length === 0;
  return isEmpty ? undefined : body;
}

function inWords(answer: BotAnswer): string {
  switch (answer.kind) {
    case 'acknowledged':
      return `acknowledged in ${answer.durationMs} ms`;
    case 'refused':
      return `the bot answered ${answer.status}`;
    case 'timeout':
      return 'no answer in time';
    case 'unreachable':
      return 'the bot could not be reached';
  }
}

function pathOf(url: string | undefined): string {
  return url === undefined ? '/' : new URL(url).pathname;
}

type EventsDeps = {
  world: World;
  line: BotLine;
  /** Slack's own: at once, after a minute, after five. */
  retryDelaysMs: readonly number[];
};

export type Events = ReturnType<typeof createEvents>;

export function createEvents(deps: EventsDeps) {
  const timers = new Set<NodeJS.Timeout>();

  async function attempt(payload: Record<string, unknown>, summary: string, retry?: Retry): Promise<void> {
    const again = retry === undefined ? '' : ` (retry ${retry.num})`;
    const answer = await deps.line.send(
      { kind: 'events_api', payload, ...(retry === undefined ? {} : { retry }) },
      `${summary}${again}`,
    );
    const reason = retryReason(answer);
    const num = (retry?.num ?? 0) + 1;
    const delayMs = deps.retryDelaysMs[num - 1];
    if (reason === undefined || delayMs === undefined) return;
    const timer = setTimeout(() => {
      timers.delete(timer);
      void attempt(payload, summary, { num, reason });
    }, delayMs);
    timer.unref();
    timers.add(timer);
  }

  return {
    /** Sends an event if the manifest subscribes to it, and again when it is not answered; waits for the first attempt only. */
    async send(subscription: string, event: Record<string, unknown>, summary: string) {
      if (deps.world.app.botEvents.has(subscription)) await attempt(eventPayload(deps.world, event), summary);
    },
    close() {
      for (const timer of timers) clearTimeout(timer);
      timers.clear();
    },
  };
}

type Retry = { num: number; reason: string };

function retryReason(answer: BotAnswer): string | undefined {
  switch (answer.kind) {
    case 'acknowledged':
      return undefined;
    case 'refused':
      return 'http_error';
    case 'timeout':
      return 'http_timeout';
    case 'unreachable':
      return 'connection_failed';
  }
}
