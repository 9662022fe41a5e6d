import type { Environment } from '../domain/alert.ts';
import { wireFromMinor, type Money } from '../domain/money.ts';
import { environmentWords } from '../slack/words/evidence.ts';
import { outsideText, utcTime } from '../slack/kit/text.ts';

/** Whose data it is: it stands on everything that is printed for a person or a program. */
export type Place = { environment: Environment; account: string };

const longestWord = 120;
const longestText = 500;

/** The first line, as in Slack: state, amount, masked customer, reference. */
export function firstLine(state: string, details: readonly string[]): string {
  return [state, ...details.filter((detail) => detail !== '')].join(' · ');
}

/** Facts below it, aligned; those that are not known are left out. */
export function factLines(facts: Readonly<Record<string, string | undefined>>): string[] {
  const known = Object.entries(facts).filter(([, value]) => value !== undefined && value !== '');
  const widest = Math.max(0, ...known.map(([name]) => name.length));
  return known.map(([name, value]) => `  ${name.padEnd(widest)}  ${value}`);
}

export function placeLine({ environment, account }: Place, verb: string, atMs: number): string {
  const parts = [environmentWords[environment], shortText(account), `${verb} ${utcTime(atMs)}`];
  return `  ${parts.filter((part) => part !== undefined && part !== '').join(' · ')}`;
}

/** A short word of the service: one visible line, nothing that steers a terminal, no e-mail address in full. */
export function shortText(text: string | undefined): string | undefined {
  return text === undefined ? undefined : outsideText(text, longestWord);
}

/** A sentence of the service, in quotation marks: they are its words and not ours. */
export function quotedText(text: string | undefined): string | undefined {
  const theirs = outsideText(text ?? '', longestText);
  return theirs === '' ? undefined : `“${theirs}”`;
}

/** An amount for a program: `minor` is the integer number of hundredths, `decimal` the specification's text. */
export type MoneyJson = { minor: number; decimal: string; currency: string | null };

export function moneyJson({ minor, currency }: { minor: number; currency?: string }): MoneyJson {
  return { minor, decimal: wireFromMinor(minor), currency: textOrNull(currency) };
}

export function moneyOrNull(money: Money | undefined): MoneyJson | null {
  return money === undefined ? null : moneyJson(money);
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
