import { hash as digestOf } from 'node:crypto';
import { recordOf, type Lookup } from '../../domain/alert.ts';
import { endsCard, type OtherPayment, type Recovery } from '../../domain/alert-card.ts';
import { orderEventKey } from '../../domain/event-key.ts';
import { growingDelayMs } from '../../domain/growing-delay.ts';
import type { PaymentEvent } from '../../domain/payment-event.ts';
import { StoreUnavailable } from '../../domain/store-unavailable.ts';
import { newErrorId, type Log } from '../../log.ts';
import type { Entry, Store } from '../../store/store.ts';
import type { AlertCards } from './alert-cards.ts';
import {
  createEventLists,
  distinct,
  term,
  termsOf,
  termsOfRecord,
  type EventLists,
  type EventListsDeps,
  type ListedEvent,
  type Term,
} from './event-lists.ts';
import { createChangeRecord, makeDue, type ChangeRecord } from '../work/change-record.ts';
import { moneyOfFailure } from './failed-money.ts';
import type { Sealer } from '../../domain/sealer.ts';

export type AlertRecoveryDeps = EventListsDeps & {
  store: Pick<Store, 'create' | 'read' | 'write'>;
  sealer: Sealer;
  cards: Pick<AlertCards, 'read' | 'find' | 'move' | 'tellOther'>;
  lookUp: (event: PaymentEvent) => Promise<Lookup>;
  /** The fingerprint of the card that the bot itself charged under this reference; undefined: it did not. */
  chargedCard: (reference: string) => Promise<string | undefined>;
  now: () => number;
  log: Log;
};

/**
 * Finds the failures that a payment makes good, by the order, the customer or the card that both events have. A
 * webhook proves nothing: a card is resolved only once the look-up has confirmed the payment. One of another
 * order resolves it when it is of the failed amount, and is told in the card's thread when it is not. A payment whose
 * event names no customer is looked up once, for its record names one.
 */
export type AlertRecovery = {
  /**
   * Called with every event before it is called received, however often it comes. Durable once it resolves;
   * throws StoreUnavailable, and the sender sends again. Of a failure nothing is stored by this.
   */
  expect(event: PaymentEvent): Promise<void>;
  /**
   * Called before a failure is told, with what was just looked up of it: a later payment finds it, and so does one
   * that came since, while nothing could be told. Of those that came before it, one under the same reference
   * resolves it now. Throws StoreUnavailable alone.
   */
  linkFailure(event: PaymentEvent, lookup: Lookup, receivedAtMs: number): Promise<void>;
  /** For work of the prefix `paymentPrefix`. */
  work(entry: Entry): Promise<void>;
};

export const paymentPrefix = 'alert-payment:';

/**
 * A payment as it is kept while failures are looked for, sealed; or a failure of which nobody knows yet whose it is.
 * `unproven` counts the look-ups that did not confirm it;
 * `named`: what its record said of the customer, where the event names none and the record was seen.
 */
type Payment = { event: PaymentEvent; receivedAtMs: number; unproven: number; named?: readonly Term[] };

/** By then a failure that came just before it is told, and listed. */
const lookAfterMs = 2_000;
const firstProofMs = 5_000;
const longestProofMs = 300_000;
const proofPatienceMs = 86_400_000;
/** What the service does not know is asked about so often for its customer alone: some two minutes. */
const mostUnknown = 5;
/** Fewer than the worker's loops: however many payments are to be looked up, and however slowly, alerts go on. */
const lookUpLanes = 2;

type Linking = AlertRecoveryDeps & {
  failures: EventLists;
  payments: EventLists;
  changeRecord: ChangeRecord;
};

export function createAlertRecovery(deps: AlertRecoveryDeps): AlertRecovery {
  const { store, sealer, log } = deps;
  const linking: Linking = {
    ...deps,
    failures: createEventLists(deps, 'failures'),
    payments: createEventLists(deps, 'payments'),
    changeRecord: createChangeRecord(store),
  };

  return {
    async expect(received) {
      if (received.kind !== 'payment_success') return;
      const { savedCard: _secret, ...event } = received;
      if (termsOf(event).length === 0 && event.referenceHint === undefined) return;
      const key = paymentPrefix + event.key;
      const payment: Payment = { event, receivedAtMs: deps.now(), unproven: 0 };
      const due = {
        delayMs: lookAfterMs,
        ...(isNameless(termsOf(event)) ? { lane: laneOf(event.key) } : {}),
      };
      await store.create(key, sealer.seal(key, JSON.stringify(payment)), due);
    },

    async linkFailure(event, lookup, receivedAtMs) {
      try {
        await link(linking, event, lookup, receivedAtMs);
      } catch (error) {
        if (error instanceof StoreUnavailable) throw error;
        // An alert is told also when the key that names customers is gone.
        const errorId = newErrorId();
        log('error', 'a failure cannot be linked to its payments', { errorId, key: event.key }, error);
      }
    },

    async work(entry) {
      const payment = openPayment(sealer, entry);
      const isFailure = payment.event.kind === 'payment_failed';
      const next = await (isFailure ? nameFailure : holdAgainstFailures)(linking, payment);
      const { delayMs } = next;
      const value = sealer.seal(entry.key, JSON.stringify(next.payment));
      // Of a failure nothing is kept but its lists.
      const ttlMs = isFailure ? 0 : deps.rememberMs;
      await store.write(entry, value, delayMs === undefined ? { ttlMs } : { delayMs });
    },
  };
}

/**
 * A failure and a payment each list themselves before they look for the other, so that one of the two finds it,
 * however long the failure could not be told.
 */
async function link(
  linking: Linking,
  event: PaymentEvent,
  lookup: Lookup,
  receivedAtMs: number,
): Promise<void> {
  const { cards, store, sealer, failures, payments } = linking;
  if (endsCard((await cards.read(event.key)).card)) return;
  const terms = distinct([...(await termsOfEvent(linking, event)), ...termsOfRecord(lookup)]);
  await failures.add(terms, { id: event.key, atMs: receivedAtMs });
  if (isNameless(terms) && mayBeNamed(lookup, 0)) await nameLater(linking, event, receivedAtMs);
  const paid = await store.read(paymentPrefix + paymentKey(event));
  if (paid && lookup.kind === 'confirmed') {
    const failure = { id: event.key, atMs: receivedAtMs, by: [] };
    return await resolve(linking, openPayment(sealer, paid), failure, lookup);
  }
  const found = await payments.find(terms);
  const since = found.filter((payment) => isOfOrder(payment) || payment.atMs >= receivedAtMs);
  const ofOrder = terms.filter(isOrder).map(({ text }) => orderEventKey('payment_success', text));
  const ids = new Set([paymentKey(event), ...ofOrder, ...since.map(({ id }) => id)]);
  await Promise.all([...ids].map((id) => lookAgain(linking, id)));
}

function isOrder({ what }: Term): boolean {
  return what === 'reference';
}

/** It was found by its order, whatever else it has in common. */
function isOfOrder({ by }: ListedEvent): boolean {
  return by.some(isOrder);
}

function isSameOrder(event: PaymentEvent, failure: ListedEvent): boolean {
  return failure.id === failureKey(event) || isOfOrder(failure);
}

/** Its proof may come later; and whoever has it in hand may have looked before the failure was listed. */
function lookAgain({ changeRecord }: Linking, paymentId: string): Promise<void> {
  return makeDue(changeRecord, paymentPrefix + paymentId, firstProofMs);
}

/** The service did not say whose it is, or does not show it yet. Kept beside the payments, and looked up as one that names nobody is. */
async function nameLater(
  { store, sealer }: Linking,
  event: PaymentEvent,
  receivedAtMs: number,
): Promise<void> {
  const key = paymentPrefix + event.key;
  const failure: Payment = { event, receivedAtMs, unproven: 0 };
  const due = { delayMs: firstProofMs, lane: laneOf(event.key) };
  await store.create(key, sealer.seal(key, JSON.stringify(failure)), due);
}

/** Lists a failure by the customer that its record names; the payments that came since are held against it then. */
async function nameFailure(linking: Linking, failure: Payment): Promise<Next> {
  const { event, receivedAtMs } = failure;
  const lookup = await linking.lookUp(event);
  if (mayBeNamed(lookup, failure.unproven)) return unproven(failure, linking.now());
  await link(linking, event, lookup, receivedAtMs);
  return { payment: failure, delayMs: undefined };
}

async function termsOfEvent({ chargedCard }: Linking, event: PaymentEvent): Promise<Term[]> {
  const { orderReference } = event;
  const card = orderReference === undefined ? undefined : await chargedCard(orderReference);
  return distinct([...termsOf(event), ...term('card', card)]);
}

/** When the payment is looked at again; without `delayMs`, never. */
type Next = { payment: Payment; delayMs: number | undefined };

/** Without a customer nothing but its own order ties a payment to a failure. */
function isNameless(terms: readonly Term[]): boolean {
  return !terms.some(({ what }) => what === 'customer' || what === 'email');
}

function laneOf(key: string): string {
  return `alert-payment-named/${parseInt(digestOf('sha256', key, 'hex').slice(0, 2), 16) % lookUpLanes}`;
}

async function holdAgainstFailures(linking: Linking, received: Payment): Promise<Next> {
  const { payment, terms, asked } = await nameCustomer(linking, received);
  const { event, receivedAtMs } = payment;
  // By a reference of its own it is found without a list.
  const own = term('reference', event.orderReference);
  const listed = terms.filter((one) => !isOrder(one) || one.text !== own[0]?.text);
  await linking.payments.add(listed, { id: event.key, atMs: receivedAtMs });
  const found = await linking.failures.find(terms);
  const failures = found.filter((failure) => mayMakeGood(payment, failure));
  const done = { payment, delayMs: undefined };
  if (failures.length === 0)
    return mayBeNamed(asked, payment.unproven) ? unproven(payment, linking.now()) : done;
  const lookup = asked ?? (await linking.lookUp(event));
  if (lookup.kind !== 'confirmed') return unproven(payment, linking.now());
  let isSettled = true;
  for (const failure of failures) {
    // oxlint-disable-next-line no-await-in-loop -- seldom more than one
    if (!(await settle(linking, payment, failure, lookup))) isSettled = false;
  }
  return isSettled ? done : unproven(payment, linking.now());
}

/** `asked`: the look-up that was made for it; once its record was seen, no further one is. */
async function nameCustomer(
  linking: Linking,
  payment: Payment,
): Promise<{ payment: Payment; terms: Term[]; asked: Lookup | undefined }> {
  const own = await termsOfEvent(linking, payment.event);
  const { named = [] } = payment;
  if (payment.named || !isNameless(own))
    return { payment, terms: distinct([...own, ...named]), asked: undefined };
  const asked = await linking.lookUp(payment.event);
  if (!recordOf(asked)) return { payment, terms: own, asked };
  const found = termsOfRecord(asked);
  return { payment: { ...payment, named: found }, terms: distinct([...own, ...found]), asked };
}

/** Whether a later look-up may say who the customer is. */
function mayBeNamed(asked: Lookup | undefined, times: number): boolean {
  return asked?.kind === 'unchecked' || (asked?.kind === 'not_found' && times < mostUnknown);
}

type Confirmed = Extract<Lookup, { kind: 'confirmed' }>;

/** False when the service could not be asked for what failed. */
async function settle(
  linking: Linking,
  payment: Payment,
  failure: ListedEvent,
  lookup: Confirmed,
): Promise<boolean> {
  const verdict = await judge(linking, payment, failure, lookup);
  if (verdict === 'unchecked') return false;
  if (verdict === 'made_good') {
    await resolve(linking, payment, failure, lookup);
    await linking.failures.remove(failure);
    return true;
  }
  const told: OtherPayment = { ...recoveryOf(payment, failure, lookup), why: verdict };
  await linking.cards.tellOther(failure.id, told);
  return true;
}

/** Another order makes a failure good by the same amount alone: an alert that is wrongly resolved is read by nobody. */
async function judge(
  { cards, lookUp }: Linking,
  payment: Payment,
  failure: ListedEvent,
  { money }: Confirmed,
): Promise<'made_good' | 'unchecked' | OtherPayment['why']> {
  if (isSameOrder(payment.event, failure)) return 'made_good';
  const alert = await cards.find(failure.id);
  // Forgotten: it is taken off the lists.
  if (!alert) return 'made_good';
  const failed = await moneyOfFailure(lookUp, alert);
  if (failed === 'unchecked') return failed;
  if (!failed) return 'amount_unknown';
  return failed.minor === money.minor && failed.currency === money.currency ? 'made_good' : 'amount_differs';
}

async function resolve(
  { cards, log }: Linking,
  payment: Payment,
  failure: ListedEvent,
  lookup: Confirmed,
): Promise<void> {
  const move = { kind: 'recover', payment: recoveryOf(payment, failure, lookup) } as const;
  const { kind: result } = await cards.move(failure.id, move);
  log('info', 'a payment was held against a failure', { key: failure.id, result });
}

function recoveryOf({ event, receivedAtMs }: Payment, failure: ListedEvent, lookup: Confirmed): Recovery {
  const isSameReference = isSameOrder(event, failure);
  const isByCardAlone = failure.by.length > 0 && failure.by.every(({ what }) => what === 'card');
  return {
    reference: lookup.transaction.orderReference ?? event.orderReference ?? '',
    isSameReference,
    ...(isByCardAlone && !isSameReference ? { isSameCard: true } : {}),
    money: lookup.money,
    afterMs: receivedAtMs - failure.atMs,
  };
}

/** Throws when it is sealed with a key that is not here. */
function openPayment(sealer: Sealer, entry: Entry): Payment {
  return JSON.parse(sealer.open(entry.key, entry.value)) as Payment;
}

/** A payment of the same order makes its failure good whenever it came; another only when it came later. */
function mayMakeGood({ event, receivedAtMs }: Payment, failure: ListedEvent): boolean {
  return isSameOrder(event, failure) || receivedAtMs >= failure.atMs;
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
