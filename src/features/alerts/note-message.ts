import type { RichTextBlock } from '@slack/types';
import type { CardStep, OtherPayment } from '../../domain/alert-card.ts';
import type { Alert } from '../../domain/alert.ts';
import { alertHeadline, chargeState } from './alert-message.ts';
import { formatMoney } from '../../domain/money.ts';
import { withoutUndefined } from '../../domain/without-undefined.ts';
import type { MessagePlace } from '../../domain/delivery.ts';
import { bold, fields, moment, person, richText, words, type Run } from '../../slack/kit/blocks.ts';
import { repeatLine, type AboutMessage } from '../../slack/kit/note.ts';
import { placeAlone, referenceRun, word } from '../../slack/words/evidence.ts';
import type { SlackMessage } from '../../slack/kit/message.ts';
import { paidBy, reasonWords, recoveredState, recoveryTime, whereItIs } from './card-lines.ts';

const noteEventType = 'payops_alert_note';
const directEventType = 'payops_alert_direct';

/** `place`: where the alert is, for whoever reads of it elsewhere. */
type About = AboutMessage & { place?: MessagePlace };

/** One step of a card, for the thread below it. */
export function alertNoteMessage(step: CardStep, alert: Alert, about: About): SlackMessage {
  return stepMessage(step, alert, about, { state: stepState(step), eventType: noteEventType });
}

/** The same for the one person it matters to, who reads it away from the card: what became of the charge stands in its first line. */
export function alertDirectMessage(
  step: CardStep,
  alert: Alert,
  about: About & { to: string },
): SlackMessage {
  return stepMessage(step, alert, about, {
    state: directState(step, alert, about.to),
    eventType: directEventType,
  });
}

function stepMessage(
  step: CardStep,
  alert: Alert,
  about: About,
  { state, eventType }: { state: string; eventType: string },
): SlackMessage {
  const money = step.kind === 'recovered' ? step.payment.money : undefined;
  const { text, block } = alertHeadline(alert, withoutUndefined({ state, money }));
  const { environment, account } = alert;
  return {
    text,
    blocks: [
      block,
      ...stepFields(step, alert),
      ...whereItIs(about.place, 'the alert and its thread'),
      ...repeatLine(about.mayBeRepeat),
      placeAlone(environment, account),
    ],
    metadata: { event_type: eventType, event_payload: { key: about.key } },
  };
}

function stepState(step: CardStep): string {
  return step.kind === 'recovered' ? recoveredState(step.payment) : stepWords[step.kind];
}

function directState(step: CardStep, alert: Alert, reader: string): string {
  if (step.kind === 'recovered') return recoveredState(step.payment);
  const state = step.kind === 'assigned' ? assignedState(step.to === reader) : stepWords[step.kind];
  return `${state} · ${chargeState(alert)}`;
}

function assignedState(isToReader: boolean): string {
  return isToReader ? '👤 Assigned to you' : '👤 Assigned to somebody else';
}

const stepWords: Record<Exclude<CardStep['kind'], 'recovered'>, string> = {
  acknowledged: '👀 Acknowledged',
  assigned: '👤 Assigned',
  snoozed: '💤 Snoozed',
  awake: '⏰ The snooze is over',
  closed: '☑️ Closed',
  other_payment: '💳 Another payment, the alert stays open',
};

/** What was paid, when, and what a person can do about it. */
function otherPaymentLine(payment: OtherPayment, alert: Alert): Run[] {
  const { reference, money, why, afterMs } = payment;
  const amount = word(formatMoney(money)) ?? '';
  const paid: Record<OtherPayment['why'], string> = {
    other_order: 'the same amount',
    amount_differs: `${amount}, another amount`,
    amount_unknown: amount,
  };
  return [
    words(`The customer paid ${paid[why]} for `),
    referenceRun(reference),
    words(', '),
    moment(alert.receivedAtMs + afterMs),
    words('. If that pays this too, close it.'),
  ];
}

function stepFields(step: CardStep, alert: Alert): RichTextBlock[] {
  switch (step.kind) {
    case 'acknowledged':
      return fields({ By: [person(step.by)] });
    case 'assigned':
      return fields({ To: [person(step.to)], By: [person(step.by)] });
    case 'snoozed':
      return fields({ Until: [moment(step.until)], By: [person(step.by)] });
    case 'awake':
      return [richText([bold('Next: '), words('look it up, or close it with a reason.')])];
    case 'closed':
      return fields({ Reason: reasonWords(step.reason), By: [person(step.by)] });
    case 'other_payment':
      return [richText(otherPaymentLine(step.payment, alert))];
    case 'recovered':
      return fields({ 'Paid by': paidBy(step.payment), 'Time to recovery': recoveryTime(step.payment) });
  }
}
