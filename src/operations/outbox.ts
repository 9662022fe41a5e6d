import { z } from 'zod';
import type { PaymentEvent } from '../domain/payment-event.ts';

/**
 * Something the bot must tell the people who run it, besides alerts: short, rare, once per key.
 * `event_differs`: a repeat of a known event came with another amount or outcome.
 * `unknown_event`: a signed delivery that is none of the spec's two events, or has no readable shape.
 * `stuck`: something that should be posted cannot be prepared, time after time.
 */
export type Notice =
  | { kind: 'event_differs'; eventKind: string; orderReference?: string | undefined }
  | { kind: 'unknown_event'; eventKind: string }
  | { kind: 'stuck'; record: string; errorId: string };

/**
 * One thing to post, as the store keeps it: dedupe memory while it is finished, work while it is not.
 * `sealed` holds the event or the notice; nothing of a customer stands beside it in the clear.
 */
const outboxRecord = z.object({
  kind: z.enum(['alert', 'notice']),
  /** Where it was to go when it came; the settings of the moment decide, and this where they say nothing. */
  channel: z.string(),
  /** What a repeat must equal, lest it be told as different. */
  fingerprint: z.string(),
  receivedAtMs: z.number(),
  sealed: z.string(),
  /** A post that may have arrived: written before it leaves, gone once it surely did not. */
  doubt: z
    .object({
      channel: z.string(),
      sinceMs: z.number(),
      /** An older post may stand in another channel too, which nobody looks through any more. */
      elsewhere: z.boolean().optional(),
      /** Since when the history has not answered; absent while it has. */
      silentSinceMs: z.number().optional(),
    })
    .optional(),
  /** Posts in a row that did not arrive; the back-off grows with it. */
  misses: z.number().int(),
  /** The message, once posted. */
  posted: z.object({ channel: z.string(), ts: z.string() }).optional(),
});

export type OutboxRecord = z.infer<typeof outboxRecord>;

export function outboxKey(kind: OutboxRecord['kind'], key: string): string {
  return `outbox:${kind}:${key}`;
}

export function writeOutboxRecord(record: OutboxRecord): string {
  return JSON.stringify(record);
}

/** Throws when the text is no record of ours: a bug or a store shared with something else, never a person's mistake. */
export function readOutboxRecord(text: string): OutboxRecord {
  return outboxRecord.parse(JSON.parse(text));
}

/** Seals what may name a customer, a transaction or a card; `context` binds it to its record. */
export type Sealer = {
  seal(context: string, plain: string): string;
  open(context: string, sealed: string): string;
};

/** The event, opened. It was typed when it was sealed, under a key only this program holds. */
export function openEvent(sealer: Sealer, key: string, record: OutboxRecord): PaymentEvent {
  return JSON.parse(sealer.open(key, record.sealed)) as PaymentEvent;
}

export function openNotice(sealer: Sealer, key: string, record: OutboxRecord): Notice {
  return JSON.parse(sealer.open(key, record.sealed)) as Notice;
}
