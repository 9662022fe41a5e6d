import { countsAlone, type AlertRule } from '../../domain/alert-route.ts';
import type { Storm } from '../../domain/storm.ts';
import { stormPace } from '../../domain/storm-summary.ts';
import { bold, moment, richText, words, type Run } from '../blocks.ts';
import type { HomeBlock } from '../message.ts';

/** The last storms of one channel, and what would make one there. `threshold` 0: nothing, but for rules of their own. */
export type StormState = {
  failures?: Storm;
  /** Its payments have storms of their own. */
  payments?: Storm;
  threshold: number;
  windowMs: number;
};

/** One plain sentence or two: what is told by a digest now, or was; and from when on it would be. */
export function stormBlocks(
  { failures, payments, threshold, windowMs }: StormState,
  rules: readonly AlertRule[],
): HomeBlock[] {
  const minutes = Math.round(windowMs / 60_000);
  const endedMs = failures?.endedMs;
  const now: Run[] =
    failures && endedMs === undefined
      ? [
          bold('A storm since '),
          moment(failures.sinceMs),
          words(': one digest tells it until '),
          words(`fewer than ${stormPace} alerts have come in ${minutes} min.`),
        ]
      : endedMs !== undefined
        ? [words('No storm now; the last ended '), moment(endedMs), words('.')]
        : [words('No storm now.')];
  const paid: Run[][] =
    payments && payments.endedMs === undefined
      ? [
          [
            bold('Many payments since '),
            moment(payments.sinceMs),
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
