import type { CardStep } from '../domain/alert-card.ts';
import type { Destination, RoutePlan } from '../domain/alert-route.ts';
import type { Approval, ApprovalNote } from '../domain/approval.ts';
import type { Alert, Environment, Lookup } from '../domain/alert.ts';
import type { ChargeNote } from '../domain/charge-note.ts';
import type { ChargeSeen } from '../domain/charge-seen.ts';
import type { Told } from '../domain/charge-state.ts';
import type { DailySummary } from '../domain/daily-summary.ts';
import type { PostOutcome } from '../domain/delivery.ts';
import type { Notice } from '../domain/notice.ts';
import type { PaymentEvent } from '../domain/payment-event.ts';
import type { LinkNote, PaymentLink } from '../domain/payment-link.ts';
import type { StormSeen } from '../domain/storm-summary.ts';
import type { Log } from '../log.ts';
import type { Store } from '../store/store.ts';
import { historyKey, type OutboxRecord, type Sealer } from './outbox.ts';
import { openBody, type ApprovalAddress, type SummarySpan } from './outbox-bodies.ts';
import type { Work, WorkDeps } from './outbox-work.ts';
import { followedByEdit, isRepeat, postOrEdit, settle } from './post-or-edit.ts';
import { prepareDailySummary } from './prepare-daily-summary.ts';
import { prepareDigest } from './prepare-digest.ts';
import { prepareApproval, prepareApprovalNote } from './prepare-approval.ts';
import { prepareCharge, prepareChargeDirect, prepareChargeNote } from './prepare-charge.ts';
import { prepareLink, prepareLinkNote } from './prepare-link.ts';
import { prepareAlertDirect, prepareAlertNote } from './prepare-alert-note.ts';
import { prepareAlert, type CardsForPosts } from './prepare-alert.ts';
import type { Storms } from './storms.ts';

/** A step of a card, for the thread below it, or for one person, whose Slack id `to` is. */
type AlertStepPost = { alert: Alert; step: CardStep; key: string; mayBeRepeat: boolean; isFirst: boolean } & (
  | { kind: 'alert_note' }
  | { kind: 'alert_direct'; to: string }
);

/** What is posted: the words are made where Slack is known. */
export type Post =
  | { kind: 'alert'; alert: Alert }
  | { kind: 'notice'; notice: Notice; key: string; mayBeRepeat: boolean }
  /** `isFirst`: it is posted and not edited, so that a person it names would be pinged. */
  | { kind: 'charge'; charge: ChargeSeen; key: string; mayBeRepeat: boolean; isFirst: boolean }
  | { kind: 'charge_note'; note: ChargeNote; charge: ChargeSeen; key: string; mayBeRepeat: boolean }
  | { kind: 'charge_direct'; what: Told; charge: ChargeSeen; key: string; mayBeRepeat: boolean }
  | { kind: 'daily_summary'; summary: DailySummary; key: string; mayBeRepeat: boolean }
  | { kind: 'test_alert'; askedBy: string; key: string; mayBeRepeat: boolean; isFirst: boolean }
  /** A storm, for its channel, or `isDirect`: for one person who took it on. */
  | {
      kind: 'digest';
      storm: StormSeen;
      isDirect: boolean;
      key: string;
      mayBeRepeat: boolean;
      isFirst: boolean;
    }
  | AlertStepPost
  /** A link's card, or with `note` what is said beside it. */
  | {
      kind: 'link';
      note?: LinkNote;
      link: PaymentLink;
      key: string;
      mayBeRepeat: boolean;
      isFirst: boolean;
    }
  /** A request’s card, or with `note` what is said beside it. `asked`: how many people can decide. */
  | {
      kind: 'approval';
      note?: ApprovalNote;
      approval: Approval;
      to: ApprovalAddress;
      asked: number;
      key: string;
      mayBeRepeat: boolean;
      isFirst: boolean;
    };

/** A message that was made, and both ways of sending it. Neither throws for anything Slack or the network does. */
export type Composed = {
  /** The same for messages that look the same. */
  digest: string;
  /** As a post it does not say all: once it stands, it is edited. */
  isIncomplete?: true;
  /** Of a post that leaves out whom it would ping: digest of the same with its names, as an edit shows it. */
  whole?: string;
  post: (channel: string, threadTs?: string) => Promise<PostOutcome>;
  edit: (channel: string, ts: string) => Promise<PostOutcome>;
};

export type PrepareDeps = WorkDeps & {
  store: Pick<Store, 'create'>;
  sealer: Sealer;
  lookUp: (event: PaymentEvent) => Promise<Lookup>;
  /** Puts an event into the log of its hour; see `EventLog.add`. */
  logEvent: (event: PaymentEvent, receivedAtMs: number, lookup?: Lookup) => Promise<void>;
  /** What a channel is told of a day; see `summariseDay`. */
  summarise: (channel: string, time: SummarySpan) => Promise<DailySummary>;
  findCharge: (reference: string) => Promise<ChargeSeen | undefined>;
  findLink: (reference: string) => Promise<PaymentLink | undefined>;
  /** A request, and how many people were asked to decide it; absent where nothing needs a second person. */
  findApproval?: (id: string) => Promise<{ approval: Approval; asked: number } | undefined>;
  route: (event: PaymentEvent, receivedAtMs: number) => readonly Destination[];
  /** Where what no rule takes is told. */
  rest: Pick<RoutePlan, 'failures' | 'successes'>;
  /** Whether that hangs on what only a look-up says. */
  needsLookUp: (event: PaymentEvent) => boolean;
  /** What people did with an alert, and what it is about; see `AlertCards`. */
  cards: CardsForPosts;
  /** What tells alerts of a channel that has too many of them. */
  storms: Pick<Storms, 'ask' | 'add' | 'addAgain' | 'see' | 'items' | 'channel' | 'refresh' | 'recovered'>;
  /** How long one piece of work may be held. */
  leaseMs: number;
  opsChannel: string | undefined;
  /** Where charges are told; undefined: where they were to be told when they began. */
  deskChannel: string | undefined;
  /** Makes the message, and throws when it cannot, before anything says that it was posted. */
  compose: (post: Post) => Composed;
  environment: Environment;
  account: string;
  /** `/pay cards` works here, and is named where a card's token is missing. */
  canListCards?: boolean;
  now: () => number;
  log: Log;
};

export type Prepared =
  /** `keep` goes on record with the post. */
  | {
      kind: 'post';
      channel: string;
      threadTs?: string;
      message: Composed;
      keep?: Pick<OutboxRecord, 'evidence' | 'sent' | 'logged'>;
    }
  | { kind: 'edit'; posted: NonNullable<OutboxRecord['posted']>; message: Composed }
  /** Nothing is to be sent now, and the record says so. */
  | { kind: 'settled' };

type Prepare = (deps: PrepareDeps, work: Work, mayBeRepeat: boolean) => Promise<Prepared>;

const preparing: Readonly<Record<OutboxRecord['kind'], Prepare>> = {
  alert: prepareAlert,
  notice: prepareNotice,
  charge: prepareCharge,
  charge_note: prepareChargeNote,
  charge_direct: prepareChargeDirect,
  test_alert: prepareTestAlert,
  alert_note: prepareAlertNote,
  alert_direct: prepareAlertDirect,
  daily_summary: prepareDailySummary,
  digest: prepareDigest,
  link: prepareLink,
  link_note: prepareLinkNote,
  approval: prepareApproval,
  approval_note: prepareApprovalNote,
};

/** `mayBeRepeat`: an earlier post of it may have arrived, and that cannot be found out. */
export function prepare(deps: PrepareDeps, work: Work, mayBeRepeat: boolean): Promise<Prepared> {
  return preparing[work.record.kind](deps, work, mayBeRepeat);
}

async function prepareNotice(deps: PrepareDeps, work: Work, mayBeRepeat: boolean): Promise<Prepared> {
  const { entry, record } = work;
  const notice = openBody('notice', deps.sealer, work);
  const message = deps.compose({ kind: 'notice', notice, key: entry.key, mayBeRepeat });
  return { kind: 'post', channel: deps.opsChannel ?? record.channel, message };
}

/** A test that comes late proves nothing and only startles. */
const testPatienceMs = 600_000;

/**
 * Posted without a name, because the post would ping whoever just clicked, and edited at once to say who asked.
 */
async function prepareTestAlert(deps: PrepareDeps, work: Work, mayBeRepeat: boolean): Promise<Prepared> {
  const { entry, record } = work;
  const isFirst = !record.posted;
  if (isFirst && deps.now() - record.receivedAtMs >= testPatienceMs) return await settle(deps, work);
  const { askedBy } = openBody('test_alert', deps.sealer, work);
  const repeat = isRepeat(work, mayBeRepeat);
  const key = historyKey(entry.key, record);
  const compose = (leavesOut: boolean): Composed =>
    deps.compose({ kind: 'test_alert', askedBy, key, mayBeRepeat: repeat, isFirst: leavesOut });
  return await postOrEdit(deps, work, record.channel, isFirst ? followedByEdit(compose) : compose(false));
}
