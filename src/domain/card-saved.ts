import type { CardFace } from './charge.ts';

/**
 * What became of the card that a first payment saved; of its token nothing is here, so it may be stored and shown.
 * `not_kept`: the bot remembers no cards, by its settings. `no_token`: the event says that it is a card-saving
 * payment and carries no token that can be used.
 *
 * Spec: Events, tokenizedCardData and rule 3.
 */
export type CardSaved = { kind: 'kept' | 'not_kept'; face: CardFace } | { kind: 'no_token' };
