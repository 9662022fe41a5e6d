// What of an alert stands in its messages' records: what its look-up gave, and where it is.

import type { Lookup } from '../../domain/alert.ts';
import type { MessagePlace } from '../../messages/delivery.ts';
import {
  type MessageKey,
  type MessageRecord,
  alertKey,
  findMessageRecord,
  isMessage,
  messageKey,
} from '../../messages/message-record.ts';
import { evidenceOf } from '../../records/reseal.ts';
import type { Sealer, Store } from '../../store/store.ts';
import { recordOf } from './alert.ts';

/** Key prefix of event cases. */
export const eventPrefix = 'event:';

/** What a look-up gave, and when it was asked (UTC ms). */
export type Evidence = { lookup: Lookup; atMs: number };

/**
 * What several look-ups say together: the one that was asked last that says anything; of two at the same time the first
 * in the list.
 */
export function newestOf(found: readonly (Evidence | undefined)[]): Evidence | undefined {
  const byTime = found.flatMap((one) => one ?? []).toReversed();
  return byTime
    .toSorted((one, other) => one.atMs - other.atMs)
    .reduce<Evidence | undefined>((known, asked) => knownAfter(asked, known), undefined);
}

/** What is known once this was asked as well: no answer takes nothing away from an earlier one. */
export function knownAfter(asked: Evidence, known: Evidence | undefined): Evidence {
  const saysNothing = asked.lookup.kind === 'unchecked' || asked.lookup.kind === 'no_reference';
  return saysNothing && recordOf(known?.lookup) && known ? known : asked;
}

/** Apart from the event, as repeats are compared with the event alone. */
export function sealEvidence(sealer: Sealer, key: string, evidence: Evidence): string {
  return sealer.seal(evidenceOf(key), JSON.stringify(evidence));
}

export function openEvidence(sealer: Sealer, key: string, { evidence }: MessageRecord): Evidence | undefined {
  if (evidence === undefined) return undefined;
  return JSON.parse(sealer.open(evidenceOf(key), evidence)) as Evidence;
}

/** Key of the note in an alert's thread about one step; a step’s number never changes. */
export function alertNoteKey(alert: string, number: number): MessageKey<'alert_note'> {
  return messageKey('alert_note', `${alert.slice(messageKey('alert', '').length)}#${number}`);
}

/** Undefined: it is no message. */
export function placeOf(record: MessageRecord): MessagePlace | undefined {
  const { channel, posted } = record;
  return posted ?? (isMessage(record) ? { channel } : undefined);
}

/** A record of the outbox that tells an alert, or is to: its own, which has its event, or a copy for a further channel. */
export type AlertMessage = { key: string; record: MessageRecord };

/** All of them, its own first, which is not read where it is `known`; none: it is forgotten, or was never received. */
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
