import type { Lookup } from '../domain/alert.ts';
import type { Recovery } from '../domain/alert-card.ts';
import { growingDelayMs } from '../domain/growing-delay.ts';
import type { PaymentEvent } from '../domain/payment-event.ts';
import { StoreUnavailable } from '../domain/store-unavailable.ts';
import { newErrorId, type Log } from '../log.ts';
import type { Entry, Store } from '../store/store.ts';
import type { AlertCards } from './alert-cards.ts';
import {
  createFailureLists,
  isFindable,
  type FailureLists,
  type FailureListsDeps,
  type ListedFailure,
} from './failure-lists.ts';
import type { Sealer } from './outbox.ts';

export type AlertRecoveryDeps = FailureListsDeps & {
  store: Pick<Store, 'create' | 'read' | 'write'>;
  sealer: Sealer;
  cards: Pick<AlertCards, 'move'>;
  lookUp: (event: PaymentEvent) => Promise<Lookup>;
  now: () => number;
  log: Log;
};

/**
 * Finds the failures that a payment makes good, by the order reference or the customer that both events name.
 * A webhook proves nothing: a card is resolved only once the look-up has confirmed the payment.
 */
export type AlertRecovery = {
  /**
   * Called with every event before it is called received, however often it comes. Durable once it resolves;
   * throws StoreUnavailable, and the sender sends again. Of a failure nothing is stored here.
   */
  expect(event: PaymentEvent): Promise<void>;
  /**
   * Called before a failure is told, with what was just looked up of it: a later payment finds it, and one that
   * came first resolves it now, under the same reference alone. Throws StoreUnavailable alone.
   */
  linkFailure(event: PaymentEvent, lookup: Lookup, receivedAtMs: number): Promise<void>;
  /** For work of the prefix `paymentPrefix`. */
  work(entry: Entry): Promise<void>;
};

export const paymentPrefix = 'alert-payment:';

/** A payment as it is kept while failures are looked for, sealed. `unproven` counts the look-ups that did not confirm it. */
type Payment = { event: PaymentEvent; receivedAtMs: number; unproven: number };

/** By then a failure that came just before it is told, and listed. */
const lookAfterMs = 2_000;
const firstProofMs = 5_000;
const longestProofMs = 300_000;
const proofPatienceMs = 86_400_000;

export function createAlertRecovery(deps: AlertRecoveryDeps): AlertRecovery {
  const { store, sealer, log } = deps;
  const lists = createFailureLists(deps);

  return {
    async expect({ savedCard: _secret, ...event }) {
      if (event.kind !== 'payment_success' || !isFindable(event)) return;
      const key = paymentPrefix + event.key;
      const payment: Payment = { event, receivedAtMs: deps.now(), unproven: 0 };
      await store.create(key, sealer.seal(key, JSON.stringify(payment)), { delayMs: lookAfterMs });
    },

    async linkFailure(event, lookup, receivedAtMs) {
      try {
        // Listed first: a payment that is stored after the look below looks into the list after that.
        await lists.add(event, lookup, receivedAtMs);
        const paid = await store.read(paymentPrefix + paymentKey(event));
        if (!paid) return;
        const failure = { id: event.key, atMs: receivedAtMs };
        if (lookup.kind === 'confirmed') await resolve(deps, openPayment(sealer, paid), failure, lookup);
        // Its proof may come later. Lost: somebody is at it already.
        else await store.write(paid, paid.value, { delayMs: firstProofMs });
      } catch (error) {
        if (error instanceof StoreUnavailable) throw error;
        // An alert is told also when the key that names customers is gone.
        const errorId = newErrorId();
        log('error', 'a failure cannot be linked to its payments', { errorId, key: event.key }, error);
      }
    },

    async work(entry) {
      try {
        const payment = openPayment(sealer, entry);
        const failures = await lists.find(payment.event);
        const due = failures.filter((failure) => isMadeGood(payment, failure));
        const next = await holdAgainst(deps, payment, due, lists);
        const { delayMs } = next;
        const value = sealer.seal(entry.key, JSON.stringify(next.payment));
        await store.write(entry, value, delayMs === undefined ? { ttlMs: deps.rememberMs } : { delayMs });
      } catch (error) {
        if (error instanceof StoreUnavailable) throw error;
        const errorId = newErrorId();
        log('error', 'a payment cannot be held against failures', { errorId, key: entry.key }, error);
        await store.write(entry, entry.value, { delayMs: longestProofMs });
      }
    },
  };
}

/** When the payment is looked at again; without `delayMs`, never. */
type Next = { payment: Payment; delayMs: number | undefined };

async function holdAgainst(
  deps: AlertRecoveryDeps,
  payment: Payment,
  failures: readonly ListedFailure[],
  lists: FailureLists,
): Promise<Next> {
  if (failures.length > 0) {
    const lookup = await deps.lookUp(payment.event);
    if (lookup.kind !== 'confirmed') return unproven(payment, deps.now());
    for (const failure of failures) {
      // oxlint-disable-next-line no-await-in-loop -- seldom more than one
      await resolve(deps, payment, failure, lookup);
      // oxlint-disable-next-line no-await-in-loop
      await lists.remove(failure);
    }
  }
  return { payment, delayMs: undefined };
}

async function resolve(
  { cards, log }: AlertRecoveryDeps,
  { event, receivedAtMs }: Payment,
  failure: Pick<ListedFailure, 'id' | 'atMs'>,
  lookup: Extract<Lookup, { kind: 'confirmed' }>,
): Promise<void> {
  const payment: Recovery = {
    reference: lookup.transaction.orderReference ?? event.orderReference ?? '',
    isSameReference: failure.id === failureKey(event),
    money: lookup.money,
    afterMs: receivedAtMs - failure.atMs,
  };
  const { kind: result } = await cards.move(failure.id, { kind: 'recover', payment });
  log('info', 'a payment was held against a failure', { key: failure.id, result });
}

/** Throws when it is sealed with a key that is not here. */
function openPayment(sealer: Sealer, entry: Entry): Payment {
  return JSON.parse(sealer.open(entry.key, entry.value)) as Payment;
}

/** A payment of the same order makes its failure good whenever it came; another of the customer only when it came later. */
function isMadeGood({ event, receivedAtMs }: Payment, failure: ListedFailure): boolean {
  return failure.id === failureKey(event) || receivedAtMs >= failure.atMs;
}

function unproven(payment: Payment, nowMs: number): Next {
  const next = { ...payment, unproven: payment.unproven + 1 };
  if (nowMs - payment.receivedAtMs >= proofPatienceMs) return { payment: next, delayMs: undefined };
  return { payment: next, delayMs: growingDelayMs(firstProofMs, payment.unproven, longestProofMs) };
}

/** The key of the other event of the same order: both are made of kind and order alike. */
function failureKey({ key }: PaymentEvent): string {
  return key.replace(/^payment_success(?=[/:])/, 'payment_failed');
}

function paymentKey({ key }: PaymentEvent): string {
  return key.replace(/^payment_failed(?=[/:])/, 'payment_success');
}
