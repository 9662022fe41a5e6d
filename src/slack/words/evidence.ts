// The parts that the message of a look-up and the alert of an event share.

import type { Button, ContextBlock, RichTextBlock } from '@slack/types';
import type { Environment } from '../../domain/alert.ts';
import type { Evidence } from '../../domain/transaction.ts';
import { maskNumbers } from '../../domain/card.ts';
import { isGeneratedReference, parseOrderReference } from '../../domain/order-reference.ts';
import { maskEmail } from '../../domain/outside-text.ts';
import { wireFromMinor } from '../../domain/money.ts';
import {
  button,
  code,
  context,
  mrkdwn,
  plainText,
  quotation,
  richText,
  words,
  type Run,
} from '../kit/blocks.ts';
import { ownId } from '../own-account.ts';
import { cut, oneLine, outsideText, slackTime, utcTime } from '../kit/text.ts';

/** Room for words that are not ours; enough to understand, too little to flood a channel. */
const longestWord = 120;
const longestStatement = 300;
const longestQuotation = 500;

/** The button that looks the reference up again; its value is read by `lookUpWords`. */
export const lookUpActionId = 'look_up';

export const environmentWords: Record<Environment, string> = { live: 'LIVE', sandbox: 'SANDBOX' };

/**
 * A button that runs the look-up; none when the reference is not one that can be looked up. With the
 * amount a person gave, so that the same question is asked again.
 */
export function lookUpButton(text: string, reference: string, amountMinor?: number): Button[] {
  if (!parseOrderReference(reference).ok) return [];
  const value = JSON.stringify(askedWords(reference, amountMinor));
  return [button({ actionId: lookUpActionId, text, value })];
}

/** For what was typed and is not known: none for a number, which may be a mistyped card number and would be repeated. */
export function typedLookUpButton(text: string, reference: string, amountMinor?: number): Button[] {
  return maskNumbers(reference) === reference ? lookUpButton(text, reference, amountMinor) : [];
}

/** The same in a modal of its own, for where an answer would come elsewhere: in the App Home. */
export const openLookUpActionId = 'look_up_open';

export function openLookUpButton(reference: string, amountMinor?: number, text = 'Look up'): Button[] {
  const actionId = ownId(openLookUpActionId);
  return lookUpButton(text, reference, amountMinor).map((button) => ({
    ...button,
    action_id: actionId,
  }));
}

/** The button that tells a reference's story below what it stands in; its value is the reference. */
export const storyActionId = 'story_open';

export function storyButton(reference: string): Button[] {
  if (!parseOrderReference(reference).ok) return [];
  return [button({ actionId: storyActionId, text: 'Story', value: reference })];
}

/** Opens what a customer may be told of a proven payment. The look-up is made again: the button carries the question. */
export const proofActionId = 'proof_copy';

/** None of a test: no customer is told of one. */
export function proofButton(environment: Environment, reference: string, amountMinor?: number): Button[] {
  if (environment !== 'live' || !parseOrderReference(reference).ok) return [];
  const value = JSON.stringify(askedWords(reference, amountMinor));
  return [button({ actionId: proofActionId, text: 'Copy proof', value })];
}

/** The words that ask about a reference, and about the amount that it should be. */
export function askedWords(reference: string, amountMinor?: number): string[] {
  return amountMinor === undefined ? [reference] : [reference, wireFromMinor(amountMinor)];
}

/** The words of `/pay lookup` that a pressed look-up button stands for; none for a value that is not ours. */
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

/** The reference in full: at most 50 characters unless an event made it longer. */
export function referenceWord(reference: string): string {
  return cut(oneLine(reference), longestWord);
}

/** A reference in a sentence; one that the bot made in code, so that it is told from the words around it. */
export function referenceRun(reference: string): Run {
  return isGeneratedReference(reference) ? code(reference) : words(referenceWord(reference));
}

/** One that was typed, and that nothing is known of: it may be a mistyped card number. */
export function typedReference(reference: string): string {
  return referenceWord(maskNumbers(reference));
}

export function customerWord(email: string | undefined): string {
  // As outside text besides: what follows the @ need not be a domain.
  return email === undefined || email.trim() === ''
    ? ''
    : outsideText(maskEmail(oneLine(email)), longestWord);
}

/**
 * "✓ status  ✓ reference  ✗ amount", and below it what does not hold. `told`: the status is said right there. Nothing where
 * all three hold: the foot says *proven* then.
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

/** For the foot where all three parts hold, with the status that meant paid and what was compared, where settings say those. */
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

/** Words of a bank or gateway, labelled as theirs; no block when they said nothing. */
export function quoted(whose: string, text: string | undefined): RichTextBlock[] {
  const theirs = outsideText(text ?? '', longestQuotation);
  return theirs === '' ? [] : [quotation(whose, theirs)];
}

/** Whose money a message or window is about, in its foot and nowhere else: "LIVE · Lagos store". */
export function placeWords(environment: Environment, account: string): string {
  const name = word(account) ?? '';
  return [environmentWords[environment], name].filter((part) => part !== '').join(' · ');
}

/** The account, below what says its times itself. */
export function placeAlone(environment: Environment, account: string): ContextBlock {
  return context(plainText(placeWords(environment, account)));
}

/**
 * The account, whether it is proven, when (each reader's own local time; `verb` may be empty), and ids for whoever talks to
 * the service.
 */
export function placeLine(place: {
  environment: Environment;
  account: string;
  verb: string;
  proven?: string | undefined;
  atMs?: number | undefined;
  customerId?: string | undefined;
  orderId?: string | undefined;
}): ContextBlock {
  const { verb, atMs } = place;
  const time = atMs === undefined ? [] : [mrkdwn(`${verb} ${slackTime(atMs, utcTime(atMs))}`.trim())];
  const [customerId, orderId] = [word(place.customerId), word(place.orderId)];
  return context(
    plainText(placeWords(place.environment, place.account)),
    ...(place.proven === undefined ? [] : [plainText(place.proven)]),
    ...time,
    ...(customerId ? [plainText(`customer ${customerId}`)] : []),
    ...(orderId ? [plainText(`order id ${orderId}`)] : []),
  );
}
