import type { Environment } from '../domain/alert.ts';
import { wireFromMinor } from '../domain/money.ts';
import { environmentWords } from '../slack/words/evidence.ts';
import { outsideText, utcTime } from '../slack/kit/text.ts';
import type { CommandEnd } from './command.ts';
import type { ExitCode } from './exit-codes.ts';

/** What one question found: for programs, which docs/command-line.md describes, for people, and for a script. */
export type Answer = { document: Record<string, unknown>; lines: readonly string[]; exitCode: ExitCode };

/** As what was asked for, whatever the code says of it. */
export function reported({ document, lines, exitCode }: Answer, isJson: boolean): CommandEnd {
  return { exitCode, words: isJson ? jsonText(document) : lines.join('\n'), isReport: true };
}

/** The first line, as in Slack: state, amount, masked customer, reference. */
export function firstLine(state: string, details: readonly string[]): string {
  return [state, ...details.filter((detail) => detail !== '')].join(' · ');
}

/** Whose data it is: it stands on everything that is printed for a person or a program. */
export type Place = { environment: Environment; account: string };

const longestWord = 120;
const longestText = 500;

/** What is known of a document, for people: under its own names, aligned. */
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
  if ('decimal' in value) return Object.values(value).slice(1).map(factWords).join(' ').trim();
  return Object.values(value)
    .map(factWords)
    .filter((words) => words !== '')
    .join(' · ');
}

export function placeLine({ environment, account }: Place, verb: string, atMs: number): string {
  const parts = [
    environmentWords[environment],
    outsideText(account, longestWord),
    `${verb} ${utcTime(atMs)}`,
  ];
  return `  ${parts.filter((part) => part !== '').join(' · ')}`;
}

/** A sentence of the service, in quotation marks: they are its words and not ours. */
export function quotedText(text: string | undefined): string | undefined {
  const theirs = outsideText(text ?? '', longestText);
  return theirs === '' ? undefined : `“${theirs}”`;
}

/** An amount for a program: `minor` is the integer number of hundredths, `decimal` the specification's text. */
type MoneyJson = { minor: number; decimal: string; currency: string | null };

export function moneyJson({ minor, currency }: { minor: number; currency?: string }): MoneyJson {
  return { minor, decimal: wireFromMinor(minor), currency: textOrNull(currency) };
}

/** Under which merchant account it was asked: two of them may know the same reference. */
export function merchantJson({ environment, account }: Place): Place {
  return { environment, account };
}

export function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}

/** The service's own words for a program: as people see them, in one line. */
export function textOrNull(text: string | undefined): string | null {
  return text === undefined ? null : outsideText(text, longestText);
}

/**
 * JSON that is the same document for a program and harmless on a terminal: what would steer it or hide letters
 * (control, formatting and bidirectional characters) is written as an escape.
 */
export function jsonText(value: unknown): string {
  return JSON.stringify(value, undefined, 2).replace(/[\u007F-\u009F\p{Cf}\p{Zl}\p{Zp}]/gu, (character) =>
    Array.from(
      { length: character.length },
      (_, index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`,
    ).join(''),
  );
}
