import type { RichTextBlock } from '@slack/types';
import { type ChargeSeen, type ShownTerms, isClosed } from '../../domain/charge.ts';
import { formatMoney, type Money } from '../../domain/money.ts';
import { bold, fields, headline, person, words, type Run } from '../kit/blocks.ts';
import { customerWord, referenceWord, word } from './payment-words.ts';
import { cut, oneLine, outsideText } from '../kit/text.ts';
import { cardWords } from './card-words.ts';
import { stateWord } from './state-words.ts';

// Shared by all messages and modals of a charge.

/** Longer than any e-mail address. */
const longestEmail = 320;
const longestReason = 300;

export function amountWord(money: Money): string {
  return word(formatMoney(money)) ?? '';
}

/**
 * The whole address, only for a review by the person who typed it, to check each letter. All other screens mask it, even a
 * charge's modal, because colleagues can open that modal too.
 */
export function emailWord(email: string): string {
  return cut(oneLine(email), longestEmail);
}

/** The first line: state, amount, customer, reference. */
export function chargeHead(charge: ChargeSeen): { state: string; about: string[] } {
  const { terms, reference } = charge;
  const about = [amountWord(terms.money), customerWord(terms.customerEmail), referenceWord(reference)];
  return { state: stateWord(charge), about };
}

export function chargeHeadline(charge: ChargeSeen): { text: string; block: RichTextBlock } {
  const { state, about } = chargeHead(charge);
  return headline(state, about);
}

/** Names the currency if there is only one, since the form then has no choice of currency. */
export function amountLabel(currencies: readonly string[]): string {
  return currencies.length === 1 ? `Amount (${currencies[0]})` : 'Amount';
}

/** The card, and what else the agent entered. */
export function termFields(terms: ShownTerms): Record<'Card' | 'Customer id' | 'Reason', string | undefined> {
  return {
    Card: cardWords(terms.card),
    'Customer id': word(terms.customerId),
    Reason: terms.reason === undefined ? undefined : outsideText(terms.reason, longestReason),
  };
}

/** The card and the agent, for a modal, where a mention notifies nobody. */
export function modalFacts(charge: ChargeSeen): RichTextBlock[] {
  const { Card } = termFields(charge.terms);
  return fields(isClosed(charge) ? { Card } : { Card, Agent: [person(charge.agent)] });
}

/** When the present agent took the charge, UTC ms. */
export function agentSinceMs({ agent, handOvers, submittedAt }: ChargeSeen): number {
  return handOvers.findLast(({ to }) => to === agent)?.at ?? submittedAt;
}

/** A line that begins with a bold label and a colon. */
export function labelled(label: string, ...rest: readonly (string | Run)[]): Run[] {
  return [bold(`${label}: `), ...rest.map((part) => (typeof part === 'string' ? words(part) : part))];
}

export function plain(...parts: readonly (string | Run)[]): Run[] {
  return parts.map((part) => (typeof part === 'string' ? words(part) : part));
}
