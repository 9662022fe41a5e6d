import { z } from 'zod';
import type { Account } from '../../account.ts';
import { growingDelayMs } from '../../deadline.ts';
import type { BotCharge, Lookup, ProvenPayment, Recovery } from '../../domain/alert.ts';
import { StoreUnavailable } from '../../domain/failure.ts';
import type { Money } from '../../domain/money.ts';
import { orderEventKey, type PaymentEvent } from '../../domain/payment-event.ts';
import { moneyToTake, type Transaction } from '../../domain/transaction.ts';
import { withoutUndefined } from '../../domain/json.ts';
import { newErrorId } from '../../log.ts';
import { eventsList, keptBackBy } from '../../messages/message-record.ts';
import { indexAt } from '../../records/found-by.ts';
import { createRecords, type RecordKind } from '../../records/records.ts';
import { moneyShape } from '../../records/shapes.ts';
import type { Entry } from '../../store/store.ts';
import { type AlertCards, type FoundAlert } from './alert-cards.ts';
import { type Linked, linked, untouched } from './alert-case.ts';
import { endsCard, moneyOfFailure, recordOfOrder, withProvenOrder } from './alert.ts';

export const paymentPrefix = 'alert-payment:';

type Proof = { reference: string; money: Money };

/** What is remembered of a success that is told nowhere; `keptBy`: because of these mutes; `foundBy`: lists of customer and card. */
const alone = z.object({
  fingerprint: z.string(),
  keptBy: z.array(z.string()).exactOptional(),
  foundBy: z.array(z.string()).exactOptional(),
});

type Alone = z.infer<typeof alone>;

const keyed = z.looseObject({ key: z.string() });

/** A payment as it is kept while failures are looked for, sealed. */
const payment = z.object({
  event: z.custom<PaymentEvent>((value) => keyed.safeParse(value).success),
  receivedAtMs: z.number(),
  /** Where failures find it, by what they have in common with it. */
  lists: z.array(z.string()),
  /** The look-ups that did not confirm it. */
  unproven: z.int(),
  proof: z.object({ reference: z.string(), money: moneyShape }).exactOptional(),
  /** Its order’s, where no reference is signed and its look-up proved one. */
  provenReference: z.string().exactOptional(),
  /** It has resolved the alert it belongs to, and resolves no other. */
  hasOwn: z.literal(true).exactOptional(),
  /** No rule wants its event, so this is what remembers it. */
  alone: alone.exactOptional(),
});

type Payment = z.infer<typeof payment>;

export const paymentKind: RecordKind<Payment> = {
  prefix: paymentPrefix,
  schema: payment,
  lists({ lists, receivedAtMs, alone: kept }) {
    const ofEvents = kept
      ? [eventsList, ...(kept.keptBy ?? []).map(keptBackBy), ...(kept.foundBy ?? [])]
      : [];
    return indexAt([...lists, ...ofEvents], receivedAtMs);
  },
};

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

/** Of one that the payment’s own key names. */
const asOwn = { isOfOrder: false, isOwn: true, isFirst: true, isHinted: false, isOther: false };

type LookUp = (event: PaymentEvent) => Promise<Lookup>;

type ChargeOf = (reference: string) => Promise<BotCharge | undefined>;

/** A customer who has more is known by the newest of it. */
const newest = { max: 50, newestFirst: true };

/** By then a failure that came just before it is told, and listed. */
const lookAfterMs = 2_000;
/** A crash has it held again so late; longer than it takes. */
const holdMs = 60_000;
const firstProofMs = 5_000;
const longestProofMs = 300_000;
/** With those delays about a day. By their count and not by the clock: in an outage of the bot nothing was asked. */
const mostProofs = 290;

/**
 * Holds it against the failures as if its event had come, which may be lost. Durable once it resolves, and again is the
 * same as once. Throws StoreUnavailable.
 */
export async function keepProvenPayment(
  account: Pick<Account, 'store' | 'sealer' | 'wait'>,
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
  const payment: Payment = { event, receivedAtMs: atMs, lists: [], unproven: 0, proof: { reference, money } };
  await createRecords(account, paymentKind).create(event.key, payment, { delayMs: 0 });
}

/** Its order where that is known: signed, or proven by a look-up of its own. */
function eventOf({ event, provenReference: orderReference }: Payment): PaymentEvent {
  return { ...event, ...withoutUndefined({ orderReference }) };
}

/** What ties failures and payments together: the lists in which each finds the others. All of it throws StoreUnavailable. */
function createTies(
  account: Pick<Account, 'store' | 'sealer' | 'wait' | 'fingerprint'>,
  { cases, find, firstAlert }: Pick<AlertCards, 'cases' | 'find' | 'firstAlert'>,
  chargeOf: ChargeOf,
) {
  const payments = createRecords(account, paymentKind);

  /** The lists of the events that have one of the terms in common, under keyed hashes of those. */
  function listsOf(kind: 'failures' | 'payments', terms: readonly string[]): Promise<string[]> {
    return Promise.all(
      terms.map(async (term) => `${kind}-of:${await account.fingerprint(`\0failure\0${term}`)}`),
    );
  }

  async function paymentsIn(lists: readonly string[]): Promise<Payment[]> {
    return (await Promise.all(lists.map((list) => payments.list(list, newest)))).flat();
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
    const listed = (await Promise.all(lists.map((list) => cases.list(list, newest)))).flat();
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
    // Its own may not be told yet, and so on no list, or be resolved and on none any more.
    for (const first of firsts) {
      if (found.some(({ id }) => id === first)) continue;
      const own = await find(first);
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
    const failures = (await Promise.all(ofOrder.map((list) => cases.list(list, newest)))).flat();
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
 * alone. Any other resolves those of the same customer or card and the same amount that came before it. What it does
 * not resolve is told in the alert's thread. A webhook proves nothing: the look-up, or the bot's own charge, does.
 */
export function createAlertRecovery(
  account: Pick<Account, 'store' | 'sealer' | 'wait' | 'fingerprint' | 'rememberMs' | 'log' | 'now'>,
  cards: Pick<AlertCards, 'cases' | 'find' | 'move' | 'firstAlert'>,
  lookUp: LookUp,
  chargeOf: ChargeOf,
) {
  const { store, rememberMs, log } = account;
  const { cases } = cards;
  const payments = createRecords(account, paymentKind);
  const { listsOf, paymentsIn, linkedBy, failuresOf, unsignedOf } = createTies(account, cards, chargeOf);

  /**
   * A failure and a payment each list themselves before they look for the other, so that one of the two finds it,
   * however long the failure could not be told.
   */
  async function link(
    event: PaymentEvent,
    lookup: Lookup,
    receivedAtMs: number,
    storms: string[],
  ): Promise<void> {
    const record = recordOfOrder(lookup);
    const { hints, others } = await termsOf(chargeOf, event, record);
    const failed = { ...(await linkedBy(event, lookup, receivedAtMs)), storms };
    const first = untouched(event.key);
    const begun = await cases.begin(event.key, linked(first, failed, account.now()) ?? first);
    if (begun.kind === 'known') {
      await cases.apply(event.key, { kind: 'failed', ...failed });
      if (endsCard(begun.state.card)) return;
    }
    const proof = proofOf(event, lookup);
    const ofOrder = event.key.replace(/^payment_failed(?=[/:])/, 'payment_success');
    const paid = proof && (await payments.read(ofOrder));
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
    // Its proof may come later; and whoever has it in hand may have looked before the failure was listed.
    await Promise.all([...ids].map((id) => makeDue(store, paymentPrefix + id)));
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

  /** Undefined: nothing is left to do with it. */
  async function holdAgainstFailures(found: Payment): Promise<{ payment: Payment; delayMs?: number }> {
    const candidates = await failuresOf(found);
    if (candidates.length === 0) return { payment: found };
    const event = eventOf(found);
    const lookup = found.proof ? undefined : await lookUp(event);
    const proof = found.proof ?? (lookup && proofOf(event, lookup));
    const proven = lookup && withProvenOrder(event, lookup).orderReference;
    const isNamed = event.orderReference === undefined && proven !== undefined;
    const payment: Payment = isNamed ? { ...found, provenReference: proven } : found;
    const named = isNamed ? await failuresOf(payment) : candidates;
    const failures = proof ? await Promise.all(named.map((failure) => owned(failure, proof))) : named;
    const hasOwn = payment.hasOwn || (proof && failures.some(({ isOwn }) => isOwn));
    const held: Payment = hasOwn ? { ...payment, hasOwn } : payment;
    let isSettled = proof !== undefined;
    for (const failure of proof ? failures : []) {
      if (proof && !(await settle(held, failure, proof))) isSettled = false;
    }
    if (isSettled) return { payment: held };
    const next = { ...held, unproven: payment.unproven + 1 };
    if (payment.unproven >= mostProofs) return { payment: next };
    return { payment: next, delayMs: growingDelayMs(firstProofMs, payment.unproven, longestProofMs) };
  }

  /**
   * False when the service could not be asked for what failed. Another order resolves it by the same amount alone, and only
   * where it has no failure of its own: one payment is not for two.
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

    /**
     * Called with every success before it is called received, the same however often. `alone`: no message has it, so
     * this record is the memory of it. Durable once it resolves; false: it is there already. Throws StoreUnavailable.
     */
    expect(
      { savedCard: _secret, ...event }: PaymentEvent,
      receivedAtMs: number,
      alone?: Alone,
    ): Promise<boolean> {
      const { orderReference, referenceHint, transactionId, customerId, customerEmail } = event;
      const payment: Payment = { event, receivedAtMs, lists: [], unproven: 0, ...(alone && { alone }) };
      // Without order, transaction and customer it cannot match a failure.
      const says =
        named('', orderReference, referenceHint, transactionId, customerId, customerEmail).length > 0;
      return payments.create(event.key, payment, says ? { delayMs: lookAfterMs } : { ttlMs: rememberMs });
    },

    /**
     * Called before a failure is told, with what was just looked up of it: a later payment finds it, and so does one
     * that came since, while nothing could be told. Of those that came before it, one under the same reference
     * resolves it now. `storm`: whose digest tells it. Throws StoreUnavailable alone.
     */
    async linkFailure(
      event: PaymentEvent,
      lookup: Lookup,
      receivedAtMs: number,
      storm?: string,
    ): Promise<void> {
      try {
        await link(event, lookup, receivedAtMs, storm === undefined ? [] : [storm]);
      } catch (error) {
        if (error instanceof StoreUnavailable) throw error;
        // An alert is told also when the key that names customers is gone.
        const about = { errorId: newErrorId(), key: event.key };
        log('error', 'a failure cannot be linked to its payments', about, error);
      }
    },

    async work(entry: Entry): Promise<void> {
      const opened = payments.open(entry);
      const { hints, others } = await termsOf(chargeOf, eventOf(opened));
      // On its lists before failures are looked for; by its order it is found without one, where that is signed.
      const own = await listsOf('payments', [...hints, ...others]);
      const lists = [...new Set([...opened.lists, ...own])];
      const listed = { ...opened, lists };
      const isListed = lists.length === opened.lists.length;
      const held = isListed ? entry : await payments.write(entry, listed, { delayMs: holdMs });
      // Due again for what came meanwhile.
      if (!held) return;
      const { payment, delayMs } = await holdAgainstFailures(listed);
      // Lost: a failure came meanwhile and has it looked at again.
      await payments.write(held, payment, delayMs === undefined ? { ttlMs: rememberMs } : { delayMs });
    },
  };
}

/** `record`: what the service says of the order, which the event need not name. */
async function termsOf(chargeOf: ChargeOf, event: PaymentEvent, record?: Transaction): Promise<Terms> {
  const { orderReference, customerId, customerEmail } = event;
  const charge = orderReference === undefined ? undefined : await chargeOf(orderReference);
  // A key by the order is a signed order’s: whatever belongs to it says so.
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

/** Looked up where nobody has done so yet; undefined where nobody says it. */
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

/** Has a payment looked at again soon, whoever writes it meanwhile. */
async function makeDue(store: Account['store'], key: string): Promise<void> {
  for (;;) {
    const entry = await store.read(key);
    if (!entry || (await store.write(entry, entry.value, { delayMs: firstProofMs }))) return;
  }
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
