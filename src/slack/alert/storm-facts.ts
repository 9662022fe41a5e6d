// What the digests of failures and of payments say alike.

import { formatMoney } from '../../domain/money.ts';
import type { PaymentEventKind } from '../../domain/payment-event.ts';
import type { StormSeen, StormSummary } from '../../domain/storm-summary.ts';
import { button, moment, words, type Run } from '../blocks.ts';
import { counted } from '../../domain/counted.ts';
import { word } from '../evidence.ts';
import { stormActions } from './storm-actions.ts';

export const stormEventType = 'payops_storm';

/** More of them nobody takes in; the rest is counted, and the list has them all. */
export const mostSums = 3;
export const mostMuted = 5;
const minuteMs = 60_000;

/** "12 failed charges", "12 payments". */
export function gathered(gathers: PaymentEventKind, count: number): string {
  return counted(count, gathers === 'payment_failed' ? 'failed charge' : 'payment');
}

/** What a digest says of itself, and how many of its alerts stand above it. */
export function stateWords(
  { summary: { above = 0 }, isOver }: StormSeen,
  over: string,
  live: string,
): string {
  return `${above === 0 ? '' : `${above} of them above. `}${isOver ? over : live}`;
}

export function sumWords({ sums }: StormSummary, most = mostSums): string {
  const shown = sums.slice(0, most).map((sum) => word(formatMoney(sum)) ?? '');
  const left = sums.length - shown.length;
  return [...shown, ...(left > 0 ? [counted(left, 'more currency', 'more currencies')] : [])].join(', ');
}

/** From the first to the last; one time where both fall into the same minute, which is all that is shown. */
export function timeSpan({ firstMs, lastMs }: StormSummary): Run[] {
  const isOneMinute = Math.floor(firstMs / minuteMs) === Math.floor(lastMs / minuteMs);
  return isOneMinute ? [moment(firstMs)] : [moment(firstMs), words(' to '), moment(lastMs)];
}

export function listButtons({ id }: StormSeen) {
  return [
    button({ actionId: stormActions.showList, text: 'Show list', value: id }),
    button({ actionId: stormActions.csv, text: 'CSV', value: id }),
  ];
}
