import type { RoutePlan } from '../domain/alert-route.ts';
import type { DeclineRule } from '../domain/decline-reason.ts';
import type { PostOutcome } from '../domain/delivery.ts';
import { merchantPrefix } from '../domain/merchant.ts';
import { createDeliverPost, type DeliverPostDeps } from './deliver-post.ts';
import { createEventLookUp } from '../features/alerts/look-up-event.ts';
import { lookUpAhead, toRouteLanes } from '../features/alerts/route-event.ts';
import type { PaymentLinks } from '../features/links/payment-links.ts';
import type { ReceiveDeps } from '../features/alerts/receive-event.ts';
import type { Mutes } from '../features/mute/mute.ts';
import { createPutAside } from '../records/put-aside.ts';
import { workOnce, type Kind, type WorkOnceDeps } from '../records/work-once.ts';
import { startWorker, type Worker } from '../records/worker.ts';
import { createDelivery, messageDigest, type Delivery } from '../messages/delivery.ts';
import { placeWords } from '../slack/words/evidence.ts';
import { inAccount, ownKey } from '../slack/own-account.ts';
import type { SlackMessage } from '../slack/kit/message.ts';
import { withNames, type NameOf } from '../slack/people/names.ts';
import type { SlackClients } from '../slack/workspace.ts';
import type { Entry, Store } from '../store/store.ts';
import type { Alerts } from '../features/alerts/alerts.ts';
import type { Approvals } from '../features/approvals/approvals.ts';
import type { AuditTrail } from '../audit/audit-trail.ts';
import type { Charges } from '../features/charge/charge.ts';
import type { Kept } from '../store/kept.ts';
import { chargePlace, type MerchantPlace } from './merchants.ts';
import type { Outside } from './outside.ts';
import type { Payments } from '../payments/payments.ts';
import { calledBy, postMessage, type Post } from './post-message.ts';
import { createRefusals, type Refusals } from '../features/undelivered/refusals.ts';
import { logged } from '../log.ts';

export type Outbox = { kinds: WorkOnceDeps['kinds'] } & Pick<Refusals, 'health' | 'refused'>;

type OutboxParts = {
  kept: Kept;
  payments: Payments;
  clients: SlackClients;
  charges: Pick<Charges, 'find'>;
  links: Pick<PaymentLinks, 'find'>;
  approvals: Pick<Approvals, 'desk'>;
  alerts: Pick<Alerts, 'forPosts' | 'eventLog' | 'summarise' | 'storms' | 'notPosted'>;
  mutes: Pick<Mutes, 'find'>;
  routes: Pick<RoutePlan, 'failures' | 'successes'>;
  declines: DeclineRule;
  receiving: Pick<ReceiveDeps, 'route' | 'opsChannel' | 'rememberMs'>;
  nameOf: NameOf;
};

/** Enough that one slow look-up does not hold up the other channels. */
const lanesAtOnce = 4;
const idleMs = 250;
const failureDelayMs = 1_000;

type MerchantWork = {
  kinds: readonly Kind[];
  place: Pick<MerchantPlace, 'entryOf' | 'merchant'>;
  /** Tells its operators that a record, as the account knows it, was put aside. */
  tellStuck: (key: string, errorId: string) => Promise<void>;
};

type WorkParts = {
  /** The whole one, which is shared by all accounts. */
  store: Store;
  merchantBots: readonly [MerchantWork, ...MerchantWork[]];
  /** Called for each record that is put aside. */
  putAside: (reason: string) => void;
  /** One for all accounts. */
  audit: Pick<AuditTrail, 'kinds'>;
  isPressed: () => boolean;
};

/** The worker over the whole store: each record is the work of the account whose it is. */
export function startWork({ config, log, now }: Outside, parts: WorkParts): Worker {
  const { store, merchantBots, audit, isPressed } = parts;
  const ofAccounts = merchantBots.flatMap(({ kinds, place: { merchant, entryOf } }) => {
    const scope = merchant && !merchant.isFirst ? merchantPrefix(merchant.name) : '';
    function ownOf(entry: Entry): Entry {
      const own = entryOf(entry);
      if (!own) throw new Error('A record was taken for another account.');
      return own;
    }
    return kinds.map(({ prefix, work, ahead }): Kind => {
      const kind = {
        prefix: scope + prefix,
        work: (entry: Entry) =>
          logged({ key: entry.key }, () => inAccount(merchant, () => work(ownOf(entry)))),
      };
      if (!ahead) return kind;
      return {
        ...kind,
        async ahead(entry) {
          const ready = await logged({ key: entry.key }, () =>
            inAccount(merchant, () => ahead(ownOf(entry))),
          );
          return ready && { ...ready, key: entry.key };
        },
      };
    });
  });
  const putAside = createPutAside({
    store,
    async tell(entry, errorId) {
      const owner = merchantBots.find(({ place }) => place.entryOf(entry)) ?? merchantBots[0];
      await owner.tellStuck(owner.place.entryOf(entry)?.key ?? entry.key, errorId);
    },
    count: parts.putAside,
    now,
    log,
  });
  const kinds = putAside.guard([...ofAccounts, ...audit.kinds]);
  const leaseMs = config.workLeaseSeconds * 1_000;
  const together = { lanes: toRouteLanes, most: config.routeLookupsAtOnce, now };
  return startWorker({
    isPressed,
    concurrency: lanesAtOnce,
    idleMs,
    failureDelayMs,
    log,
    async workOnce() {
      await putAside.takeUp();
      return await workOnce({ store, leaseMs, kinds, together });
    },
  });
}

/** What tells the channels: the kinds of work in the store's outbox, and what can be said of its health. */
export function createOutbox({ config, log, now }: Outside, parts: OutboxParts): Outbox {
  const { kept, payments, clients, receiving, charges, links, alerts } = parts;
  const place = { ...chargePlace(config), canListCards: payments.savedCards.kind === 'ready' };
  const whose = config.merchant && placeWords(place.environment, place.account);
  const delivery = createDelivery(clients.delivery, config.slackTimeoutSeconds * 1_000);
  const refusals = createRefusals(now);
  const lookUp = createEventLookUp({ findTransaction: payments.findTransaction, now });

  function report(channel: string, outcome: PostOutcome): void {
    refusals.note(channel, outcome);
  }

  const leaseMs = config.workLeaseSeconds * 1_000;
  const deliver: DeliverPostDeps = {
    ...receiving,
    ...keepsDetails(config),
    declines: parts.declines,
    store: kept.store,
    sealer: kept.sealer,
    lookUp,
    summarise: alerts.summarise,
    findCharge: charges.find,
    findLink: links.find,
    async findApproval(id) {
      const approval = await parts.approvals.desk.find(id);
      if (!approval) return undefined;
      const charge = approval.shown.kind === 'charge' ? await charges.find(id) : undefined;
      return { approval, asked: await parts.approvals.desk.askedOf(id), ...(charge ? { charge } : {}) };
    },
    findMute: parts.mutes.find,
    notPosted: alerts.notPosted,
    cards: alerts.forPosts,
    storms: alerts.storms,
    compose(post) {
      const message = withOwnKey(postMessage(post, place, whose));
      const named = { calls: calledBy(post), nameOf: parts.nameOf };
      return {
        // Of the people and not of their names: one that is learnt or changed is no reason for an edit.
        digest: messageDigest(message),
        async post(channel, threadTs) {
          const said = await withNames(message, channel, { as: 'post', ...named });
          return await postOr(delivery, post, { channel, message: said, threadTs });
        },
        async edit(channel, ts) {
          return await delivery.edit(
            { channel, ts },
            await withNames(message, channel, { as: 'edit', ...named }),
          );
        },
      };
    },
    async findByKey(channel, key, sinceMs, threadTs) {
      const answer = await delivery.findByKey(channel, ownKey(key), sinceMs, threadTs);
      refusals.looked(answer);
      return answer;
    },
    report,
    ...place,
    leaseMs,
    postTimeoutMs: config.slackTimeoutSeconds * 1_000,
    giveUpMs: config.deliveryGiveUpHours * 3_600_000,
    now,
    log,
  };
  const kinds = [
    {
      prefix: 'message:',
      work: createDeliverPost(deliver),
      ahead: (entry: Entry) => lookUpAhead(deliver, entry),
    },
  ];

  return {
    kinds,
    health: refusals.health,
    refused: refusals.refused,
  };
}

/** For how long an alert shows what it tells; absent: as long as it stands. */
function keepsDetails({ alertDetailsDays }: Outside['config']): Pick<DeliverPostDeps, 'detailsMs'> {
  return alertDetailsDays === 0 ? {} : { detailsMs: alertDetailsDays * 86_400_000 };
}

/** Several accounts may post of one reference in one channel. */
function withOwnKey({ metadata, ...message }: SlackMessage): SlackMessage {
  if (!metadata) return message;
  return {
    ...message,
    metadata: { ...metadata, event_payload: { key: ownKey(metadata.event_payload.key) } },
  };
}

type Posting = { channel: string; message: SlackMessage; threadTs: string | undefined };

/** A link's card goes to whoever asked for it where the bot may not post: whoever types a command need not know. */
async function postOr(delivery: Delivery, post: Post, { channel, message, threadTs }: Posting) {
  const outcome = await delivery.post(channel, message, threadTs);
  const isElsewhere = outcome.kind === 'refused' && outcome.about === 'channel';
  if (!isElsewhere || post.kind !== 'link' || post.note !== undefined) return outcome;
  return await delivery.post(post.link.by, message);
}
