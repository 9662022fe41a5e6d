import { visible } from './outside-text.ts';

/** Who may type the bank’s code by the settings. Without an address that customers reach, their agent alone. */
export function codeEntry(settings: {
  publicUrl: string | undefined;
  otpEntry: 'agent' | 'customer' | 'both';
}): 'agent' | 'customer' | 'both' {
  return settings.publicUrl === undefined ? 'agent' : settings.otpEntry;
}

/** Of a code, in letters or digits. */
export const codeLength = { least: 4, most: 10 } as const;

/** Blanks and dashes in it do not count, leading zeros do; undefined for what is no code. */
export function readCode(typed: string): string | undefined {
  const code = visible(typed)
    .normalize('NFKC')
    .replace(/[\s\p{Pd}−]/gu, '');
  return /^[\p{L}\p{N}]{4,10}$/u.test(code) ? code : undefined;
}
