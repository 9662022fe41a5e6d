import type { WebClient } from '@slack/web-api';
import { createDelivery, messageDigest } from './delivery.ts';
import { messageKinds } from './message-record.ts';
import { deliverEntry, type DeliverDeps } from './deliver.ts';
import { openBody, type FeatureMessages } from './views.ts';
import type { Kind } from '../records/worker.ts';
import type { SlackMessage } from '../slack/kit/message.ts';
import { ownKey } from '../slack/own-account.ts';
import { withNames, type NameOf } from '../slack/people/names.ts';
import type { Entry } from '../store/store.ts';

/** What is kept of messages, and for how long. */
type OutboxSettings = {
  slackTimeoutSeconds: number;
  alertDetailsDays: number;
  webhookRememberDays: number;
  policy: { channels: { ops?: string | undefined } };
};

type OutboxParts = Pick<DeliverDeps<never>, 'store' | 'sealer' | 'leaseMs' | 'now' | 'log'> & {
  wake: () => void;
  settings: OutboxSettings;
  slack: { delivery: WebClient };
  people: { nameOf: NameOf };
};

/** How long Slack may refuse a channel or a person: long enough that somebody looks at it on the next working day. */
const giveUpMs = 24 * 3_600_000;

/** What tells the channels whatever the features show. */
export function createOutbox(
  { store, sealer, settings, slack, people, leaseMs, wake, log, now }: OutboxParts,
  messages: readonly FeatureMessages[],
  ahead: Kind['ahead'],
): Kind {
  const views: FeatureMessages['views'] = Object.assign({}, ...messages.map((one) => one.views));
  const unmade = messageKinds.filter((kind) => !views[kind]);
  if (unmade.length > 0) throw new Error(`No feature makes messages of the kinds ${unmade.join(', ')}.`);
  const words: FeatureMessages['words'] = Object.assign({}, ...messages.map((one) => one.words));
  const postTimeoutMs = settings.slackTimeoutSeconds * 1_000;
  const { alertDetailsDays } = settings;
  const delivery = createDelivery(slack.delivery, postTimeoutMs);
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
    findByKey: (channel, key, ...span) => delivery.findByKey(channel, ownKey(key), ...span),
    store,
    sealer,
    opsChannel: settings.policy.channels.ops,
    wake,
    leaseMs,
    postTimeoutMs,
    rememberMs: settings.webhookRememberDays * 86_400_000,
    ...(alertDetailsDays === 0 ? {} : { detailsMs: alertDetailsDays * 86_400_000 }),
    giveUpMs,
    now,
    log,
  };
  const work = (entry: Entry): Promise<void> => deliverEntry(deliver, entry);
  return { prefix: 'message:', work, ...(ahead && { ahead }) };
}

/** Several accounts may post of one reference in one channel. */
function withOwnKey({ metadata, ...message }: SlackMessage): SlackMessage {
  if (!metadata) return message;
  return {
    ...message,
    metadata: { ...metadata, event_payload: { key: ownKey(metadata.event_payload.key) } },
  };
}
