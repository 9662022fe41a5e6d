import type { PostOutcome } from '../domain/delivery.ts';
import type { PartHealth } from '../http/health.ts';
import { createCounter, type Metric } from '../http/metrics.ts';
import { deliverNext, type Post } from '../operations/deliver-outbox.ts';
import { createEventLookUp } from '../operations/look-up-event.ts';
import type { ReceiveDeps } from '../operations/receive-event.ts';
import { startWorker, type Worker } from '../operations/worker.ts';
import { alertMessage } from '../slack/alert-message.ts';
import { createDelivery } from '../slack/delivery.ts';
import type { SlackMessage } from '../slack/message.ts';
import { noticeMessage } from '../slack/notice-message.ts';
import type { SlackClients } from '../slack/workspace.ts';
import type { Kept } from './kept.ts';
import type { Outside } from './outside.ts';
import type { Payments } from './payments.ts';

export type Outbox = { start(): Worker; health(): PartHealth; metric: Metric };

type OutboxParts = {
  kept: Kept;
  payments: Payments;
  clients: SlackClients;
  receiving: Pick<ReceiveDeps, 'channelFor' | 'opsChannel' | 'rememberMs'>;
};

/** Enough that one slow look-up does not hold up the other channels. */
const lanesAtOnce = 4;
const idleMs = 250;
const failureDelayMs = 1_000;

const outcomes = ['posted', 'rate_limited', 'refused', 'not_sent', 'unsure'] as const;

/** What tells the channels: the worker over the store's outbox, and what can be said of its health. */
export function createOutbox({ config, log, now }: Outside, parts: OutboxParts): Outbox {
  const { kept, payments, clients, receiving } = parts;
  const delivery = createDelivery(clients.delivery, config.slackTimeoutSeconds * 1_000);
  const posts = createCounter(
    { name: 'payops_posts_total', help: 'Attempts to post, by what became of them.', label: 'outcome' },
    outcomes,
  );
  const refused = new Map<string, Extract<PostOutcome, { kind: 'refused' }>>();
  const lookUp = createEventLookUp({ findTransaction: payments.findTransaction, now });

  function report(channel: string, outcome: PostOutcome): void {
    posts.add(outcome.kind);
    if (outcome.kind === 'refused') refused.set(channel, outcome);
    else if (outcome.kind === 'posted') refused.delete(channel);
  }

  function workOnce(): Promise<boolean> {
    return deliverNext({
      ...receiving,
      store: kept.store,
      sealer: kept.sealer,
      lookUp,
      compose(post) {
        const message = messageOf(post);
        return (channel) => delivery.post(channel, message);
      },
      findByKey: (channel, key, sinceMs) => delivery.findByKey(channel, key, sinceMs),
      report,
      environment: config.paymentsEnvironment,
      account: config.paymentsAccountName,
      leaseMs: config.workLeaseSeconds * 1_000,
      postTimeoutMs: config.slackTimeoutSeconds * 1_000,
      now,
      log,
    });
  }

  return {
    start: () => startWorker({ concurrency: lanesAtOnce, idleMs, failureDelayMs, log, workOnce }),
    health() {
      const [first] = refused;
      if (!first) return { state: 'ok' };
      const [channel, { slackError, fix }] = first;
      return { state: 'degraded', detail: `Slack refuses posts to ${channel}: ${slackError}`, fix };
    },
    metric: posts.metric,
  };
}

function messageOf(post: Post): SlackMessage {
  return post.kind === 'alert' ? alertMessage(post.alert) : noticeMessage(post);
}
