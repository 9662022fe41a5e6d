import type { PartCheck } from '../http/health.ts';
import type { Slack } from '../slack/router/bolt.ts';
import { repeatsWords } from '../slack/workspace.ts';
import type { Channels } from './channels.ts';
import { storeHealth, type Kept } from '../store/kept.ts';
import type { MerchantPlace } from './merchants.ts';
import type { Outbox } from './outbox.ts';
import type { Payments } from '../payments/payments.ts';
import type { Undelivered } from '../features/undelivered/undelivered.ts';
import { webhooksFix, type Webhooks } from './webhook-settings.ts';

type Parts = {
  /** Whether the process was told to end: a load balancer then sends nothing more. */
  isStopping: () => boolean;
  kept: Kept;
  slack: Slack;
  channels: Channels;
  /** Of each merchant account, the first one first. */
  merchantBots: readonly MerchantParts[];
};

type MerchantParts = {
  place: Pick<MerchantPlace, 'merchant'>;
  payments: Pick<Payments, 'failure' | 'isContended'>;
  webhooks: Webhooks;
  outbox: Outbox;
  undelivered: Pick<Undelivered, 'health'>;
};

/**
 * Only a stop under way, or a store that is away or not to be trusted, makes the process unready: without Slack or the payments
 * service it still keeps events safe, and a load balancer that took it out would lose them. Anyone who
 * reaches the port reads the answers: nothing in them comes from outside.
 */
export function createChecks(parts: Parts): PartCheck[] {
  const { kept, slack, channels, merchantBots, isStopping } = parts;
  return [
    { name: 'store', check: () => storeHealth(kept) },
    {
      name: 'slack',
      check() {
        const health = slack.health();
        return health.status === 'up'
          ? { state: 'ok' }
          : { state: 'degraded', detail: health.reason, fix: health.fix };
      },
    },
    { name: 'channels', check: () => channels.health() },
    ...merchantBots.flatMap(merchantChecks),
    {
      name: 'process',
      check: () => (isStopping() ? { state: 'down', detail: 'it was told to stop' } : { state: 'ok' }),
    },
    {
      name: 'repeats',
      check() {
        const { words, ...fix } = repeatsWords(slack.repeats());
        return { state: 'ok', detail: words, ...fix };
      },
    },
  ];
}

/** Under a name of its own for each further account. */
function merchantChecks({ place, payments, webhooks, outbox, undelivered }: MerchantParts): PartCheck[] {
  const { merchant } = place;
  const named = (name: string): string => (merchant?.isFirst === false ? `${name}_${merchant.name}` : name);
  return [
    {
      name: named('payments'),
      check() {
        const failure = payments.failure();
        // Its words are the bot's own, and say what to check.
        if (failure) return { state: 'degraded', detail: `the last look-up failed: ${failure.message}` };
        if (!payments.isContended()) return { state: 'ok' };
        return {
          state: 'degraded',
          detail: 'an access token was rejected soon after it was given',
          fix: 'another system seems to use the same credentials: give the bot its own',
        };
      },
    },
    {
      name: named('webhooks'),
      check() {
        if (webhooks.problem === undefined) return { state: 'ok' };
        return {
          state: 'degraded',
          detail: `every delivery is refused: ${webhooks.problem}`,
          fix: webhooksFix,
        };
      },
    },
    { name: named('alerts'), check: () => outbox.health() },
    { name: named('undelivered'), check: () => undelivered.health() },
  ];
}
