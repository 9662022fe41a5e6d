import type { ServiceFailure } from './failure.ts';
import type { Money } from './money.ts';
import type { OrderReference } from './order-reference.ts';

/** A saved-card charge. `tokenKey` is a secret; the e-mail must be the one linked to the card. */
export type SavedCardCharge = {
  tokenKey: string;
  money: Money;
  customerEmail: string;
  /** Minted and stored before the call: without one of its own a charge could not be asked for again. */
  reference: OrderReference;
  customerId?: string | undefined;
};

/** One OTP for one saved-card charge. `otp` and `transactionId` are secrets. */
export type OtpSubmission = { otp: string; transactionId: string; reference: OrderReference };

/** A new e-mail for a saved card. `currentEmail` must be the one linked to it; `tokenKey` is a secret. */
export type EmailChange = { tokenKey: string; currentEmail: string; newEmail: string };

/** An order that its customer pays on the service's checkout page. */
export type CheckoutOrder = {
  money: Money;
  customerEmail: string;
  reference: OrderReference;
  /** The payer's card becomes a saved card; then only a card can pay. */
  savesCard: boolean;
  customerId?: string | undefined;
  /** Where the customer is sent after paying. */
  callbackUrl?: string | undefined;
};

/** Until when (UTC milliseconds, that one included) a request may leave, by the clock of this process. */
export type Leave = { leaveBy: number; now: () => number };

/**
 * The service refused this request before acting on it. It speaks of this request alone: an earlier one
 * with the same reference, whose answer was lost, may have been charged all the same.
 */
export type NotMade =
  | { kind: 'not_made'; failure: 'unauthorized' | 'forbidden' | 'rate_limited'; cause: ServiceFailure }
  /** The body failed the service's validation (HTTP 400). The message is the service's own, when it sent one. */
  | { kind: 'not_made'; failure: 'invalid_request'; message: string | undefined };

/** No answer, an unreadable one, or one the specification does not have: it may have happened or not. */
export type Unknown = { kind: 'unknown'; cause: ServiceFailure };

export type RejectionReason =
  | 'invalid_token'
  | 'email_mismatch'
  | 'reference_exists'
  | 'card_not_supported'
  | 'email_invalid'
  | 'other';

/** Refused by the service before anything was sent to the bank, in the service's own words. */
export type Rejected = { kind: 'rejected'; reason: RejectionReason; message: string | undefined };

/**
 * What the service answered to a saved-card charge. None of these is proof of a payment: `approved` too is
 * to be confirmed by a look-up. Messages are others' words, with the request's secrets struck out.
 *
 * A 3-D Secure challenge, which a saved-card charge cannot complete, comes as `declined`: its wording is not
 * shown, so it is told apart by nothing but the bank's words.
 *
 * Spec: charge a saved card (table of outcomes); Errors (saved-card charge rejections).
 */
export type ChargeAnswer =
  | { kind: 'approved' }
  /** `transactionId` is a secret: sealed at rest, never shown. The message often says where the code was sent. */
  | { kind: 'otp_required'; transactionId: string; message: string | undefined }
  | { kind: 'declined'; bankMessage: string | undefined }
  | Rejected
  | NotMade
  | Unknown;

/**
 * What the service answered to an OTP. `accepted` is to be confirmed by a look-up. `wrong` is every refusal
 * but `too_many`, the payment's time being over among them: the bank's words for it are not shown.
 *
 * Spec: submit OTP; Errors (OTP errors).
 */
export type OtpAnswer =
  | { kind: 'accepted' }
  | { kind: 'wrong'; bankMessage: string | undefined }
  | { kind: 'too_many' }
  | NotMade
  | Unknown;

/**
 * What the service answered to the wish for another OTP, which gives no more time in any case. The body is
 * not shown, so it is judged by the envelope alone: `resent` needs code "00".
 *
 * Spec: resend-otp.
 */
export type ResendAnswer = { kind: 'resent' | 'refused' } | NotMade | Unknown;

/**
 * What the service answered to a change of a card's e-mail.
 *
 * Spec: change the email of a saved card.
 */
export type EmailChangeAnswer =
  | { kind: 'changed' }
  /** `currentEmail` is not the e-mail linked to the card: nothing was changed. */
  | { kind: 'not_linked'; message: string | undefined }
  | { kind: 'no_such_card' }
  | Rejected
  | NotMade
  | Unknown;

/**
 * What the service answered to a new order. `orderId` is the service's own id of it, not the merchant's
 * reference.
 *
 * Spec: create a checkout order.
 */
export type CheckoutOrderAnswer =
  | { kind: 'created'; orderId: string; checkoutLink: string }
  | Rejected
  | NotMade
  | Unknown;
