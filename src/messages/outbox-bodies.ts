import type { CardStep } from '../domain/alert-card.ts';
import type { ApprovalNote } from '../domain/approval.ts';
import type { ChargeNote } from '../domain/charge-note.ts';
import type { Told } from '../domain/charge-state.ts';
import type { Notice } from '../domain/notice.ts';
import type { LinkNote } from '../domain/payment-link.ts';
import type { Entry } from '../store/store.ts';
import type { OutboxRecord } from './outbox.ts';
import type { Sealer } from '../domain/sealer.ts';

/**
 * What each kind of message seals, but for an alert, which seals its event. Charges, links and requests are named
 * alone: the rest is read when the message leaves.
 */
export type OutboxBodies = {
  notice: Notice;
  /** A test of one channel: who asked for it. */
  test_alert: { askedBy: string };
  charge: { reference: string };
  charge_note: { reference: string; note: ChargeNote };
  charge_direct: { reference: string; what: Told };
  alert_note: AlertStep;
  alert_direct: AlertStep;
  daily_summary: SummarySpan;
  /** A storm, told to its channel, or `to` one person who took it on. */
  digest: { storm: string; to?: string };
  /** A payment link's card, and what is said below it. */
  link: { reference: string };
  link_note: { reference: string; what: LinkNote };
  /** A request’s card in one of its places, and what is said beside it. */
  approval: { id: string; to: ApprovalAddress };
  approval_note: { id: string; to: ApprovalAddress; what: ApprovalNote };
};

/** A step of an alert's card: `parent` is the key of the message it belongs to. */
type AlertStep = { parent: string; step: CardStep };

/** What a summary tells of: what came into the log from the one time until before the other, UTC ms. */
export type SummarySpan = { fromMs: number; untilMs: number };

/** Whose copy of a request’s card it is: the channel’s, an approver’s, or that of whoever asked. */
export type ApprovalAddress = 'channel' | 'approver' | 'requester';

/** Any of them, with its kind. */
export type KindWithBody = {
  [Kind in keyof OutboxBodies]: { kind: Kind; body: OutboxBodies[Kind] };
}[keyof OutboxBodies];

/**
 * What a message of that kind was stored with. It was typed when it was sealed, under a key only this program holds.
 * Throws for a record of another kind: a bug.
 */
export function openBody<Kind extends keyof OutboxBodies>(
  kind: Kind,
  sealer: Sealer,
  { entry, record }: { entry: Pick<Entry, 'key'>; record: Pick<OutboxRecord, 'kind' | 'sealed'> },
): OutboxBodies[Kind] {
  if (record.kind !== kind) throw new Error(`A record of kind ${record.kind} was opened as ${kind}.`);
  return JSON.parse(sealer.open(entry.key, record.sealed)) as OutboxBodies[Kind];
}
