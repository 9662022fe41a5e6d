import type { CardStep } from '../../domain/alert-card.ts';
import type { Alert, Lookup } from '../../domain/alert.ts';
import { withoutUndefined } from '../../domain/without-undefined.ts';
import {
  newestOf,
  openEvent,
  openEvidence,
  placeOf,
  readOutboxRecord,
  type OutboxRecord,
} from '../../messages/outbox.ts';
import { openBody } from '../../messages/outbox-bodies.ts';
import type { Work } from '../../messages/outbox-work.ts';
import { isRepeat, postOrEditBelow, settle, waitForThread } from '../../messages/post-or-edit.ts';
import type { Prepared } from '../../messages/prepare-post.ts';
import { alertOf, type AlertPostDeps } from './alert-post.ts';

/** What somebody did, below the card. */
export async function prepareAlertNote(
  deps: AlertPostDeps,
  work: Work,
  mayBeRepeat: boolean,
): Promise<Prepared> {
  const { entry } = work;
  const told = await readStep(deps, work, 'alert_note');
  if (!told) return await settle(deps, work);
  const { step, alert, parent } = told;
  // It has no thread for each of its alerts.
  if (parent.digest) return await settle(deps, work);
  const waits = await waitForThread(deps, work, parent);
  if (waits) return waits;
  const repeat = isRepeat(work, mayBeRepeat);
  const message = deps.compose({ kind: 'alert_note', alert, step, key: entry.key, mayBeRepeat: repeat });
  return await postOrEditBelow(deps, work, parent, message);
}

export async function prepareAlertDirect(
  deps: AlertPostDeps,
  work: Work,
  mayBeRepeat: boolean,
): Promise<Prepared> {
  const { entry, record } = work;
  const told = await readStep(deps, work, 'alert_direct');
  if (!told) return await settle(deps, work);
  const message = deps.compose({
    kind: 'alert_direct',
    to: record.channel,
    alert: told.alert,
    ...withoutUndefined({ place: placeOf(told.parent) }),
    step: told.step,
    key: entry.key,
    mayBeRepeat,
  });
  return { kind: 'post', channel: record.channel, message };
}

/** A step, and the alert it belongs to, by the id of its card; undefined when that is forgotten. */
async function readStep(
  deps: AlertPostDeps,
  work: Work,
  kind: 'alert_note' | 'alert_direct',
): Promise<{ step: CardStep; id: string; parent: OutboxRecord; alert: Alert } | undefined> {
  const { parent: key, step } = openBody(kind, deps.sealer, work);
  const parentEntry = await deps.store.read(key);
  if (!parentEntry) return undefined;
  const parent = readOutboxRecord(parentEntry.value);
  const event = openEvent(deps.sealer, key, parent);
  const asked = await deps.cards.read(event.key);
  const evidence = newestOf([asked.evidence, openEvidence(deps.sealer, key, parent)]);
  const lookup: Lookup = evidence?.lookup ?? { kind: 'no_reference' };
  const alert = alertOf(deps, { entry: parentEntry, record: parent }, event, lookup);
  return { step, id: event.key, parent, alert };
}
