// Shared by the message of a look-up and an event's alert.

import type { Button, RichTextBlock } from '@slack/types';
import type { Environment } from '../../domain/alert.ts';
import type { Evidence } from '../../domain/transaction.ts';
import { maskNumbers } from '../../domain/card.ts';
import { isGeneratedReference, parseOrderReference } from '../../domain/order-reference.ts';
import { maskEmail } from '../../domain/outside-text.ts';
import { wireFromMinor } from '../../domain/money.ts';
import { button, code, quotation, richText, words, type Run } from '../kit/blocks.ts';
import { ownId } from '../own-account.ts';
import { cut, oneLine, outsideText } from '../kit/text.ts';

/** Space for outside words: enough to understand, too little to flood a channel. */
const longestWord = 120;
const longestStatement = 300;
const longestQuotation = 500;

/** Looks the reference up again; `lookUpWords` reads its value. */
export const lookUpActionId = 'look_up';

export const environmentWords: Record<Environment, string> = { live: 'LIVE', sandbox: 'SANDBOX' };

/**
 * A button that looks the reference up again, with the amount that the person gave. None if the reference can't be looked
 * up.
 */
export function lookUpButton(text: string, reference: string, amountMinor?: number): Button[] {
  if (!parseOrderReference(reference).ok) return [];
  const value = JSON.stringify(askedWords(reference, amountMinor));
  return [button({ actionId: lookUpActionId, text, value })];
}

/** For typed, unknown references. None for a number: it may be a mistyped card number. */
export function typedLookUpButton(text: string, reference: string, amountMinor?: number): Button[] {
  return maskNumbers(reference) === reference ? lookUpButton(text, reference, amountMinor) : [];
}

/** The same in a new modal, for the App Home, where an answer would appear elsewhere. */
export const openLookUpActionId = 'look_up_open';

export function openLookUpButton(reference: string, amountMinor?: number, text = 'Look up'): Button[] {
  const actionId = ownId(openLookUpActionId);
  return lookUpButton(text, reference, amountMinor).map((button) => ({
    ...button,
    action_id: actionId,
  }));
}

/** Shows a reference's story below the message; its value is the reference. */
export const storyActionId = 'story_open';

export function storyButton(reference: string): Button[] {
  if (!parseOrderReference(reference).ok) return [];
  return [button({ actionId: storyActionId, text: 'Story', value: reference })];
}

/** Shows what a customer may be told of a proven payment. Its value repeats the look-up. */
export const proofActionId = 'proof_copy';

/** None for a test payment: it concerns no customer. */
export function proofButton(environment: Environment, reference: string, amountMinor?: number): Button[] {
  if (environment !== 'live' || !parseOrderReference(reference).ok) return [];
  const value = JSON.stringify(askedWords(reference, amountMinor));
  return [button({ actionId: proofActionId, text: 'Copy proof', value })];
}

/** The words of a look-up of a reference and its expected amount. */
export function askedWords(reference: string, amountMinor?: number): string[] {
  return amountMinor === undefined ? [reference] : [reference, wireFromMinor(amountMinor)];
}

/** The words of `/pay lookup` behind a look-up button; none if its value is not ours. */
export function lookUpWords(value: string): readonly string[] {
  try {
    const asked: unknown = JSON.parse(value);
    return Array.isArray(asked) && asked.every((word) => typeof word === 'string') ? asked : [];
  } catch {
    return [];
  }
}

/** A short word of the service or an event: a status, a method, an id. */
export function word(text: string | undefined): string | undefined {
  return text === undefined ? undefined : outsideText(text, longestWord);
}

/** The whole reference: up to 50 characters, unless an event made it longer. */
export function referenceWord(reference: string): string {
  return cut(oneLine(reference), longestWord);
}

/** A reference in a sentence; the bot's own are in code, to stand out. */
export function referenceRun(reference: string): Run {
  return isGeneratedReference(reference) ? code(reference) : words(referenceWord(reference));
}

/** A typed, unknown reference: may be a mistyped card number. */
export function typedReference(reference: string): string {
  return referenceWord(maskNumbers(reference));
}

export function customerWord(email: string | undefined): string {
  // Clean it as outside text too: after the @ may come anything.
  return email === undefined || email.trim() === ''
    ? ''
    : outsideText(maskEmail(oneLine(email)), longestWord);
}

/**
 * "✓ status  ✓ reference  ✗ amount", and a line for each part that does not hold. `told`: the status, if it is shown
 * nearby. Empty if all hold: the foot says *proven* then.
 */
export function proofLine(evidence: Evidence, told: { status?: string | undefined } = {}): RichTextBlock[] {
  const checks = [evidence.status, evidence.reference, evidence.amount];
  if (checks.every(({ holds }) => holds)) return [];
  const status = word(told.status);
  const marks = checks.map(({ part, holds, how }) => {
    const compared = how === undefined ? '' : ` (${outsideText(how, longestStatement)})`;
    return `${holds ? '✓' : '✗'} ${part}${part === 'status' && status !== undefined ? ` ${status}` : compared}`;
  });
  const missing = checks.filter(
    ({ part, holds, isDoubted }) => !holds && (isDoubted || !(part === 'status' && status !== undefined)),
  );
  const statements = missing.map(({ statement }) => [words(outsideText(statement, longestStatement))]);
  return [richText([words(marks.join('  '))], ...statements)];
}

/** For the foot of a proven payment; with the paid status and the compared amounts if settings name them. */
export function provenWords(
  { status, reference, amount }: Evidence,
  told: { status?: string | undefined } = {},
): string | undefined {
  if (!status.holds || !reference.holds || !amount.holds) return undefined;
  return provenBy(told.status, amount.how);
}

export function provenBy(status: string | undefined, compared: string | undefined): string {
  const said = status === undefined || status === 'SUCCESS' ? '' : ` by ${word(status)}`;
  return `proven${said}${compared === undefined ? '' : ` (${outsideText(compared, longestStatement)})`}`;
}

/** A bank's or gateway's words, labelled as theirs; no block without words. */
export function quoted(whose: string, text: string | undefined): RichTextBlock[] {
  const theirs = outsideText(text ?? '', longestQuotation);
  return theirs === '' ? [] : [quotation(whose, theirs)];
}
