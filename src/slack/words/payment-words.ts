// Buttons, words and proof shared by everything about a payment: look-ups, alerts, charges, links.

import type { Button, RichTextBlock } from '@slack/types';
import type { Environment } from '../../domain/alert.ts';
import type { Evidence } from '../../domain/transaction.ts';
import { maskNumbers } from '../../domain/card.ts';
import { parseJson } from '../../domain/json.ts';
import { isGeneratedReference, parseOrderReference } from '../../domain/order-reference.ts';
import { maskEmail } from '../../domain/outside-text.ts';
import { wireFromMinor } from '../../domain/money.ts';
import { button, code, quotation, richText, words, type Run } from '../kit/blocks.ts';
import { ownId } from '../own-account.ts';
import { cut, oneLine, outsideText } from '../kit/text.ts';

/** Longest outside texts: enough to understand, too little to flood a channel. */
const longestWord = 120;
const longestStatement = 300;
const longestQuotation = 500;

/** A button that looks up a reference; `lookUpWords` reads the button's value. */
export const lookUpActionId = 'look_up';

export const environmentWords: Record<Environment, string> = { live: 'LIVE', sandbox: 'SANDBOX' };

/** A button that looks up the reference, with the amount the person expects; none for an impossible reference. */
export function lookUpButton(text: string, reference: string, amountMinor?: number): Button[] {
  if (!parseOrderReference(reference).ok) return [];
  const value = JSON.stringify(lookUpArguments(reference, amountMinor));
  return [button({ actionId: lookUpActionId, text, value })];
}

/** The same button for a typed, unknown reference; none for a long number, which may be a mistyped card number. */
export function typedLookUpButton(text: string, reference: string, amountMinor?: number): Button[] {
  return maskNumbers(reference) === reference ? lookUpButton(text, reference, amountMinor) : [];
}

/** A button that looks up in a new modal: from the App Home, a message would appear somewhere else. */
export const openLookUpActionId = 'look_up_open';

export function openLookUpButton(reference: string, amountMinor?: number): Button[] {
  const action_id = ownId(openLookUpActionId);
  return lookUpButton('Look up', reference, amountMinor).map((one) => ({ ...one, action_id }));
}

/** A button that shows a reference's story; the button's value is the reference. */
export const storyActionId = 'story_open';

export function storyButton(reference: string): Button[] {
  if (!parseOrderReference(reference).ok) return [];
  return [button({ actionId: storyActionId, text: 'Story', value: reference })];
}

/** A button that shows what a customer may be told of a proven payment; its value is the look-up's, to look up again. */
export const proofActionId = 'proof_copy';

/** None in the sandbox, where no customer pays. */
export function proofButton(environment: Environment, reference: string, amountMinor?: number): Button[] {
  if (environment !== 'live' || !parseOrderReference(reference).ok) return [];
  const value = JSON.stringify(lookUpArguments(reference, amountMinor));
  return [button({ actionId: proofActionId, text: 'Copy proof', value })];
}

/** The words after `/pay lookup` for a reference and its expected amount. */
export function lookUpArguments(reference: string, amountMinor?: number): string[] {
  return amountMinor === undefined ? [reference] : [reference, wireFromMinor(amountMinor)];
}

/** Reads those words from a button's value; none if the value is malformed. */
export function lookUpWords(value: string): readonly string[] {
  const read = parseJson(value);
  return Array.isArray(read) && read.every((word) => typeof word === 'string') ? read : [];
}

/** A short outside text, cleaned and cut: a status, a method, an id, a name. */
export function word(text: string | undefined): string | undefined {
  return text === undefined ? undefined : outsideText(text, longestWord);
}

/** A reference, whole: only an event's can be longer than 50 characters, and is cut at 120. */
export function referenceWord(reference: string): string {
  return cut(oneLine(reference), longestWord);
}

/** A reference in a sentence. References made by the bot stand in code. */
export function referenceRun(reference: string): Run {
  return isGeneratedReference(reference) ? code(reference) : words(referenceWord(reference));
}

/** A typed, unknown reference. Long numbers are masked: they may be mistyped card numbers. */
export function typedReference(reference: string): string {
  return referenceWord(maskNumbers(reference));
}

/** The customer's masked e-mail; empty if unknown. */
export function customerWord(email: string | undefined): string {
  // Masking keeps everything after the @, so clean the result too.
  return email === undefined || email.trim() === ''
    ? ''
    : outsideText(maskEmail(oneLine(email)), longestWord);
}

/**
 * "✓ status  ✓ reference  ✗ amount", and a line for each part that does not hold. Empty if all hold: the foot says *proven*
 * then. `record`: if given, its status stands after the status mark, and needs no line of its own.
 */
export function proofLine(evidence: Evidence, record: { status?: string | undefined } = {}): RichTextBlock[] {
  const checks = [evidence.status, evidence.reference, evidence.amount];
  if (checks.every(({ holds }) => holds)) return [];
  const status = word(record.status);
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

/** For the foot of a proven payment; undefined if a part does not hold. `record`: the transaction. */
export function provenWords(
  { status, reference, amount }: Evidence,
  record: { status?: string | undefined } = {},
): string | undefined {
  if (!status.holds || !reference.holds || !amount.holds) return undefined;
  return provenBy(record.status, amount.how);
}

/** "proven", with the status unless it is SUCCESS, and which amounts were compared if the settings say so. */
export function provenBy(status: string | undefined, compared: string | undefined): string {
  const by = status === undefined || status === 'SUCCESS' ? '' : ` by ${word(status)}`;
  return `proven${by}${compared === undefined ? '' : ` (${outsideText(compared, longestStatement)})`}`;
}

/** Quotes the bank, gateway or service below a line that says who speaks; no block for empty text. */
export function quoted(whose: string, text: string | undefined): RichTextBlock[] {
  const theirs = outsideText(text ?? '', longestQuotation);
  return theirs === '' ? [] : [quotation(whose, theirs)];
}
