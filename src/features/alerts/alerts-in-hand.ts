import type { Environment, Lookup, AlertCard } from '../../domain/alert.ts';
import type { MessagePlace } from '../../messages/delivery.ts';
import type { PaymentEvent } from '../../domain/payment-event.ts';
import { alertHeadline, whereItIs } from './alert-message.ts';
import {
  actions,
  bold,
  context,
  divider,
  header,
  moment,
  plainText,
  richText,
  words,
  type Run,
} from '../../slack/kit/blocks.ts';
import { counted } from '../../domain/wording.ts';
import { labelled } from '../../slack/words/charge-facts.ts';
import type { OpenItems } from '../../slack/command.ts';
import { openLookUpButton } from '../../slack/words/evidence.ts';
import type { HomeBlock } from '../../slack/kit/message.ts';

/** An alert that is assigned to somebody. */
type AlertInHand = {
  event: PaymentEvent;
  receivedAtMs: number;
  card: AlertCard;
  evidence?: { lookup: Lookup };
  place?: MessagePlace;
};

/** More than a person reads at once; the rest stands in the channels. */
const mostShown = 8;

/** A part of the App Home; nothing without alerts. */
export function homeAlerts(
  alerts: readonly AlertInHand[],
  place: { environment: Environment; account: string },
): HomeBlock[] {
  if (alerts.length === 0) return [];
  const more = alerts.length - mostShown;
  return [
    header('Assigned to you'),
    ...alerts.slice(0, mostShown).flatMap((alert) => alertItem(alert, place)),
    ...(more > 0 ? [context(plainText(`… and ${counted(more, 'more alert')}, in their channels.`))] : []),
    divider(),
  ];
}

/** For the menu; undefined without alerts. */
export function openAlerts(alerts: readonly AlertInHand[]): OpenItems | undefined {
  const count = alerts.length;
  if (count === 0) return undefined;
  return { count, line: [bold(`🔔 ${counted(count, 'alert')} assigned to you`)] };
}

function alertItem(
  { event, receivedAtMs, card, evidence, place: stands }: AlertInHand,
  place: { environment: Environment; account: string },
): HomeBlock[] {
  // What was never looked up is told as the event tells it.
  const lookup: Lookup = evidence?.lookup ?? { kind: 'unchecked', failure: 'network' };
  const shown = { id: '', card, canChargeAgain: false };
  const { block } = alertHeadline({ event, lookup, ...place, receivedAtMs, mayBeRepeat: false, card: shown });
  const reference = event.orderReference;
  return [
    block,
    richText(since(card, receivedAtMs)),
    ...whereItIs(stands, 'the alert and its thread'),
    ...(reference === undefined ? [] : openLookUpButton(reference).map((one) => actions(one))),
  ];
}

function since(card: AlertCard, receivedAtMs: number): Run[] {
  const received = labelled('Received', moment(receivedAtMs));
  if (card.kind !== 'acknowledged') return received;
  const snoozed =
    card.snoozedUntil === undefined ? [] : [words(' · snoozed until '), moment(card.snoozedUntil)];
  return [...received, words(' · acknowledged '), moment(card.at), ...snoozed];
}
