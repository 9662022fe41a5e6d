import type { Refusal } from '../../domain/charge-state.ts';

/** Why the service refused the request before the bank saw it, and the fix; `again` names the button that helps. */
export type RejectionWords = { why: string; fix: string; again?: string };

const correct = 'Correct and try again';

/**
 * Each reason has its own words and its own fix.
 *
 * Spec: Errors (saved-card charge rejections; HTTP status responses).
 */
export const rejectionWords: Record<Refusal['reason'], RejectionWords> = {
  invalid_token: {
    why: 'the service does not know this card’s token. It does not exist, was deleted, or was saved by another account.',
    fix: 'choose another card, or have the customer save the card again.',
    again: 'Choose another card',
  },
  email_mismatch: {
    why: 'the card is saved with another e-mail than the one given.',
    fix: 'try again with the e-mail the card is saved with; for a card from the list, leave the e-mail empty. When the customer has a new address, change the e-mail of the card itself: /pay card-email.',
    again: correct,
  },
  email_invalid: {
    why: 'the service does not take the customer’s e-mail as a valid one.',
    fix: 'try again with the right e-mail, exactly as the card is saved with it.',
    again: correct,
  },
  card_not_supported: {
    why: 'card payments are not switched on for this account.',
    fix: 'ask the payments service to enable card payments for the account. Trying again before that will not help.',
  },
  unauthorized: {
    why: 'the service refused the bot’s access token.',
    fix: 'trying again will not help. The people who run this bot must check its credentials and account id.',
  },
  forbidden: {
    why: 'the service does not allow charges to the bot’s account.',
    fix: 'trying again will not help. The people who run this bot must ask the payments service for the permission.',
  },
  rate_limited: {
    why: 'the service’s call limit was reached.',
    fix: 'try again in a few minutes; the next try gets a new reference.',
    again: 'Try again',
  },
  invalid_request: {
    why: 'the service found the request itself invalid.',
    fix: 'compare the amount, the currency and the e-mail with the service’s words, if it sent any. When they are right, tell the people who run this bot.',
    again: correct,
  },
  other: {
    why: 'the service refused the request for a reason it words itself.',
    fix: 'read the service’s words, if it sent any, and correct the request. When nothing is wrong with it, ask the payments service.',
    again: correct,
  },
};
