import type { WebClient } from '@slack/web-api';
import { type HistoryAnswer, type PostOutcome, createDelivery, messageDigest } from './delivery.ts';
import type { PartHealth } from '../domain/failure.ts';
import { messageKinds } from './message-record.ts';
import { longestRetryMs } from './message-work.ts';
import { utcTime } from '../slack/kit/text.ts';
import { awayFix } from '../slack/slack-error.ts';
import { deliverEntry, type DeliverDeps } from './deliver.ts';
import { openBody, type FeatureMessages } from './views.ts';
import type { Kind } from '../records/work-once.ts';
import type { SlackMessage } from '../slack/kit/message.ts';
import { ownKey } from '../slack/own-account.ts';
import { withNames, type NameOf } from '../slack/people/names.ts';
import type { Entry } from '../store/store.ts';

export type Outbox = { kinds: readonly Kind[] } & Pick<Refusals, 'health' | 'refused'>;

/** What is kept of messages, and for how long. */
type OutboxSettings = {
  slackTimeoutSeconds: number;
  alertDetailsDays: number;
  webhookRememberDays: number;
  deliveryGiveUpHours: number;
  policy: { channels: { ops?: string | undefined } };
};

type OutboxParts = Pick<DeliverDeps<never>, 'store' | 'sealer' | 'leaseMs' | 'now' | 'log'> & {
  wake: () => void;
  settings: OutboxSettings;
  slack: { delivery: WebClient };
  people: { nameOf: NameOf };
};

/** What tells the channels whatever the features show, and what can be said of its health. */
export function createOutbox(
  { store, sealer, settings, slack, people, leaseMs, wake, log, now }: OutboxParts,
  messages: readonly FeatureMessages[],
  ahead: Kind['ahead'],
): Outbox {
  const views: FeatureMessages['views'] = Object.assign({}, ...messages.map((one) => one.views));
  const unmade = messageKinds.filter((kind) => !views[kind]);
  if (unmade.length > 0) throw new Error(`No feature makes messages of the kinds ${unmade.join(', ')}.`);
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

export type RefusedChannel = { channel: string; slackError: string; fix: string };

export type Refusals = {
  note: (channel: string, outcome: PostOutcome) => void;
  /** What a look for an earlier post brought: after an outage that comes before the next post. */
  looked: (answer: HistoryAnswer) => void;
  /** The channels and people whose messages are being tried again. */
  refused: () => readonly RefusedChannel[];
  health: () => PartHealth;
};

/** What waits for a channel is tried again sooner than this, so that nothing waits any more where nothing was refused. */
const forgottenAfterMs = longestRetryMs + 600_000;

/**
 * Which channels Slack refuses, and whether it answers posts at all, as this process saw it, for health. A channel is
 * forgotten with the next post there, and when nothing was refused for so long: its route may have changed, its person
 * left, its messages been given up, and those are told of as undelivered.
 */
export function createRefusals(now: () => number): Refusals {
  const refused = new Map<string, { slackError: string; fix: string; atMs: number }>();
  /** Since the first post without an answer; any answer ends it. */
  let away: { sinceMs: number; atMs: number } | undefined;

  function forget(): void {
    for (const [channel, { atMs }] of refused) if (now() - atMs > forgottenAfterMs) refused.delete(channel);
    if (away && now() - away.atMs > forgottenAfterMs) away = undefined;
  }

  function noteAnswer(isAnswer: boolean): void {
    forget();
    const atMs = now();
    away = isAnswer ? undefined : { sinceMs: away?.sinceMs ?? atMs, atMs };
  }

  return {
    note(channel, outcome) {
      noteAnswer(outcome.kind !== 'not_sent' && outcome.kind !== 'unsure');
      if (outcome.kind === 'posted') refused.delete(channel);
      if (outcome.kind !== 'refused') return;
      const { slackError, fix } = outcome;
      refused.set(channel, { slackError, fix, atMs: now() });
    },
    looked(answer) {
      noteAnswer(answer.kind !== 'unknown' || answer.retryAfterMs !== undefined);
    },
    refused() {
      forget();
      return Array.from(refused, ([channel, { slackError, fix }]) => ({ channel, slackError, fix }));
    },
    health() {
      forget();
      if (away) {
        const detail = `Slack has given posts no usable answer since ${utcTime(away.sinceMs)}; what is to be told waits`;
        return { state: 'degraded', detail, fix: awayFix };
      }
      const [first, ...others] = refused;
      if (!first) return { state: 'ok' };
      const [channel, { slackError, fix }] = first;
      const more = others.length > 0 ? `, and to ${others.length} more` : '';
      return { state: 'degraded', detail: `Slack refuses posts to ${channel}: ${slackError}${more}`, fix };
    },
  };
}
