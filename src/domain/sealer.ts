/** The sealed text cannot be opened. The message says why and never holds any of its content. */
export class SealBroken extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'SealBroken';
  }
}

/** Seals what may name a customer, a transaction or a card, before a store holds it. */
export type Sealer = {
  /** The text, unreadable and bound to its context (the store key it will stand under). Never the same twice. */
  seal(context: string, plain: string): string;
  /** The text again. Throws SealBroken when it was changed, moved under another context, or its key is not here. */
  open(context: string, sealed: string): string;
};
