import { createHmac } from 'node:crypto';
import type { Recorder } from '../exchanges.ts';
import { parsedJson } from './message-content.ts';
import type { RequestKind, InstalledApp } from './manifest.ts';
import type { Quirks } from './quirks.ts';
import type { Envelope, SocketMode } from './socket-mode.ts';

/** The result of one payload, over either transport. */
export type BotAnswer =
  /** `body`: the acknowledgement's object or text; undefined if empty. */
  | { kind: 'acknowledged'; body: unknown; durationMs: number }
  | { kind: 'refused'; status: number }
  | { kind: 'timeout' }
  | { kind: 'unreachable' }
  /** The manifest switches it off or has no address for it: nothing was sent. */
  | { kind: 'not_asked' };

type BotDeliveryDeps = {
  app: InstalledApp;
  signingSecret: string;
  ackTimeoutMs: number;
  now: () => number;
  record: Recorder;
  sockets: SocketMode;
  quirks: Quirks;
};

export type BotDelivery = ReturnType<typeof createBotDelivery>;

export function createBotDelivery(deps: BotDeliveryDeps) {
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
        },
        body,
      });
      const text = await response.text();
      const { status } = response;
      if (!response.ok) return { kind: 'refused', status };
      const durationMs = Math.round(performance.now() - startedAt);
      return {
        kind: 'acknowledged',
        status,
        body: text.trim() === '' ? undefined : parsedJson(text),
        durationMs,
      };
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
    async send(envelope: Envelope, summary: string): Promise<BotAnswer> {
      const bySocket = deps.sockets.open() > 0;
      if (!isAsked(deps.app, envelope, bySocket)) return { kind: 'not_asked' } as const;
      const end = deps.record(() => ({
        from: 'slack',
        to: 'bot',
        method: bySocket ? 'WS' : 'POST',
        path: bySocket ? '/socket' : pathOf(target),
        summary,
        request: envelope.payload,
      }));
      const isTwice = deps.quirks.deliversTwice === true && isByPerson(envelope);
      const answer = await (isTwice ? firstAcknowledged([carry(), carry()]) : carry());
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

function isAsked(app: InstalledApp, envelope: Envelope, bySocket: boolean): boolean {
  const kind = requestKindOf(envelope);
  const isOff = envelope.kind === 'interactive' && !app.isInteractive;
  return !isOff && (bySocket || app.addresses[kind]);
}

function requestKindOf({ kind, payload }: Envelope): RequestKind {
  if (kind === 'slash_commands') return 'commands';
  if (kind === 'events_api') return 'events';
  return payload['type'] === 'block_suggestion' ? 'options' : 'interactions';
}

/** A command, a press or a form. */
function isByPerson({ kind, payload }: Envelope): boolean {
  return (
    kind === 'slash_commands' || payload['type'] === 'block_actions' || payload['type'] === 'view_submission'
  );
}

/** The first of two deliveries of one payload. */
async function firstAcknowledged<Answer extends BotAnswer>(deliveries: Promise<Answer>[]): Promise<Answer> {
  const soonest = await Promise.race(deliveries);
  if (soonest.kind === 'acknowledged') return soonest;
  return (await Promise.all(deliveries)).find(({ kind }) => kind === 'acknowledged') ?? soonest;
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

/** Socket clients acknowledge with `{}` where an HTTP server sends an empty body. */
function emptyAsUndefined(body: unknown): unknown {
  const isEmpty = typeof body === 'object' && body !== null && Object.keys(body).length === 0;
  return isEmpty ? undefined : body;
}

function inWords(answer: BotAnswer): string {
  if (answer.kind === 'acknowledged') return `acknowledged in ${answer.durationMs} ms`;
  return answer.kind === 'refused' ? `the bot answered ${answer.status}` : noAnswerWords[answer.kind];
}

const noAnswerWords = {
  timeout: 'no answer in time',
  unreachable: 'the bot could not be reached',
  not_asked: 'not sent',
};

function pathOf(url: string | undefined): string {
  return url === undefined ? '/' : new URL(url).pathname;
}
