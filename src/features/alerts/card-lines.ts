// What a card says of itself, besides what happened to the charge.

import type { ContextBlock } from '@slack/types';
import type { Acknowledged, AlertCard, AlertCharge, Recovery } from '../../domain/alert-card.ts';
import type { AlertCardShown } from '../../domain/alert.ts';
import type { MessagePlace } from '../../domain/delivery.ts';
import { formatMoney } from '../../domain/money.ts';
import { outcomeWords } from '../../domain/outcome.ts';
import { context, moment, mrkdwn, person, words, type Run } from '../../slack/kit/blocks.ts';
import { referenceRun, word } from '../../slack/words/evidence.ts';
import { outsideText } from '../../slack/kit/text.ts';

const longestReason = 300;

/** The card's state before the charge's own, which an open card leaves as it is. */
export function cardState(card: AlertCard, charge: string): string {
  switch (card.kind) {
    case 'open':
      return charge;
    case 'acknowledged':
      return `${card.snoozedUntil === undefined ? '👀 Acknowledged' : '💤 Snoozed'} · ${charge}`;
    case 'recovered':
      return recoveredState(card.payment);
    case 'closed':
      return `☑️ Closed · ${charge}`;
  }
}

/** *Paid* stands beside the failed reference only when that very reference was paid. */
export function recoveredState({ isSameReference }: Recovery): string {
  return isSameReference ? `✅ Resolved · ${outcomeWords.paid}` : '✅ Resolved by another payment';
}

/** Who it is assigned to and how it ended. */
export function cardFields({
  card,
  charging,
}: AlertCardShown): Record<string, string | readonly Run[] | undefined> {
  switch (card.kind) {
    case 'open':
      return {};
    case 'acknowledged':
      return { ...handling(card), 'Charging now': charging && chargingWords(charging) };
    case 'recovered':
      return {
        'Paid by': paidBy(card.payment),
        Resolved: recoveryTime(card.payment),
        ...(card.acknowledged ? acknowledgedBy(card.acknowledged) : {}),
      };
    case 'closed':
      return {
        Reason: reasonWords(card.reason),
        'Closed by': [person(card.by), words(' '), moment(card.at)],
        ...(card.acknowledged ? acknowledgedBy(card.acknowledged) : {}),
      };
  }
}

function chargingWords({ reference, by, at }: AlertCharge): readonly Run[] {
  return [person(by), words(' since '), moment(at), words(' '), referenceRun(reference)];
}

function handling(card: Acknowledged): Record<string, readonly Run[] | undefined> {
  const { assignee, snoozedUntil } = card;
  return {
    ...(assignee === undefined
      ? { 'Acknowledged by': [person(card.by)] }
      : { 'Assigned to': [person(assignee)] }),
    'Snoozed until': snoozedUntil === undefined ? undefined : [moment(snoozedUntil)],
  };
}

function acknowledgedBy({ by, at }: Acknowledged): Record<string, readonly Run[]> {
  return { 'Acknowledged by': [person(by), words(' '), moment(at)] };
}

/** "NGN 12,500.00, another payment of the same customer, ORDER-7". */
export function paidBy(payment: Recovery): Run[] {
  const { money, reference } = payment;
  const which = whichPayment(payment);
  return [words(`${word(formatMoney(money)) ?? ''}, ${which}, `), referenceRun(reference)];
}

function whichPayment({ isSameReference, isSameCard, isChargedAgain }: Recovery): string {
  if (isChargedAgain) return 'charged again';
  if (isSameReference) return 'the same reference';
  return isSameCard ? 'another charge of the same card' : 'another payment of the same customer';
}

/** "2 h 5 min after the failure". */
export function recoveryTime({ afterMs }: Recovery): string {
  return afterMs < 0 ? `${duration(-afterMs)} before the failure` : `${duration(afterMs)} after the failure`;
}

const minuteMs = 60_000;

export function duration(ms: number): string {
  const minutes = Math.floor(ms / minuteMs);
  if (minutes < 1) return 'less than a minute';
  const [days, hours] = [Math.floor(minutes / 1_440), Math.floor(minutes / 60) % 24];
  if (days > 0) return hours > 0 ? `${days} d ${hours} h` : `${days} d`;
  const rest = minutes % 60;
  if (hours === 0) return `${rest} min`;
  return rest > 0 ? `${hours} h ${rest} min` : `${hours} h`;
}

export function reasonWords(reason: string): string {
  return outsideText(reason, longestReason);
}

/** Where the message before this one is. */
export function cardFoot({ replaced }: AlertCardShown): ContextBlock[] {
  return replaced === undefined ? [] : [context(mrkdwn(replacedWords(replaced)))];
}

function replacedWords(replaced: NonNullable<AlertCardShown['replaced']>): string {
  const earlier = messageLink(replaced, 'an earlier message');
  return `Replaces ${earlier} that can’t be edited; its thread has what was said before.`;
}

/** For mrkdwn. Slack leads such an address to the message and its thread, in whichever workspace the reader is signed in to. */
function messageLink({ channel, ts }: Required<MessagePlace>, shown: string): string {
  const place = `${encodeURIComponent(channel)}/p${encodeURIComponent(ts.replace('.', ''))}`;
  return `<https://slack.com/archives/${place}|${shown}>`;
}

/** Away from a message, where it is: its channel, and the way to it once it stands; nothing where it is told nowhere. */
export function whereItIs(place: MessagePlace | undefined, what: string): ContextBlock[] {
  if (!place) return [];
  const { channel, ts } = place;
  const there = ts === undefined ? '' : `: ${messageLink({ channel, ts }, what)}`;
  return [context(mrkdwn(`In <#${channel}>${there}`))];
}
