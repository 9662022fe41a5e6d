import type { ChargeSeen, SeenOtp } from './charge.ts';
import { visible } from './outside-text.ts';

/** Spec: Limits (OTP validity, OTP submissions). */
export const otpLimits = {
  submissions: 3,
  windowMs: 15 * 60_000,
  /** Nothing is submitted in the last seconds: the code would arrive late, and replicas' clocks differ a little. */
  marginMs: 5_000,
} as const;

/** Who may type the bank’s code by the settings. Without an address that customers reach, their agent alone. */
export function codeEntry(settings: {
  publicUrl: string | undefined;
  otpEntry: 'agent' | 'customer' | 'both';
}): 'agent' | 'customer' | 'both' {
  return settings.publicUrl === undefined ? 'agent' : settings.otpEntry;
}

/** Whether a code that is typed now can still reach the bank. */
export function isCodeOpen({ triesLeft, until }: SeenOtp, nowMs: number): boolean {
  return triesLeft > 0 && nowMs <= until - otpLimits.marginMs;
}

/** Whether the customer has entered a code since their link was made: what was wrong before is no news to them. */
export function customerTried({ customer, otp }: Pick<ChargeSeen, 'customer' | 'otp'>): boolean {
  const { triesLeft = otpLimits.submissions } = customer ?? {};
  return customer !== undefined && otp !== undefined && otp.triesLeft < triesLeft;
}

/** Of a code, in letters or digits. */
export const codeLength = { least: 4, most: 10 } as const;

/** Blanks and dashes in it do not count, leading zeros do; undefined for what is no code. */
export function readCode(typed: string): string | undefined {
  const code = visible(typed)
    .normalize('NFKC')
    .replace(/[\s\p{Pd}−]/gu, '')
    .replace(/(?!\d)\p{Nd}/gu, asWesternDigit);
  return /^[\p{L}\p{N}]{4,10}$/u.test(code) ? code : undefined;
}

/** Keyboards of some scripts type digits of their own, which a bank refuses. Unicode has the ten of a script in a row. */
function asWesternDigit(digit: string): string {
  const point = digit.codePointAt(0) ?? 0;
  let zero = point;
  while (/\p{Nd}/u.test(String.fromCodePoint(zero - 1))) zero -= 1;
  return String((point - zero) % 10);
}
