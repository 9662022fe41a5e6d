import { createHmac, randomUUID } from 'node:crypto';
import type { SavedCard } from '../../domain/saved-card.ts';
import type { PaymentsDelivery, Redelivery } from '../protocol.ts';
import type { Recorder } from '../exchanges.ts';

/** Spec: Events (known payload fields); the others are not shown and are the playground's. */
type WebhookPayload = {
  event: 'payment_success' | 'payment_failed';
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
    transaction: { transactionId: string; status: 'SUCCESS' | 'FAILED'; message: string };
  };
  tokenizedCardData?: Required<SavedCard>;
};

type WebhooksOutOptions = {
  secret: string;
  now: () => number;
  record: Recorder;
  changed: () => void;
  /** The waits between attempts; their number plus one is the number of attempts. */
  retryDelaysMs: readonly number[];
  answerTimeoutMs: number;
  sign?: SignDelivery | undefined;
};

/** The headers that sign a delivery. */
export type SignDelivery = (body: string, secret: string) => Record<string, string>;

type Delivery = PaymentsDelivery & {
  body: string;
  payload: WebhookPayload;
  signature: Record<string, string>;
  /** A forger does not try again. */
  once: boolean;
  /** There was no URL to send it to; it leaves when there is one. */
  parked: boolean;
  note: string;
};

const lateByMs = 3 * 24 * 3_600_000;

/** The header and scheme of the playground; the spec shows none. Hex of HMAC SHA-512 over the raw body. */
export const signatureHeader = 'x-payments-signature';

export function signWebhook(body: string, secret: string): string {
  return createHmac('sha512', secret).update(body).digest('hex');
}

function signWhole(body: string, secret: string): Record<string, string> {
  return { [signatureHeader]: signWebhook(body, secret) };
}

export type WebhooksOut = ReturnType<typeof createWebhooksOut>;

/** Sends events to the merchant's URL and tries again until a 2xx comes. Spec: Events (rules). */
export function createWebhooksOut(options: WebhooksOutOptions) {
  const { sign = signWhole } = options;
  const deliveries: Delivery[] = [];
  const sender = createSender(options);

  function queue(payload: WebhookPayload, how?: Redelivery): void {
    const body = JSON.stringify(payload);
    const delivery: Delivery = {
      id: deliveries.length + 1,
      event: payload.event,
      orderReference: payload.data.order.orderReference,
      attempts: 0,
      state: 'waiting',
      body,
      payload,
      signature: sign(body, how === 'bad_signature' ? randomUUID() : options.secret),
      once: how === 'bad_signature',
      parked: false,
      note: how === undefined ? '' : redeliveryNotes[how],
      ...(how === undefined ? {} : { how }),
    };
    deliveries.push(delivery);
    options.changed();
    sender.start(delivery);
  }

  return {
    send: (payload: WebhookPayload) => queue(payload),
    /** A copy of an earlier delivery as a delivery of its own; false when there is none of that id. */
    redeliver: (deliveryId: number, how: Redelivery) => {
      const earlier = deliveries.find((delivery) => delivery.id === deliveryId);
      if (!earlier) return false;
      queue(redelivered(earlier.payload, how, options.now()), how);
      return true;
    },
    /** Deliveries that had nowhere to go leave at once. */
    sendTo: (url: string | undefined) => {
      sender.setUrl(url);
      for (const delivery of deliveries.filter(({ parked }) => parked)) sender.start(delivery);
    },
    /** Newest first. */
    deliveries: () => deliveries.map(shown).toReversed(),
    settled: sender.settled,
    close: sender.close,
  };
}

function createSender(options: WebhooksOutOptions) {
  const timers = new Set<NodeJS.Timeout>();
  const closing = new AbortController();
  let url: string | undefined;
  let active = 0;
  let waiters: (() => void)[] = [];

  function settle(): void {
    active -= 1;
    options.changed();
    if (active > 0) return;
    for (const done of waiters) done();
    waiters = [];
  }

  async function attempt(delivery: Delivery): Promise<void> {
    delivery.parked = url === undefined;
    if (url === undefined || closing.signal.aborted) return settle();
    delivery.attempts += 1;
    delivery.lastStatus = await post(url, delivery, options, closing.signal);
    const received = delivery.lastStatus >= 200 && delivery.lastStatus < 300;
    const delayMs = delivery.once ? undefined : options.retryDelaysMs[delivery.attempts - 1];
    if (received || delayMs === undefined || closing.signal.aborted) {
      delivery.state = received ? 'delivered' : 'gave_up';
      return settle();
    }
    options.changed();
    const timer = setTimeout(() => {
      timers.delete(timer);
      void attempt(delivery);
    }, delayMs);
    timers.add(timer);
  }

  return {
    setUrl: (target: string | undefined) => {
      url = target === undefined ? undefined : new URL(target).href;
    },
    start: (delivery: Delivery) => {
      active += 1;
      void attempt(delivery);
    },
    /** Resolves when nothing is under way or waiting for its next attempt; what has no URL to go to is not waited for. */
    settled: () => (active === 0 ? Promise.resolve() : new Promise<void>((resolve) => waiters.push(resolve))),
    close: () => {
      closing.abort();
      for (const timer of timers) {
        clearTimeout(timer);
        settle();
      }
      timers.clear();
    },
  };
}

const redeliveryNotes: Record<Redelivery, string> = {
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

/** The status of the answer; 0 when none came in time. */
async function post(
  url: string,
  delivery: Delivery,
  options: WebhooksOutOptions,
  closing: AbortSignal,
): Promise<number> {
  const attempt = delivery.attempts === 1 ? '' : `, attempt ${delivery.attempts}`;
  const end = options.record(() => ({
    from: 'payments',
    to: 'bot',
    method: 'POST',
    path: new URL(url).pathname,
    summary: `${delivery.event} for ${delivery.orderReference}${delivery.note}${attempt}`,
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

function shown(delivery: Delivery): PaymentsDelivery {
  const { id, event, orderReference, attempts, lastStatus, state, how } = delivery;
  return {
    id,
    event,
    orderReference,
    attempts,
    state,
    ...(lastStatus === undefined ? {} : { lastStatus }),
    ...(how === undefined ? {} : { how }),
  };
}
