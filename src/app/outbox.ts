import type { Account } from '../account.ts';
import type { AuditTrail } from '../audit/audit-trail.ts';
import { merchantPrefix } from '../domain/merchant.ts';
import { toRouteLanes } from '../features/alerts/route-event.ts';
import { createRefusals, type Refusals } from '../features/undelivered/refusals.ts';
import { logged } from '../log.ts';
import { deliverEntry, type DeliverDeps } from '../messages/deliver.ts';
import { createDelivery, messageDigest } from '../messages/delivery.ts';
import { openBody, type FeatureMessages } from '../messages/views.ts';
import { createPutAside } from '../records/put-aside.ts';
import { workOnce, type Kind, type WorkOnceDeps } from '../records/work-once.ts';
import { startWorker, type Worker } from '../records/worker.ts';
import type { SlackMessage } from '../slack/kit/message.ts';
import { inAccount, ownKey } from '../slack/own-account.ts';
import { withNames } from '../slack/people/names.ts';
import type { Entry, Store } from '../store/store.ts';
import type { MerchantPlace } from './merchants.ts';
import type { Outside } from './outside.ts';

export type Outbox = { kinds: WorkOnceDeps['kinds'] } & Pick<Refusals, 'health' | 'refused'>;

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

/** What tells the channels whatever the features show, and what can be said of its health. */
export function createOutbox(
  { store, sealer, settings, slack, people, leaseMs, wake, log, now }: Account,
  messages: readonly FeatureMessages[],
  ahead: Kind['ahead'],
): Outbox {
  const views: FeatureMessages['views'] = Object.assign({}, ...messages.map((one) => one.views));
  const words: FeatureMessages['words'] = Object.assign({}, ...messages.map((one) => one.words));
  const postTimeoutMs = settings.slackTimeoutSeconds * 1_000;
  const { alertDetailsDays } = settings;
  const delivery = createDelivery(slack.delivery, postTimeoutMs);
  const refusals = createRefusals(now);
  const deliver: DeliverDeps<{ kind: string }> = {
    async render(work, said) {
      const { kind } = work.record;
      const view = views[kind];
      if (!view) throw new Error(`No feature makes messages of the kind ${kind}.`);
      return await view(openBody(kind, sealer, work) as never, work, said);
    },
    compose(post) {
      const worded = words[post.kind]?.(post as never);
      if (!worded) throw new Error(`No feature has words for ${post.kind}.`);
      const { calls, orTo } = worded;
      const message = withOwnKey(worded.message);
      const named = { ...(calls && { calls }), nameOf: people.nameOf };
      return {
        // Of the people and not of their names: one that is learnt or changed is no reason for an edit.
        digest: messageDigest(message),
        async post(channel, threadTs) {
          const said = await withNames(message, channel, { as: 'post', ...named });
          const outcome = await delivery.post(channel, said, threadTs);
          const isElsewhere = outcome.kind === 'refused' && outcome.about === 'channel';
          return isElsewhere && orTo !== undefined ? await delivery.post(orTo, said) : outcome;
        },
        async edit(channel, ts) {
          const said = await withNames(message, channel, { as: 'edit', ...named });
          return await delivery.edit({ channel, ts }, said);
        },
      };
    },
    async findByKey(channel, key, sinceMs, threadTs) {
      const answer = await delivery.findByKey(channel, ownKey(key), sinceMs, threadTs);
      refusals.looked(answer);
      return answer;
    },
    report: refusals.note,
    store,
    sealer,
    opsChannel: settings.policy.channels.ops,
    wake,
    leaseMs,
    postTimeoutMs,
    rememberMs: settings.webhookRememberDays * 86_400_000,
    ...(alertDetailsDays === 0 ? {} : { detailsMs: alertDetailsDays * 86_400_000 }),
    giveUpMs: settings.deliveryGiveUpHours * 3_600_000,
    now,
    log,
  };
  const work = (entry: Entry): Promise<void> => deliverEntry(deliver, entry);
  return {
    kinds: [{ prefix: 'message:', work, ...(ahead && { ahead }) }],
    health: refusals.health,
    refused: refusals.refused,
  };
}

/** Several accounts may post of one reference in one channel. */
function withOwnKey({ metadata, ...message }: SlackMessage): SlackMessage {
  if (!metadata) return message;
  return {
    ...message,
    metadata: { ...metadata, event_payload: { key: ownKey(metadata.event_payload.key) } },
  };
}
