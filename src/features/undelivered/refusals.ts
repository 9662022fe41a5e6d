import type { HistoryAnswer, PostOutcome } from '../../domain/delivery.ts';
import type { PartHealth } from '../../domain/part-health.ts';
import { longestRetryMs } from '../../messages/message-work.ts';
import { utcTime } from '../../slack/kit/text.ts';
import { awayFix } from '../../slack/workspace.ts';

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
