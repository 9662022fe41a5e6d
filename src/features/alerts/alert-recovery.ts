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
import { createRecords, type RecordKind } from '../../records/records.ts';
import { moneyShape } from '../../records/shapes.ts';
import type { Entry } from '../../store/store.ts';
import { type AlertCards, type FoundAlert } from './alert-cards.ts';
import { untouched } from './alert-case.ts';
import { endsCard, moneyOfFailure, recordOfOrder } from './alert.ts';

export const paymentPrefix = 'alert-payment:';

type Proof = { reference: string; money: Money };

/** What is remembered of a success that is told nowhere; `keptBy`: because of these mutes. */
const alone = z.object({ fingerprint: z.string(), keptBy: z.array(z.string()).exactOptional() });

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
    const ofEvents = kept ? [eventsList, ...(kept.keptBy ?? []).map(keptBackBy)] : [];
    return Object.fromEntries([...lists, ...ofEvents].map((list) => [list, receivedAtMs]));
  },
};

/** What two events may have in common: the order; and the customer by id or address, or the card as the bot knows it. */
type Terms = { orders: readonly string[]; others: readonly string[] };

/**
 * `isOfOrder`: it names the payment’s order. `isOwn`: that, or the payment was charged again for it. `isFirst`: the alert
 * itself that the payment is for, and not one of a charge that was begun from it.
 */
type Failure = { id: string; atMs: number; isOfOrder: boolean; isOwn: boolean; isFirst: boolean };

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

export type AlertRecovery = ReturnType<typeof createAlertRecovery>;

/**
 * Resolves alerts by payments. A payment that is of a failed order, or was charged from its alert, resolves that alert
 * alone. Any other resolves those of the same customer or card and the same amount that came before it. What it does
 * not resolve is told in the alert's thread. A webhook proves nothing: the look-up, or the bot's own charge, does.
 */
export function createAlertRecovery(
  account: Pick<Account, 'store' | 'sealer' | 'wait' | 'fingerprint' | 'rememberMs' | 'log'>,
  cards: Pick<AlertCards, 'cases' | 'find' | 'move' | 'firstAlert'>,
  lookUp: LookUp,
  chargeOf: ChargeOf,
) {
  const { store, rememberMs, log } = account;
  const { cases, firstAlert } = cards;
  const payments = createRecords(account, paymentKind);

  /** The lists of the events that have one of the terms in common, under keyed hashes of those. */
  function listsOf(kind: 'failures' | 'payments', terms: readonly string[]): Promise<string[]> {
    return Promise.all(
      terms.map(async (term) => `${kind}-of:${await account.fingerprint(`\0failure\0${term}`)}`),
    );
  }

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
    const { orders, others } = await termsOf(chargeOf, event, record);
    const failed = { atMs: receivedAtMs, lists: await listsOf('failures', [...orders, ...others]) };
    const begun = await cases.begin(event.key, { ...untouched(event.key), storms, failed });
    if (begun.kind === 'known') {
      await cases.apply(event.key, { kind: 'failed', ...failed, storms });
      if (endsCard(begun.state.card)) return;
    }
    const proof = proofOf(event, lookup);
    const ofOrder = event.key.replace(/^payment_failed(?=[/:])/, 'payment_success');
    const paid = proof && (await payments.read(ofOrder));
    if (paid) {
      const own = { id: event.key, atMs: receivedAtMs, isOfOrder: false, isOwn: true, isFirst: true };
      return await resolve(own, recoveryOf(paid, own, proof));
    }
    const lists = await listsOf('payments', others);
    const found = (await Promise.all(lists.map((list) => payments.list(list, newest)))).flat();
    const since = found.filter((payment) => payment.receivedAtMs >= receivedAtMs);
    const references = [event.orderReference, record?.orderReference].flatMap((one) => one?.trim() || []);
    const ids = new Set([
      ofOrder,
      ...references.flatMap((one) => [orderEventKey('payment_success', one), provenKey(one)]),
      ...since.map((payment) => payment.event.key),
    ]);
    // Its proof may come later; and whoever has it in hand may have looked before the failure was listed.
    await Promise.all([...ids].map((id) => makeDue(store, paymentPrefix + id)));
  }

  /** Those a payment may resolve: its own, whenever that came, and those of the same customer or card that came before it. */
  async function failuresOf({ event, receivedAtMs }: Payment, { orders, others }: Terms): Promise<Failure[]> {
    const reference = event.orderReference?.trim() || undefined;
    const alert = reference === undefined ? undefined : (await chargeOf(reference))?.alert;
    const first = await firstAlert(alert ?? failureKey(event, reference));
    const ofOrder = await listsOf('failures', orders);
    const lists = [...ofOrder, ...(await listsOf('failures', others))];
    const listed = (await Promise.all(lists.map((list) => cases.list(list, newest)))).flat();
    const found = await Promise.all(
      [...new Map(listed.map((one) => [one.id, one])).values()].map(async ({ id, failed }) => {
        const isOfOrder = ofOrder.some((list) => failed?.lists.includes(list));
        const isOwn = isOfOrder || (await firstAlert(id)) === first;
        return { id, atMs: failed?.atMs ?? receivedAtMs, isOfOrder, isOwn, isFirst: id === first };
      }),
    );
    // Its own may not be told yet, and so on no list, or be resolved and on none any more.
    if (!found.some(({ id }) => id === first)) {
      const own = await cards.find(first);
      const atMs = own?.receivedAtMs ?? receivedAtMs;
      if (own || alert !== undefined)
        found.push({ id: first, atMs, isOfOrder: false, isOwn: true, isFirst: true });
    }
    return found.filter(({ isOwn, atMs }) => isOwn || receivedAtMs >= atMs);
  }

  /** Undefined: nothing is left to do with it. */
  async function holdAgainstFailures(
    payment: Payment,
    terms: Terms,
  ): Promise<{ payment: Payment; delayMs?: number }> {
    const failures = await failuresOf(payment, terms);
    if (failures.length === 0) return { payment };
    const proof = payment.proof ?? proofOf(payment.event, await lookUp(payment.event));
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
    if (!failure.isOwn) {
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
    /**
     * Called with every success before it is called received, the same however often. `alone`: no message has it, so
     * this record is the memory of it. Durable once it resolves; false: it is there already. Throws StoreUnavailable.
     */
    expect(
      { savedCard: _secret, ...event }: PaymentEvent,
      receivedAtMs: number,
      alone?: Alone,
    ): Promise<boolean> {
      const { orderReference, customerId, customerEmail } = event;
      const payment: Payment = { event, receivedAtMs, lists: [], unproven: 0, ...(alone && { alone }) };
      // Whatever says neither order nor customer makes nothing good.
      const says = named('', orderReference, customerId, customerEmail).length > 0;
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
      const terms = await termsOf(chargeOf, opened.event);
      // On its lists before failures are looked for; by its order it is found without one.
      const lists = [...new Set([...opened.lists, ...(await listsOf('payments', terms.others))])];
      const listed = { ...opened, lists };
      const isListed = lists.length === opened.lists.length;
      const held = isListed ? entry : await payments.write(entry, listed, { delayMs: holdMs });
      // Due again for what came meanwhile.
      if (!held) return;
      const { payment, delayMs } = await holdAgainstFailures(listed, terms);
      // Lost: a failure came meanwhile and has it looked at again.
      await payments.write(held, payment, delayMs === undefined ? { ttlMs: rememberMs } : { delayMs });
    },
  };
}

/** `record`: what the service says of the order, which the event need not name. */
async function termsOf(chargeOf: ChargeOf, event: PaymentEvent, record?: Transaction): Promise<Terms> {
  const { orderReference, customerId, customerEmail } = event;
  const charge = orderReference === undefined ? undefined : await chargeOf(orderReference);
  return {
    orders: named('reference', orderReference, record?.orderReference),
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
  const isSameReference = id === failureKey(event, proof.reference) || isOfOrder;
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

/** The key of the other event of the same order, if both name it alike. */
function failureKey({ key }: PaymentEvent, reference: string | undefined): string {
  const isByOrder = key.startsWith('payment_success/order');
  if (!isByOrder && reference !== undefined) return orderEventKey('payment_failed', reference);
  return key.replace(/^payment_success(?=[/:])/, 'payment_failed');
}

/** Terms of one kind, each once; none for a text that says nothing. */
function named(what: string, ...texts: (string | undefined)[]): string[] {
  const said = texts.flatMap((text) => text?.trim() || []);
  return [...new Set(said)].map((text) => `${what}\0${text}`);
}
