import { hash as digestOf } from 'node:crypto';
import { recordOf, type Lookup } from '../../domain/alert.ts';
import { endsCard, type OtherPayment, type Recovery } from '../../domain/alert-card.ts';
import { orderEventKey } from '../../domain/event-key.ts';
import { growingDelayMs } from '../../domain/growing-delay.ts';
import type { Money } from '../../domain/money.ts';
import type { PaymentEvent } from '../../domain/payment-event.ts';
import { StoreUnavailable } from '../../domain/store-unavailable.ts';
import { withoutUndefined } from '../../domain/without-undefined.ts';
import { newErrorId, type Log } from '../../log.ts';
import type { Entry, Store } from '../../store/store.ts';
import type { AlertCards } from './alert-cards.ts';
import { firstAlert, type BotCharge, type ChargeOf } from './alert-claims.ts';
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
import { createChangeRecord, makeDue, type ChangeRecord } from '../../records/change-record.ts';
import { moneyOfFailure } from './failed-money.ts';
import type { Sealer } from '../../domain/sealer.ts';

export type AlertRecoveryDeps = EventListsDeps & {
  sealer: Sealer;
  cards: Pick<AlertCards, 'read' | 'find' | 'move' | 'tellOther'>;
  lookUp: (event: PaymentEvent) => Promise<Lookup>;
  chargeOf: ChargeOf;
  now: () => number;
  log: Log;
};

/**
 * Resolves alerts by payments. A payment that is of a failed order, or was charged from its alert, resolves that alert
 * alone. Any other resolves those of the same customer or card and the same amount that came before it. What it does
 * not resolve is told in the alert's thread. A webhook proves nothing: the look-up, or the bot's own charge, does.
 */
export type AlertRecovery = {
  /**
   * Called with every event before it is called received, or as the work of one that is told nowhere; the same however
   * often. Durable once it resolves; throws StoreUnavailable. Of a failure nothing is stored by this.
   */
  expect(event: PaymentEvent, receivedAtMs: number): Promise<void>;
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

type Proof = { reference: string; money: Money };

/**
 * A payment as it is kept while failures are looked for, sealed. `unproven` counts the look-ups that did not confirm
 * it; `named`: what its record said of the customer, where the event names none and the record was seen; `hasOwn`: it
 * has resolved the alert it belongs to, and resolves no other.
 */
type Payment = {
  event: PaymentEvent;
  receivedAtMs: number;
  unproven: number;
  named?: readonly Term[];
  proof?: Proof;
  hasOwn?: true;
};

/** `isOwn`: the payment is of its order, or was charged again for it. */
type Failure = ListedEvent & { isOwn: boolean };

/** By then a failure that came just before it is told, and listed. */
const lookAfterMs = 2_000;
const firstProofMs = 5_000;
const longestProofMs = 300_000;
const proofPatienceMs = 86_400_000;
/** What the service does not know is asked about so often for its customer alone: some two minutes. */
const mostUnknown = 5;
/** Fewer than the worker's loops: however many payments are to be looked up, and however slowly, alerts go on. */
const lookUpLanes = 2;

/** A charge or link of the bot's own that is proven paid. */
export type ProvenPayment = {
  reference: string;
  money: Money;
  customerEmail: string;
  customerId?: string | undefined;
  /** When it was proven. */
  atMs: number;
};

/**
 * Holds it against the failures as if its event had come, which may be lost. Durable once it resolves, and again is the
 * same as once. Throws StoreUnavailable.
 */
export async function keepProvenPayment(
  { store, sealer }: Pick<AlertRecoveryDeps, 'sealer'> & { store: Pick<Store, 'create'> },
  { reference, money, customerEmail, customerId, atMs }: ProvenPayment,
): Promise<void> {
  const event: PaymentEvent = {
    kind: 'payment_success',
    // Its event, if it comes, is kept under a key of its own: it may name more.
    key: provenKey(reference),
    orderReference: reference,
    customerEmail,
    ...withoutUndefined({ customerId }),
  };
  const payment: Payment = { event, receivedAtMs: atMs, unproven: 0, proof: { reference, money } };
  const key = paymentPrefix + event.key;
  await store.create(key, sealer.seal(key, JSON.stringify(payment)), { delayMs: 0 });
}

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
    async expect(received, receivedAtMs) {
      if (received.kind !== 'payment_success') return;
      const { savedCard: _secret, ...event } = received;
      if (termsOf(event).length === 0 && event.referenceHint === undefined) return;
      const key = paymentPrefix + event.key;
      const payment: Payment = { event, receivedAtMs, unproven: 0 };
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
      const { payment, delayMs } = await holdAgainstFailures(linking, openPayment(sealer, entry));
      const value = sealer.seal(entry.key, JSON.stringify(payment));
      await store.write(entry, value, delayMs === undefined ? { ttlMs: deps.rememberMs } : { delayMs });
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
  const paid = await store.read(paymentPrefix + paymentKey(event));
  const proof = proofOf(event, lookup);
  if (paid && proof) {
    const own = { id: event.key, atMs: receivedAtMs, by: [], isOwn: true };
    return await resolve(linking, openPayment(sealer, paid), own, proof);
  }
  const found = await payments.find(terms);
  const since = found.filter((payment) => isOfOrder(payment) || payment.atMs >= receivedAtMs);
  const ofOrder = terms
    .filter(isOrder)
    .flatMap(({ text }) => [orderEventKey('payment_success', text), provenKey(text)]);
  const ids = new Set([paymentKey(event), ...ofOrder, ...since.map(({ id }) => id)]);
  // Its proof may come later; and whoever has it in hand may have looked before the failure was listed.
  await Promise.all([...ids].map((id) => makeDue(linking.changeRecord, paymentPrefix + id, firstProofMs)));
}

function isOrder({ what }: Term): boolean {
  return what === 'reference';
}

/** It was found by its order, whatever else it has in common. */
function isOfOrder({ by }: ListedEvent): boolean {
  return by.some(isOrder);
}

async function termsOfEvent(linking: Linking, event: PaymentEvent): Promise<Term[]> {
  return distinct([...termsOf(event), ...term('card', (await chargeOfEvent(linking, event))?.card)]);
}

async function chargeOfEvent(
  { chargeOf }: Linking,
  { orderReference }: PaymentEvent,
): Promise<BotCharge | undefined> {
  return orderReference === undefined ? undefined : await chargeOf(orderReference);
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
  const failures = await failuresOf(linking, payment, terms);
  const done = { payment, delayMs: undefined };
  if (failures.length === 0)
    return mayBeNamed(asked, payment.unproven) ? unproven(payment, linking.now()) : done;
  const proof = payment.proof ?? proofOf(event, asked ?? (await linking.lookUp(event)));
  if (!proof) return unproven(payment, linking.now());
  const hasOwn = payment.hasOwn || failures.some(({ isOwn }) => isOwn);
  const held: Payment = { ...payment, ...(hasOwn ? { hasOwn } : {}) };
  let isSettled = true;
  for (const failure of failures) {
    // oxlint-disable-next-line no-await-in-loop -- seldom more than one
    if (!(await settle(linking, held, failure, proof))) isSettled = false;
  }
  return isSettled ? { ...done, payment: held } : unproven(held, linking.now());
}

/** Those it may resolve: its own, whenever that came, and those of the same customer or card that came before it. */
async function failuresOf(
  linking: Linking,
  { event, receivedAtMs }: Payment,
  terms: readonly Term[],
): Promise<Failure[]> {
  // Where the event's own is not signed, its record's.
  const reference = terms.find(isOrder)?.text;
  const alert = reference === undefined ? undefined : (await linking.chargeOf(reference))?.alert;
  const first = await firstAlert(linking, alert ?? failureKey(event, reference));
  const found = await Promise.all(
    (await linking.failures.find(terms)).map(async (failure): Promise<Failure> => {
      const isOwn = isOfOrder(failure) || (await firstAlert(linking, failure.id)) === first;
      return { ...failure, isOwn };
    }),
  );
  // Its own may not be told yet, and so on no list, or be resolved and on none any more.
  if (!found.some(({ id }) => id === first)) {
    const own = await linking.cards.find(first);
    const atMs = own?.receivedAtMs ?? receivedAtMs;
    if (own || alert !== undefined) found.push({ id: first, atMs, by: [], isOwn: true });
  }
  return found.filter(({ isOwn, atMs }) => isOwn || receivedAtMs >= atMs);
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

function proofOf({ orderReference }: PaymentEvent, lookup: Lookup): Proof | undefined {
  if (lookup.kind !== 'confirmed') return undefined;
  const { money, transaction } = lookup;
  return { reference: transaction.orderReference ?? orderReference ?? '', money };
}

/** False when the service could not be asked for what failed. */
async function settle(linking: Linking, payment: Payment, failure: Failure, proof: Proof): Promise<boolean> {
  const verdict = await judge(linking, payment, failure, proof);
  if (verdict === 'unchecked') return false;
  if (verdict === 'resolves') {
    await resolve(linking, payment, failure, proof);
    await linking.failures.remove(failure.id);
  } else {
    await linking.cards.tellOther(failure.id, { ...recoveryOf(payment, failure, proof), why: verdict });
  }
  return true;
}

/** Another order resolves it by the same amount alone, and only where it has no failure of its own: one payment is not for two. */
async function judge(
  { cards, lookUp }: Linking,
  { hasOwn }: Payment,
  failure: Failure,
  { money }: Proof,
): Promise<'resolves' | 'unchecked' | OtherPayment['why']> {
  if (failure.isOwn) return 'resolves';
  const alert = await cards.find(failure.id);
  // Forgotten: it is listed no more.
  if (!alert) return 'resolves';
  const failed = await moneyOfFailure(lookUp, alert);
  if (failed === 'unchecked') return failed;
  if (!failed) return 'amount_unknown';
  if (failed.minor !== money.minor || failed.currency !== money.currency) return 'amount_differs';
  return hasOwn ? 'other_order' : 'resolves';
}

async function resolve(
  { cards, log }: Linking,
  payment: Payment,
  failure: Failure,
  proof: Proof,
): Promise<void> {
  const move = { kind: 'recover', payment: recoveryOf(payment, failure, proof) } as const;
  const { kind: result } = await cards.move(failure.id, move);
  log('info', 'a payment was held against a failure', { key: failure.id, result });
}

function recoveryOf(
  { event, receivedAtMs }: Payment,
  { id, atMs, by, isOwn }: Failure,
  proof: Proof,
): Recovery {
  const isSameReference = id === failureKey(event, proof.reference) || isOfOrder({ id, atMs, by });
  const isByCardAlone = by.length > 0 && by.every(({ what }) => what === 'card');
  return {
    ...proof,
    isSameReference,
    ...(isOwn && !isSameReference ? { isChargedAgain: true } : {}),
    ...(isByCardAlone && !isOwn ? { isSameCard: true } : {}),
    afterMs: receivedAtMs - atMs,
  };
}

/** Throws when it is sealed with a key that is not here. */
function openPayment(sealer: Sealer, entry: Entry): Payment {
  return JSON.parse(sealer.open(entry.key, entry.value)) as Payment;
}

function unproven(payment: Payment, nowMs: number): Next {
  const next = { ...payment, unproven: payment.unproven + 1 };
  if (nowMs - payment.receivedAtMs >= proofPatienceMs) return { payment: next, delayMs: undefined };
  return { payment: next, delayMs: growingDelayMs(firstProofMs, payment.unproven, longestProofMs) };
}

function provenKey(reference: string): string {
  return `proven/${reference}`;
}

/** The key of the other event of the same order, if both name it alike. */
function failureKey({ key }: PaymentEvent, reference: string | undefined): string {
  const isByOrder = key.startsWith('payment_success/order');
  if (!isByOrder && reference !== undefined) return orderEventKey('payment_failed', reference);
  return key.replace(/^payment_success(?=[/:])/, 'payment_failed');
}

function paymentKey({ key }: PaymentEvent): string {
  return key.replace(/^payment_failed(?=[/:])/, 'payment_success');
}
