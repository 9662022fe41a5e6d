import type { Refusal } from '../../domain/charge-state.ts';

/** Why the service refused the request before the bank saw it, and the fix; `again` names the button that helps. */
export type RejectionWords = { why: string; fix: string; again?: string };

const correct = 'Correct and try again';
const operators = 'tell the people who run this bot; trying again won’t help.';

/**
 * Each reason has its own words and its own fix.
 *
 * Spec: Errors (saved-card charge rejections; HTTP status responses).
 */
export const rejectionWords: Record<Refusal['reason'], RejectionWords> = {
  invalid_token: {
    why: 'The service doesn’t know this card.',
    fix: 'choose another card, or let the customer save it again with a payment link.',
    again: 'Choose another card',
  },
  email_mismatch: {
    why: 'The card is saved with another e-mail.',
    fix: 'leave the e-mail empty, or change the card’s own.',
    again: correct,
  },
  email_invalid: {
    why: 'The service calls the e-mail invalid.',
    fix: 'use the e-mail the card is saved with.',
    again: correct,
  },
  card_not_supported: {
    why: 'Card payments aren’t switched on for this account.',
    fix: 'ask the payments service to switch them on.',
  },
  unauthorized: { why: 'The service refused the bot’s access token.', fix: operators },
  forbidden: { why: 'The service doesn’t let this account charge.', fix: operators },
  rate_limited: {
    why: 'The service’s call limit was reached.',
    fix: 'try again in a few minutes.',
    again: 'Try again',
  },
  invalid_request: {
    why: 'The service calls the request invalid.',
    fix: 'check amount, currency and e-mail. If they are right, tell the people who run this bot.',
    again: correct,
  },
  other: {
    why: 'The service refused it.',
    fix: 'correct what the service names, or ask the service.',
    again: correct,
  },
};
