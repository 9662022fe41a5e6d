import type { Money } from '../../domain/money.ts';
import { formatMoney } from '../../domain/money.ts';
import type { PaymentEvent } from '../../domain/payment-event.ts';
import { counted } from '../../domain/wording.ts';
import { word } from '../../slack/words/payment-words.ts';

/** Totals of what events say. Bounded in size. */
export type Tally = {
  count: number;
  /** The largest first. */
  sums: readonly Money[];
  moreCurrencies: number;
  /** Events in no sum: without an amount, or too large to be summed exactly. */
  unsummed: number;
  /** The most frequent first. Reasons that differ only in capitals are one, spelled as the first. */
  reasons: readonly { reason: string; count: number }[];
  otherReasons: number;
  noReason: number;
};

const mostCurrencies = 8;
const mostReasons = 5;
export const longestReason = 120;

export function createTally() {
  let [count, unsummed, noReason] = [0, 0, 0];
  const sums = new Map<string, number>();
  const reasons = new Map<string, { reason: string; count: number }>();
  return {
    add({ amountMinor = Number.NaN, currency, reason = '' }: PaymentEvent): void {
      count += 1;
      const minor = amountMinor + (sums.get(currency ?? '') ?? 0);
      if (currency !== undefined && Number.isSafeInteger(minor)) sums.set(currency, minor);
      else unsummed += 1;
      const said = reason.trim().slice(0, longestReason);
      const known = reasons.get(said.toLowerCase());
      if (said === '') noReason += 1;
      else if (known) known.count += 1;
      else reasons.set(said.toLowerCase(), { reason: said, count: 1 });
    },
    total(): Tally {
      const bySize = [...sums].map(([currency, minor]) => ({ minor, currency }));
      const byCount = [...reasons.values()].toSorted((a, b) => b.count - a.count);
      return {
        count,
        sums: bySize.toSorted((a, b) => b.minor - a.minor).slice(0, mostCurrencies),
        moreCurrencies: Math.max(0, sums.size - mostCurrencies),
        unsummed,
        reasons: byCount.slice(0, mostReasons),
        otherReasons: byCount.slice(mostReasons).reduce((sum, one) => sum + one.count, 0),
        noReason,
      };
    },
  };
}

/** "NGN 25,000.00", "USD 3.00", "2 more currencies". */
export function sumWords({ sums, moreCurrencies }: Tally, most = Infinity): string[] {
  const shown = sums.slice(0, most).map((sum) => word(formatMoney(sum)) ?? '');
  const left = sums.length - shown.length + moreCurrencies;
  return left === 0 ? shown : [...shown, counted(left, 'more currency', 'more currencies')];
}
