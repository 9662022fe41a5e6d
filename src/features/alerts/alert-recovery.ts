import type { Account } from '../../account.ts';
import type { BotCharge, Lookup, ProvenPayment, Recovery } from '../../domain/alert.ts';
import { StoreUnavailable } from '../../domain/failure.ts';
import type { Money } from '../../domain/money.ts';
import { orderEventKey, type PaymentEvent } from '../../domain/payment-event.ts';
import { moneyToTake, type Transaction } from '../../domain/transaction.ts';
import { withoutUndefined } from '../../domain/json.ts';
import { newErrorId } from '../../log.ts';
import { alertKey, findMessageRecord } from '../../messages/message-record.ts';
import { type AlertCards, type FoundAlert } from './alert-cards.ts';
import {
  type Alone,
  type CaseEvent,
  type Linked,
  linked,
  type Payment,
  paymentCase,
  type PostedBy,
  type Proof,
  untouched,
} from './event-case.ts';
import { endsCard, moneyOfFailure, recordOfOrder, withProvenOrder } from './alert.ts';

/**
 * What two events may have in common: the order; the order as one of them says unsigned, by which it is found and no
 * more; and the customer by id or address, or the card as the bot knows it.
 */
type Terms = { orders: readonly string[]; hints: readonly string[]; others: readonly string[] };

/**
 * `isOfOrder`: it names the payment’s order. `isOwn`: that, or the payment was charged again for it. `isFirst`: the alert
 * itself that the payment is for, and not one of a charge that was begun from it. `isHinted`: it names that order
 * unsigned. `isOther`: it has the customer or the card in common.
 */
type Failure = {
  id: string;
  atMs: number;
  isOfOrder: boolean;
  isOwn: boolean;
  isFirst: boolean;
  isHinted: boolean;
  isOther: boolean;
  /** The service could not say whose it is. */
  isUnchecked?: true;
};

/** By what a failure is about to be told: storms whose digests do, or a message of its own. */
type Told = Pick<Linked, 'storms'> & { post?: PostedBy };

/** Flags of a failure whose key follows from the payment's. */
const asOwn = { isOfOrder: false, isOwn: true, isFirst: true, isHinted: false, isOther: false };

/** Whom a payment link is for, and what it takes. */
type LinkFor = { customerEmail: string; customerId?: string; money: Money };

type LookUp = (event: PaymentEvent) => Promise<Lookup>;

type ChargeOf = (reference: string) => Promise<BotCharge | undefined>;

/** Of each list only the newest are read. */
const newest = { max: 50, newestFirst: true };

/** A success waits this long: a failure just before it is listed by then. */
const lookAfterMs = 2_000;

async function newestIn(cases: AlertCards['cases'], lists: readonly string[]) {
  return (await Promise.all(lists.map((list) => cases.list(list, newest)))).flat();
}

/** Its event, with the order's reference if signed or proven. */
function eventOf({ event, provenReference: orderReference }: Payment): PaymentEvent {
  return { ...event, ...withoutUndefined({ orderReference }) };
}

/** What ties failures and payments together: the lists in which each finds the others. All of it throws StoreUnavailable. */
function createTies(
  account: Pick<Account, 'store' | 'sealer' | 'wait' | 'fingerprint'>,
  { cases, firstAlert }: Pick<AlertCards, 'cases' | 'firstAlert'>,
  chargeOf: ChargeOf,
) {
  /** The lists of the events that have one of the terms in common, under keyed hashes of those. */
  function listsOf(kind: 'failures' | 'payments', terms: readonly string[]): Promise<string[]> {
    return Promise.all(
      terms.map(async (term) => `${kind}-of:${await account.fingerprint(`\0failure\0${term}`)}`),
    );
  }

  async function paymentsIn(lists: readonly string[]): Promise<Payment[]> {
    return (await newestIn(cases, lists)).flatMap(({ payment }) => payment ?? []);
  }

  /** What ties a failure to payments, by what is known of it. */
  async function linkedBy(event: PaymentEvent, lookup: Lookup, atMs: number): Promise<Linked> {
    const record = recordOfOrder(lookup);
    const { orders, hints, others } = await termsOf(chargeOf, event, record);
    const lists = await listsOf('failures', [...orders, ...hints, ...others]);
    const reference = event.orderReference === undefined ? record?.orderReference : undefined;
    const proven = reference === undefined ? undefined : { reference, list: lists[0] ?? '' };
    const isUnanswered = lookup.kind === 'unchecked' || undefined;
    return { atMs, lists, storms: [], ...withoutUndefined({ proven, isUnanswered }) };
  }

  /** Those a payment may resolve: its own, whenever that came, and those of the same customer or card that came before it. */
  async function failuresOf(payment: Payment): Promise<Failure[]> {
    const { receivedAtMs } = payment;
    const event = eventOf(payment);
    const terms = await termsOf(chargeOf, event);
    const reference = event.orderReference?.trim() || undefined;
    const alert = reference === undefined ? undefined : (await chargeOf(reference))?.alert;
    const firsts = new Set(
      await Promise.all((alert === undefined ? failureKeys(event) : [alert]).map(firstAlert)),
    );
    const ofOrder = await listsOf('failures', terms.orders);
    const byHint = await listsOf('failures', terms.hints);
    const byOthers = await listsOf('failures', terms.others);
    const lists = [...ofOrder, ...byHint, ...byOthers];
    const listed = await newestIn(cases, lists);
    const found: Failure[] = await Promise.all(
      [...new Map(listed.map((one) => [one.id, one])).values()].map(async ({ id, failed }) => {
        const isIn = (some: readonly string[]): boolean => some.some((list) => failed?.lists.includes(list));
        const isOfOrder = isIn(ofOrder);
        const first = await firstAlert(id);
        const isOwn = isOfOrder || firsts.has(first);
        const isFirst = firsts.has(id) || (isOfOrder && first === id);
        const [isHinted, isOther] = [isIn(byHint), isIn(byOthers)];
        return { id, atMs: failed?.atMs ?? receivedAtMs, isOfOrder, isOwn, isFirst, isHinted, isOther };
      }),
    );
    // Its own may be on no list: not told yet, or resolved already.
    for (const first of firsts) {
      if (found.some(({ id }) => id === first)) continue;
      const own = await findMessageRecord(account.store, alertKey(first));
      const atMs = own?.receivedAtMs ?? receivedAtMs;
      if (own || alert !== undefined) found.push({ id: first, atMs, ...asOwn });
    }
    return found.filter(({ isOwn, isHinted, atMs }) => isOwn || isHinted || receivedAtMs >= atMs);
  }

  /**
   * The events that belong to an order by their look-up, or may: `isProven` where only this says so. Those that name it
   * under their signature are known by their keys.
   */
  async function unsignedOf(reference: string): Promise<{ id: string; isProven: boolean }[]> {
    const ofOrder = await listsOf('failures', named('reference', reference));
    const failures = await newestIn(cases, ofOrder);
    const paid = await paymentsIn(await listsOf('payments', named('hint', reference)));
    const isOf = (one: string | undefined): boolean => one === reference;
    return [
      ...failures
        .filter(({ failed }) => isOf(failed?.proven?.reference))
        .map(({ id }) => ({ id, isProven: true })),
      ...paid
        .filter(({ event }) => event.orderReference === undefined)
        .map(({ event: { key: id }, provenReference }) => ({ id, isProven: isOf(provenReference) })),
    ];
  }

  return { listsOf, paymentsIn, linkedBy, failuresOf, unsignedOf };
}

export type AlertRecovery = ReturnType<typeof createAlertRecovery>;

/**
 * Resolves alerts by payments. A payment that is of a failed order, or was charged from its alert, resolves that alert
 * alone. Any other resolves those of the same customer or card and the same amount that came before it. An alert that
 * it does not resolve tells it in its thread. A webhook proves nothing: the look-up, or the bot's own charge, does.
 */
export function createAlertRecovery(
  account: Pick<Account, 'store' | 'sealer' | 'wait' | 'fingerprint' | 'rememberMs' | 'log' | 'now'>,
  cards: Pick<AlertCards, 'cases' | 'find' | 'move' | 'firstAlert'>,
  lookUp: LookUp,
  chargeOf: ChargeOf,
) {
  const { log } = account;
  const { cases } = cards;
  const { listsOf, paymentsIn, linkedBy, failuresOf, unsignedOf } = createTies(account, cards, chargeOf);

  /** True: it has ended. */
  async function keep(id: string, failed: Linked): Promise<boolean> {
    const first = untouched(id);
    if (await cases.create(id, linked(first, failed, account.now()) ?? first)) return false;
    const known = await cases.apply(id, { kind: 'failed', ...failed });
    return known !== undefined && endsCard(known.state.card);
  }

  /**
   * A failure and a payment each list themselves before they look for the other, so that one of the two finds it,
   * however long the failure could not be told.
   */
  async function link(event: PaymentEvent, lookup: Lookup, receivedAtMs: number, told: Told): Promise<void> {
    const record = recordOfOrder(lookup);
    const { hints, others } = await termsOf(chargeOf, event, record);
    if (await keep(event.key, { ...(await linkedBy(event, lookup, receivedAtMs)), ...told })) return;
    const proof = proofOf(event, lookup);
    const ofOrder = event.key.replace(/^payment_failed(?=[/:])/, 'payment_success');
    const paid = proof && (await cases.find(ofOrder))?.payment;
    if (paid) {
      const own = { id: event.key, atMs: receivedAtMs, ...asOwn };
      return await resolve(own, recoveryOf(paid, own, proof));
    }
    const found = await paymentsIn(await listsOf('payments', others));
    const since = found.filter((payment) => payment.receivedAtMs >= receivedAtMs);
    const unsigned = await paymentsIn(await listsOf('payments', hints));
    const named = [event.orderReference, record?.orderReference, event.referenceHint];
    const references = named.flatMap((one) => one?.trim() || []);
    const ids = new Set([
      ofOrder,
      ...references.flatMap((one) => [orderEventKey('payment_success', one), provenKey(one)]),
      ...[...since, ...unsigned].map((payment) => payment.event.key),
    ]);
    // Its proof may come later; and a worker may have looked before the failure was listed.
    await Promise.all([...ids].map((id) => cases.apply(id, { kind: 'asked' })));
  }

  /** One that names the payment’s order unsigned is its own only where the record has the failure’s transaction id. */
  async function owned(failure: Failure, proof: Proof): Promise<Failure> {
    if (failure.isOwn || !failure.isHinted) return failure;
    const alert = await cards.find(failure.id);
    if (!alert) return failure;
    const { event, receivedAtMs } = alert;
    const lookup = await lookUp(event);
    if (lookup.kind === 'unchecked') return { ...failure, isUnchecked: true };
    if (recordOfOrder(lookup)?.orderReference !== proof.reference) return failure;
    await cases.apply(failure.id, { kind: 'failed', ...(await linkedBy(event, lookup, receivedAtMs)) });
    await cases.hear(failure.id, { kind: 'looked_up', evidence: { lookup, atMs: account.now() } });
    const isFirst = (await cards.firstAlert(failure.id)) === failure.id;
    return { ...failure, isOfOrder: true, isOwn: true, isFirst };
  }

  /** Lists the payment before it looks for failures. (A signed order needs no list.) */
  async function search(found: Payment): Promise<CaseEvent> {
    const { hints, others } = await termsOf(chargeOf, eventOf(found));
    const lists = await listsOf('payments', [...hints, ...others]);
    return lists.every((list) => found.lists.includes(list))
      ? await searchFailures(found)
      : { kind: 'listed', lists };
  }

  async function searchFailures(found: Payment): Promise<CaseEvent> {
    const { asked } = found;
    const candidates = await failuresOf(found);
    if (candidates.length === 0) return { kind: 'searched', asked, isSettled: true };
    const event = eventOf(found);
    const lookup = found.proof ? undefined : await lookUp(event);
    const proof = found.proof ?? (lookup && proofOf(event, lookup));
    const proven = lookup && withProvenOrder(event, lookup).orderReference;
    const provenReference = event.orderReference === undefined ? proven : undefined;
    const payment = { ...found, ...withoutUndefined({ provenReference }) };
    const named = provenReference === undefined ? candidates : await failuresOf(payment);
    const failures = proof ? await Promise.all(named.map((failure) => owned(failure, proof))) : named;
    const hasOwn = (proof && failures.some(({ isOwn }) => isOwn)) || undefined;
    const held: Payment = { ...payment, ...withoutUndefined({ hasOwn }) };
    let isSettled = proof !== undefined;
    for (const failure of proof ? failures : []) {
      if (proof && !(await settle(held, failure, proof))) isSettled = false;
    }
    return { kind: 'searched', asked, isSettled, provenReference, hasOwn };
  }

  /**
   * False: the service could not be asked. A payment of another order resolves it only with the same amount, and if it
   * has no failure of its own.
   */
  async function settle(payment: Payment, failure: Failure, proof: Proof): Promise<boolean> {
    const recovery = recoveryOf(payment, failure, proof);
    if (failure.isUnchecked) return false;
    if (!failure.isOwn) {
      if (!failure.isOther) return true;
      const alert = await cards.find(failure.id);
      // Forgotten.
      if (!alert) return true;
      const failed = await failedMoney(lookUp, alert);
      if (failed === 'unchecked') return false;
      const { minor, currency } = proof.money;
      if (payment.hasOwn || failed?.minor !== minor || failed.currency !== currency) {
        await cases.hear(failure.id, { kind: 'paid_otherwise', payment: recovery });
        return true;
      }
    }
    await resolve(failure, recovery);
    return true;
  }

  async function resolve({ id, isFirst }: Failure, payment: Recovery): Promise<void> {
    const moved = await cards.move(id, { kind: 'recover', payment });
    log('info', 'a payment was held against a failure', { key: id, result: moved.kind });
    if (!isFirst || moved.kind !== 'refused' || !endsCard(moved.card)) return;
    // Something else had ended it: there may be two payments for one failure.
    const { card } = moved;
    const other = card.kind === 'recovered' ? [card.payment.reference] : [];
    const asked = await Promise.all([payment.reference, ...other].map(chargeOf));
    const people = [...new Set(asked.flatMap((one) => one?.agent ?? []))];
    await cases.hear(id, { kind: 'paid_again', payment, people });
  }

  return {
    unsignedOf,
    search,

    alertFor: createAlertFor(account, cards, listsOf),

    /**
     * Called with every success before it counts as received; idempotent. `alone`: no message has it, so this record is
     * the memory of it. Durable once it resolves; false: it is there already. Throws StoreUnavailable.
     */
    expect(
      { savedCard: _secret, ...event }: PaymentEvent,
      receivedAtMs: number,
      alone?: Alone,
    ): Promise<boolean> {
      const { orderReference, referenceHint, transactionId, customerId, customerEmail } = event;
      // Without order, transaction and customer it cannot match a failure.
      const says =
        named('', orderReference, referenceHint, transactionId, customerId, customerEmail).length > 0;
      const payment = { event, receivedAtMs, ...(alone && { alone }) };
      return cases.create(event.key, paymentCase(payment, says ? account.now() + lookAfterMs : undefined));
    },

    /**
     * A payment of the bot's own that is proven is held against the failures as if its event had come, which may be lost.
     * Durable once it resolves, and again is the same as once. Throws StoreUnavailable.
     */
    async paid(proven: ProvenPayment): Promise<void> {
      const payment = paymentOf(proven);
      await cases.create(payment.event.key, paymentCase(payment, account.now()));
    },

    /**
     * Called before a failure is told, with what was just looked up of it: a later payment finds it, and so does one
     * that came since, while nothing could be told. Of those that came before it, one under the same reference
     * resolves it now. Throws StoreUnavailable alone.
     */
    async linkFailure(
      event: PaymentEvent,
      lookup: Lookup,
      receivedAtMs: number,
      told: Told = { storms: [] },
    ): Promise<void> {
      try {
        await link(event, lookup, receivedAtMs, told);
      } catch (error) {
        if (error instanceof StoreUnavailable) throw error;
        // An alert is told, and people are called for it, also when the key that names customers is gone.
        const about = { errorId: newErrorId(), key: event.key };
        log('error', 'a failure cannot be linked to its payments', about, error);
        await keep(event.key, { atMs: receivedAtMs, lists: [], ...told });
      }
    },
  };
}

/** Which alert a new payment link is for: its customer's one open alert of that amount. It throws StoreUnavailable alone. */
function createAlertFor(
  { log }: Pick<Account, 'log'>,
  { cases, find, firstAlert }: Pick<AlertCards, 'cases' | 'find' | 'firstAlert'>,
  listsOf: ReturnType<typeof createTies>['listsOf'],
) {
  /** What has ended is on none of the lists. */
  async function openOf({ customerEmail, customerId, money }: LinkFor): Promise<string[]> {
    const terms = [...named('customer', customerId), ...named('email', customerEmail.toLowerCase())];
    const lists = await listsOf('failures', terms);
    const listed = await newestIn(cases, lists);
    const firsts = new Set(await Promise.all(listed.map(({ id }) => firstAlert(id))));
    const found = await Promise.all(
      [...firsts].map(async (id) => {
        const alert = await find(id);
        const failed = alert && moneyOfFailure(alert.event, alert.evidence?.lookup);
        return failed?.minor === money.minor && failed.currency === money.currency ? [id] : [];
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
      log('error', 'a link cannot be tied to its customer’s alert', { errorId: newErrorId() }, error);
      return undefined;
    }
  };
}

/** Its event, if it comes, is kept under a key of its own: it may name more. */
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

/** `record`: what the service says of the order, which the event need not name. */
async function termsOf(chargeOf: ChargeOf, event: PaymentEvent, record?: Transaction): Promise<Terms> {
  const { orderReference, customerId, customerEmail } = event;
  const charge = orderReference === undefined ? undefined : await chargeOf(orderReference);
  // A key with the order means it is signed, so it needs no hints.
  const isSigned = /^payment_\w+\/order/.test(event.key);
  return {
    orders: named('reference', orderReference, record?.orderReference),
    hints: isSigned ? [] : named('hint', orderReference, record?.orderReference, event.referenceHint),
    others: [
      ...named('customer', customerId),
      ...named('email', customerEmail?.toLowerCase(), record?.customerEmail?.toLowerCase()),
      ...named('card', charge?.card),
    ],
  };
}

/** The amount that failed, looked up if unknown; undefined: nobody says it. */
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

/** The keys that the failure of the same order or transaction may have. */
function failureKeys({ key, orderReference }: PaymentEvent): string[] {
  const alike = key.replace(/^payment_success(?=[/:])/, 'payment_failed');
  const reference = key.startsWith('payment_success/order') ? undefined : orderReference?.trim() || undefined;
  return [
    ...(alike === key ? [] : [alike]),
    ...(reference === undefined ? [] : [orderEventKey('payment_failed', reference)]),
  ];
}

/** Terms of one kind, each once; none for a text that says nothing. */
function named(what: string, ...texts: (string | undefined)[]): string[] {
  const said = texts.flatMap((text) => text?.trim() || []);
  return [...new Set(said)].map((text) => `${what}\0${text}`);
}
