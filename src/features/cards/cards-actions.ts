import { isJsonObject } from '../../domain/json-pointer.ts';

export const cardsActions = {
  charge: 'cards.charge',
  changeEmail: 'cards.change_email',
  remove: 'cards.delete',
  /** Shows another part of the same listing. */
  page: 'cards.page',
  /** Asks the service once more for the same e-mail. */
  again: 'cards.again',
} as const;

/** What a button carries: the listing's random name and which of its cards, neither of them worth anything by itself. */
export type CardsPlace = { list: string; index: number };

export function cardsValue({ list, index }: CardsPlace): string {
  return JSON.stringify({ list, index });
}

export function readCardsValue(value: string): CardsPlace | undefined {
  try {
    const read: unknown = JSON.parse(value);
    if (!isJsonObject(read)) return undefined;
    const { list, index } = read;
    if (typeof list !== 'string' || typeof index !== 'number') return undefined;
    return Number.isSafeInteger(index) && index >= 0 ? { list, index } : undefined;
  } catch {
    return undefined;
  }
}
