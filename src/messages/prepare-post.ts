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
import type { Log } from '../log.ts';
import type { OutboxRecord } from './outbox.ts';
import type { Sealer } from '../domain/sealer.ts';
import type { ApprovalAddress } from './outbox-bodies.ts';
import type { Work, WorkDeps } from './outbox-work.ts';

/** A step of a card, for the thread below it, or for one person, whose Slack id `to` is. */
type AlertStepPost = { alert: Alert; step: CardStep; key: string; mayBeRepeat: boolean } & (
  | { kind: 'alert_note' }
  | { kind: 'alert_direct'; to: string; place?: MessagePlace }
);

/** What is posted: the words are made where Slack is known. */
export type Post =
  | { kind: 'alert'; alert: Alert }
  | { kind: 'notice'; notice: Notice; key: string; mayBeRepeat: boolean }
  | { kind: 'charge'; charge: ChargeSeen; key: string; mayBeRepeat: boolean }
  | { kind: 'charge_note'; note: ChargeNote; charge: ChargeSeen; key: string; mayBeRepeat: boolean }
  | { kind: 'charge_direct'; what: Told; charge: ChargeSeen; key: string; mayBeRepeat: boolean }
  | { kind: 'daily_summary'; summary: DailySummary; key: string; mayBeRepeat: boolean }
  | { kind: 'test_alert'; askedBy: string; key: string; mayBeRepeat: boolean }
  /** A storm, for its channel, or `isDirect`: for one person who took it on. */
  | {
      kind: 'digest';
      storm: StormSeen;
      isDirect: boolean;
      /** Of what one person is told: where its digest is. */
      place?: MessagePlace;
      key: string;
      mayBeRepeat: boolean;
    }
  | AlertStepPost
  /** A link's card, or with `note` what is said beside it. */
  | { kind: 'link'; note?: LinkNote; link: PaymentLink; key: string; mayBeRepeat: boolean }
  /** A request’s card, or with `note` what is said beside it. `asked`: how many people can decide. */
  | {
      kind: 'approval';
      note?: ApprovalNote;
      approval: Approval;
      charge?: ChargeSeen;
      to: ApprovalAddress;
      asked: number;
      key: string;
      mayBeRepeat: boolean;
    };

/** A message that was made, and both ways of sending it. Neither throws for anything Slack or the network does. */
export type Composed = {
  /** The same for messages that look the same. */
  digest: string;
  post: (channel: string, threadTs?: string) => Promise<PostOutcome>;
  edit: (channel: string, ts: string) => Promise<PostOutcome>;
};

/** What it takes to make any message; each family adds what its own are made of. */
export type PrepareDeps = WorkDeps & {
  sealer: Sealer;
  /** Makes the message, and throws when it cannot, before anything says that it was posted. */
  compose: (post: Post) => Composed;
  log: Log;
};

export type Prepared =
  /** `keep` goes on record with the post. */
  | {
      kind: 'post';
      channel: string;
      threadTs?: string;
      message: Composed;
      keep?: Pick<OutboxRecord, 'evidence' | 'logged'>;
    }
  | { kind: 'edit'; posted: NonNullable<OutboxRecord['posted']>; message: Composed }
  /** Nothing is to be sent now, and the record says so. */
  | { kind: 'settled' };

/** `mayBeRepeat`: an earlier post of it may have arrived, and that cannot be found out. */
export type Prepare<Deps extends PrepareDeps = PrepareDeps> = (
  deps: Deps,
  work: Work,
  mayBeRepeat: boolean,
) => Promise<Prepared>;
