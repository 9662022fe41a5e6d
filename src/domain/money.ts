import { parsed, problem, type Parsed } from './wording.ts';

/**
 * An amount in integer minor units (kobo for NGN), never in floats. The service writes two decimal places for every
 * currency, so a minor unit is always a hundredth.
 */
export type Money = { minor: number; currency: string };

/** About 90 trillion in major units. Larger numbers are not exact. */
const largestMinor = Number.MAX_SAFE_INTEGER;

const decimalPattern = /^(\d{1,16})(?:\.(\d{1,2})0*)?$/;

/**
 * Reads the service's decimal ("5000.00", "5000.0", 5000 or 5000.5) as minor units. Undefined unless it is an exact
 * non-negative amount; never rounds, so "1.005" is not an amount.
 *
 * Spec: Transaction record (amount: string, two decimal places).
 */
export function minorFromWire(value: unknown): number | undefined {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined;
  const text = String(value).trim();
  const match = decimalPattern.exec(text);
  if (!match) return undefined;
  const minor = Number(match[1]) * 100 + Number((match[2] ?? '').padEnd(2, '0'));
  return minor <= largestMinor ? minor : undefined;
}

export function isSameMoney(one: Money | undefined, other: Money): boolean {
  return one?.minor === other.minor && one.currency === other.currency;
}

/** The amount for the service: two decimal places, no separators. */
export function wireFromMinor(minor: number): string {
  return `${Math.trunc(minor / 100)}.${String(minor % 100).padStart(2, '0')}`;
}

/** Reads a typed amount: "12,500", "12500.5" or "12,500.00". Zero is refused: it charges nothing. */
export function parseAmount(text: string): Parsed<number> {
  const trimmed = text.trim();
  const grouped = /^\d{1,3}(,\d{3})+(\.\d{1,2})?$/.test(trimmed);
  const plain = /^\d+(\.\d{1,2})?$/.test(trimmed);
  if (!grouped && !plain) {
    return problem(amountProblem(trimmed));
  }
  const minor = minorFromWire(trimmed.replaceAll(',', ''));
  if (minor === undefined) return problem('That amount is too large to be charged exactly.');
  if (minor === 0) return problem('The amount must be more than zero.');
  return parsed(minor);
}

/** The problem with a typed amount, and the right form. */
function amountProblem(text: string): string {
  const [, code, rest = ''] = /^([a-z]{3}|[₦$€£])\s*([\d.,]{1,15})$/i.exec(text) ?? [];
  if (code !== undefined && parseAmount(rest).ok) return `Write the amount without the currency: ${rest}.`;
  // Like 5.000,00: a decimal comma.
  if (/^\d{1,3}(\.\d{3})+,\d{2}$/.test(text)) {
    const written = text.replaceAll('.', '').replace(',', '.');
    return `In an amount the point separates decimals: ${amountOnly(minorFromWire(written) ?? 0)}.`;
  }
  if (/^\d{1,9},\d{1,2}$/.test(text))
    return `In an amount the point separates decimals: ${text.replace(',', '.')}.`;
  return 'An amount is digits with at most two decimals, like 12,500.00 or 12500.';
}

/** "NGN 12,500.00": currency first, thousands separated, always two decimals, the same in every locale. */
export function formatMoney(money: Money): string {
  const [units = '0', hundredths = '00'] = wireFromMinor(money.minor).split('.');
  return `${money.currency} ${units.replace(/\B(?=(\d{3})+$)/g, ',')}.${hundredths}`;
}

/** The amount without its currency, as people type it: "12,500.00". */
export function amountOnly(minor: number): string {
  return formatMoney({ minor, currency: '' }).trim();
}
