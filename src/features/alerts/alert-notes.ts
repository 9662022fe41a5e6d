import type { RichTextBlock } from '@slack/types';
import type { CardStep, Alert } from './alert.ts';
import type { Recovery } from '../../domain/alert.ts';
import type { MessagePlace } from '../../messages/delivery.ts';
import { formatMoney } from '../../domain/money.ts';
import { withoutUndefined } from '../../domain/without-undefined.ts';
import {
  alertHeadline,
  chargeState,
  paidBy,
  reasonWords,
  recoveredState,
  recoveryTime,
  whereItIs,
} from './alert-message.ts';
import { type Run, bold, fields, moment, person, richText, words } from '../../slack/kit/blocks.ts';
import type { SlackMessage } from '../../slack/kit/message.ts';
import { type AboutMessage, posted } from '../../slack/kit/note.ts';
import { placeAlone, referenceRun, word } from '../../slack/words/evidence.ts';

/** `place`: where the alert is, for whoever reads of it elsewhere. */
type About = AboutMessage & { place?: MessagePlace };

/** One step of a card, for the thread below it. */
export function alertNoteMessage(step: CardStep, alert: Alert, about: About): SlackMessage {
  const state = step.kind === 'recovered' ? recoveredState(step.payment) : stepWords[step.kind];
  return stepMessage(step, alert, about, { state, eventType: 'payops_alert_note' });
}

/** The same for the one person it matters to, who reads it away from the card: what became of the charge stands in its first line. */
export function alertDirectMessage(
  step: CardStep,
  alert: Alert,
  about: About & { to: string },
): SlackMessage {
  const whom = step.kind === 'assigned' && (step.to === about.to ? ' to you' : ' to somebody else');
  const state =
    step.kind === 'recovered'
      ? recoveredState(step.payment)
      : `${stepWords[step.kind]}${whom || ''} · ${chargeState(alert)}`;
  return stepMessage(step, alert, about, { state, eventType: 'payops_alert_direct' });
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
  const where = whereItIs(about.place, 'the alert and its thread');
  const blocks = [block, ...stepFields(step, alert), ...where, placeAlone(environment, account)];
  return posted({ text, blocks }, eventType, about);
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
function otherPaymentLine({ reference, money, afterMs }: Recovery, alert: Alert): Run[] {
  return [
    words(`The customer paid ${word(formatMoney(money)) ?? ''} for `),
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
      return fields({ 'Paid by': paidBy(step.payment), Resolved: recoveryTime(step.payment) });
  }
}
