import { isDeepStrictEqual } from 'node:util';
import type { ActionsBlock, ContextBlock, RichTextBlock } from '@slack/types';
import {
  isEnded,
  type Alert,
  type AlertStatus,
  type AlertStep,
  isDeclined,
  recordOf,
  moneyOfFailure,
  recordOfOrder,
} from './alert.ts';
import type { AlertState, Recovery, EventAccount, Lookup } from '../../domain/alert.ts';
import { counted, duration, listed } from '../../domain/wording.ts';
import type { MessagePlace } from '../../messages/delivery.ts';
import { type Money, formatMoney } from '../../domain/money.ts';
import { parseOrderReference } from '../../domain/order-reference.ts';
import { declineReason, type FailedHow, failedHow } from '../../domain/decline-reason.ts';
import { withoutUndefined } from '../../domain/json.ts';
import { alreadyPaid } from '../../slack/words/alert-news.ts';
import { failedState, outcomeWords, saidGivenBack } from '../../slack/words/state-words.ts';
import type { PaymentEvent, PaymentEventKind } from '../../domain/payment-event.ts';
import { type Transaction, moneyToTake } from '../../domain/transaction.ts';
import { acknowledgeButton, statusButtons, longestTypedReason } from './alert-buttons.ts';
import type { FoundAlert } from './alert-cases.ts';
import { escalationFields, routeBlocks } from './alert-rules-message.ts';
import {
  type Run,
  actions,
  bold,
  code,
  context,
  divider,
  fields,
  header,
  headline,
  listBlocks,
  messageLink,
  moment,
  mrkdwn,
  person,
  rich,
  richText,
  words,
} from '../../slack/kit/blocks.ts';
import type { OpenItems } from '../../slack/command.ts';
import type { MessageBlock, SlackMessage } from '../../slack/kit/message.ts';
import { type PostAttempt, forPosting, repeatMark } from '../../slack/kit/note.ts';
import { outsideText } from '../../slack/kit/text.ts';
import { cardSavedLines, cardSavedState } from '../../slack/words/card-words.ts';
import { failureWords } from '../../slack/words/error-message.ts';
import { accountFoot, proofFoot } from '../../slack/words/account-foot.ts';
import {
  customerWord,
  lookUpButton,
  proofLine,
  provenWords,
  quoted,
  referenceRun,
  referenceWord,
  word,
} from '../../slack/words/payment-words.ts';
import { declineNext } from '../../slack/words/next-steps.ts';
import { notPaidWords, confirmationWords, nextForUnproven } from '../../slack/words/transaction-message.ts';

/** The metadata's event type of all alerts; its key finds an alert in a channel's history. */
const alertEventType = 'payops_alert';

/**
 * An alert as its channel sees it. States what the look-up proved, labels what only the event says, and says first if the two
 * disagree. An alert that people act on begins with its state. Once it has ended it has no details and buttons: the thread has
 * its history. An erased alert has only outcome, reference, place and, until it has ended, buttons. Pings only the person or
 * group that its rule calls.
 */
export function alertMessage(alert: Alert): SlackMessage {
  const { event, status } = alert;
  const { text, block } = alertHeadline(alert);
  const blocks: MessageBlock[] = event.isErased
    ? [block, footOf(alert), ...(status ? buttons(alert) : [])]
    : [
        block,
        ...(status && isEnded(status.state) ? fields(statusFields(status, alert)) : body(alert)),
        footOf(alert),
        ...repeatMark(alert.mayBeRepeat),
        ...(status ? replacedFoot(status) : []),
        ...buttons(alert),
      ];
  return {
    text,
    blocks,
    metadata: { event_type: alertEventType, event_payload: { key: event.key } },
  };
}

/** The first line: state, amount, customer, reference. `shown` replaces state and amount; a resolved alert shows its payment's. */
function alertHeadline(
  alert: Alert,
  shown: { state?: string; money?: Money } = {},
): ReturnType<typeof headline> {
  const state = alert.status?.state;
  const paid = state?.kind === 'recovered' ? state.payment.money : shown.money;
  return headline(shown.state ?? eventState(alert, state), details(alert, paid));
}

type Outcome = Pick<Alert, 'event' | 'lookup' | 'declined'>;

/** The state of an event, or of its alert, for the first line of a list. */
export function eventState(alert: Outcome, state: AlertState | undefined): string {
  const charge = chargeState(alert);
  return state ? alertState(state, charge) : charge;
}

/** The charge's state by event and look-up, without what people did. */
function chargeState(alert: Outcome): string {
  return cardSavedState(alert.event.cardSaved, findingOf(alert).state);
}

function body(alert: Alert): MessageBlock[] {
  const { event, lookup, status } = alert;
  const { says, next } = findingOf(alert);
  return [
    ...routeBlocks(alert.route),
    ...cardSavedLines(event.cardSaved, alert),
    ...reasons(event, saysWhy(lookup) ? recordOf(lookup) : undefined),
    ...lines(
      says === undefined ? [] : [words(says)],
      next === undefined ? [] : [bold('Next: '), words(next)],
    ),
    // While a charge may still move money, nobody may begin another.
    ...lines(...(alert.declined && !status?.charging ? declineNext(alert.declined) : [])),
    ...('evidence' in lookup ? proofLine(lookup.evidence, lookup.transaction) : []),
    ...(lookup.kind === 'no_reference' ? signedFacts(event) : []),
    ...(lookup.kind === 'unchecked' ? unsignedReference(event) : []),
    ...('evidence' in lookup && lookup.kind !== 'confirmed' && !isDeclined(alert)
      ? [richText(...nextForUnproven(lookup))]
      : []),
    ...(status ? fields(statusFields(status, alert)) : []),
  ];
}

function lines(...all: Run[][]): MessageBlock[] {
  const shown = all.filter((line) => line.length > 0);
  return shown.length === 0 ? [] : [richText(...shown)];
}

/** Environment and account, and the time: of the last look-up by a person, or of the event while the alert is open. */
function footOf(alert: Alert): ContextBlock {
  const { status } = alert;
  const lookedUpAtMs = status?.lookedUpAtMs;
  const isNew = status === undefined || status.state.kind === 'open';
  return proofFoot({
    environment: alert.environment,
    account: alert.account,
    verb: lookedUpAtMs === undefined ? '' : 'checked',
    proven:
      'evidence' in alert.lookup && !alert.event.isErased
        ? provenWords(alert.lookup.evidence, alert.lookup.transaction)
        : undefined,
    atMs: lookedUpAtMs ?? (isNew ? alert.receivedAtMs : undefined),
    customerId: alert.event.customerId,
    // For people who ask the payments service.
    orderId: isDisputed(alert.lookup) ? (alert.event.orderId ?? recordOf(alert.lookup)?.orderId) : undefined,
  });
}

function isDisputed(lookup: Lookup): boolean {
  return 'evidence' in lookup && !lookup.evidence.reference.holds;
}

function buttons(alert: Alert): ActionsBlock[] {
  const { event, status } = alert;
  const { orderReference } = event;
  if (!status) {
    const [lookUp] = orderReference === undefined ? [] : lookUpButton('Look up', orderReference);
    return lookUp ? [actions(lookUp)] : [];
  }
  const isNamed = orderReference !== undefined && parseOrderReference(orderReference).ok;
  return statusButtons(status, isNamed || alert.canLookUp === true);
}

/** Whether the record's words are about this failure: not if it is another order's, or paid. */
function saysWhy(lookup: Lookup): boolean {
  return 'evidence' in lookup && lookup.evidence.reference.holds && !lookup.evidence.status.holds;
}

/** The event's and the record's reasons, quoted; once if they are the same. */
function reasons(event: PaymentEvent, record: Transaction | undefined): MessageBlock[] {
  const gateway = record?.gatewayMessage === event.reason ? undefined : record?.gatewayMessage;
  return [...quoted('The bank says:', event.reason), ...quoted('Gateway:', gateway)];
}

/** `says` and `next`: only if the proof doesn't explain itself. A decline's next step comes from `declineNext`. */
type Finding = { state: string; says?: string; next?: string };

const eventWords: Record<PaymentEventKind, string> = {
  payment_failed: 'Event says failed',
  payment_success: 'Event says success',
  payment_given_back: 'Event says given back',
};

function findingOf(alert: Outcome): Finding {
  const { lookup, event } = alert;
  if (isDeclined(alert)) return { state: failedState(howOf(alert)) };
  const isPayment = event.kind === 'payment_success';
  const says = eventWords[event.kind];
  switch (lookup.kind) {
    case 'confirmed':
      if (isPayment) return { state: confirmationWords.confirmed };
      if (event.kind === 'payment_given_back') {
        return {
          state: `⚠️ ${saidGivenBack(lookup.kind)}`,
          next: 'ask the payments service which is right.',
        };
      }
      return {
        state: `🚨 ${says}, look-up says ${outcomeWords.paid}`,
        next: 'don’t charge again. Ask the payments service which is wrong.',
      };
    case 'not_paid':
      return { state: `🚨 ${says}, look-up says ${notPaidWords(lookup.transaction)}` };
    case 'given_back':
      return {
        state:
          event.kind !== 'payment_failed'
            ? confirmationWords.given_back
            : `↩️ ${says}, look-up says ${outcomeWords.givenBack}`,
      };
    case 'not_confirmed': {
      const state = `${says}, look-up says ${outcomeWords.notConfirmed}`;
      if (isPayment || !lookup.evidence.status.holds) return { state: `⚠️ ${state}` };
      return {
        state: `🚨 ${state}`,
        says: 'The look-up’s status means paid, so money may have moved.',
        next: 'don’t charge again.',
      };
    }
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
      return { state: `❔ ${says}, not checked`, ...withoutReference(event) };
  }
}

/** From the reason's words, if the decline isn't known. */
function howOf({ declined, event, lookup }: Outcome): FailedHow {
  return declined?.how ?? failedHow(declineReason(event.reason ?? recordOf(lookup)?.gatewayMessage, []));
}

/** An unsigned reference may name any order, so it is never in the first line. */
function withoutReference({ referenceHint, transactionId }: PaymentEvent): { says: string; next: string } {
  return {
    says:
      referenceHint === undefined
        ? 'The event has no signed order reference that can be looked up.'
        : `The reference ${word(referenceHint)} came unsigned, so it may be another payment.`,
    next:
      transactionId === undefined
        ? 'find the payment in your records.'
        : `find transaction ${word(transactionId)} in your records.`,
  };
}

/** The unsigned reference, until a look-up proves whose it is. */
function unsignedReference({ orderReference, referenceHint }: PaymentEvent): MessageBlock[] {
  const hint = orderReference === undefined ? word(referenceHint) : undefined;
  return hint === undefined ? [] : fields({ Reference: rich`${code(hint)}, not signed` });
}

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

/** Amount (labelled if only the event says it), customer, reference. `paid`: shown instead of the failed amount. */
function details(alert: Alert, paid: Money | undefined): string[] {
  const { event, lookup } = alert;
  const { kind, orderReference, amountMinor: minor, currency = '' } = event;
  const id = word(event.transactionId);
  const unnamed = id ? `transaction ${id}` : 'no reference';
  const named = orderReference === undefined ? unnamed : referenceWord(orderReference);
  if (event.isErased) return [named];
  const record = recordOfOrder(lookup);
  // A failure took nothing: show what was to be taken.
  const toTake = kind === 'payment_failed' && record ? moneyToTake(record) : undefined;
  const taken = kind !== 'payment_failed' && record && 'money' in lookup ? lookup.money : undefined;
  const money = paid ?? toTake ?? taken;
  const ofEvent = minor === undefined ? undefined : `${word(formatMoney({ minor, currency }))} by the event`;
  const amount = money ? word(formatMoney(money)) : ofEvent;
  return [amount ?? 'amount unknown', customerWord(record?.customerEmail ?? event.customerEmail), named];
}

/** The alert's state, followed by the charge's; an open alert has only the charge's. */
function alertState(state: AlertState, charge: string): string {
  switch (state.kind) {
    case 'open':
      return charge;
    case 'acknowledged':
      return withCharge(state.snoozedUntil === undefined ? '👀 Acknowledged' : '💤 Snoozed', charge);
    case 'recovered':
      return recoveredState(state.payment);
    case 'closed':
      return withCharge('☑️ Resolved', charge);
  }
}

/** "👀 Acknowledged: declined by the bank": the charge's state without its symbol. */
function withCharge(state: string, charge: string): string {
  const text = charge.replace(/^[^\p{L}]+/u, '');
  return `${state}: ${text.charAt(0).toLowerCase()}${text.slice(1)}`;
}

/** Says *paid* only if the failed order itself was paid. */
function recoveredState({ isSameReference }: Recovery): string {
  return isSameReference ? `✅ Resolved: paid` : '✅ Resolved by another payment';
}

/** Who has the alert, or how it ended. */
function statusFields(
  { state, charging }: AlertStatus,
  alert: Alert,
): Record<string, string | readonly Run[] | undefined> {
  if (state.kind === 'open') return {};
  if (state.kind === 'acknowledged') {
    const { by, assignee, snoozedUntil } = state;
    return {
      [assignee === undefined ? 'Acknowledged by' : 'Assigned to']: [person(assignee ?? by)],
      'Snoozed until': snoozedUntil === undefined ? undefined : [moment(snoozedUntil)],
      [charging?.needsReview ? 'Charge under review' : 'Charging now']:
        charging &&
        rich`${person(charging.by)} since ${moment(charging.at)} ${referenceRun(charging.reference)}`,
    };
  }
  const { acknowledged } = state;
  return {
    ...(state.kind === 'recovered'
      ? resolvedFields(state.payment, alert)
      : {
          Reason: outsideText(state.reason, longestTypedReason),
          'Resolved by': rich`${person(state.by)} ${moment(state.at)}`,
        }),
    'Acknowledged by': acknowledged && rich`${person(acknowledged.by)} ${moment(acknowledged.at)}`,
  };
}

/** "ORDER-7, for this alert", unless the first line names it; "2 h 5 min after the failure". */
function resolvedFields(payment: Recovery, { event, lookup }: Alert) {
  const { reference, isSameReference, isChargedAgain, money, afterMs } = payment;
  const failed = moneyOfFailure(event, lookup);
  const isOther = !isSameReference && failed !== undefined && !isDeepStrictEqual(failed, money);
  const paidBy = rich`${referenceRun(reference)}${isChargedAgain ? ', for this alert' : ''}`;
  return {
    'Paid by': isSameReference ? undefined : paidBy,
    'Failed amount': isOther ? word(formatMoney(failed)) : undefined,
    Resolved: `${duration(Math.abs(afterMs))} ${afterMs < 0 ? 'before' : 'after'} the failure`,
  };
}

function replacedFoot({ replaced }: AlertStatus): ContextBlock[] {
  if (!replaced) return [];
  const earlier = messageLink(replaced, 'an earlier message');
  return [context(mrkdwn(`Replaces ${earlier} that can’t be edited; its thread has what was said before.`))];
}

/** Its channel and, once posted, a link to it. */
export function linkTo(what: string, place: MessagePlace | undefined): ContextBlock[] {
  if (!place) return [];
  const { channel, ts } = place;
  const there = ts === undefined ? '' : `: ${messageLink({ channel, ts }, what)}`;
  return [context(mrkdwn(`In <#${channel}>${there}`))];
}

const itsThread = 'the alert and its thread';

/** `place`: where the alert is; for a direct message, which links to it. */
type About = PostAttempt & { place?: MessagePlace };

export function alertNoteMessage(step: AlertStep, alert: Alert, about: About): SlackMessage {
  return stepMessage(step, alert, about, { state: stateOfStep(step), eventType: 'payops_alert_note' });
}

/** A step, for one person's direct messages. Its first line has the charge's state, too. */
export function alertDirectMessage(
  step: AlertStep,
  alert: Alert,
  about: About & { to: string },
): SlackMessage {
  const whom = step.kind === 'assigned' && (step.to === about.to ? ' to you' : ' to somebody else');
  const state =
    step.kind === 'recovered' || step.kind === 'paid_again' || step.kind === 'given_back'
      ? stateOfStep(step)
      : withCharge(`${stepWords[step.kind]}${whom || ''}`, chargeState(alert));
  return stepMessage(step, alert, about, { state, eventType: 'payops_alert_direct', to: about.to });
}

function stepMessage(
  step: AlertStep,
  alert: Alert,
  about: About,
  { state, eventType, to }: { state: string; eventType: string; to?: string },
): SlackMessage {
  const ofPayment = step.kind === 'recovered' || step.kind === 'paid_again';
  const money = ofPayment ? step.payment.money : step.kind === 'given_back' ? step.money : undefined;
  const { text, block } = alertHeadline(alert, withoutUndefined({ state, money }));
  const { environment, account } = alert;
  // The assignee can act from here.
  const isTheirs =
    (step.kind === 'assigned' && step.to === to) || (step.kind === 'awake' && to !== undefined);
  const blocks = [
    block,
    ...stepFields(step, alert, to),
    ...linkTo(itsThread, about.place),
    ...(isTheirs ? buttons(alert) : []),
    accountFoot({ environment, account }),
  ];
  return forPosting({ text, blocks }, eventType, about);
}

type PaidAgain = Extract<AlertStep, { kind: 'paid_again' }>;

function stateOfStep(step: AlertStep): string {
  if (step.kind === 'recovered') return recoveredState(step.payment);
  if (step.kind === 'given_back')
    return step.found === 'given_back' ? confirmationWords.given_back : `⚠️ ${saidGivenBack(step.found)}`;
  if (step.kind !== 'paid_again') return stepWords[step.kind];
  return step.before.kind === 'paid' ? '🚨 Paid twice' : '🚨 Paid after it was resolved';
}

/** Says which payments there are, and that one may have to be given back. */
function paidAgainLines({ payment, before }: PaidAgain, failed: string): Run[][] {
  const second = referenceRun(payment.reference);
  return before.kind === 'paid'
    ? [
        [...alreadyPaid(failed, before.reference), ...rich`; now ${second} is paid too.`],
        rich`Deliver once. One of them may need to be given back.`,
      ]
    : [
        rich`${second} is paid. ${person(before.by)} had resolved the alert: “${outsideText(before.reason, longestTypedReason)}”.`,
        rich`If that was a payment, one of them may need to be given back.`,
      ];
}

const stepWords: Record<Exclude<AlertStep['kind'], 'recovered' | 'paid_again' | 'given_back'>, string> = {
  acknowledged: '👀 Acknowledged',
  assigned: '👤 Assigned',
  snoozed: '💤 Snoozed',
  awake: '⏰ The snooze is over',
  closed: '☑️ Resolved',
  other_payment: '💳 Another payment, the alert stays open',
  escalated: '📣 Nobody has acknowledged this',
};

/** `reader`: the person who gets it as a direct message. Its first line says already that it is assigned to them. */
function stepFields(step: AlertStep, alert: Alert, reader: string | undefined): RichTextBlock[] {
  switch (step.kind) {
    case 'acknowledged':
      return fields({ By: [person(step.by)] });
    case 'assigned':
      return fields({ To: step.to === reader ? undefined : [person(step.to)], By: [person(step.by)] });
    case 'snoozed':
      return fields({ Until: [moment(step.until)], By: [person(step.by)] });
    case 'awake':
      return [richText(rich`${bold('Next: ')}look it up, or resolve it with a reason.`)];
    case 'closed':
      return fields({ Reason: outsideText(step.reason, longestTypedReason), By: [person(step.by)] });
    case 'other_payment': {
      const { reference, money, afterMs } = step.payment;
      const paid = word(formatMoney(money)) ?? '';
      const when = moment(alert.receivedAtMs + afterMs);
      return [
        richText(
          rich`The customer paid ${paid} for ${referenceRun(reference)}, ${when}. If that pays this too, resolve it.`,
        ),
      ];
    }
    case 'paid_again':
      return [richText(...paidAgainLines(step, alert.event.orderReference ?? ''))];
    case 'given_back':
      return [
        richText(
          step.found === 'given_back'
            ? rich`${referenceRun(step.reference)} was paid, and its money went back to the customer.`
            : rich`It’s about ${referenceRun(step.reference)}. Ask the payments service which is right.`,
        ),
      ];
    case 'recovered':
      return fields(resolvedFields(step.payment, alert));
    case 'escalated':
      return escalationFields(step);
  }
}

const mostShown = { assigned: 8, open: 5 };

/** For the App Home; empty without alerts and storms. */
export function homeAlerts(
  alerts: readonly FoundAlert[],
  account: EventAccount,
  storms: readonly MessageBlock[][] = [],
): MessageBlock[] {
  const items = alerts.map((alert) => alertItem(alert, account));
  return homePart('Assigned to you', [...storms, ...items], mostShown.assigned);
}

export type OpenAlert = FoundAlert & { id: string };

/** The newest unacknowledged alerts, below the storms. */
export function homeOpenAlerts(
  alerts: readonly OpenAlert[],
  account: EventAccount,
  storms: readonly MessageBlock[][],
): MessageBlock[] {
  const items = alerts.map((alert) => [...alertItem(alert, account), actions(acknowledgeButton(alert.id))]);
  return homePart('Open alerts', [...storms, ...items], mostShown.open);
}

function homePart(title: string, items: readonly MessageBlock[][], most: number): MessageBlock[] {
  if (items.length === 0) return [];
  const shown = listBlocks(items, most, (blocks) => blocks, 'They are in their channels.');
  return [header(title), ...shown, divider()];
}

/** For the menu; undefined without alerts and storms. */
export function assignedAlerts(alerts: number, storms: number): OpenItems | undefined {
  if (alerts + storms === 0) return undefined;
  const what = [
    ...(storms > 0 ? [counted(storms, 'storm')] : []),
    ...(alerts > 0 ? [counted(alerts, 'alert')] : []),
  ];
  return { count: alerts + storms, line: [bold(`🔔 ${listed(what, 'and')} assigned to you`)] };
}

function alertItem(
  { event, receivedAtMs, state, evidence, place: alertPlace }: FoundAlert,
  account: EventAccount,
): MessageBlock[] {
  // Without a look-up, show only what the event says.
  const lookup: Lookup = evidence?.lookup ?? { kind: 'unchecked', failure: 'network' };
  const status = { id: '', state };
  const { block } = alertHeadline({ event, lookup, ...account, receivedAtMs, mayBeRepeat: false, status });
  return [block, ...linkTo(itsThread, alertPlace)];
}
