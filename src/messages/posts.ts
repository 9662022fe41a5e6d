import type { CardStep } from '../domain/alert-card.ts';
import type { Alert } from '../domain/alert.ts';
import type { Approval, ApprovalNote } from '../domain/approval.ts';
import type { ChargeNote } from '../domain/charge-note.ts';
import type { ChargeSeen } from '../domain/charge-seen.ts';
import type { Told } from '../domain/charge-state.ts';
import type { DailySummary } from '../domain/daily-summary.ts';
import type { MessagePlace, PostOutcome } from '../domain/delivery.ts';
import type { Notice } from '../domain/notice.ts';
import type { LinkNote, PaymentLink } from '../domain/payment-link.ts';
import type { Sealer } from '../domain/sealer.ts';
import type { StormSeen } from '../domain/storm-summary.ts';
import type { Entry } from '../store/store.ts';
import type { OutboxRecord } from './message-record.ts';
import type { Work } from './message-work.ts';

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

/** What is said, before it is put into words. */
export type Shown =
  | { kind: 'alert'; alert: Alert }
  /** A step of an alert, for the thread below it, or for one person, whose Slack id `to` is. */
  | { kind: 'alert_note'; alert: Alert; step: CardStep }
  | { kind: 'alert_direct'; alert: Alert; step: CardStep; to: string; place?: MessagePlace }
  | { kind: 'notice'; notice: Notice }
  | { kind: 'charge'; charge: ChargeSeen }
  | { kind: 'charge_note'; note: ChargeNote; charge: ChargeSeen }
  | { kind: 'charge_direct'; what: Told; charge: ChargeSeen }
  | { kind: 'daily_summary'; summary: DailySummary }
  | { kind: 'test_alert'; askedBy: string }
  /** A storm, for its channel, or `isDirect`: for one person who took it on, with the place of its digest. */
  | { kind: 'digest'; storm: StormSeen; isDirect: boolean; place?: MessagePlace }
  /** A link's card, or with `note` what is said beside it. */
  | { kind: 'link'; note?: LinkNote; link: PaymentLink }
  /** A request’s card, or with `note` what is said beside it. `asked`: how many people can decide. */
  | {
      kind: 'approval';
      note?: ApprovalNote;
      approval: Approval;
      charge?: ChargeSeen;
      to: ApprovalAddress;
      asked: number;
    };

/**
 * `key`: by what the message is known in its channel’s history. `mayBeRepeat`: an earlier post of it may have arrived, and
 * that cannot be found out.
 */
export type Said = { key: string; mayBeRepeat: boolean };

/** What is posted: the words are made where Slack is known. */
export type Post = Shown & Said;

/** A message that was made, and both ways of sending it. Neither throws for anything Slack or the network does. */
export type Composed = {
  /** The same for messages that look the same. */
  digest: string;
  post: (channel: string, threadTs?: string) => Promise<PostOutcome>;
  edit: (channel: string, ts: string) => Promise<PostOutcome>;
};

/** What a message shows as it leaves. */
export type Rendered =
  /** `below`: in the thread of that message, and after that step of it. `keep` goes on record with the post. */
  | {
      kind: 'shown';
      post: Shown;
      below?: { key: string; after?: string };
      keep?: Pick<OutboxRecord, 'evidence'>;
    }
  /** It is not to be said any more. */
  | { kind: 'nothing' }
  /** It is not to be said yet: asked again, ever more rarely, and nothing behind it waits. */
  | { kind: 'later' }
  /** Whoever was asked has written what becomes of the record. */
  | { kind: 'settled' };

export type View<Body> = (body: Body, work: Work, said: Said) => Promise<Rendered>;

/** How each kind of message is made of its body. */
export type Views = { [Kind in keyof OutboxBodies]: View<OutboxBodies[Kind]> };
