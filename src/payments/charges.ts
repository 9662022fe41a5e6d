import type { OrderReference } from '../domain/order-reference.ts';
import type { NotMade } from '../domain/failure.ts';
import { type Leave, leavingBy, type PaymentsClient } from './client.ts';
import { type Money, wireFromMinor } from '../domain/money.ts';
import {
  type Rejected,
  type Unknown,
  askForEffect,
  readBoolean,
  rejectedFor,
  type Told,
} from './effect-answer.ts';

/** A saved-card charge. `tokenKey` is a secret; the e-mail must be the one linked to the card. */
export type SavedCardCharge = {
  tokenKey: string;
  money: Money;
  customerEmail: string;
  /** Minted and stored before the call: without one of its own a charge could not be asked for again. */
  reference: OrderReference;
  customerId?: string | undefined;
};

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
 * Charges a saved card once, for the account in whose name it is credited. Never throws: every doubt is
 * `unknown`. `approved` and `declined` are said only for the table's own rows; HTTP 200 and `description`
 * decide nothing. Whether it is too late is asked when the call is made; the access token it may have to
 * wait for, and the one repeat after a 401, come within the client's deadline after that.
 *
 * Spec: charge a saved card.
 */
export async function chargeSavedCard(
  client: PaymentsClient,
  accountId: string,
  charge: SavedCardCharge,
  leave: Leave,
): Promise<ChargeAnswer> {
  const { tokenKey, money, customerEmail, reference, customerId } = charge;
  const order = {
    amount: wireFromMinor(money.minor),
    currency: money.currency,
    customerEmail,
    orderReference: reference,
    ...(customerId === undefined ? {} : { customerId }),
  };
  const middleware = [leavingBy(leave)];
  return await askForEffect({
    call: () =>
      client.POST('/v1/checkout/tokenized-card-payment', {
        params: { header: { accountId } },
        body: { tokenKey, order },
        middleware,
      }),
    judge: judgeCharge,
    secrets: [tokenKey],
    movesMoney: true,
  });
}

function judgeCharge(told: Told): ChargeAnswer | undefined {
  const { code, status, message, data } = told;
  // Left out, it is told by the transaction id, which comes only with a code to enter.
  const isLeftOut = data !== undefined && (data['otpRequired'] ?? undefined) === undefined;
  const needsCode = status === false && told.transactionId !== undefined;
  const otpRequired = isLeftOut ? needsCode : told.otpRequired;
  // The specification does not say which HTTP status carries a rejection.
  if (code === '400' && status === false && otpRequired === false) return rejectedFor(message);
  if (!told.isOk || code !== '00') return undefined;
  if (otpRequired === true) return status === false ? judgePending(told) : undefined;
  if (otpRequired === undefined || status === undefined) return undefined;
  return status ? { kind: 'approved' } : { kind: 'declined', bankMessage: message };
}

/** Without its transaction id no OTP could ever be submitted. */
function judgePending({ transactionId, message }: Told): ChargeAnswer | undefined {
  return transactionId === undefined ? undefined : { kind: 'otp_required', transactionId, message };
}

/** One OTP for one saved-card charge. `otp` and `transactionId` are secrets. */
export type OtpSubmission = { otp: string; transactionId: string; reference: OrderReference };

/**
 * What the service answered to an OTP. `accepted` is to be confirmed by a look-up. `wrong` is every refusal
 * but `too_many`, the payment's time being over among them: the bank's words for it are not shown.
 *
 * Spec: submit OTP; Errors (OTP errors).
 */
export type OtpAnswer =
  | { kind: 'accepted' }
  | { kind: 'wrong'; bankMessage: string | undefined }
  | { kind: 'too_many'; bankMessage: string | undefined }
  | NotMade
  | Unknown;

/**
 * Submits one OTP, without Authorization or accountId. Never throws, and keeps the code nowhere. The
 * service counts it as one of 3 whenever it was received.
 *
 * Spec: submit OTP; Limits (OTP submissions).
 */
export async function submitOtp(
  client: PaymentsClient,
  submission: OtpSubmission,
  leave: Leave,
): Promise<OtpAnswer> {
  const { otp, transactionId, reference: orderReference } = submission;
  const middleware = [leavingBy(leave)];
  return await askForEffect({
    call: () =>
      client.POST('/v1/checkout/checkout-card-otp', {
        body: { otp, orderReference, transactionId },
        middleware,
      }),
    judge: judgeOtp,
    secrets: [otp, transactionId],
    movesMoney: true,
  });
}

/**
 * The specification tells a refused OTP by data.status alone; the code beside it is not shown. Of too many it shows
 * the words `TOO MANY OTP ATTEMPTS`; any that say so end the tries, which costs no more than a look-up.
 */
function judgeOtp({ isOk, httpStatus, code, status, message }: Told): OtpAnswer | undefined {
  if (status === false && (isOk || httpStatus === 400 || httpStatus === 422)) {
    return { kind: /too many/i.test(message ?? '') ? 'too_many' : 'wrong', bankMessage: message };
  }
  return isOk && code === '00' && status === true ? { kind: 'accepted' } : undefined;
}

/**
 * What the service answered to the wish for another OTP, which gives no more time in any case. The body is
 * not shown, so it is judged by the envelope alone: `resent` needs code "00".
 *
 * Spec: resend-otp.
 */
type ResendAnswer = { kind: 'resent' | 'refused' } | NotMade | Unknown;

/**
 * Asks the bank, through the service, for another OTP; without Authorization or accountId. It gives neither
 * more time nor more tries. Never throws; in the sandbox, which has no such endpoint, it is `unknown`.
 *
 * Spec: resend-otp (the charge's transactionId travels in the field named orderReference).
 */
export async function resendOtp(
  client: PaymentsClient,
  transactionId: string,
  leave: Leave,
): Promise<ResendAnswer> {
  const middleware = [leavingBy(leave)];
  return await askForEffect({
    call: () =>
      client.POST('/v1/checkout/resend-otp', { body: { orderReference: transactionId }, middleware }),
    judge: judgeResend,
    secrets: [transactionId],
  });
}

/** The body is not shown: whatever says no in it is a refusal. */
function judgeResend(told: Told): ResendAnswer | undefined {
  const { code, status, data, isDenied } = told;
  if (told.httpStatus === 404) return { kind: 'refused' };
  if (!told.isOk || code === undefined) return undefined;
  const saysNo = isDenied || status === false || readBoolean(data?.['success']) === false;
  return { kind: code === '00' && !saysNo ? 'resent' : 'refused' };
}
