import type { IncomingMessage, ServerResponse } from 'node:http';
import { answeredWithin } from '../deadline.ts';
import { type ForwardedDelivery, forwardedHeader } from '../domain/forwarding.ts';
import type { PaymentEvent } from '../domain/payment-event.ts';
import { fewLinesOf, tagLog, type Log, type LogFields, type LogLevel } from '../log.ts';
import { parseEvent, type EventKinds, type EventPointers, type ParsedEvent } from './event.ts';
import { endResponse, readBody } from '../http/body.ts';
import { createVerifier, type SignatureRefusal } from './signature.ts';
import { type SignatureScheme, type SignedRequest, signedHeaders, wholeHeaders } from './signed-delivery.ts';

/** Results of one delivery; each is counted. `differs`: a known event with another content. */
export const webhookResults = [
  'new',
  'duplicate',
  'differs',
  'unknown',
  'unavailable',
  'bad_signature',
  'loop',
  'bad_method',
  'bad_type',
  'too_large',
  'aborted',
] as const;

export type WebhookResult = (typeof webhookResults)[number];

export type WebhookNeeds = {
  /** Undefined: refuses every delivery. */
  scheme: SignatureScheme | undefined;
  secrets: readonly string[];
  pointers: EventPointers;
  /** Meanings of the service's event names. */
  kinds?: EventKinds;
  /** Stores the event before the webhook is acknowledged. If it throws, the sender gets 503 and retries. */
  receive: (event: PaymentEvent, fingerprint: string) => Promise<'new' | 'duplicate' | 'differs'>;
  /** Stores a signed delivery of unknown kind, encrypted, and tells the operators. */
  keepUnknown: (delivery: { eventKind: string; key: string; body: Buffer }) => Promise<void>;
  /** Stores a delivery to forward, as `receive` does. Absent: forwarding is off. */
  forward?: ((delivery: ForwardedDelivery) => Promise<void>) | undefined;
  /** Whether deliveries with a bad signature are forwarded too. */
  forwardsRefused?: boolean;
  count: (result: WebhookResult) => void;
  /** Called for each bad signature. Must be quick, and keep nothing of the delivery for long. */
  refused?: (
    delivery: SignedRequest,
    refusal: { cause: SignatureRefusal; why: string },
    atMs: number,
  ) => void;
  log: Log;
  now: () => number;
  /** Deadline of `receive`, `keepUnknown` and `forward`. */
  keepTimeoutMs?: number;
  /** How long an unread body is drained after a refusal. */
  lingerMs?: number;
};

const mostBodyBytes = 256 * 1024;
const lingerBytes = 4 * 1024 * 1024;
type Answer = {
  status: number;
  result: WebhookResult;
  body: Record<string, string | null>;
  headers?: Record<string, string>;
  log: { level: LogLevel; message: string; fields?: LogFields; error?: unknown };
};

/**
 * Receives the service's events. Only a stored delivery gets 2xx: a new event, a repeat, or a signed body of unknown
 * shape. A bad signature gets 401 without a reason (the log has it). A delivery that isn't stored in time gets 503, so
 * the sender retries. Never hangs. Without a valid signature the answer depends only on method, headers and size, never
 * on content.
 *
 * Spec: Events, rules 1 and 2.
 */
export function createWebhookHandler(
  needs: WebhookNeeds,
): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  const { pointers, kinds, receive, keepUnknown, forward, log, now } = needs;
  const { keepTimeoutMs = 2_000, lingerMs = 1_000 } = needs;
  const verify = createVerifier(needs.scheme, needs.secrets);
  const pickHeaders = signedHeaders(needs.scheme);
  const logRefused = fewLinesOf(log);

  async function answerBody(request: IncomingMessage): Promise<Answer> {
    const reading = await readBody(request, mostBodyBytes);
    if (reading.kind === 'body') {
      return await answerDelivery({ headers: request.headersDistinct, body: reading.body });
    }
    return reading.kind === 'too_large' ? tooLarge : refusal(400, 'aborted', 'the body broke off');
  }

  async function answerDelivery(delivery: SignedRequest): Promise<Answer> {
    const nowMs = now();
    const verdict = verify(delivery, nowMs);
    if (verdict.kind === 'invalid') {
      needs.refused?.(delivery, verdict, nowMs);
      if (forward && needs.forwardsRefused === true) await forwardRefused(forward, delivery);
      return {
        ...refusal(401, 'bad_signature', 'unauthorized'),
        log: { level: 'warn', message: `Webhook refused: ${verdict.why}`, fields: { fix: signatureFix } },
      };
    }
    const found = parseEvent(delivery.body, pointers, verdict, kinds);
    const fields = logFieldsOf(found);
    tagLog(fields);
    try {
      const kept = keep(found, delivery.body);
      // Both at once, so the store can write them together. If one fails, the sender retries both.
      const stored = forward
        ? Promise.all([kept, forward(forwarded(delivery, found))]).then(([result]) => result)
        : kept;
      const result = await answeredWithin(keepTimeoutMs, stored);
      const body = { eventType: fields.eventKind, orderReference: fields.orderReference ?? null, result };
      const level = result === 'new' || result === 'duplicate' ? 'info' : 'warn';
      const why = found.kind === 'unknown' && found.why !== undefined ? `: ${found.why}` : '';
      return { status: 200, result, body, log: { level, message: `Webhook kept${why}`, fields } };
    } catch (error) {
      const message = 'Webhook could not be kept; the sender was asked to send it again';
      return {
        ...refusal(503, 'unavailable', 'not kept, send it again'),
        headers: { 'retry-after': '5' },
        log: { level: 'error', message, fields, error },
      };
    }
  }

  async function keep(found: ParsedEvent, body: Buffer): Promise<WebhookResult> {
    if (found.kind === 'event') return await receive(found.event, found.fingerprint);
    await keepUnknown({ eventKind: found.eventKind, key: found.key, body });
    return 'unknown';
  }

  function forwarded({ headers, body }: SignedRequest, found: ParsedEvent): ForwardedDelivery {
    const about = logFieldsOf(found);
    const hint = found.kind === 'event' ? found.event.referenceHint : found.reference;
    const orderedBy = about.orderReference ?? hint ?? about.eventKey;
    return { body, headers: pickHeaders(headers), orderedBy, about };
  }

  /**
   * Stores a refused delivery to forward. A failure is only logged: the answer is 401 anyway, and the sender retries.
   */
  async function forwardRefused(
    keepForward: NonNullable<typeof forward>,
    { headers, body }: SignedRequest,
  ): Promise<void> {
    const delivery = { body, headers: wholeHeaders(headers), orderedBy: body.toString('latin1'), about: {} };
    await answeredWithin(keepTimeoutMs, keepForward(delivery)).catch((error: unknown) => {
      log('error', 'A refused webhook could not be kept for your backend', {}, error);
    });
  }

  return async function handleWebhook(request, response) {
    const startedAtMs = now();
    const answer =
      refuseUnread(request) ?? (forward ? refuseLoop(request) : undefined) ?? (await answerBody(request));
    const { result, status, body } = answer;
    needs.count(result);
    const { level, message, fields, error } = answer.log;
    const durationMs = now() - startedAtMs;
    const write = status >= 400 && status < 500 ? logRefused : log;
    write(level, message, { ...fields, result, httpStatus: status, durationMs }, error);
    const headers = { 'content-type': 'application/json', 'cache-control': 'no-store', ...answer.headers };
    const written = { status, headers, body: JSON.stringify(body) };
    endResponse({ request, response }, written, { lingerMs, lingerBytes });
  };
}

function refuseUnread({ method, headers }: Pick<IncomingMessage, 'method' | 'headers'>): Answer | undefined {
  if (method !== 'POST') {
    return { ...refusal(405, 'bad_method', 'only POST is answered here'), headers: { allow: 'POST' } };
  }
  const { 'content-type': type = '', 'content-encoding': encoding = '' } = headers;
  if (!/^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i.test(type) || !/^(?:identity)?$/i.test(encoding)) {
    return refusal(415, 'bad_type', 'send application/json, not compressed');
  }
  return Number(headers['content-length'] ?? 0) > mostBodyBytes ? tooLarge : undefined;
}

/**
 * What the bot answers to this captured delivery without checking its signature; undefined: it checks that. A capture
 * may lack headers, so a missing `content-type` is taken for the right one.
 */
export function unreadAnswer(
  { headers, body }: SignedRequest,
  method = 'POST',
): { status: number; words: string } | undefined {
  const first = (name: string, otherwise = ''): string => [headers[name] ?? otherwise].flat()[0] ?? '';
  const form = refuseUnread({
    method,
    headers: {
      'content-type': first('content-type', 'application/json'),
      'content-encoding': first('content-encoding'),
    },
  });
  const answer = form ?? (body.length > mostBodyBytes ? tooLarge : undefined);
  return answer && { status: answer.status, words: answer.body['error'] ?? '' };
}

/** Refuses forwarded deliveries: two bots that forward to each other would send an event in circles. */
function refuseLoop({ headers }: IncomingMessage): Answer | undefined {
  if (headers[forwardedHeader] === undefined) return undefined;
  const answer = refusal(400, 'loop', 'this delivery was forwarded already');
  const fix =
    'WEBHOOK_FORWARD_URL leads back to this bot, or to one that forwards here: set your own backend’s address.';
  return {
    ...answer,
    log: { level: 'error', message: 'Webhook refused: a bot forwarded it', fields: { fix } },
  };
}

const signatureFix =
  'If your payments service sent it, save it to a file: npm run explain-delivery names the wrong setting.';

function logFieldsOf(found: ParsedEvent): {
  eventKind: string;
  eventKey: string;
  orderReference?: string;
} {
  if (found.kind === 'unknown') return { eventKind: found.eventKind, eventKey: found.key };
  const { kind: eventKind, key: eventKey, orderReference } = found.event;
  return orderReference === undefined ? { eventKind, eventKey } : { eventKind, eventKey, orderReference };
}

function refusal(status: number, result: WebhookResult, words: string): Answer {
  return {
    status,
    result,
    body: { error: words },
    log: { level: 'info', message: `Webhook refused: ${words}` },
  };
}

const tooLarge = refusal(413, 'too_large', `the body may have ${mostBodyBytes} bytes`);
