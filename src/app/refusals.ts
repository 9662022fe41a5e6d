import type { PostOutcome } from '../domain/delivery.ts';
import type { PartHealth } from '../http/health.ts';
import { longestPutAsideMs } from '../operations/keep-for-later.ts';

export type Refusals = {
  note: (channel: string, outcome: PostOutcome) => void;
  health: () => PartHealth;
};

/** What waits for a channel is tried again sooner than this, so that nothing waits any more where nothing was refused. */
const forgottenAfterMs = longestPutAsideMs + 600_000;

/**
 * Which channels Slack refuses, as this process saw it, for health. A channel is forgotten with the next post there,
 * and when nothing was refused for so long: its route may have changed, its person left, its messages been given up,
 * and those are told of as undelivered.
 */
export function createRefusals(now: () => number): Refusals {
  const refused = new Map<string, { slackError: string; fix: string; atMs: number }>();

  function forget(): void {
    for (const [channel, { atMs }] of refused) if (now() - atMs > forgottenAfterMs) refused.delete(channel);
  }

  return {
    note(channel, outcome) {
      forget();
      if (outcome.kind === 'posted') refused.delete(channel);
      if (outcome.kind !== 'refused') return;
      const { slackError, fix } = outcome;
      refused.set(channel, { slackError, fix, atMs: now() });
    },
    health() {
      forget();
      const [first] = refused;
      if (!first) return { state: 'ok' };
      const [channel, { slackError, fix }] = first;
      return { state: 'degraded', detail: `Slack refuses posts to ${channel}: ${slackError}`, fix };
    },
  };
}
