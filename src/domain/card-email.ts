import type { EmailChange } from './charge-answer.ts';
import type { CardFace } from './charge.ts';

/** A change of a saved card's e-mail, whole, as a person agreed to it. `tokenKey` is a secret: it is kept sealed. */
export type CardEmailTerms = EmailChange & { card: CardFace };

/** The same as it may be read out to whoever is allowed to change it. */
export type ShownCardEmail = Omit<CardEmailTerms, 'tokenKey'>;

/**
 * What may become of a change. Only `changed` changes anything; after `unknown` it may have been changed: the answer was
 * lost, or the process that asked has died.
 */
export const cardEmailEnds = [
  'changed',
  /** The current e-mail that was given is not the one linked to the card. */
  'not_linked',
  'no_such_card',
  'email_invalid',
  'refused',
  'invalid_request',
  'unauthorized',
  'forbidden',
  'rate_limited',
  'unknown',
] as const;

/** As people are told it and as it is kept; the message is the service's own. `isListBehind`: the bot's own list of cards has the old address. */
export type CardEmailEnd = {
  kind: (typeof cardEmailEnds)[number];
  message?: string;
  isListBehind?: true;
};
