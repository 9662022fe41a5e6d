import type { Alert, Lookup } from '../domain/alert.ts';
import type { FailureKind } from '../domain/failure.ts';
import { formatMoney } from '../domain/money.ts';
import { outcomeWords } from '../domain/outcome.ts';
import type { PaymentEvent, PaymentEventKind } from '../domain/payment-event.ts';
import type { Transaction } from '../domain/transaction.ts';
import { bold, fields, headline, richText, words } from './blocks.ts';
import { customerWord, lookUpButton, placeLine, quoted, referenceWord, ticks, word } from './evidence.ts';
import type { MessageBlock, SlackMessage } from './message.ts';
import { stateWords, whyNot } from './transaction-message.ts';

/** What the metadata of every alert is called; the key in it finds the alert again in a channel's history. */
export const alertEventType = 'payops_alert';

/**
 * One signed event as a channel sees it. What the look-up proved is stated; what only the event says is
 * labelled as the event's; where the two disagree the message says so first. Pings nobody.
 */
export function alertMessage(alert: Alert): SlackMessage {
  const { event, lookup } = alert;
  const { state, says, next } = verdict(alert);
  const { text, block } = headline(state, details(alert));
  const blocks: MessageBlock[] = [
    block,
    ...reasons(event, recordOf(lookup)),
    ...('evidence' in lookup ? [ticks(lookup.evidence)] : []),
    ...(says === undefined ? [] : [richText([words(says)], [bold('Next: '), words(next)])]),
    ...(lookup.kind === 'not_confirmed' && !isDeclined(alert) ? [richText(...whyNot(lookup))] : []),
    ...fields({ 'Charge of': chargeWords(event), 'Customer id': word(event.customerId) }),
    ...(alert.mayBeRepeat ? [richText([words(repeatWords)])] : []),
    placeLine({
      environment: alert.environment,
      account: alert.account,
      verb: 'received',
      atMs: alert.receivedAtMs,
      orderId: event.orderId ?? recordOf(lookup)?.orderId,
    }),
    ...(event.orderReference === undefined ? [] : lookUpButton('Look up', event.orderReference)),
  ];
  return {
    text,
    blocks,
    metadata: { event_type: alertEventType, event_payload: { key: event.key } },
  };
}

function recordOf(lookup: Lookup): Transaction | undefined {
  return 'transaction' in lookup ? lookup.transaction : undefined;
}

/** Why, in words that are not ours; once when the event and the look-up say the same. */
function reasons(event: PaymentEvent, record: Transaction | undefined): MessageBlock[] {
  const gateway = record?.gatewayMessage === event.reason ? undefined : record?.gatewayMessage;
  return [
    ...quoted('The bank’s own words, by the event:', event.reason),
    ...quoted('The gateway’s own words, by the look-up:', gateway),
  ];
}

/** `says` and `next` stand where the ticks do not speak for themselves: what it means, and what a person does now. */
type Verdict = { state: string; says: string; next: string } | { state: string; says?: never; next?: never };

const eventWords: Record<PaymentEventKind, string> = {
  payment_failed: 'Event says failed',
  payment_success: 'Event says success',
};

const repeatWords =
  'This may repeat an earlier alert: sending that one was cut short, and whether it arrived could not be read back.';

function verdict(alert: Alert): Verdict {
  const { lookup, event } = alert;
  const says = eventWords[event.kind];
  switch (lookup.kind) {
    case 'confirmed':
      return confirmed(event.kind);
    case 'not_confirmed':
      return isDeclined(alert) ? declined : unproven(event.kind, lookup.evidence.status.holds);
    case 'not_found':
      return {
        state: `🔎 ${says}, look-up says ${outcomeWords.notFound}`,
        says: 'The service knows no transaction of this reference on this account, so nothing is proven either way.',
        next: 'look it up again; a very recent charge can take a moment to show.',
      };
    case 'unchecked':
      return {
        state: `❔ ${says}, not checked`,
        says: `The payments service could not be asked: ${uncheckedWords[lookup.failure]}. Nothing is assumed.`,
        next: 'look it up before you act.',
      };
    case 'no_reference':
      return {
        state: `❔ ${says}, not checked`,
        says: 'The event names no order reference under its signature, so there is nothing to look up. Nothing is assumed.',
        next: 'find the payment in the merchant’s own records.',
      };
  }
}

/** The event says failed, and the look-up found that very charge with another status than SUCCESS. */
function isDeclined({ event, lookup }: Alert): boolean {
  return (
    event.kind === 'payment_failed' &&
    lookup.kind === 'not_confirmed' &&
    lookup.evidence.reference.holds &&
    !lookup.evidence.status.holds &&
    lookup.transaction.status !== undefined
  );
}

const declined: Verdict = {
  state: `❌ ${outcomeWords.declined}`,
  says: 'A signed event says the charge failed, and the look-up agrees that it is not SUCCESS.',
  next: 'before another try, wait (24 hours, for example), and give it a new order reference.',
};

function confirmed(kind: PaymentEventKind): Verdict {
  if (kind === 'payment_success') return { state: stateWords.confirmed };
  return {
    state: `🚨 ${eventWords.payment_failed}, look-up says ${outcomeWords.paid}`,
    says: 'The look-up proves the payment; the event contradicts it.',
    next: 'do not charge again. Ask the payments service which of the two is wrong.',
  };
}

/** Found, but not proven, and not a plain decline either. */
function unproven(kind: PaymentEventKind, isSuccess: boolean): Verdict {
  const state = `${eventWords[kind]}, look-up says ${outcomeWords.notConfirmed}`;
  if (kind === 'payment_success' || !isSuccess) return { state: `⚠️ ${state}` };
  return {
    state: `🚨 ${state}`,
    says: 'The look-up’s status is SUCCESS, so money may have moved although the event says failed.',
    next: 'do not charge again.',
  };
}

const uncheckedWords: Record<FailureKind, string> = {
  timeout: 'it gave no answer in time',
  network: 'it could not be reached',
  unauthorized: 'it refused the bot’s access token',
  forbidden: 'it does not let the bot’s account look transactions up',
  rate_limited: 'its call limit was reached',
  server: 'it reported a fault of its own',
  malformed: 'its answer could not be read',
};

function details({ event, lookup }: Alert): string[] {
  const reference = event.orderReference;
  return [
    amountWords(event, 'money' in lookup ? lookup.money : undefined),
    customerWord(recordOf(lookup)?.customerEmail ?? event.customerEmail),
    reference === undefined ? 'no reference' : referenceWord(reference),
  ];
}

/** The looked-up amount; else the signed event's, labelled so. */
function amountWords(event: PaymentEvent, money: { minor: number; currency: string } | undefined): string {
  if (money) return word(formatMoney(money)) ?? '';
  if (event.amountMinor === undefined) return 'amount unknown';
  const { amountMinor: minor, currency = '' } = event;
  return `${word(formatMoney({ minor, currency }))} by the event`;
}

function chargeWords({ isSavedCardCharge }: PaymentEvent): string | undefined {
  if (isSavedCardCharge === undefined) return undefined;
  return isSavedCardCharge ? 'a saved card' : 'the first payment, which saves the card';
}
