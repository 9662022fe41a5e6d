// The fields by which a form asks for a saved card and for an e-mail; each form gives them its own ids.

import { parsed, problem, type Parsed } from '../../domain/parsed.ts';
import { externalSelect, textInput } from './blocks.ts';
import type { ViewValues } from '../command.ts';
import type { ModalBlock } from './message.ts';
import { visible } from './text.ts';

/** A saved card as a person named it. `tokenKey` is a secret; `id` is none. */
export type CardChoice = { kind: 'ledger'; id: string } | { kind: 'pasted'; tokenKey: string };

/** A card that stands in a form: its id in the ledger, and its words. */
export type OfferedCard = { id: string; text: string };

export const longestEmail = 254;

/** The typeahead over saved cards; the form's verb has a suggestion of the same id. */
export function cardInput(
  id: string,
  initial: OfferedCard | undefined,
  { optional }: { optional: boolean },
): ModalBlock {
  return externalSelect({
    id,
    label: 'Saved card',
    placeholder: 'Last four digits or e-mail',
    optional,
    ...(initial === undefined ? {} : { initial: { text: initial.text, value: initial.id } }),
  });
}

/** Never filled in beforehand: what is in a modal stays in Slack. `ledger`: a card can be chosen instead. */
export function tokenInput(id: string, ledger: boolean): ModalBlock {
  return textInput({
    id,
    label: ledger ? 'Or the card’s token key' : 'Token key of the saved card',
    hint: 'Never a card number.',
    optional: ledger,
  });
}

/** Its problem is told at the token’s field, which stands in the modal with and without a list of cards. */
export function readCardChoice(values: ViewValues, ids: { card: string; token: string }): Parsed<CardChoice> {
  const id = values[ids.card] ?? '';
  const tokenKey = visible(values[ids.token] ?? '').trim();
  if (id !== '' && tokenKey !== '') return problem('Choose a saved card or paste a token key, not both.');
  if (id !== '') return parsed({ kind: 'ledger', id });
  if (tokenKey === '') return problem('Choose a saved card, or paste its token key here.');
  if (/\s/.test(tokenKey)) return problem('A token key has no blanks in it. Paste it again.');
  return parsed({ kind: 'pasted', tokenKey });
}

/** Undefined for what looks like an e-mail address. */
export function emailFormProblem(email: string): string | undefined {
  const isOne = /^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(email) && email.length <= longestEmail;
  return isOne ? undefined : 'That is not an e-mail address. It looks like ada@example.com.';
}
