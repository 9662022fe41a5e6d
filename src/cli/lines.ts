import type { Config } from '../config/config.ts';
import type { Environment } from '../domain/alert.ts';
import { wireFromMinor } from '../domain/money.ts';
import { environmentWords } from '../slack/words/payment-words.ts';
import { outsideText, utcTime } from '../slack/kit/text.ts';
import type { CommandEnd } from './command.ts';
import type { ExitCode } from './exit-codes.ts';

/**
 * One answer in three forms: a document for programs (docs/command-line.md), lines for people, and an exit code for
 * scripts.
 */
export type Answer = { document: Record<string, unknown>; lines: readonly string[]; exitCode: ExitCode };

/** The answer as a command's end; goes to standard output with any exit code. */
export function reported({ document, lines, exitCode }: Answer, isJson: boolean): CommandEnd {
  return { exitCode, words: isJson ? jsonText(document) : lines.join('\n'), isReport: true };
}

/** The first line, as in Slack: state, amount, masked customer, reference. Leaves out empty parts. */
export function firstLine(state: string, details: readonly string[]): string {
  return [state, ...details.filter((detail) => detail !== '')].join(' · ');
}

/** The account that was asked, and its environment. Answers name it: two accounts may have the same reference. */
export type AskedAccount = { environment: Environment; account: string };

export function askedAccountOf({
  paymentsEnvironment: environment,
  paymentsAccountName: account,
}: Config): AskedAccount {
  return { environment, account };
}

const longestWord = 120;
const longestText = 500;

/** A document's known values as aligned lines for people. */
export function factLines(document: Readonly<Record<string, unknown>>): string[] {
  const known = Object.entries(document)
    .map(([name, value]) => [name, factWords(value)] as const)
    .filter(([, words]) => words !== '');
  const widest = Math.max(0, ...known.map(([name]) => name.length));
  return known.map(([name, words]) => `  ${name.padEnd(widest)}  ${words}`);
}

function factWords(value: unknown): string {
  if (typeof value === 'string' || typeof value === 'number') return String(value);
  if (typeof value !== 'object' || value === null) return '';
  // An amount; its first field, `minor`, would only repeat it.
  if ('decimal' in value) return Object.values(value).slice(1).map(factWords).join(' ').trim();
  return Object.values(value)
    .map(factWords)
    .filter((words) => words !== '')
    .join(' · ');
}

export function accountLine({ environment, account }: AskedAccount, verb: string, atMs: number): string {
  const parts = [
    environmentWords[environment],
    outsideText(account, longestWord),
    `${verb} ${utcTime(atMs)}`,
  ];
  return `  ${parts.filter((part) => part !== '').join(' · ')}`;
}

/** The service's words in quotation marks, masked and shortened; undefined if there are none. */
export function quotedText(text: string | undefined): string | undefined {
  const said = outsideText(text ?? '', longestText);
  return said === '' ? undefined : `“${said}”`;
}

/** An amount for programs: `minor` in hundredths, `decimal` as in the specification. */
type MoneyJson = { minor: number; decimal: string; currency: string | null };

export function moneyJson({ minor, currency }: { minor: number; currency?: string }): MoneyJson {
  return { minor, decimal: wireFromMinor(minor), currency: textOrNull(currency) };
}

export function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}

/** The service's words for programs: one line of visible text. */
export function textOrNull(text: string | undefined): string | null {
  return text === undefined ? null : outsideText(text, longestText);
}

/**
 * JSON for programs that is harmless on a terminal: characters that control it or hide letters (control, formatting,
 * bidirectional) are escaped.
 */
export function jsonText(value: unknown): string {
  return JSON.stringify(value, undefined, 2).replace(/[\u007F-\u009F\p{Cf}\p{Zl}\p{Zp}]/gu, (character) =>
    Array.from(
      { length: character.length },
      (_, index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`,
    ).join(''),
  );
}
