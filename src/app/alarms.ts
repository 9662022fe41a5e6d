import {
  type MissingEvents,
  createMissingEvents,
  createRefusalMemory,
} from '../features/alerts/missing-events.ts';
import { refusalWords } from '../webhooks/refusal-words.ts';
import type { WebhookDeps } from '../webhooks/route.ts';
import type { Kept } from '../store/kept.ts';
import type { Outside } from './outside.ts';
import { readsField, type Webhooks } from './webhook-settings.ts';

export type Alarms = { missing: MissingEvents; refused: NonNullable<WebhookDeps['refused']> };

/**
 * What the operators are told of webhooks as a whole, and what is remembered for the doctor. While no delivery can be
 * accepted at all, which the start says, no event is waited for.
 */
export function createAlarms(
  { config, log, now }: Outside,
  { kept: { store, sealer }, webhooks }: { kept: Kept; webhooks: Webhooks },
): Alarms {
  const remember = createRefusalMemory(store, log);
  return {
    missing: createMissingEvents({
      store,
      sealer,
      opsChannel: config.policy.channels.ops,
      waitMs: webhooks.problem === undefined ? config.alarmMissingEventMinutes * 60_000 : 0,
      readsReference: readsField(webhooks, 'orderReference'),
      now,
      log,
    }),
    refused: (delivery, why, atMs) =>
      remember(atMs, () => refusalWords(webhooks.scheme, delivery, why, atMs)),
  };
}
