import type { ActionsBlock, ContextBlock } from '@slack/types';
import { endsCard } from '../../domain/alert-card.ts';
import { isDeclined, recordOf, type Alert, type Lookup } from '../../domain/alert.ts';
import { formatMoney, type Money } from '../../domain/money.ts';
import { parseOrderReference } from '../../domain/order-reference.ts';
import { outcomeWords } from '../../domain/outcome.ts';
import type { PaymentEvent, PaymentEventKind } from '../../domain/payment-event.ts';
import { moneyToTake, type Transaction } from '../../domain/transaction.ts';
import { cardButtons } from './card-buttons.ts';
import { cardFields, cardFoot, cardState } from './card-lines.ts';
import { cardSavedLines, cardSavedState } from '../../slack/words/card-words.ts';
import { routeBlocks } from './routes/alert-route-blocks.ts';
import { bold, code, fields, headline, moment, richText, words, type Run } from '../../slack/kit/blocks.ts';
import { declineNext } from '../../slack/words/next-steps.ts';
import {
  customerWord,
  lookUpButton,
  placeLine,
  proofLine,
  quoted,
  referenceWord,
  word,
} from '../../slack/words/evidence.ts';
import { failureWords } from '../../slack/words/error-message.ts';
import type { MessageBlock, SlackMessage } from '../../slack/kit/message.ts';
import { notPaidWords, stateWords, whyNot } from '../../slack/words/transaction-message.ts';

/** What the metadata of every alert is called; the key in it finds the alert again in a channel's history. */
const alertEventType = 'payops_alert';

/**
 * One signed event as a channel sees it. What the look-up proved is stated; what only the event says is
 * labelled as the event's; where the two disagree the message says so first. With a card, its state comes
 * first, and one that has ended loses its details and buttons: what was done is in the thread, and a look-up tells what
 * the bank said. One whose details were taken away says its outcome and reference, where and when. Pings nobody but whom its route calls.
 */
export function alertMessage(alert: Alert): SlackMessage {
  const { event, card } = alert;
  const { text, block } = alertHeadline(alert);
  const blocks: MessageBlock[] = event.isErased
    ? [block, placeOf(alert)]
    : [
        block,
        ...(card && endsCard(card.card) ? fields(cardFields(card)) : body(alert)),
        ...(alert.mayBeRepeat ? [richText([words(repeatWords)])] : []),
        placeOf(alert),
        ...(card ? cardFoot(card) : []),
        ...buttons(alert),
      ];
  return {
    text,
    blocks,
    metadata: { event_type: alertEventType, event_payload: { key: event.key } },
  };
}

/**
 * The first line: the state of alert and charge, or another word for it; amount, customer, reference. Of what a payment
 * resolved the amount is the payment’s.
 */
export function alertHeadline(
  alert: Alert,
  told: { state?: string; money?: Money } = {},
): ReturnType<typeof headline> {
  const charge = chargeState(alert);
  const card = alert.card?.card;
  const state = told.state ?? (card ? cardState(card, charge) : charge);
  return headline(state, details(alert, card?.kind === 'recovered' ? card.payment.money : told.money));
}

/** What became of the charge, as far as event and look-up tell, whatever people did with its alert. */
export function chargeState(alert: Alert): string {
  return cardSavedState(alert.event.cardSaved, verdict(alert).state);
}

function body(alert: Alert): MessageBlock[] {
  const { event, lookup, card } = alert;
  const { says, next } = verdict(alert);
  return [
    ...routeBlocks(alert.route),
    ...cardSavedLines(event.cardSaved, alert),
    ...reasons(event, isDeclined(alert) ? recordOf(lookup) : undefined),
    ...lines(
      says === undefined ? [] : [words(says)],
      next === undefined ? [] : [bold('Next: '), words(next)],
    ),
    ...lines(...(alert.declined ? declineNext(alert.declined) : [])),
    ...('evidence' in lookup ? [proofLine(lookup.evidence, lookup.transaction)] : []),
    ...(lookup.kind === 'no_reference' ? signedFacts(event) : []),
    ...((lookup.kind === 'not_confirmed' || lookup.kind === 'not_paid') && !isDeclined(alert)
      ? [richText(...whyNot(lookup))]
      : []),
    ...(card ? fields(cardFields(card)) : []),
  ];
}

function lines(...all: Run[][]): MessageBlock[] {
  const said = all.filter((line) => line.length > 0);
  return said.length === 0 ? [] : [richText(...said)];
}

/** The account, and when it was looked up last, or while nobody has it when the event came. */
function placeOf(alert: Alert): ContextBlock {
  const { card } = alert;
  const lookedUpAtMs = card?.lookedUpAtMs;
  const isNew = card === undefined || card.card.kind === 'open';
  return placeLine({
    environment: alert.environment,
    account: alert.account,
    verb: lookedUpAtMs === undefined ? '' : 'looked up',
    atMs: lookedUpAtMs ?? (isNew ? alert.receivedAtMs : undefined),
    customerId: alert.event.customerId,
    // Whoever asks the payments service names it.
    orderId: isDisputed(alert.lookup) ? (alert.event.orderId ?? recordOf(alert.lookup)?.orderId) : undefined,
  });
}

function isDisputed(lookup: Lookup): boolean {
  return 'evidence' in lookup && !lookup.evidence.reference.holds;
}

function buttons(alert: Alert): ActionsBlock[] {
  const { event, card } = alert;
  const orderReference = event.orderReference ?? hintToLookUp(alert);
  if (!card) return orderReference === undefined ? [] : lookUpButton('Look up', orderReference);
  const canLookUp = orderReference !== undefined && parseOrderReference(orderReference).ok;
  return cardButtons(card, { canLookUp, canReveal: customerOf(alert) !== '' });
}

/** It may be known by now, and a look-up is all that it is good for. */
function hintToLookUp({ event, lookup }: Alert): string | undefined {
  return lookup.kind === 'no_reference' && lookup.hint === 'unknown' ? event.referenceHint : undefined;
}

/** Why, in words that are not ours; once when the event and the look-up say the same. */
function reasons(event: PaymentEvent, record: Transaction | undefined): MessageBlock[] {
  const gateway = record?.gatewayMessage === event.reason ? undefined : record?.gatewayMessage;
  return [...quoted('The bank says:', event.reason), ...quoted('Gateway:', gateway)];
}

/** `says` and `next` where the proof does not speak for itself. A decline’s next step goes by the bank’s reason. */
type Verdict = { state: string; says?: string; next?: string };

const eventWords: Record<PaymentEventKind, string> = {
  payment_failed: 'Event says failed',
  payment_success: 'Event says success',
};

const repeatWords = 'This may repeat an earlier alert: Slack didn’t confirm whether that one arrived.';

function verdict(alert: Alert): Verdict {
  const { lookup, event } = alert;
  const says = eventWords[event.kind];
  switch (lookup.kind) {
    case 'confirmed':
      return confirmed(event.kind);
    case 'not_paid':
      return isDeclined(alert)
        ? { state: `❌ ${outcomeWords.declined}` }
        : { state: `🚨 ${says}, look-up says ${notPaidWords(lookup.transaction)}` };
    case 'not_confirmed':
      return isDeclined(alert)
        ? { state: `❌ ${outcomeWords.declined}` }
        : unproven(event.kind, lookup.evidence.status.holds);
    case 'not_found':
      return {
        state: `🔎 ${says}, look-up says ${outcomeWords.notFound}`,
        says: 'A new charge can take a moment to show.',
        next: 'look it up again.',
      };
    case 'unchecked':
      return {
        state: `❔ ${says}, not checked`,
        says: `${failureWords[lookup.failure].what}.`,
        next: 'look it up before you act.',
      };
    case 'no_reference':
      return { state: `❔ ${says}, not checked`, ...withoutReference(event, lookup.hint) };
  }
}

type Unreferenced = Extract<Lookup, { kind: 'no_reference' }>;

/** A reference that is not signed may be any order's: it is named as that, and never in the first line. */
function withoutReference(
  { referenceHint, transactionId }: PaymentEvent,
  hint: Unreferenced['hint'],
): { says: string; next: string } {
  const unsigned = `The reference that came with it, ${word(referenceHint)}, isn’t signed`;
  switch (hint) {
    case undefined:
      return {
        says: 'The event’s signature covers no order reference, so there is nothing to look up.',
        next: 'Find the payment in the merchant’s records.',
      };
    case 'unknown':
      return {
        says: `${unsigned}, and the service doesn’t know it.`,
        next: 'Look it up again: a new payment can take a moment to show.',
      };
    case 'other':
      return transactionId === undefined
        ? {
            says: `${unsigned}, and nothing signed ties it to this event.`,
            next: 'Find the payment in the merchant’s records.',
          }
        : {
            says: `${unsigned}, and leads to another transaction.`,
            next: 'Don’t act on that reference. Find the signed transaction in the merchant’s records.',
          };
  }
}

/** All that is known for sure of an event without a reference. */
function signedFacts({ kind, orderReference, transactionId, signedAtMs }: PaymentEvent): MessageBlock[] {
  if (orderReference !== undefined) return [];
  const id = word(transactionId);
  return fields({
    Signed: [
      words(kind),
      ...(id ? [words(', transaction '), code(id)] : []),
      ...(signedAtMs === undefined ? [] : [words(', '), moment(signedAtMs)]),
    ],
  });
}

function confirmed(kind: PaymentEventKind): Verdict {
  if (kind === 'payment_success') return { state: stateWords.confirmed };
  return {
    state: `🚨 ${eventWords.payment_failed}, look-up says ${outcomeWords.paid}`,
    next: 'don’t charge again. Ask the payments service which is wrong.',
  };
}

/** Found, but not proven, and not a plain decline either. */
function unproven(kind: PaymentEventKind, isSuccess: boolean): Verdict {
  const state = `${eventWords[kind]}, look-up says ${outcomeWords.notConfirmed}`;
  if (kind === 'payment_success' || !isSuccess) return { state: `⚠️ ${state}` };
  return {
    state: `🚨 ${state}`,
    says: 'The look-up’s status means paid, so money may have moved.',
    next: 'don’t charge again.',
  };
}

function details(alert: Alert, paid: Money | undefined): string[] {
  const { event, lookup } = alert;
  const reference = event.orderReference;
  const id = word(event.transactionId);
  const unnamed = id === undefined || id === '' ? 'no reference' : `transaction ${id}`;
  const named = reference === undefined ? unnamed : referenceWord(reference);
  if (event.isErased) return [named];
  const money = paid ?? moneyOf(event, lookup);
  return [amountWords(event, money), customerOf(alert), named];
}

/** Of what failed, what was to be taken: nothing was. */
function moneyOf({ kind }: PaymentEvent, lookup: Lookup): Money | undefined {
  if (!('money' in lookup)) return undefined;
  return kind === 'payment_failed' ? moneyToTake(lookup.transaction) : lookup.money;
}

function customerOf({ event, lookup }: Alert): string {
  return customerWord(recordOf(lookup)?.customerEmail ?? event.customerEmail);
}

/** The looked-up amount; else the signed event's, labelled so. */
function amountWords(event: PaymentEvent, money: Money | undefined): string {
  if (money) return word(formatMoney(money)) ?? '';
  if (event.amountMinor === undefined) return 'amount unknown';
  const { amountMinor: minor, currency = '' } = event;
  return `${word(formatMoney({ minor, currency }))} by the event`;
}
