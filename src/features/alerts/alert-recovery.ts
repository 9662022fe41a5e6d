import { z } from 'zod';
import { recordOfOrder, endsCard } from './alert.ts';
import type { Lookup, BotCharge, ProvenPayment, Recovery } from '../../domain/alert.ts';
import { orderEventKey, type PaymentEvent } from '../../domain/payment-event.ts';
import { growingDelayMs } from '../../deadline.ts';
import type { Money } from '../../domain/money.ts';
import { StoreUnavailable } from '../../domain/failure.ts';
import { withoutUndefined } from '../../domain/without-undefined.ts';
import { newErrorId, type Log } from '../../log.ts';
import { createRecords, type RecordKind, type Records, type RecordsDeps } from '../../records/records.ts';
import type { Entry } from '../../store/store.ts';
import type { Fingerprint } from '../../records/fingerprint.ts';
import { untouched, type AlertCases } from './alert-case.ts';
import { type AlertCards, moneyOfFailure } from './alert-cards.ts';
import { firstAlert, type ChargeOf } from './alert-claims.ts';
import { moneyShape } from '../../records/shapes.ts';
import { eventsList, keptBackBy } from '../../messages/message-record.ts';
import type { Alone } from './receive-event.ts';

type AlertRecoveryDeps = RecordsDeps & {
  fingerprint: Fingerprint;
  /** How long a payment is remembered after it was last held against failures. */
  rememberMs: number;
  alerts: AlertCases;
  cards: Pick<AlertCards, 'find' | 'move'>;
  lookUp: (event: PaymentEvent) => Promise<Lookup>;
  chargeOf: ChargeOf;
  now: () => number;
  log: Log;
};

export type AlertRecovery = ReturnType<typeof createAlertRecovery>;

export const paymentPrefix = 'alert-payment:';

type Proof = { reference: string; money: Money };

/** What two events may have in common: the order, the customer by id or address, or the card as the bot knows it. */
type Term = { what: 'reference' | 'customer' | 'email' | 'card'; text: string };

/**
 * A payment as it is kept while failures are looked for, sealed. `lists`: where failures find it, by what they have in
 * common with it. `unproven` counts the look-ups that did not confirm it; `hasOwn`: it has resolved the alert it belongs
 * to, and resolves no other. `alone`: no rule wants its event, so this is what remembers it.
 */
type Payment = {
  event: PaymentEvent;
  receivedAtMs: number;
  lists: readonly string[];
  unproven: number;
  proof?: Proof;
  hasOwn?: true;
  alone?: Alone;
};

const keyed = z.looseObject({ key: z.string() });

export const paymentKind: RecordKind<Payment> = {
  prefix: paymentPrefix,
  schema: z.object({
    event: z.custom<PaymentEvent>((value) => keyed.safeParse(value).success),
    receivedAtMs: z.number(),
    lists: z.array(z.string()),
    unproven: z.int(),
    proof: z.object({ reference: z.string(), money: moneyShape }).exactOptional(),
    hasOwn: z.literal(true).exactOptional(),
    alone: z.object({ fingerprint: z.string(), keptBy: z.array(z.string()).exactOptional() }).exactOptional(),
  }),
  lists: ({ lists, receivedAtMs, alone }) =>
    Object.fromEntries(
      [...lists, ...(alone ? [eventsList, ...(alone.keptBy ?? []).map(keptBackBy)] : [])].map((list) => [
        list,
        receivedAtMs,
      ]),
    ),
};

/** An event that has something in common with another: its key, when it came, and by which terms it was found. */
type Found = { id: string; atMs: number; by: readonly Term[] };

/** `isOwn`: the payment is of its order, or was charged again for it. */
type Failure = Found & { isOwn: boolean };

/** A customer who has more is known by the newest of it. */
const mostFound = 50;

/** By then a failure that came just before it is told, and listed. */
const lookAfterMs = 2_000;
/** A crash has it held again so late; longer than it takes. */
const holdMs = 60_000;
const firstProofMs = 5_000;
const longestProofMs = 300_000;
const proofPatienceMs = 86_400_000;
/**
 * Holds it against the failures as if its event had come, which may be lost. Durable once it resolves, and again is the
 * same as once. Throws StoreUnavailable.
 */
export async function keepProvenPayment(
  deps: RecordsDeps,
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
  await createRecords(deps, paymentKind).create(event.key, payment, { delayMs: 0 });
}

type Linking = AlertRecoveryDeps & { payments: Records<Payment> };

/**
 * Resolves alerts by payments. A payment that is of a failed order, or was charged from its alert, resolves that alert
 * alone. Any other resolves those of the same customer or card and the same amount that came before it. What it does
 * not resolve is told in the alert's thread. A webhook proves nothing: the look-up, or the bot's own charge, does.
 */
export function createAlertRecovery(deps: AlertRecoveryDeps) {
  const { log } = deps;
  const payments: Records<Payment> = createRecords(deps, paymentKind);
  const linking: Linking = { ...deps, payments };

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
      const payment: Payment = { event, receivedAtMs, lists: [], unproven: 0, ...(alone && { alone }) };
      // Whatever says neither order nor customer makes nothing good.
      const rest = termsOf(event).length > 0 ? { delayMs: lookAfterMs } : { ttlMs: deps.rememberMs };
      return payments.create(event.key, payment, rest);
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
      storm?: string,
    ): Promise<void> {
      try {
        await link(linking, event, lookup, { receivedAtMs, storms: storm === undefined ? [] : [storm] });
      } catch (error) {
        if (error instanceof StoreUnavailable) throw error;
        // An alert is told also when the key that names customers is gone.
        const errorId = newErrorId();
        log('error', 'a failure cannot be linked to its payments', { errorId, key: event.key }, error);
      }
    },

    async work(entry: Entry): Promise<void> {
      const opened = payments.open(entry);
      const terms = await termsOfEvent(linking, opened.event);
      const listed = await listPayment(linking, entry, opened, terms);
      if (!listed) return;
      const { payment, delayMs } = await holdAgainstFailures(linking, listed.payment, terms);
      const rest = delayMs === undefined ? { ttlMs: deps.rememberMs } : { delayMs };
      // Lost: a failure came meanwhile and has it looked at again.
      await payments.write(listed.entry, payment, rest);
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
  { receivedAtMs, storms }: { receivedAtMs: number; storms: readonly string[] },
): Promise<void> {
  const { alerts, payments } = linking;
  const terms = distinct([...(await termsOfEvent(linking, event)), ...termsOfRecord(lookup)]);
  const failed = { atMs: receivedAtMs, lists: await listsOf(linking, 'failures', terms) };
  const begun = await alerts.begin(event.key, { ...untouched(event.key), storms, failed });
  if (begun.kind === 'known') {
    await alerts.apply(event.key, { kind: 'failed', ...failed, storms });
    if (endsCard(begun.state.card)) return;
  }
  const proof = proofOf(event, lookup);
  const paid = proof && (await payments.read(paymentKey(event)));
  if (paid) {
    const own = { id: event.key, atMs: receivedAtMs, by: [], isOwn: true };
    return await resolve(linking, paid, own, proof);
  }
  const found = await findBy(linking, 'payments', terms);
  const since = found.filter((payment) => isOfOrder(payment) || payment.atMs >= receivedAtMs);
  const ofOrder = terms
    .filter(isOrder)
    .flatMap(({ text }) => [orderEventKey('payment_success', text), provenKey(text)]);
  const ids = new Set([paymentKey(event), ...ofOrder, ...since.map(({ id }) => id)]);
  // Its proof may come later; and whoever has it in hand may have looked before the failure was listed.
  await Promise.all([...ids].map((id) => makeDue(linking.store, paymentPrefix + id)));
}

/** Has a payment looked at again soon, whoever writes it meanwhile. */
async function makeDue(store: Linking['store'], key: string): Promise<void> {
  for (;;) {
    // oxlint-disable-next-line no-await-in-loop -- each round looks at what the one before lost to
    const entry = await store.read(key);
    // oxlint-disable-next-line no-await-in-loop
    if (!entry || (await store.write(entry, entry.value, { delayMs: firstProofMs }))) return;
  }
}

const newest = { max: mostFound, newestFirst: true };

/** The lists of the events that have one of the terms in common, under keyed hashes of those. */
function listsOf(
  { fingerprint }: Linking,
  kind: 'failures' | 'payments',
  terms: readonly Term[],
): Promise<string[]> {
  return Promise.all(
    terms.map(async ({ what, text }) => `${kind}-of:${await fingerprint(`\0failure\0${what}\0${text}`)}`),
  );
}

/** Each that has one of the terms in common: of each term the newest. */
async function findBy(
  linking: Linking,
  kind: 'failures' | 'payments',
  terms: readonly Term[],
): Promise<Found[]> {
  const names = await listsOf(linking, kind, terms);
  const pages = await Promise.all(names.map((name) => readers[kind](linking, name)));
  const all = new Map(pages.flat().map((one) => [one.id, one]));
  return [...all.values()].map(({ id, atMs, lists }) => ({
    id,
    atMs,
    by: terms.filter((_, index) => lists.includes(names[index] ?? '')),
  }));
}

const readers = {
  async failures({ alerts }: Linking, name: string) {
    const found = await alerts.list(name, newest);
    return found.flatMap(({ id, failed }) => (failed ? [{ id, ...failed }] : []));
  },
  async payments({ payments }: Linking, name: string) {
    const found = await payments.list(name, newest);
    return found.map(({ event, receivedAtMs: atMs, lists }) => ({ id: event.key, atMs, lists }));
  },
};

function isOrder({ what }: Term): boolean {
  return what === 'reference';
}

/** It was found by its order, whatever else it has in common. */
function isOfOrder({ by }: Found): boolean {
  return by.some(isOrder);
}

async function termsOfEvent(linking: Linking, event: PaymentEvent): Promise<Term[]> {
  return distinct([...termsOf(event), ...termOf('card', (await chargeOfEvent(linking, event))?.card)]);
}

async function chargeOfEvent(
  { chargeOf }: Linking,
  { orderReference }: PaymentEvent,
): Promise<BotCharge | undefined> {
  return orderReference === undefined ? undefined : await chargeOf(orderReference);
}

/** When the payment is looked at again; without `delayMs`, never. */
type Next = { payment: Payment; delayMs: number | undefined };

/** On its lists before failures are looked for. Undefined: it is due again for what came meanwhile. */
async function listPayment(
  linking: Linking,
  entry: Entry,
  payment: Payment,
  terms: readonly Term[],
): Promise<{ entry: Entry; payment: Payment } | undefined> {
  // By a reference of its own it is found without a list.
  const [own] = termOf('reference', payment.event.orderReference);
  const asked = terms.filter((one) => !isOrder(one) || one.text !== own?.text);
  const lists = [...new Set([...payment.lists, ...(await listsOf(linking, 'payments', asked))])];
  if (lists.length === payment.lists.length) return { entry, payment };
  const listed = { ...payment, lists };
  const held = await linking.payments.write(entry, listed, { delayMs: holdMs });
  return held && { entry: held, payment: listed };
}

async function holdAgainstFailures(
  linking: Linking,
  payment: Payment,
  terms: readonly Term[],
): Promise<Next> {
  const { event } = payment;
  const failures = await failuresOf(linking, payment, terms);
  if (failures.length === 0) return { payment, delayMs: undefined };
  const proof = payment.proof ?? proofOf(event, await linking.lookUp(event));
  if (!proof) return unproven(payment, linking.now());
  const hasOwn = payment.hasOwn || failures.some(({ isOwn }) => isOwn);
  const held: Payment = { ...payment, ...(hasOwn ? { hasOwn } : {}) };
  let isSettled = true;
  for (const failure of failures) {
    // oxlint-disable-next-line no-await-in-loop -- seldom more than one
    if (!(await settle(linking, held, failure, proof))) isSettled = false;
  }
  return isSettled ? { payment: held, delayMs: undefined } : unproven(held, linking.now());
}

/** Those it may resolve: its own, whenever that came, and those of the same customer or card that came before it. */
async function failuresOf(
  linking: Linking,
  { event, receivedAtMs }: Payment,
  terms: readonly Term[],
): Promise<Failure[]> {
  const reference = terms.find(isOrder)?.text;
  const alert = reference === undefined ? undefined : (await linking.chargeOf(reference))?.alert;
  const first = await firstAlert(linking, alert ?? failureKey(event, reference));
  const found = await Promise.all(
    (await findBy(linking, 'failures', terms)).map(async (failure): Promise<Failure> => {
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
  } else {
    const other = recoveryOf(payment, failure, proof);
    await linking.alerts.hear(failure.id, { kind: 'paid_otherwise', payment: other });
  }
  return true;
}

/** Another order resolves it by the same amount alone, and only where it has no failure of its own: one payment is not for two. */
async function judge(
  { cards, lookUp }: Linking,
  { hasOwn }: Payment,
  failure: Failure,
  { money }: Proof,
): Promise<'resolves' | 'unchecked' | 'other_payment'> {
  if (failure.isOwn) return 'resolves';
  const alert = await cards.find(failure.id);
  // Forgotten: it is listed no more.
  if (!alert) return 'resolves';
  const failed = await moneyOfFailure(lookUp, alert);
  if (failed === 'unchecked') return failed;
  const isSame = failed?.minor === money.minor && failed.currency === money.currency;
  return isSame && !hasOwn ? 'resolves' : 'other_payment';
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
  return {
    ...proof,
    isSameReference,
    ...(isOwn && !isSameReference ? { isChargedAgain: true } : {}),
    afterMs: receivedAtMs - atMs,
  };
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

/** What an event names itself: its order, and its customer. */
function termsOf({ orderReference, customerId, customerEmail }: PaymentEvent): Term[] {
  return [
    ...termOf('reference', orderReference),
    ...termOf('customer', customerId),
    ...termOf('email', customerEmail?.toLowerCase()),
  ];
}

/** What the service’s own record adds, where it is the record of this order: the order too, which the event need not name. */
function termsOfRecord(lookup: Lookup): Term[] {
  const { orderReference, customerEmail } = recordOfOrder(lookup) ?? {};
  return [...termOf('reference', orderReference), ...termOf('email', customerEmail?.toLowerCase())];
}

/** Each once. */
function distinct(terms: readonly Term[]): Term[] {
  return terms.filter(
    ({ what, text }, index) => terms.findIndex((one) => one.what === what && one.text === text) === index,
  );
}

/** None for a text that says nothing. */
function termOf(what: Term['what'], text: string | undefined): Term[] {
  const trimmed = text?.trim() ?? '';
  return trimmed === '' ? [] : [{ what, text: trimmed }];
}
