import type { ChargeSeen, SeenOtp } from './charge.ts';
import { visible } from './outside-text.ts';

/** Spec: Limits (OTP validity, OTP submissions). */
export const otpLimits = {
  submissions: 3,
  windowMs: 15 * 60_000,
  /** No codes in the last seconds: they would arrive late, and replicas' clocks differ. */
  marginMs: 5_000,
} as const;

/** Who may type the bank’s code, by the settings. Without a public address: the agent only. */
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

/** Whether the customer has tried a code on the present link: earlier errors are not theirs. */
export function customerTried({ customer, otp }: Pick<ChargeSeen, 'customer' | 'otp'>): boolean {
  const { triesLeft = otpLimits.submissions } = customer ?? {};
  return customer !== undefined && otp !== undefined && otp.triesLeft < triesLeft;
}

/** Letters or digits in a code. */
export const codeLength = { least: 4, most: 10 } as const;

/** Ignores blanks and dashes, keeps leading zeros; undefined if it can't be a code. */
export function readCode(typed: string): string | undefined {
  const code = visible(typed)
    .normalize('NFKC')
    .replace(/[\s\p{Pd}−]/gu, '')
    .replace(/(?!\d)\p{Nd}/gu, asWesternDigit);
  return /^[\p{L}\p{N}]{4,10}$/u.test(code) ? code : undefined;
}

/** Some keyboards type their script's digits, which banks refuse. Unicode has each script's ten in a row. */
function asWesternDigit(digit: string): string {
  const point = digit.codePointAt(0) ?? 0;
  let zero = point;
  while (/\p{Nd}/u.test(String.fromCodePoint(zero - 1))) zero -= 1;
  return String((point - zero) % 10);
}
