import type { ChargeSeen, SeenOtp } from './charge.ts';
import { visible } from './outside-text.ts';

/** Spec: Limits (OTP validity, OTP submissions). */
export const otpLimits = {
  submissions: 3,
  windowMs: 15 * 60_000,
  /** No code is sent in the last seconds of its time: it would arrive too late, and replicas' clocks differ. */
  marginMs: 5_000,
} as const;

/**
 * Who may type the bank’s code, by the settings. Without a public address for the customer's page only the agent may.
 */
export function codeEntry(settings: {
  publicUrl: string | undefined;
  otpEntry: 'agent' | 'customer' | 'both';
}): 'agent' | 'customer' | 'both' {
  return settings.publicUrl === undefined ? 'agent' : settings.otpEntry;
}

/** Whether a code typed now can still reach the bank. */
export function isCodeOpen({ triesLeft, until }: SeenOtp, nowMs: number): boolean {
  return triesLeft > 0 && nowMs <= until - otpLimits.marginMs;
}

/**
 * Whether the customer has tried a code through the present link. Tries from before the link are not the customer's.
 */
export function customerTried({ customer, otp }: Pick<ChargeSeen, 'customer' | 'otp'>): boolean {
  const { triesLeft = otpLimits.submissions } = customer ?? {};
  return customer !== undefined && otp !== undefined && otp.triesLeft < triesLeft;
}

/** The length of a code, in letters or digits. */
export const codeLength = { least: 4, most: 10 } as const;

/** Reads a typed code. Ignores blanks and dashes, keeps leading zeros. Undefined if it can't be a code. */
export function readCode(typed: string): string | undefined {
  const code = visible(typed)
    .normalize('NFKC')
    .replace(/[\s\p{Pd}−]/gu, '')
    .replace(/(?!\d)\p{Nd}/gu, asWesternDigit);
  return /^[\p{L}\p{N}]{4,10}$/u.test(code) ? code : undefined;
}

/**
 * Some keyboards type digits of their own script, which banks refuse. In Unicode each script's ten digits are in a row.
 */
function asWesternDigit(digit: string): string {
  const point = digit.codePointAt(0) ?? 0;
  let zero = point;
  while (/\p{Nd}/u.test(String.fromCodePoint(zero - 1))) zero -= 1;
  return String((point - zero) % 10);
}
