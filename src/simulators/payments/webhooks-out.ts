import { createHmac, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SavedCard } from '../../domain/card.ts';
import type { PaymentsDelivery, Redelivery } from '../protocol.ts';
import type { Recorder } from '../exchanges.ts';
import { dayMs } from '../../domain/span.ts';

/** Spec: Events (known payload fields); the others are not shown and are the playground's. */
export type WebhookPayload = {
  event: 'payment_success' | 'payment_failed' | 'payment_refunded';
  eventId: string;
  createdAt: string;
  data: {
    order: {
      orderReference: string;
      orderId: string;
      customerId?: string;
      isTokenizedCardPayment: 'true' | 'false';
      amount: string;
      currency: string;
      customerEmail: string;
    };
    transaction: { transactionId: string; status: ToldStatus; message: string };
  };
  tokenizedCardData?: Required<SavedCard>;
};

export type ToldStatus = 'SUCCESS' | 'FAILED' | 'REFUNDED';

type WebhooksOutOptions = {
  secret: string;
  now: () => number;
  record: Recorder;
  changed: () => void;
  /** Waits between attempts; there is one attempt more than waits. */
  retryDelaysMs: readonly number[];
  answerTimeoutMs: number;
  sign?: SignDelivery | undefined;
};

export type SignDelivery = (body: string, secret: string) => Record<string, string>;

type Delivery = {
  shown: PaymentsDelivery;
  body: string;
  payload: WebhookPayload;
  signature: Record<string, string>;
};

const lateByMs = 3 * dayMs;

/** The header and scheme of the playground; the spec shows none. Hex of HMAC SHA-512 over the raw body. */
export const signatureHeader = 'x-payments-signature';

export function signWebhook(body: string, secret: string): string {
  return createHmac('sha512', secret).update(body).digest('hex');
}

function signWhole(body: string, secret: string): Record<string, string> {
  return { [signatureHeader]: signWebhook(body, secret) };
}

export type WebhooksOut = ReturnType<typeof createWebhooksOut>;

/** Sends events to the merchant's URL and retries until a 2xx comes. Spec: Events (rules). */
export function createWebhooksOut(options: WebhooksOutOptions) {
  const { sign = signWhole } = options;
  const deliveries: Delivery[] = [];
  const underWay = new Set<Promise<void>>();
  const closing = new AbortController();
  /** Events without a URL. */
  let parked: Delivery[] = [];
  let url: string | undefined;

  async function attempt(delivery: Delivery): Promise<void> {
    const { shown } = delivery;
    if (url === undefined) return void parked.push(delivery);
    shown.attempts += 1;
    shown.lastStatus = await post(url, delivery, options, closing.signal);
    const isReceived = shown.lastStatus >= 200 && shown.lastStatus < 300;
    // A forger does not retry.
    const delayMs = shown.how === 'bad_signature' ? undefined : options.retryDelaysMs[shown.attempts - 1];
    if (!isReceived && delayMs !== undefined) {
      options.changed();
      await sleep(delayMs, undefined, { signal: closing.signal }).catch(() => undefined);
      if (!closing.signal.aborted) return attempt(delivery);
    }
    shown.state = isReceived ? 'delivered' : 'gave_up';
  }
  function start(delivery: Delivery): void {
    const done = attempt(delivery).finally(() => {
      underWay.delete(done);
      options.changed();
    });
    underWay.add(done);
  }
  function queue(payload: WebhookPayload, how?: Redelivery): void {
    const body = JSON.stringify(payload);
    const signature = sign(body, how === 'bad_signature' ? randomUUID() : options.secret);
    const { orderReference } = payload.data.order;
    const id = deliveries.length + 1;
    const about = { id, event: payload.event, orderReference, ...(how === undefined ? {} : { how }) };
    const delivery: Delivery = {
      shown: { ...about, attempts: 0, state: 'waiting' },
      body,
      payload,
      signature,
    };
    deliveries.push(delivery);
    options.changed();
    start(delivery);
  }

  return {
    send: (payload: WebhookPayload) => queue(payload),
    /** Sends a copy of an earlier delivery as a new one; false if the id is unknown. */
    redeliver: (deliveryId: number, how: Redelivery) => {
      const earlier = deliveries[deliveryId - 1];
      if (!earlier) return false;
      queue(redelivered(earlier.payload, how, options.now()), how);
      return true;
    },
    /** Sets the URL, and sends the parked deliveries at once. */
    sendTo: (target: string | undefined) => {
      url = target === undefined ? undefined : new URL(target).href;
      const waiting = parked;
      parked = [];
      for (const delivery of waiting) start(delivery);
    },
    /** Newest first. */
    deliveries: () => deliveries.map(({ shown }) => ({ ...shown })).toReversed(),
    /** Resolves when nothing is under way or waiting for an attempt, except deliveries without a URL. */
    async settled(): Promise<void> {
      if (underWay.size === 0) return undefined;
      await Promise.all(underWay);
      return this.settled();
    },
    close: () => closing.abort(),
  };
}

const notes: Record<Redelivery, string> = {
  again: ', sent again',
  new_id: ', sent again with a new event id',
  late: ', sent again three days late',
  bad_signature: ', with a bad signature',
};

function redelivered(payload: WebhookPayload, how: Redelivery, now: number): WebhookPayload {
  if (how === 'new_id') return { ...payload, eventId: `evt_${randomUUID()}` };
  if (how === 'late') return { ...payload, createdAt: new Date(now - lateByMs).toISOString() };
  return payload;
}

/** The answer's status; 0 if none came in time. */
async function post(
  url: string,
  delivery: Delivery,
  options: WebhooksOutOptions,
  closing: AbortSignal,
): Promise<number> {
  const { event, orderReference, attempts, how } = delivery.shown;
  const times = attempts === 1 ? '' : `, attempt ${attempts}`;
  const end = options.record(() => ({
    from: 'payments',
    to: 'bot',
    method: 'POST',
    path: new URL(url).pathname,
    summary: `${event} for ${orderReference}${how === undefined ? '' : notes[how]}${times}`,
    request: { headers: delivery.signature, body: delivery.payload },
  }));
  try {
    const answer = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...delivery.signature },
      body: delivery.body,
      redirect: 'manual',
      signal: AbortSignal.any([closing, AbortSignal.timeout(options.answerTimeoutMs)]),
    });
    const { status } = answer;
    const response = await answer.text();
    end(() => ({ status, outcome: `: ${answerWords(status)}`, response }));
    return status;
  } catch {
    end(() => ({ status: 0, outcome: ': no answer' }));
    return 0;
  }
}

function answerWords(status: number): string {
  if (status >= 200 && status < 300) return 'received';
  return status === 401 ? 'refused' : `not received (${status})`;
}
