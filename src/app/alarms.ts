import { setTimeout as sleep } from 'node:timers/promises';
import type { Config } from '../config/config.ts';
import { createWebhookWatch, type WebhookWatch } from '../features/alerts/webhook-watch/webhook-watch.ts';
import type { AlarmRules } from '../features/alerts/webhook-watch/webhook-state.ts';
import { refusalWords } from '../webhooks/refusal-words.ts';
import type { WebhookDeps } from '../webhooks/route.ts';
import type { Kept } from './kept.ts';
import type { Outside } from './outside.ts';
import { readsField, type Webhooks } from './webhook-settings.ts';

export type Alarms = { watch: WebhookWatch; seen: NonNullable<WebhookDeps['watch']> };

const minuteMs = 60_000;

/** The alarms about webhooks as a whole, put together: what is seen of deliveries and charges, and when it is told. */
export function createAlarms(
  { config, log, now }: Outside,
  parts: { kept: Kept; webhooks: Webhooks; wake: () => void },
): Alarms {
  const { kept, webhooks, wake } = parts;
  const watch = createWebhookWatch({
    store: kept.store,
    sealer: kept.sealer,
    opsChannel: config.policy.channels.ops,
    rules: rulesOf(config, webhooks),
    now,
    wait: sleep,
    wake,
    log,
  });
  return {
    watch,
    seen: {
      accepted: watch.accepted,
      refused: (delivery, why, atMs) =>
        watch.refused(() => refusalWords(webhooks.scheme, delivery, why, atMs)),
    },
  };
}

/**
 * While no delivery can be accepted at all, which the start says, silence is no news. An event whose signature
 * does not cover the reference is kept under another key, so nobody could say of a charge that its own never came.
 */
function rulesOf(config: Config, webhooks: Webhooks): AlarmRules {
  const isUsable = webhooks.problem === undefined;
  const readsReference = readsField(webhooks, 'orderReference');
  return {
    refusals: config.alarmRefusedDeliveries,
    silenceMs: isUsable ? config.alarmSilenceMinutes * minuteMs : 0,
    missingMs: isUsable && readsReference ? config.alarmMissingEventMinutes * minuteMs : 0,
  };
}
