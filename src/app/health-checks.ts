import type { PartCheck, PartHealth } from '../http/health.ts';
import type { Slack } from '../slack/router/bolt.ts';
import { repeatsWords } from '../slack/workspace.ts';
import type { Channels } from './channels.ts';
import type { Kept } from './kept.ts';
import type { MerchantPlace } from './merchants.ts';
import type { Outbox } from './outbox.ts';
import type { Payments } from './payments.ts';
import type { Undelivered } from './undelivered.ts';
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
  undelivered: Undelivered;
};

/** Of a store that answers and takes no writes: its word, what that is, and what ends it. */
const whyNotWritten: readonly (readonly [cause: RegExp, detail: string, fix: string])[] = [
  [/\bOOM\b/, 'Redis is out of memory', 'Raise its maxmemory, or free some.'],
  [/\bMISCONF\b/, 'Redis cannot write to its disk', 'Free its disk; its own log says more.'],
  [
    /\bREADONLY\b/,
    'REDIS_URL leads to a replica',
    'Point it at the master. A failover needs nothing: the bot reconnects.',
  ],
  [
    /\bNOREPLICAS\b/,
    'too few replicas of Redis have the change',
    'Bring its replicas back: REDIS_WAIT_REPLICAS says how many are needed.',
  ],
  [
    /\bdisk\b|readonly database/,
    'the disk of DATA_DIR is full',
    'Free some of it, or let the bot write to it.',
  ],
];

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

/** Throws StoreUnavailable where it does not answer, or does not say why it takes no writes. */
export async function storeHealth({ store, refusal }: Pick<Kept, 'store' | 'refusal'>): Promise<PartHealth> {
  const refused = refusal();
  if (refused !== undefined) return { state: 'down', detail: refused };
  try {
    await store.ping();
    return { state: 'ok' };
  } catch (error) {
    const why = whyNotWritten.find(([cause]) => error instanceof Error && cause.test(String(error.cause)));
    if (!why) throw error;
    const [, detail, fix] = why;
    return { state: 'down', detail, fix };
  }
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
