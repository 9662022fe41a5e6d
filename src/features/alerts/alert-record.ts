// The parts of an alert that are stored with its messages: its look-up, and where it was posted.

import type { Lookup } from '../../domain/alert.ts';
import type { MessagePlace } from '../../messages/delivery.ts';
import {
  type MessageKey,
  type MessageRecord,
  alertKey,
  findMessageRecord,
  hasChannel,
  messageKey,
} from '../../messages/message-record.ts';
import { evidenceContext } from '../../records/reseal.ts';
import type { Sealer, Store } from '../../store/store.ts';
import { recordOf } from './alert.ts';

/** Key prefix of event cases. */
export const eventPrefix = 'event:';

/** A look-up's result and its time (UTC ms). */
export type Evidence = { lookup: Lookup; atMs: number };

/**
 * The newest look-up, but one that says nothing never replaces one that found a record. Of two at the same time, the first in
 * the list.
 */
export function newestOf(found: readonly (Evidence | undefined)[]): Evidence | undefined {
  const byTime = found.flatMap((one) => one ?? []).toReversed();
  return byTime
    .toSorted((one, other) => one.atMs - other.atMs)
    .reduce<Evidence | undefined>((known, asked) => newerOf(asked, known), undefined);
}

/** The newer look-up, unless it says nothing and the older one found a record. */
export function newerOf(asked: Evidence, known: Evidence | undefined): Evidence {
  const saysNothing = asked.lookup.kind === 'unchecked' || asked.lookup.kind === 'no_reference';
  return saysNothing && recordOf(known?.lookup) && known ? known : asked;
}

/** Sealed under a key of its own, because the event is sealed under the record's. */
export function sealEvidence(sealer: Sealer, key: string, evidence: Evidence): string {
  return sealer.seal(evidenceContext(key), JSON.stringify(evidence));
}

export function openEvidence(sealer: Sealer, key: string, { evidence }: MessageRecord): Evidence | undefined {
  if (evidence === undefined) return undefined;
  return JSON.parse(sealer.open(evidenceContext(key), evidence)) as Evidence;
}

/** Key of the note in an alert's thread about one step; a step’s number never changes. */
export function alertNoteKey(alert: string, number: number): MessageKey<'alert_note'> {
  return messageKey('alert_note', `${alert.slice(messageKey('alert', '').length)}#${number}`);
}

/** Where the message is or will be; undefined: the event goes to no channel. */
export function placeOf(record: MessageRecord): MessagePlace | undefined {
  const { channel, posted } = record;
  return posted ?? (hasChannel(record) ? { channel } : undefined);
}

/** A stored message of an alert: its first, which holds the event, or a copy for a further channel. */
export type AlertMessage = { key: string; record: MessageRecord };

/** The alert's messages, the first one first; empty: the alert is unknown or forgotten. `known`: one that was read before. */
export async function alertMessages(
  store: Pick<Store, 'read'>,
  id: string,
  known?: AlertMessage,
): Promise<AlertMessage[]> {
  async function read(key: string): Promise<AlertMessage[]> {
    const record = await findMessageRecord(store, key);
    return record ? [{ key, record }] : [];
  }
  const own = known?.key === alertKey(id) ? [known] : await read(alertKey(id));
  const [, ...further] = own[0]?.record.routed ?? [];
  const copies = await Promise.all(further.map(({ channel }) => read(alertKey(id, channel))));
  return [...own, ...copies.flat()];
}
