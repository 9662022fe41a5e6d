import type { CardStep } from '../../domain/alert-card.ts';
import type { Alert, Lookup } from '../../domain/alert.ts';
import { withoutUndefined } from '../../domain/without-undefined.ts';
import { newestOf, openEvidence, placeOf } from './alert-record.ts';
import { openEvent, type MessageRecord, readMessageRecord } from '../../messages/message-record.ts';
import type { Views } from '../../messages/views.ts';
import type { MessagePlace } from '../../domain/delivery.ts';
import { alertOf, type AlertPostDeps } from './alert-post.ts';

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
