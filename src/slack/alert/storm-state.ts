import { countsAlone, type AlertRule } from '../../domain/alert-route.ts';
import type { ChannelStorm } from '../../domain/storm.ts';
import { stormPace } from '../../domain/storm-summary.ts';
import { bold, moment, richText, words, type Run } from '../blocks.ts';
import type { HomeBlock } from '../message.ts';

/** The storm state of one channel, and what would make a storm there. `threshold` 0: nothing, but for rules of their own. */
export type StormState = {
  state: ChannelStorm;
  /** Of its payments, which have storms of their own. */
  payments: ChannelStorm;
  threshold: number;
  windowMs: number;
};

/** One plain sentence or two: what is told by a digest now, or was; and from when on it would be. */
export function stormBlocks(
  { state, payments, threshold, windowMs }: StormState,
  rules: readonly AlertRule[],
): HomeBlock[] {
  const { storm, ended } = state;
  const minutes = Math.round(windowMs / 60_000);
  const now: Run[] = storm
    ? [
        bold('A storm since '),
        moment(storm.sinceMs),
        words(': one digest tells it until '),
        words(`fewer than ${stormPace} alerts have come in ${minutes} min.`),
      ]
    : ended
      ? [words('No storm now; the last ended '), moment(ended.endedMs), words('.')]
      : [words('No storm now.')];
  const paid: Run[][] = payments.storm
    ? [
        [
          bold('Many payments since '),
          moment(payments.storm.sinceMs),
          words(': one digest of their own tells them.'),
        ],
      ]
    : [];
  return [richText(now, ...paid, [words(thresholdWords(threshold, minutes, rules))])];
}

function thresholdWords(threshold: number, minutes: number, rules: readonly AlertRule[]): string {
  const usual =
    threshold === 0
      ? 'Failed charges and payments are never gathered in a digest here'
      : `Past ${threshold} failed charges in ${minutes} min, one digest tells the rest; the same holds for payments, with a digest of their own`;
  const own = rules.filter(countsAlone).flatMap(({ name, digestAfter = threshold }) => {
    if (digestAfter === 0) return threshold === 0 ? [] : [`rule ${name} has no digest`];
    return [`rule ${name} counts by itself, past ${digestAfter}`];
  });
  const shown = own.slice(0, mostOwn);
  const left = own.length - shown.length;
  return `${[usual, ...shown, ...(left > 0 ? [`and so on for ${left} more`] : [])].join('; ')}.`;
}

const mostOwn = 5;
