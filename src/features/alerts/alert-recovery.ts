import type { Account } from '../../account.ts';
import type { BotCharge, Lookup, ProvenPayment, Recovery } from '../../domain/alert.ts';
import { StoreUnavailable } from '../../domain/failure.ts';
import { isSameMoney, type Money } from '../../domain/money.ts';
import { orderEventKey, type PaymentEvent } from '../../domain/payment-event.ts';
import { moneyToTake, type Transaction } from '../../domain/transaction.ts';
import { withoutUndefined } from '../../domain/json.ts';
import { newErrorId } from '../../log.ts';
import { alertKey, findMessageRecord } from '../../messages/message-record.ts';
import type { AlertCases, FoundAlert } from './alert-cases.ts';
import {
  type Alone,
  type CaseEvent,
  type FailureListing,
  type Payment,
  type Proof,
  listFailure,
  paymentCase,
  untouched,
} from './event-case.ts';
import { isEnded, moneyOfFailure, outcomeAlone, recordOfOrder, withProvenOrder } from './alert.ts';

/** A failure that a payment may resolve. */
type Failure = {
  id: string;
  atMs: number;
  /** It names the payment's order. */
  isOfOrder: boolean;
  /** It names the payment's order, or the payment was charged again from its alert. */
  isOwn: boolean;
  /** False for the alert of a charge that was begun from another alert. */
  isFirst: boolean;
  /** It names the payment's order unsigned: only a look-up can make it the payment's own. */
  isHinted: boolean;
  hasSameCustomer: boolean;
  /** That look-up had no answer. */
  isUnchecked?: true;
};

/** Flags of a payment's own failure that is found by its key. */
const ownByKey = {
  isOfOrder: false,
  isOwn: true,
  isFirst: true,
  isHinted: false,
  hasSameCustomer: false,
};

/** Where people see the failure: in storms' digests, or in a message of its own. */
type ShownBy = Pick<FailureListing, 'storms' | 'post'>;

/** Whom a payment link is for, and what it takes. */
type LinkFor = { customerEmail: string; customerId?: string; money: Money };

type LookUp = (event: PaymentEvent) => Promise<Lookup>;

type ChargeOf = (reference: string) => Promise<BotCharge | undefined>;

/** Delay of a payment's first search: a failure that came just before it is listed by then. */
const lookAfterMs = 2_000;

export type AlertRecovery = ReturnType<typeof createAlertRecovery>;

/**
 * Resolves alerts by payments, once the look-up or the bot's own charge proves the payment. A payment resolves the alert of
 * its own order, or the one it was charged from. If there is none, it resolves the earlier alerts of the same customer or card
 * with the same amount. Other alerts of that customer get a note about it in their thread.
 *
 * They find each other by lists, one for each order, customer and card. A payment searches those lists for failures (`search`);
 * a failure has the payments on its lists search again (`matchFailure`). Each lists itself first, so one finds the other.
 */
export function createAlertRecovery(
  account: Pick<Account, 'store' | 'fingerprint' | 'log' | 'now'>,
  alerts: Pick<AlertCases, 'cases' | 'find' | 'move' | 'firstAlert'>,
  lookUp: LookUp,
  chargeOf: ChargeOf,
) {
  const { log } = account;
  const { cases } = alerts;
  const lists = createLists(account, alerts, chargeOf);

  /**
   * Called before a failure is posted or counted by a digest, with its look-up. Lists the failure: later payments find it. A
   * payment of its own order resolves it now; others search again. Throws only StoreUnavailable.
   */
  async function matchFailure(
    event: PaymentEvent,
    lookup: Lookup,
    receivedAtMs: number,
    shownBy: ShownBy = {},
  ): Promise<void> {
    try {
      const listing = await lists.listingOf(event, lookup, receivedAtMs);
      const hasEnded = await storeListing(event.key, { ...listing, ...shownBy });
      if (!hasEnded) await findPayments(event, lookup, receivedAtMs);
    } catch (error) {
      if (error instanceof StoreUnavailable) throw error;
      // Tell the alert and call people even if the key that hashes customers is gone.
      const about = { errorId: newErrorId(), key: event.key };
      log('error', 'a failure cannot be linked to its payments', about, error);
      await storeListing(event.key, { atMs: receivedAtMs, lists: [], ...shownBy });
    }
  }

  /** Returns whether the alert has ended. */
  async function storeListing(id: string, listing: FailureListing): Promise<boolean> {
    const first = untouched(id);
    if (await cases.create(id, listFailure(first, listing, account.now()) ?? first)) return false;
    const known = await cases.apply(id, { kind: 'failure_listed', ...listing });
    return known !== undefined && isEnded(known.state.card);
  }

  /** Resolves the failure if its order is paid by now; else has the payments that may resolve it search again. */
  async function findPayments(event: PaymentEvent, lookup: Lookup, receivedAtMs: number): Promise<void> {
    const successKey = event.key.replace(/^payment_failed(?=[/:])/, 'payment_success');
    const proof = proofOf(event, lookup);
    const paid = proof && (await cases.find(successKey))?.payment;
    if (paid) {
      const failure = { id: event.key, atMs: receivedAtMs, ...ownByKey };
      return await resolve(failure, recoveryOf(paid, failure, proof));
    }
    const record = recordOfOrder(lookup);
    const { hints, customers } = await lists.termsOf(event, record);
    const ofCustomer = await lists.paymentsOf(customers);
    const later = ofCustomer.filter((payment) => payment.receivedAtMs >= receivedAtMs);
    const references = [event.orderReference, record?.orderReference, event.referenceHint].flatMap(
      (one) => one?.trim() || [],
    );
    const ids = new Set([
      successKey,
      ...references.flatMap((one) => [orderEventKey('payment_success', one), provenKey(one)]),
      ...[...later, ...(await lists.paymentsOf(hints))].map((payment) => payment.event.key),
    ]);
    // Each may have searched before this failure was listed.
    await Promise.all([...ids].map((id) => cases.apply(id, { kind: 'asked' })));
  }

  /**
   * Stores a success, which later searches for failures. Idempotent. `alone`: no message stores the event, so this record
   * is its dedupe memory. False: it was stored before. Throws StoreUnavailable.
   */
  function addPayment(
    { savedCard: _secret, ...event }: PaymentEvent,
    receivedAtMs: number,
    alone?: Alone,
  ): Promise<boolean> {
    const { orderReference, referenceHint, transactionId, customerId, customerEmail } = event;
    // Without order, transaction and customer it can't match a failure.
    const canMatch =
      termsFor('', orderReference, referenceHint, transactionId, customerId, customerEmail).length > 0;
    const payment = { event, receivedAtMs, ...(alone && { alone }) };
    return cases.create(event.key, paymentCase(payment, canMatch ? account.now() + lookAfterMs : undefined));
  }

  /**
   * Stores a proven payment of the bot's own, because its event may be lost. Idempotent; the search is work for a worker.
   * Throws StoreUnavailable.
   */
  async function addOwnPayment(proven: ProvenPayment): Promise<void> {
    const payment = paymentOf(proven);
    await cases.create(payment.event.key, paymentCase(payment, account.now()));
  }

  /** Lists the payment under all its terms, then searches for failures. A signed order needs no list. */
  async function search(payment: Payment): Promise<CaseEvent> {
    const { hints, customers } = await lists.termsOf(eventOf(payment));
    const names = await lists.namesOf('payments', [...hints, ...customers]);
    const isListed = names.every((list) => payment.lists.includes(list));
    return isListed ? await searchFailures(payment) : { kind: 'payment_listed', lists: names };
  }

  async function searchFailures(found: Payment): Promise<CaseEvent> {
    const { asked } = found;
    const candidates = await lists.failuresOf(found);
    if (candidates.length === 0) return { kind: 'searched', asked, isSettled: true };
    const { proof, provenReference, lookup } = await prove(lookUp, found);
    if (!proof) return { kind: 'searched', asked, isSettled: false, provenReference };
    const payment = { ...found, ...withoutUndefined({ provenReference }) };
    // The order that is proven only now may have failed too.
    const named = provenReference === undefined ? candidates : await lists.failuresOf(payment);
    const failures = await Promise.all(named.map((failure) => checkHint(failure, proof)));
    const hasOwn = failures.some(({ isOwn }) => isOwn) || found.hasOwn;
    let isSettled = true;
    for (const failure of failures) {
      if (!(await settle(payment, failure, { proof, hasOwn }))) isSettled = false;
    }
    const evidence = lookup && { lookup, atMs: account.now() };
    return { kind: 'searched', asked, isSettled, provenReference, hasOwn, evidence };
  }

  /** Looks up a hinted failure, and makes it the payment's own if that proves the same order. */
  async function checkHint(failure: Failure, proof: Proof): Promise<Failure> {
    if (failure.isOwn || !failure.isHinted) return failure;
    const alert = await alerts.find(failure.id);
    if (!alert) return failure;
    const { event, receivedAtMs } = alert;
    const lookup = await lookUp(event);
    if (lookup.kind === 'unchecked') return { ...failure, isUnchecked: true };
    if (recordOfOrder(lookup)?.orderReference !== proof.reference) return failure;
    const listing = await lists.listingOf(event, lookup, receivedAtMs);
    await cases.apply(failure.id, { kind: 'failure_listed', ...listing });
    // Removed details don't return.
    const evidence = { lookup: event.isErased ? outcomeAlone(lookup) : lookup, atMs: account.now() };
    await cases.applyAndWake(failure.id, { kind: 'looked_up', evidence });
    const isFirst = (await alerts.firstAlert(failure.id)) === failure.id;
    return { ...failure, isOfOrder: true, isOwn: true, isFirst };
  }

  /** Resolves the failure, tells its alert of the payment, or does nothing. False: the service gave no answer. */
  async function settle(
    payment: Payment,
    failure: Failure,
    { proof, hasOwn }: { proof: Proof; hasOwn: true | undefined },
  ): Promise<boolean> {
    if (failure.isUnchecked) return false;
    const recovery = recoveryOf(payment, failure, proof);
    if (!failure.isOwn) {
      const alert = failure.hasSameCustomer ? await alerts.find(failure.id) : undefined;
      if (!alert) return true;
      const failed = await failedMoney(lookUp, alert);
      if (failed === 'unchecked') return false;
      if (hasOwn || !isSameMoney(failed, proof.money)) {
        await cases.applyAndWake(failure.id, { kind: 'paid_otherwise', payment: recovery });
        return true;
      }
    }
    await resolve(failure, recovery);
    return true;
  }

  async function resolve({ id, isFirst }: Failure, payment: Recovery): Promise<void> {
    const moved = await alerts.move(id, { kind: 'recover', payment });
    log('info', 'a payment was matched with a failure', { key: id, result: moved.kind });
    if (!isFirst || moved.kind !== 'refused' || !isEnded(moved.state)) return;
    // Something else had ended it: there may be two payments for one failure.
    const { state } = moved;
    const other = state.kind === 'recovered' ? [state.payment.reference] : [];
    const charges = await Promise.all([payment.reference, ...other].map(chargeOf));
    const people = [...new Set(charges.flatMap((charge) => charge?.agent ?? []))];
    await cases.applyAndWake(id, { kind: 'paid_again', payment, people });
  }

  const alertFor = createAlertFor(account, alerts, lists);
  return { unsignedOf: lists.unsignedOf, search, alertFor, addPayment, addOwnPayment, matchFailure };
}

/** Finds the alert that a new payment link is for: the customer's only open alert of that amount. Throws only StoreUnavailable. */
function createAlertFor(
  { log }: Pick<Account, 'log'>,
  { find, firstAlert }: Pick<AlertCases, 'find' | 'firstAlert'>,
  lists: ReturnType<typeof createLists>,
) {
  /** An alert that has ended is on none of these lists, unless its storm ended it. */
  async function openOf({ customerEmail, customerId, money }: LinkFor): Promise<string[]> {
    const terms = [...termsFor('customer', customerId), ...termsFor('email', customerEmail.toLowerCase())];
    const listed = await lists.newestIn(await lists.namesOf('failures', terms));
    const firsts = new Set(await Promise.all(listed.map(({ id }) => firstAlert(id))));
    const found = await Promise.all(
      [...firsts].map(async (id) => {
        const alert = await find(id);
        if (!alert || isEnded(alert.state)) return [];
        const failed = moneyOfFailure(alert.event, alert.evidence?.lookup);
        return isSameMoney(failed, money) ? [id] : [];
      }),
    );
    return found.flat();
  }

  return async function alertFor(link: LinkFor): Promise<string | undefined> {
    try {
      const [alert, ...others] = await openOf(link);
      return others.length === 0 ? alert : undefined;
    } catch (error) {
      if (error instanceof StoreUnavailable) throw error;
      log('error', 'a link cannot be matched with its customer’s alert', { errorId: newErrorId() }, error);
      return undefined;
    }
  };
}

/** What a failure and a payment may have in common. Each term has a list of failures and one of payments. */
type Terms = {
  orders: readonly string[];
  /** References that an event names unsigned: they find the other event, but prove nothing. */
  hints: readonly string[];
  /** Customer id, e-mail, and the card if the bot charged it. */
  customers: readonly string[];
};

/** The lists on which failures and payments find each other. Everything throws StoreUnavailable. */
function createLists(
  account: Pick<Account, 'store' | 'fingerprint'>,
  { cases, firstAlert }: Pick<AlertCases, 'cases' | 'firstAlert'>,
  chargeOf: ChargeOf,
) {
  /** `record`: the service's record of the order; the event may name less. */
  async function termsOf(event: PaymentEvent, record?: Transaction): Promise<Terms> {
    const { orderReference, customerId, customerEmail } = event;
    const charge = orderReference === undefined ? undefined : await chargeOf(orderReference);
    // The key holds the order only if the reference is signed; then hints aren't needed.
    const isSigned = /^payment_\w+\/order/.test(event.key);
    return {
      orders: termsFor('reference', orderReference, record?.orderReference),
      hints: isSigned ? [] : termsFor('hint', orderReference, record?.orderReference, event.referenceHint),
      customers: [
        ...termsFor('customer', customerId),
        ...termsFor('email', customerEmail?.toLowerCase(), record?.customerEmail?.toLowerCase()),
        ...termsFor('card', charge?.card),
      ],
    };
  }

  /** Names the lists of these terms by a keyed hash. */
  function namesOf(kind: 'failures' | 'payments', terms: readonly string[]): Promise<string[]> {
    return Promise.all(
      terms.map(async (term) => `${kind}-of:${await account.fingerprint(`\0failure\0${term}`)}`),
    );
  }

  /** Only the newest entries of each list are read. */
  async function newestIn(names: readonly string[]) {
    return (await Promise.all(names.map((list) => cases.list(list, { max: 50, newestFirst: true })))).flat();
  }

  async function paymentsOf(terms: readonly string[]): Promise<Payment[]> {
    const listed = await newestIn(await namesOf('payments', terms));
    return listed.flatMap(({ payment }) => payment ?? []);
  }

  async function listingOf(event: PaymentEvent, lookup: Lookup, atMs: number): Promise<FailureListing> {
    const record = recordOfOrder(lookup);
    const terms = await termsOf(event, record);
    const hints = await namesOf('failures', terms.hints);
    const lists = [...(await namesOf('failures', [...terms.orders, ...terms.customers])), ...hints];
    const reference = event.orderReference === undefined ? record?.orderReference : undefined;
    // The order's list is the first.
    const proven = reference === undefined ? undefined : { reference, list: lists[0] ?? '' };
    const isUnanswered = lookup.kind === 'unchecked' || undefined;
    return { atMs, lists, hints, ...withoutUndefined({ proven, isUnanswered }) };
  }

  /**
   * The failures that a payment may resolve: those of its order, whenever they came, and those of its customer or card that
   * came before it.
   */
  async function failuresOf(payment: Payment): Promise<Failure[]> {
    const { receivedAtMs } = payment;
    const event = eventOf(payment);
    const terms = await termsOf(event);
    const { chargedFrom, firsts } = await ownAlerts(event);
    const ofOrder = await namesOf('failures', terms.orders);
    const ofHints = await namesOf('failures', terms.hints);
    const ofCustomer = await namesOf('failures', terms.customers);
    const listed = await newestIn([...ofOrder, ...ofHints, ...ofCustomer]);
    const found: Failure[] = await Promise.all(
      [...new Map(listed.map((one) => [one.id, one])).values()].map(async ({ id, failed }) => {
        const isIn = (names: readonly string[]): boolean =>
          names.some((list) => failed?.lists.includes(list));
        const isOfOrder = isIn(ofOrder);
        const first = await firstAlert(id);
        return {
          id,
          atMs: failed?.atMs ?? receivedAtMs,
          isOfOrder,
          isOwn: isOfOrder || firsts.has(first),
          isFirst: firsts.has(id) || (isOfOrder && first === id),
          isHinted: isIn(ofHints),
          hasSameCustomer: isIn(ofCustomer),
        };
      }),
    );
    // Its own failure is on no list before `matchFailure` lists it and after it has ended.
    for (const first of firsts) {
      if (found.some(({ id }) => id === first)) continue;
      const own = await findMessageRecord(account.store, alertKey(first));
      const atMs = own?.receivedAtMs ?? receivedAtMs;
      if (own || chargedFrom !== undefined) found.push({ id: first, atMs, ...ownByKey });
    }
    return found.filter(({ isOwn, isHinted, atMs }) => isOwn || isHinted || receivedAtMs >= atMs);
  }

  /** The alert that the payment was charged from, or else those of its order; `firsts`: the first of each one's chain. */
  async function ownAlerts(event: PaymentEvent) {
    const reference = event.orderReference?.trim() || undefined;
    const chargedFrom = reference === undefined ? undefined : (await chargeOf(reference))?.alert;
    const keys = chargedFrom === undefined ? failureKeys(event) : [chargedFrom];
    return { chargedFrom, firsts: new Set(await Promise.all(keys.map(firstAlert))) };
  }

  /**
   * The events that don't sign this order's reference. `isProven`: a look-up proved that they are of the order; the others
   * only say so.
   */
  async function unsignedOf(reference: string): Promise<{ id: string; isProven: boolean }[]> {
    const failures = await newestIn(await namesOf('failures', termsFor('reference', reference)));
    const payments = await paymentsOf(termsFor('hint', reference));
    return [
      ...failures
        .filter(({ failed }) => failed?.proven?.reference === reference)
        .map(({ id }) => ({ id, isProven: true })),
      ...payments
        .filter(({ event }) => event.orderReference === undefined)
        .map(({ event, provenReference }) => ({ id: event.key, isProven: provenReference === reference })),
    ];
  }

  return { termsOf, namesOf, newestIn, paymentsOf, listingOf, failuresOf, unsignedOf };
}

/** The payment's event, with the order's reference if signed or proven. */
function eventOf({ event, provenReference: orderReference }: Payment): PaymentEvent {
  return { ...event, ...withoutUndefined({ orderReference }) };
}

/** Looks up what the bot's own charge doesn't prove. `provenReference`: the order's, if not signed. */
async function prove(
  lookUp: LookUp,
  payment: Payment,
): Promise<{ proof?: Proof; provenReference?: string; lookup?: Lookup }> {
  if (payment.proof) return { proof: payment.proof };
  const event = eventOf(payment);
  const lookup = await lookUp(event);
  const provenReference =
    event.orderReference === undefined ? withProvenOrder(event, lookup).orderReference : undefined;
  return withoutUndefined({ proof: proofOf(event, lookup), provenReference, lookup });
}

/** The amount that failed, looked up if unknown; undefined: the service doesn't know it either. */
async function failedMoney(
  lookUp: LookUp,
  { event, evidence }: FoundAlert,
): Promise<Money | 'unchecked' | undefined> {
  const known = moneyOfFailure(event, evidence?.lookup);
  if (known) return known;
  const lookup = await lookUp(event);
  const record = recordOfOrder(lookup);
  return lookup.kind === 'unchecked' ? 'unchecked' : record && moneyToTake(record);
}

/** Under another key than the payment's own event: that may still come, and may name more. */
function paymentOf({ reference, money, customerEmail, customerId, atMs }: ProvenPayment) {
  const event: PaymentEvent = {
    kind: 'payment_success',
    key: provenKey(reference),
    orderReference: reference,
    customerEmail,
    ...withoutUndefined({ customerId }),
  };
  return { event, receivedAtMs: atMs, proof: { reference, money } };
}

function proofOf({ orderReference }: PaymentEvent, lookup: Lookup): Proof | undefined {
  if (lookup.kind !== 'confirmed') return undefined;
  const { money, transaction } = lookup;
  return { reference: transaction.orderReference ?? orderReference ?? '', money };
}

function recoveryOf(
  { event, receivedAtMs }: Payment,
  { id, atMs, isOfOrder, isOwn }: Failure,
  proof: Proof,
): Recovery {
  const isSameReference =
    isOfOrder || failureKeys({ ...event, orderReference: proof.reference }).includes(id);
  return {
    ...proof,
    isSameReference,
    ...(isOwn && !isSameReference ? { isChargedAgain: true } : {}),
    afterMs: receivedAtMs - atMs,
  };
}

function provenKey(reference: string): string {
  return `proven/${reference}`;
}

/** The keys that a failure of the payment's order or transaction may have. */
function failureKeys({ key, orderReference }: PaymentEvent): string[] {
  const sameEnd = key.replace(/^payment_success(?=[/:])/, 'payment_failed');
  const reference = key.startsWith('payment_success/order') ? undefined : orderReference?.trim() || undefined;
  return [
    ...(sameEnd === key ? [] : [sameEnd]),
    ...(reference === undefined ? [] : [orderEventKey('payment_failed', reference)]),
  ];
}

/** Terms of one kind, without repeats and empty texts. */
function termsFor(kind: string, ...texts: (string | undefined)[]): string[] {
  const trimmed = texts.flatMap((text) => text?.trim() || []);
  return [...new Set(trimmed)].map((text) => `${kind}\0${text}`);
}
