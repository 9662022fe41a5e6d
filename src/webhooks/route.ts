import type { IncomingMessage, ServerResponse } from 'node:http';
import { answeredWithin } from '../deadline.ts';
import { unreadableKind } from '../domain/notice.ts';
import type { PaymentEvent } from '../domain/payment-event.ts';
import { tagLog, type Log, type LogFields, type LogLevel } from '../log.ts';
import { parseEvent, type EventPointers, type ParsedEvent } from './event.ts';
import { endResponse, readBody } from '../http/body.ts';
import { createVerifier, type SignatureScheme } from './signature.ts';
import type { SignedRequest } from './signed-delivery.ts';

/** What became of one delivery; what is counted. */
export const webhookResults = [
  'new',
  'duplicate',
  'differs',
  'unknown',
  'unavailable',
  'bad_signature',
  'bad_method',
  'bad_type',
  'too_large',
  'aborted',
] as const;

export type WebhookResult = (typeof webhookResults)[number];

export type WebhookDeps = {
  /** Undefined: every delivery is refused. */
  scheme: SignatureScheme | undefined;
  secrets: readonly string[];
  pointers: EventPointers;
  /** Keeps the event for good before it answers; a throw means it is not safe, and the sender is asked to come again. */
  receive: (event: PaymentEvent, fingerprint: string) => Promise<'new' | 'duplicate' | 'differs'>;
  /** Keeps, sealed, what was signed but is no event we know, and tells the operators. */
  keepUnknown: (delivery: { eventKind: string; key: string; body: Buffer }) => Promise<void>;
  count: (result: WebhookResult) => void;
  /** Told of each signature that does not hold; must be quick, and keep nothing of a delivery for long. */
  refused?: (delivery: SignedRequest, why: string, atMs: number) => void;
  log: Log;
  now: () => number;
  limits?: Partial<typeof webhookLimits>;
};

const webhookLimits = {
  bodyBytes: 256 * 1024,
  /** For `receive` and `keepUnknown`. */
  keepTimeoutMs: 2_000,
  /** How long, and how far, an unread body is still drained after a refusal. */
  lingerMs: 1_000,
  lingerBytes: 4 * 1024 * 1024,
};

const retryAfterSeconds = '5';

type Answer = {
  status: number;
  result: WebhookResult;
  body: Record<string, string | null>;
  headers?: Record<string, string>;
  log: { level: LogLevel; message: string; fields?: LogFields; error?: unknown };
};

/**
 * The door for the service's events. A 2xx is given only for what is safely kept: a first event, a repeat,
 * or a signed body of unknown shape. A delivery whose signature does not hold gets 401 and no reason (the
 * log has it); one that could not be kept in time gets 503, so that the sender comes again. It never
 * hangs, and what it answers never depends on anything unsigned but the request's own form.
 *
 * Spec: Events, rules 1 and 2.
 */
export function createWebhookHandler(
  deps: WebhookDeps,
): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  const limits = { ...webhookLimits, ...deps.limits };
  const door: Door = { ...deps, verify: createVerifier(deps.scheme, deps.secrets) };
  return async function handleWebhook(request, response) {
    const startedAtMs = deps.now();
    const answer = refuseByForm(request, limits.bodyBytes) ?? (await answerBody(door, limits, request));
    deps.count(answer.result);
    const { level, message, fields, error } = answer.log;
    const durationMs = deps.now() - startedAtMs;
    deps.log(
      level,
      message,
      { ...fields, result: answer.result, httpStatus: answer.status, durationMs },
      error,
    );
    const headers = { 'content-type': 'application/json', 'cache-control': 'no-store', ...answer.headers };
    endResponse({ request, response }, { ...answer, headers, body: JSON.stringify(answer.body) }, limits);
  };
}

type Door = WebhookDeps & { verify: ReturnType<typeof createVerifier> };

function refuseByForm(request: IncomingMessage, bodyBytes: number): Answer | undefined {
  if (request.method !== 'POST') {
    return { ...refusal(405, 'bad_method', 'only POST is answered here'), headers: { allow: 'POST' } };
  }
  const { 'content-type': type = '', 'content-encoding': encoding = 'identity' } = request.headers;
  if (!/^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i.test(type) || encoding.toLowerCase() !== 'identity') {
    return refusal(415, 'bad_type', 'send application/json, not compressed');
  }
  return Number(request.headers['content-length'] ?? 0) > bodyBytes ? tooLarge(bodyBytes) : undefined;
}

async function answerBody(
  deps: Door,
  limits: typeof webhookLimits,
  request: IncomingMessage,
): Promise<Answer> {
  const reading = await readBody(request, limits.bodyBytes);
  switch (reading.kind) {
    case 'too_large':
      return tooLarge(limits.bodyBytes);
    case 'aborted':
      return refusal(400, 'aborted', 'the body broke off');
    case 'body':
      return answerDelivery(deps, limits, { headers: request.headersDistinct, body: reading.body });
  }
}

async function answerDelivery(
  deps: Door,
  limits: typeof webhookLimits,
  delivery: { headers: NodeJS.Dict<string[]>; body: Buffer },
): Promise<Answer> {
  const nowMs = deps.now();
  const verdict = deps.verify(delivery, nowMs);
  if (verdict.kind === 'invalid') {
    deps.refused?.(delivery, verdict.why, nowMs);
    return {
      ...refusal(401, 'bad_signature', 'unauthorized'),
      log: { level: 'warn', message: `Webhook refused: ${verdict.why}` },
    };
  }
  const found = parseEvent(delivery.body, deps.pointers, verdict);
  const fields = logFieldsOf(found);
  tagLog(fields);
  try {
    const result = await answeredWithin(limits.keepTimeoutMs, keep(deps, found, delivery.body));
    const body = { eventType: fields.eventKind, orderReference: fields.orderReference ?? null, result };
    const level = result === 'new' || result === 'duplicate' ? 'info' : 'warn';
    const why = found.kind === 'unreadable' ? `: ${found.why}` : '';
    return { status: 200, result, body, log: { level, message: `Webhook kept${why}`, fields } };
  } catch (error) {
    return {
      ...refusal(503, 'unavailable', 'not kept, send it again'),
      headers: { 'retry-after': retryAfterSeconds },
      log: {
        level: 'error',
        message: 'Webhook could not be kept; the sender was asked to send it again',
        fields,
        error,
      },
    };
  }
}

async function keep(deps: WebhookDeps, found: ParsedEvent, body: Buffer) {
  if (found.kind === 'event') return await deps.receive(found.event, found.fingerprint);
  const eventKind = found.kind === 'unknown_kind' ? found.eventKind : unreadableKind;
  await deps.keepUnknown({ eventKind, key: found.key, body });
  return 'unknown';
}

function logFieldsOf(found: ParsedEvent): LogFields & { eventKind: string } {
  if (found.kind !== 'event') {
    return {
      eventKind: found.kind === 'unknown_kind' ? found.eventKind : unreadableKind,
      eventKey: found.key,
    };
  }
  const { kind: eventKind, key: eventKey, orderReference } = found.event;
  return orderReference === undefined ? { eventKind, eventKey } : { eventKind, eventKey, orderReference };
}

function tooLarge(bodyBytes: number): Answer {
  return refusal(413, 'too_large', `the body may have ${bodyBytes} bytes`);
}

function refusal(status: number, result: WebhookResult, words: string): Answer {
  return {
    status,
    result,
    body: { error: words },
    log: { level: 'info', message: `Webhook refused: ${words}` },
  };
}
