import type { RichTextBlock } from '@slack/types';
import type { CardStep, Alert } from './alert.ts';
import type { Lookup, Recovery } from '../../domain/alert.ts';
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
import { type AlertPostDeps, alertOf, newestOf, openEvidence, placeOf } from './alert-record.ts';
import { type MessageRecord, openEvent, readMessageRecord } from '../../messages/message-record.ts';
import type { Views } from '../../messages/views.ts';
import { type Run, bold, fields, moment, person, richText, words } from '../../slack/kit/blocks.ts';
import type { SlackMessage } from '../../slack/kit/message.ts';
import { type AboutMessage, posted } from '../../slack/kit/note.ts';
import { placeAlone, referenceRun, word } from '../../slack/words/evidence.ts';

/** A step of an alert's card: `parent` is the key of the message it belongs to. */
type AlertStep = { parent: string; step: CardStep };

export type AlertStepBodies = { alert_note: AlertStep; alert_direct: AlertStep };

/** A step, for the thread below the alert, or for one person, whose Slack id `to` is. */
export type AlertStepShown =
  | { kind: 'alert_note'; alert: Alert; step: CardStep }
  | { kind: 'alert_direct'; alert: Alert; step: CardStep; to: string; place?: MessagePlace };

export function alertNoteViews(deps: AlertPostDeps): Views<AlertStepBodies, AlertStepShown> {
  return {
    /** What somebody did, below the card. */
    async alert_note(body, { entry }) {
      const told = await readStep(deps, body);
      // A digest has no thread for each of its alerts.
      if (!told || told.parent.digest) return { kind: 'nothing' };
      const { step, alert } = told;
      const below = { key: body.parent, after: stepsBefore(entry.key) };
      return { kind: 'shown', post: { kind: 'alert_note', alert, step }, below };
    },
    async alert_direct(body, { record: { channel: to } }) {
      const told = await readStep(deps, body);
      if (!told) return { kind: 'nothing' };
      const { step, alert } = told;
      const place = withoutUndefined({ place: placeOf(told.parent) });
      return { kind: 'shown', post: { kind: 'alert_direct', to, alert, step, ...place } };
    },
  };
}

/** The keys of the steps before one, the nearest first. */
function stepsBefore(key: string): string[] {
  const [, name, number] = /^(.*#)(\d+)$/.exec(key) ?? [];
  const count = name === undefined ? 0 : Number(number) - 1;
  return Array.from({ length: count }, (_, index) => `${name}${count - index}`);
}

/** A step, and the alert it belongs to; undefined when that is forgotten. */
async function readStep(
  deps: AlertPostDeps,
  { parent: key, step }: AlertStep,
): Promise<{ step: CardStep; parent: MessageRecord; alert: Alert } | undefined> {
  const parentEntry = await deps.store.read(key);
  if (!parentEntry) return undefined;
  const parent = readMessageRecord(parentEntry.value);
  const event = openEvent(deps.sealer, key, parent);
  const asked = await deps.cards.read(event.key);
  const evidence = newestOf([asked.evidence, openEvidence(deps.sealer, key, parent)]);
  const lookup: Lookup = evidence?.lookup ?? { kind: 'no_reference' };
  const alert = alertOf(deps, { entry: parentEntry, record: parent }, event, lookup);
  return { step, parent, alert };
}

/** `place`: where the alert is, for whoever reads of it elsewhere. */
type About = AboutMessage & { place?: MessagePlace };

/** One step of a card, for the thread below it. */
export function alertNoteMessage(step: CardStep, alert: Alert, about: About): SlackMessage {
  return stepMessage(step, alert, about, { state: stepState(step), eventType: 'payops_alert_note' });
}

/** The same for the one person it matters to, who reads it away from the card: what became of the charge stands in its first line. */
export function alertDirectMessage(
  step: CardStep,
  alert: Alert,
  about: About & { to: string },
): SlackMessage {
  return stepMessage(step, alert, about, {
    state: directState(step, alert, about.to),
    eventType: 'payops_alert_direct',
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
  const where = whereItIs(about.place, 'the alert and its thread');
  const blocks = [block, ...stepFields(step, alert), ...where, placeAlone(environment, account)];
  return posted({ text, blocks }, eventType, about);
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
