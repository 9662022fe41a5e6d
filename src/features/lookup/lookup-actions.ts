import type { TransactionView } from '../../slack/words/transaction-message.ts';
import { askedWords, lookUpWords, openLookUpActionId } from '../../slack/words/evidence.ts';

/** The buttons of a look-up's answer besides *Refresh* of a message, which runs the verb again. */
export const lookupActions = {
  /** Opens the answer in a modal of its own; its value is the words of the look-up. */
  open: openLookUpActionId,
  /** *Refresh* in that modal. */
  again: 'look_up_again',
  share: 'look_up_share',
  /** *Refresh* on what was shared: for everybody, in its place. */
  refreshShared: 'look_up_shared',
} as const;

/** The words that ask the same question again. */
export function wordsOfView(view: Pick<TransactionView, 'reference' | 'amountMinor'>): string[] {
  return askedWords(view.reference, view.amountMinor);
}

/** `about`: what tells one press from another: when the answer was given, or who shared it. */
export type ShareValue = { words: readonly string[]; about: string };

export function shareValue({ words, about }: ShareValue): string {
  return JSON.stringify([about, ...words]);
}

/** Undefined for a value that is not ours. */
export function readShareValue(value: string): ShareValue | undefined {
  const [about, ...words] = lookUpWords(value);
  return about === undefined || words.length === 0 ? undefined : { words, about };
}
