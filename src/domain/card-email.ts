import type { EmailChange, NotMade, RejectionReason, Unknown } from './charge-answer.ts';
import type { CardFace } from './charge-terms.ts';

/** A change of a saved card's e-mail, whole, as a person agreed to it. `tokenKey` is a secret: it is kept sealed. */
export type CardEmailTerms = EmailChange & { card: CardFace };

/** The same as it may be read out to whoever is allowed to change it. */
export type ShownCardEmail = Omit<CardEmailTerms, 'tokenKey'>;

/** What became of a change, as people are told it. Messages are the service's words. */
export type CardEmailEnd =
  /** `behind`: the bot's own list of cards could not be brought up to date. */
  | { kind: 'changed'; list: 'current' | 'behind' }
  /** Nothing was changed: the current e-mail that was given is not the one linked to the card. */
  | { kind: 'not_linked'; message: string | undefined }
  | { kind: 'no_such_card' }
  | { kind: 'rejected'; reason: RejectionReason; message: string | undefined }
  | NotMade
  | Unknown;
