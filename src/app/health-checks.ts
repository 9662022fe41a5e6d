import type { PartCheck } from '../http/health.ts';
import type { Slack } from '../slack/bolt.ts';
import { repeatsWords } from '../slack/workspace.ts';
import type { Channels } from './channels.ts';
import type { Kept } from './kept.ts';
import type { Outbox } from './outbox.ts';
import type { Payments } from './payments.ts';
import type { Undelivered } from './undelivered.ts';
import type { Webhooks } from './webhook-settings.ts';

type Parts = {
  kept: Kept;
  payments: Payments;
  slack: Slack;
  channels: Channels;
  webhooks: Webhooks;
  outbox: Outbox;
  undelivered: Undelivered;
};

/**
 * Only a store that is away, or not to be trusted, makes the process unready: without Slack or the payments
 * service it still keeps events safe, and a load balancer that took it out would lose them. Anyone who
 * reaches the port reads the answers: nothing in them comes from outside.
 */
export function createChecks(parts: Parts): PartCheck[] {
  const { kept, payments, slack, channels, webhooks, outbox, undelivered } = parts;
  return [
    {
      name: 'store',
      async check() {
        const refusal = kept.refusal();
        if (refusal !== undefined) return { state: 'down', detail: refusal };
        await kept.store.ping();
        return { state: 'ok' };
      },
    },
    {
      name: 'slack',
      check() {
        const health = slack.health();
        return health.status === 'up'
          ? { state: 'ok' }
          : { state: 'degraded', detail: health.reason, fix: health.fix };
      },
    },
    {
      name: 'payments',
      check() {
        const failure = payments.failure();
        return failure
          ? { state: 'degraded', detail: `the last call failed: ${failure.kind}` }
          : { state: 'ok' };
      },
    },
    {
      name: 'webhooks',
      check() {
        if (webhooks.problem === undefined) return { state: 'ok' };
        return { state: 'degraded', detail: `every delivery is refused: ${webhooks.problem}` };
      },
    },
    { name: 'channels', check: () => channels.health() },
    { name: 'alerts', check: () => outbox.health() },
    { name: 'undelivered', check: () => undelivered.health() },
    {
      name: 'repeats',
      check() {
        const { words, ...fix } = repeatsWords(slack.repeats());
        return { state: 'ok', detail: words, ...fix };
      },
    },
  ];
}
