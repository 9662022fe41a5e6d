import { parseAmount } from '../domain/money.ts';
import { parsed, problem, type Parsed } from '../domain/parsed.ts';

/** What may be typed behind a verb whose form asks for the rest: nothing, or an amount. `rest` says what the form asks. */
export function parseAmountAlone(
  [first, ...more]: readonly string[],
  rest: string,
): Parsed<{ amountMinor?: number }> {
  if (first === undefined) return parsed({});
  const amount = parseAmount(first);
  if (more.length === 0 && amount.ok) return parsed({ amountMinor: amount.value });
  const said = more.length === 0 && !amount.ok ? amount.problem : 'Give at most an amount.';
  return problem(`${said} ${rest}`);
}
