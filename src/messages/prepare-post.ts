import type { CardStep } from '../domain/alert-card.ts';
import type { Approval, ApprovalNote } from '../domain/approval.ts';
import type { Alert } from '../domain/alert.ts';
import type { ChargeNote } from '../domain/charge-note.ts';
import type { ChargeSeen } from '../domain/charge-seen.ts';
import type { Told } from '../domain/charge-state.ts';
import type { DailySummary } from '../domain/daily-summary.ts';
import type { MessagePlace, PostOutcome } from '../domain/delivery.ts';
import type { Notice } from '../domain/notice.ts';
import type { LinkNote, PaymentLink } from '../domain/payment-link.ts';
import type { StormSeen } from '../domain/storm-summary.ts';
import type { OutboxRecord } from './outbox.ts';
import type { ApprovalAddress, OutboxBodies } from './outbox-bodies.ts';
import type { Work } from './outbox-work.ts';

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
