import type { RoutePlan } from '../domain/alert-route.ts';
import type { PostOutcome } from '../domain/delivery.ts';
import { merchantPrefix } from '../domain/merchant.ts';
import type { PartHealth } from '../http/health.ts';
import { createCounter } from '../http/metrics.ts';
import { approvalPrefix } from '../operations/approval-record.ts';
import { chargePrefix } from '../operations/charge-record.ts';
import { deliverEntry, type DeliverDeps } from '../operations/deliver-outbox.ts';
import { linkPrefix } from '../operations/link-record.ts';
import { createEventLookUp } from '../operations/look-up-event.ts';
import { homePrefix, type OpenHomes } from '../operations/open-homes.ts';
import type { PaymentLinks } from '../operations/payment-links.ts';
import type { Post } from '../operations/prepare-post.ts';
import type { ReceiveDeps } from '../operations/receive-event.ts';
import type { ApprovalTelling } from '../operations/tell-approval.ts';
import { alarmPrefix, type WebhookWatch } from '../operations/webhook-watch.ts';
import { workOnce, type WorkOnceDeps } from '../operations/work-once.ts';
import { startWorker, type Worker } from '../operations/worker.ts';
import { createDelivery, messageDigest, type Delivery } from '../slack/delivery.ts';
import { placeWords } from '../slack/evidence.ts';
import type { MerchantIds } from '../slack/merchant-ids.ts';
import type { SlackMessage } from '../slack/message.ts';
import type { SlackClients } from '../slack/workspace.ts';
import type { Entry, Store } from '../store/store.ts';
import type { Alerts } from './alerts.ts';
import type { Approvals } from './approvals.ts';
import type { AuditTrail } from './audit-trail.ts';
import type { Charges } from './charges.ts';
import type { Kept } from './kept.ts';
import { chargePlace, type MerchantPlace } from './merchants.ts';
import type { Outside } from './outside.ts';
import type { Payments } from './payments.ts';
import { postMessage } from './post-message.ts';
import { createRefusals } from './refusals.ts';

export type Outbox = { kinds: WorkOnceDeps['kinds']; health(): PartHealth };

export type PostCounter = ReturnType<typeof createPostCounter>;

type OutboxParts = {
  kept: Kept;
  payments: Payments;
  clients: SlackClients;
  charges: Charges;
  links: Pick<PaymentLinks, 'find' | 'work'>;
  approvals: Pick<Approvals, 'work' | 'desk'>;
  telling: Pick<ApprovalTelling, 'askedOf'>;
  alerts: Pick<Alerts, 'forPosts' | 'kinds' | 'eventLog' | 'summarise' | 'storms'>;
  alarms: Pick<WebhookWatch, 'work'>;
  routes: Pick<RoutePlan, 'failures' | 'successes'>;
  receiving: Pick<ReceiveDeps, 'route' | 'needsLookUp' | 'opsChannel' | 'rememberMs'>;
  posts: PostCounter;
  /** The ids of its messages; undefined in a bot that knows one account alone. */
  ids: MerchantIds | undefined;
};

/** Enough that one slow look-up does not hold up the other channels. */
const lanesAtOnce = 4;
const idleMs = 250;
const failureDelayMs = 1_000;

const outcomes = ['posted', 'rate_limited', 'refused', 'gone', 'not_sent', 'unsure'] as const;

/** Whatever account a post is of. */
export function createPostCounter() {
  return createCounter(
    { name: 'payops_posts_total', help: 'Attempts to post, by what became of them.', label: 'outcome' },
    outcomes,
  );
}

type WorkParts = {
  /** The whole one, which is shared by all accounts. */
  store: Store;
  houses: readonly { outbox: Outbox; place: Pick<MerchantPlace, 'entryOf' | 'merchant'> }[];
  /** A person has one Home, whatever accounts they work for. */
  homes: Pick<OpenHomes, 'work'>;
  /** One for all accounts. */
  audit: Pick<AuditTrail, 'kinds'>;
  isPressed: () => boolean;
};

/** The worker over the whole store: each record is the work of the account whose it is. */
export function startWork({ config, log }: Outside, parts: WorkParts): Worker {
  const { store, houses, homes, audit, isPressed } = parts;
  const ofAccounts = houses.flatMap(({ outbox, place: { merchant, entryOf } }) => {
    const scope = merchant && !merchant.isFirst ? merchantPrefix(merchant.name) : '';
    return outbox.kinds.map(({ prefix, work }) => ({
      prefix: scope + prefix,
      async work(entry: Entry) {
        const own = entryOf(entry);
        if (!own) throw new Error('A record was taken for another account.');
        await work(own);
      },
    }));
  });
  const kinds = [...ofAccounts, { prefix: homePrefix, work: homes.work }, ...audit.kinds];
  const leaseMs = config.workLeaseSeconds * 1_000;
  return startWorker({
    isPressed,
    concurrency: lanesAtOnce,
    idleMs,
    failureDelayMs,
    log,
    workOnce: () => workOnce({ store, leaseMs, kinds, log }),
  });
}

/** What tells the channels: the kinds of work in the store's outbox, and what can be said of its health. */
export function createOutbox({ config, log, now }: Outside, parts: OutboxParts): Outbox {
  const { kept, payments, clients, receiving, charges, links, alerts } = parts;
  const place = { ...chargePlace(config), canListCards: payments.savedCards.kind === 'ready' };
  const whose = parts.ids && placeWords(place.environment, place.account);
  const delivery = createDelivery(clients.delivery, config.slackTimeoutSeconds * 1_000);
  const refusals = createRefusals(now);
  const lookUp = createEventLookUp({ findTransaction: payments.findTransaction, now });

  function report(channel: string, outcome: PostOutcome): void {
    parts.posts.add(outcome.kind);
    refusals.note(channel, outcome);
  }

  const leaseMs = config.workLeaseSeconds * 1_000;
  const deliver: DeliverDeps = {
    ...receiving,
    ...keepsDetails(config),
    store: kept.store,
    sealer: kept.sealer,
    lookUp,
    logEvent: (...logged) => alerts.eventLog.add(...logged),
    summarise: alerts.summarise,
    deskChannel: config.policy.channels.desk,
    rest: parts.routes,
    findCharge: charges.find,
    findLink: links.find,
    async findApproval(id) {
      const approval = await parts.approvals.desk.find(id);
      return approval && { approval, asked: await parts.telling.askedOf(id) };
    },
    cards: alerts.forPosts,
    storms: alerts.storms,
    compose(post) {
      const made = postMessage(post, place, whose);
      const message = parts.ids?.message(made) ?? made;
      return {
        digest: messageDigest(message),
        post: (channel, threadTs) => postOr(delivery, post, { channel, message, threadTs }),
        edit: (channel, ts) => delivery.edit({ channel, ts }, message),
      };
    },
    findByKey: (channel, key, sinceMs, threadTs) =>
      delivery.findByKey(channel, parts.ids?.key(key) ?? key, sinceMs, threadTs),
    report,
    ...place,
    leaseMs,
    postTimeoutMs: config.slackTimeoutSeconds * 1_000,
    giveUpMs: config.deliveryGiveUpHours * 3_600_000,
    now,
    log,
  };
  const kinds = [
    { prefix: 'outbox:', work: (entry: Entry) => deliverEntry(deliver, entry) },
    { prefix: chargePrefix, work: charges.recover },
    { prefix: linkPrefix, work: links.work },
    { prefix: approvalPrefix, work: parts.approvals.work },
    ...alerts.kinds,
    { prefix: alarmPrefix, work: parts.alarms.work },
  ];

  return {
    kinds,
    health: refusals.health,
  };
}

/** For how long an alert shows what it tells; absent: as long as it stands. */
function keepsDetails({ alertDetailsDays }: Outside['config']): Pick<DeliverDeps, 'detailsMs'> {
  return alertDetailsDays === 0 ? {} : { detailsMs: alertDetailsDays * 86_400_000 };
}

type Posting = { channel: string; message: SlackMessage; threadTs: string | undefined };

/** A link's card goes to whoever asked for it where the bot may not post: whoever types a command need not know. */
async function postOr(delivery: Delivery, post: Post, { channel, message, threadTs }: Posting) {
  const outcome = await delivery.post(channel, message, threadTs);
  const isElsewhere = outcome.kind === 'refused' && outcome.about === 'channel';
  if (!isElsewhere || post.kind !== 'link' || post.note !== undefined) return outcome;
  return await delivery.post(post.link.by, message);
}
