import type { CardFace } from './charge.ts';

/** A saved card as it may be offered. `id` is a keyed hash: it names the card and charges nothing. */
export type KnownCard = { id: string; face: CardFace; customerEmail?: string };

/** The cards that the bot remembers; all of it throws StoreUnavailable. */
export type KnownCards = {
  /** Newest first. */
  search(typed: string, max: number): Promise<readonly KnownCard[]>;
  find(id: string): Promise<(KnownCard & { tokenKey: string }) | undefined>;
  /** The id that the card of this token has, known or not. */
  idOf(tokenKey: string): Promise<string>;
};

/** The same for whoever changes the e-mails they are saved with. */
export type KnownCardEmails = Pick<KnownCards, 'idOf'> & {
  /** The service has linked the card to another address. */
  changeEmail(id: string, newEmail: string): Promise<void>;
  /** The service has said that the card is not linked to this address. */
  forgetEmail(id: string, wrongEmail: string): Promise<void>;
};
