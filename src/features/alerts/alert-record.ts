// What of an alert stands in its message's record: where it goes, and what its look-up gave.

import type { Destination } from '../../domain/alert-route.ts';
import type { Lookup } from '../../domain/alert.ts';
import type { MessagePlace } from '../../domain/delivery.ts';
import type { Sealer } from '../../domain/sealer.ts';
import { isMessage, messageKey, type MessageRecord } from '../../messages/message-record.ts';

/** What a look-up gave, and when it was asked (UTC ms). */
export type Evidence = { lookup: Lookup; atMs: number };

/** Of several look-ups, the one that was asked last. */
export function newestOf(found: readonly (Evidence | undefined)[]): Evidence | undefined {
  return found.reduce(
    (newest, one) => (!newest || (one && one.atMs > newest.atMs) ? one : newest),
    undefined,
  );
}

/** Beside the event and not in it: the sender's repeats are held against the event alone. */
export function sealEvidence(sealer: Sealer, key: string, evidence: Evidence): string {
  return sealer.seal(evidenceOf(key), JSON.stringify(evidence));
}

export function openEvidence(sealer: Sealer, key: string, { evidence }: MessageRecord): Evidence | undefined {
  if (evidence === undefined) return undefined;
  return JSON.parse(sealer.open(evidenceOf(key), evidence)) as Evidence;
}

/** What the evidence beside a record is sealed for. */
export function evidenceOf(key: string): string {
  return `${key}#evidence`;
}

/** Of the note in an alert’s thread that tells one step of its card; a step’s number never changes. */
export function alertNoteKey(alert: string, number: number): string {
  return messageKey('alert_note', `${alert.slice(messageKey('alert', '').length)}#${number}`);
}

/** Where an alert goes, and the rule that says so. */
export function destinationOf({ channel, routed: [first] = [] }: MessageRecord): Destination {
  return first ?? { channel };
}

/** Undefined: it is no message. */
export function placeOf(record: MessageRecord): MessagePlace | undefined {
  const { channel, posted } = record;
  return posted ?? (isMessage(record) ? { channel } : undefined);
}
