/**
 * A saved card as an event or a listing told it. `tokenKey` can charge the card: it is kept sealed, and
 * never logged, shown or put into a Slack payload.
 *
 * Spec: Saved card (tokenized card data); the formats of expiry and pan: not shown.
 */
export type SavedCard = {
  tokenKey: string;
  cardType?: string;
  tokenExpiryDate?: string;
  cardPan?: string;
  customerEmail?: string;
};
