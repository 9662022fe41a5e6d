import type { PaymentEventKind } from '../../src/domain/payment-event.ts';
import type { BotPost } from '../../src/simulators/slack/payloads.ts';
import type { OrderFor } from '../../src/simulators/payments/orders.ts';
import type { Random } from './random.ts';

/** One channel and its events: those of this kind, for customers whose id begins like this. */
export type ChaosChannel = { id: string; kind: PaymentEventKind; customerPrefix: string };

/** One delivery of an event; a repeat has the same reference and another id. */
export type Delivery = { reference: string; channel: string; isRepeat: boolean; body: string };

export type Plan = { channels: readonly ChaosChannel[]; deliveries: readonly Delivery[]; policy: string };

export type PlanOptions = {
  events: number;
  repeatShare: number;
  channels: number;
  random: Random;
  /** The policy's roles, as YAML; absent: no permissions. */
  roles?: string;
};

const opsChannel = 'COPSCHAOS';
const elsewhere = 'CELSEWHERE';
export const otherChannels = [opsChannel, elsewhere];
/** How many deliveries a repeat may come after its event. */
const repeatWithin = 500;

/** Every event once, and this share of them a second time: at once, or up to some hundreds of deliveries later. */
export function planChaos({
  events,
  repeatShare,
  channels: wanted,
  random,
  roles = '{}',
}: PlanOptions): Plan {
  const channels = planChannels(wanted);
  const placed: { at: number; delivery: Delivery }[] = [];
  for (let number = 0; number < events; number += 1) {
    const channel = channels[number % channels.length] ?? random.pick(channels);
    const reference = referenceOf(channel.kind, number);
    placed.push({ at: number, delivery: deliveryOf(channel, reference, false) });
    if (!random.chance(repeatShare)) continue;
    const behind = random.chance(0.3) ? 0 : random.below(repeatWithin);
    placed.push({ at: number + behind + 0.5, delivery: deliveryOf(channel, reference, true) });
  }
  const deliveries = placed.toSorted((one, other) => one.at - other.at).map(({ delivery }) => delivery);
  return { channels, deliveries, policy: policyOf(channels, roles) };
}

/** Every fifth channel gets payments, the others failures. */
function planChannels(wanted: number): ChaosChannel[] {
  return Array.from({ length: wanted }, (_, index) => {
    const number = String(index).padStart(3, '0');
    const kind = index % 5 === 4 ? 'payment_success' : 'payment_failed';
    return { id: `CCHAOS${number}`, kind, customerPrefix: `customer-${number}-` };
  });
}

/** A rule for each channel; an event without a rule would go to a channel that the checker does not expect. */
function policyOf(channels: readonly ChaosChannel[], roles: string): string {
  const rules = channels.flatMap(({ id, kind, customerPrefix }) => [
    `  - name: ${id}`,
    `    when: { event: ${kind}, customer_id: '${customerPrefix}*' }`,
    `    to: ${id}`,
  ]);
  return [
    'channels:',
    `  alerts: ${elsewhere}`,
    `  ops: ${opsChannel}`,
    'routes:',
    ...rules,
    `roles: ${roles}`,
    '',
  ].join('\n');
}

function referenceOf(kind: PaymentEventKind, number: number): string {
  return `${kind === 'payment_success' ? 'PAID' : 'DECL'}-${String(number).padStart(6, '0')}`;
}

/** The reference in a message’s metadata; undefined if it is no alert. */
export function referenceIn(key: string): string | undefined {
  return /^message:alert:payment_\w+\/order\/([A-Z]+-\d+)/.exec(key)?.[1];
}

/** The same for a message in a channel; undefined for a note below one. */
export function alertReference({
  metadata,
  threadTs,
}: Pick<BotPost, 'metadata' | 'threadTs'>): string | undefined {
  return threadTs === undefined ? referenceIn(String(metadata?.event_payload['key'])) : undefined;
}

const declinedWords = 'Insufficient funds';

/** A look-up's answer agrees with the event. Other answers are tested elsewhere. */
export function orderFor(reference: string): ReturnType<OrderFor> {
  return {
    amountMinor: 100 * nairaOf(reference),
    state: reference.startsWith('PAID-') ? 'paid' : 'declined',
    reason: declinedWords,
  };
}

/** The same amount for the event, its repeats and the look-up. */
function nairaOf(reference: string): number {
  return 1_000 + Number(reference.slice(-3));
}

let serial = 0;

function deliveryOf(channel: ChaosChannel, reference: string, isRepeat: boolean): Delivery {
  serial += 1;
  const body = JSON.stringify({
    event: channel.kind,
    eventId: `event-${serial}`,
    data: {
      order: {
        orderReference: reference,
        orderId: `order-${reference}`,
        customerId: `${channel.customerPrefix}${reference}`,
        isTokenizedCardPayment: 'true',
        amount: `${nairaOf(reference)}.00`,
        currency: 'NGN',
        customerEmail: `${reference.toLowerCase()}@example.com`,
      },
      transaction: { transactionId: `transaction-${reference}`, message: declinedWords },
    },
  });
  return { reference, channel: channel.id, isRepeat, body };
}
