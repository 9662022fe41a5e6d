import { z } from 'zod';
import type { Lookup } from '../domain/alert.ts';
import type { CardStep } from '../domain/alert-card.ts';
import type { ApprovalNote } from '../domain/approval.ts';
import type { ChargeNote } from '../domain/charge-note.ts';
import type { Told } from '../domain/charge-state.ts';
import type { Notice } from '../domain/notice.ts';
import type { PaymentEvent } from '../domain/payment-event.ts';
import type { LinkNote } from '../domain/payment-link.ts';

/**
 * How far a message is that is posted once and then edited: always made of the charge as it is when it leaves.
 * `waiting`: work, and nothing of it is under way; whoever delivers it reads the charge later than this.
 * `leaving`: a worker has read the charge, or is about to, under a lease of that length.
 * `stale`: leaving, but the charge went on meanwhile: what leaves is to be followed by an edit.
 * `done`: it shows the charge as it was when somebody last asked for that.
 */
const progress = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('waiting') }),
  z.object({ kind: z.literal('leaving'), leaseMs: z.number() }),
  z.object({ kind: z.literal('stale') }),
  z.object({ kind: z.literal('done') }),
]);

/**
 * One thing to post, as the store keeps it: dedupe memory while it is finished, work while it is not.
 * `sealed` holds the event, the notice or what is to be said of a charge; nothing of a customer stands
 * beside it in the clear.
 */
const outboxRecord = z.object({
  kind: z.enum([
    'alert',
    'notice',
    'charge',
    'charge_note',
    'charge_direct',
    'test_alert',
    'alert_note',
    'alert_direct',
    'daily_summary',
    'digest',
    'link',
    'link_note',
    'approval',
    'approval_note',
  ]),
  /** Where it was to go when it came; the settings of the moment decide, and this where they say nothing. Empty: it is no message. */
  channel: z.string(),
  /** What a repeat must equal, lest it be told as different. */
  fingerprint: z.string(),
  receivedAtMs: z.number(),
  sealed: z.string(),
  /** A post that may have arrived: written before it leaves, gone once it surely did not. */
  doubt: z
    .object({
      channel: z.string(),
      threadTs: z.string().optional(),
      sinceMs: z.number(),
      /** An older post may stand in another channel too, which nobody looks through any more. */
      elsewhere: z.boolean().optional(),
      /** Since when the history has not answered; absent while it has. */
      silentSinceMs: z.number().optional(),
    })
    .optional(),
  /** Slack refuses it for its channel, and since when; `givenUp`: it is a dead letter, no work, and listed as one. */
  refused: z.object({ channel: z.string(), sinceMs: z.number(), givenUp: z.boolean().optional() }).optional(),
  /** Somebody had it delivered again after it was given up. */
  redriven: z.boolean().optional(),
  /** Posts in a row that did not arrive; the back-off grows with it. */
  misses: z.number().int(),
  /** The message, once posted, in the channel Slack says that it is in. */
  posted: z.object({ channel: z.string(), ts: z.string() }).optional(),
  /** Only of what is edited after it was posted. */
  progress: progress.optional(),
  /** Digest of the message as it was last posted or edited. */
  shown: z.string().optional(),
  /** Digest of the post with the names that it leaves out and an edit adds; absent once Slack took an edit. */
  whole: z.string().optional(),
  /** Slack took no edit of it: how often it was posted anew for that since the last it took, and from when on it is once more. */
  anew: z.object({ times: z.number().int(), dueMs: z.number().optional() }).optional(),
  /** It was posted though an earlier post of it may have arrived, and goes on saying so. */
  mayBeRepeat: z.boolean().optional(),
  /** Of an alert: what its look-up gave when it was posted, sealed, so that an edit shows the same. */
  evidence: z.string().optional(),
  /** Of an event’s own record: it stands in the log of its hour. */
  logged: z.boolean().optional(),
  /** Of an event’s own record: it is told nowhere, and to be logged is all the work it is. */
  untold: z.boolean().optional(),
  /** Of an alert: digest of the one post that may have arrived; absent when there may be others. */
  sent: z.string().optional(),
  /** The message in whose place it was posted anew. */
  replaced: z.object({ channel: z.string(), ts: z.string() }).optional(),
  /** Slack does not take it into the thread: it goes into the channel. */
  unthreaded: z.boolean().optional(),
  /** Of an alert: a storm’s digest tells it, and no message of its own does; whether that digest counts it yet. */
  digest: z.object({ storm: z.string(), isCounted: z.boolean() }).optional(),
  /** Of an alert: what it told of customer and money is gone from here, and its message says its outcome and reference alone. */
  isErased: z.boolean().optional(),
  /** How long it is remembered once told; absent: as long as an alert. */
  rememberMs: z.number().optional(),
});

export type OutboxRecord = z.infer<typeof outboxRecord>;

export function outboxKey(kind: OutboxRecord['kind'], key: string): string {
  return `outbox:${kind}:${key}`;
}

/** The alert of an event; without a channel its own record, which is the event's dedupe memory, with one a copy for a further channel. */
export function alertKey(eventKey: string, furtherChannel?: string): string {
  // In front, because a merchant's reference may end with anything, and no event key begins so.
  return outboxKey('alert', furtherChannel === undefined ? eventKey : `copy/${furtherChannel}/${eventKey}`);
}

/**
 * By what a message is known in its channel's history. One that took another's place has a key of its own: the other
 * may stand there still, closed to edits, and must not be taken for it.
 */
export function historyKey(key: string, { replaced }: Pick<OutboxRecord, 'replaced'>): string {
  return replaced ? `${key}#after:${replaced.ts}` : key;
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

/** What a look-up gave, and when (UTC ms). */
export type Evidence = { lookup: Lookup; atMs: number };

/** Beside the event and not in it: the sender's repeats are held against the event alone. */
export function sealEvidence(sealer: Sealer, key: string, evidence: Evidence): string {
  return sealer.seal(evidenceOf(key), JSON.stringify(evidence));
}

export function openEvidence(sealer: Sealer, key: string, { evidence }: OutboxRecord): Evidence | undefined {
  if (evidence === undefined) return undefined;
  return JSON.parse(sealer.open(evidenceOf(key), evidence)) as Evidence;
}

function evidenceOf(key: string): string {
  return `${key}#evidence`;
}

/** A step of an alert's card: `parent` is the key of the message it belongs to. */
export type AlertNoteBody = { parent: string; step: CardStep };

export function openAlertNote(sealer: Sealer, key: string, record: OutboxRecord): AlertNoteBody {
  return JSON.parse(sealer.open(key, record.sealed)) as AlertNoteBody;
}

/** What is said of a charge, by its reference alone: the rest is read when it is told. */
export type ChargeBody = { reference: string };
export type ChargeNoteBody = ChargeBody & { note: ChargeNote };
export type ChargeDirectBody = ChargeBody & { what: Told };

/** The request for a code, which is edited when the charge leaves that state; one for each agent who ever had it. */
export function codeRequestKey(reference: string, userId: string): string {
  return outboxKey('charge_direct', `otp:${reference}:${userId}`);
}

/** A test of one channel: who asked for it. */
export type TestAlertBody = { askedBy: string };

export function openTestAlert(sealer: Sealer, key: string, record: OutboxRecord): TestAlertBody {
  return JSON.parse(sealer.open(key, record.sealed)) as TestAlertBody;
}

/**
 * What a summary tells of, UTC ms: what was received before `untilMs` and stood in the log before `knownUntilMs`, less
 * what the one before it told, which has the same two ends in `fromMs` and `knownFromMs`. So each event is told in one
 * of them, whenever it came into the log. What an earlier release wrote has no ends of the log: they were the others.
 */
export type DailySummaryBody = {
  fromMs: number;
  untilMs: number;
  knownFromMs?: number;
  knownUntilMs?: number;
};

export function openDailySummary(sealer: Sealer, key: string, record: OutboxRecord): DailySummaryBody {
  return JSON.parse(sealer.open(key, record.sealed)) as DailySummaryBody;
}

/** A storm, told to its channel, or `to` one person who took it on. */
export type DigestBody = { storm: string; to?: string };

export function openDigest(sealer: Sealer, key: string, record: OutboxRecord): DigestBody {
  return JSON.parse(sealer.open(key, record.sealed)) as DigestBody;
}

export function openCharge(sealer: Sealer, key: string, record: OutboxRecord): ChargeBody {
  return JSON.parse(sealer.open(key, record.sealed)) as ChargeBody;
}

export function openChargeNote(sealer: Sealer, key: string, record: OutboxRecord): ChargeNoteBody {
  return JSON.parse(sealer.open(key, record.sealed)) as ChargeNoteBody;
}

export function openChargeDirect(sealer: Sealer, key: string, record: OutboxRecord): ChargeDirectBody {
  return JSON.parse(sealer.open(key, record.sealed)) as ChargeDirectBody;
}

/** A payment link's card (`link`), or what is said below it (`link_note`). */
export type LinkBody = { reference: string };
export type LinkNoteBody = LinkBody & { what: LinkNote };

export function openLink(sealer: Sealer, key: string, record: OutboxRecord): LinkBody {
  return JSON.parse(sealer.open(key, record.sealed)) as LinkBody;
}

export function openLinkNote(sealer: Sealer, key: string, record: OutboxRecord): LinkNoteBody {
  return JSON.parse(sealer.open(key, record.sealed)) as LinkNoteBody;
}

/** Whose copy of a request’s card it is: the channel’s, an approver’s, or that of whoever asked. */
export type ApprovalAddress = 'channel' | 'approver' | 'requester';
/** A request’s card in one of its places (`approval`), or what is said beside it (`approval_note`). */
export type ApprovalBody = { id: string; to: ApprovalAddress };
export type ApprovalNoteBody = ApprovalBody & { what: ApprovalNote };

export function openApproval(sealer: Sealer, key: string, record: OutboxRecord): ApprovalBody {
  return JSON.parse(sealer.open(key, record.sealed)) as ApprovalBody;
}

export function openApprovalNote(sealer: Sealer, key: string, record: OutboxRecord): ApprovalNoteBody {
  return JSON.parse(sealer.open(key, record.sealed)) as ApprovalNoteBody;
}

export function openNotice(sealer: Sealer, key: string, record: OutboxRecord): Notice {
  return JSON.parse(sealer.open(key, record.sealed)) as Notice;
}
