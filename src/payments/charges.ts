import type { OrderReference } from '../domain/order-reference.ts';
import type { NotMade } from '../domain/failure.ts';
import { type SendDeadline, withSendDeadline, type PaymentsClient } from './client.ts';
import { type Money, wireFromMinor } from '../domain/money.ts';
import {
  type Rejected,
  type Unknown,
  askForEffect,
  readBoolean,
  referenceTaken,
  rejectedFor,
  type Reply,
} from './effect-answer.ts';

/** A saved-card charge. `tokenKey` is a secret; the e-mail must be the one linked to the card. */
export type SavedCardCharge = {
  tokenKey: string;
  money: Money;
  customerEmail: string;
  /** Store it before the call: without it the charge can't be looked up. */
  reference: OrderReference;
  customerId?: string | undefined;
};

/**
 * The service's answer to a saved-card charge. No answer proves a payment: even `approved` is confirmed by a look-up.
 * Messages are outside text, with the request's secrets struck out. A 3-D Secure challenge, which a saved-card charge
 * cannot complete, arrives as `declined`: only the bank's words tell it apart.
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
 * Charges a saved card once, in favour of the account `accountId`. Never throws: every doubt is `unknown`. `approved`
 * and `declined` need a row of the specification's table; HTTP 200 and `description` decide nothing. After
 * `deadline` nothing is sent, neither after a wait for a token nor as the repeat after a 401.
 *
 * Spec: charge a saved card.
 */
export async function chargeSavedCard(
  client: PaymentsClient,
  accountId: string,
  charge: SavedCardCharge,
  deadline: SendDeadline,
): Promise<ChargeAnswer> {
  const { tokenKey, money, customerEmail, reference, customerId } = charge;
  const order = {
    amount: wireFromMinor(money.minor),
    currency: money.currency,
    customerEmail,
    orderReference: reference,
    ...(customerId === undefined ? {} : { customerId }),
  };
  const middleware = [withSendDeadline(deadline)];
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

function judgeCharge(reply: Reply): ChargeAnswer | undefined {
  const taken = referenceTaken(reply);
  if (taken) return taken;
  const { code, status, message, data } = reply;
  // If `otpRequired` is missing, a transaction id says the same.
  const isMissing = data !== undefined && (data['otpRequired'] ?? undefined) === undefined;
  const needsCode = status === false && reply.transactionId !== undefined;
  const otpRequired = isMissing ? needsCode : reply.otpRequired;
  // The specification does not say which HTTP status carries a rejection.
  if (code === '400' && status === false && otpRequired === false) return rejectedFor(message);
  if (!reply.isOk || code !== '00') return undefined;
  if (otpRequired === true) return status === false ? judgePending(reply) : undefined;
  if (otpRequired === undefined || status === undefined) return undefined;
  return status ? { kind: 'approved' } : { kind: 'declined', bankMessage: message };
}

/** Undefined without a transaction id, which submitting the OTP requires. */
function judgePending({ transactionId, message }: Reply): ChargeAnswer | undefined {
  return transactionId === undefined ? undefined : { kind: 'otp_required', transactionId, message };
}

/** `otp` and `transactionId` are secrets. */
export type OtpSubmission = { otp: string; transactionId: string; reference: OrderReference };

/**
 * The service's answer to an OTP. `accepted` is confirmed by a look-up. `wrong` is every refusal but `too_many`, also
 * of an expired OTP: the specification doesn't give the bank's words for that.
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
 * Submits one OTP, without Authorization or accountId. Never throws, and doesn't store the OTP. Each OTP that reaches
 * the service uses one of its 3 tries.
 *
 * Spec: submit OTP; Limits (OTP submissions).
 */
export async function submitOtp(
  client: PaymentsClient,
  submission: OtpSubmission,
  deadline: SendDeadline,
): Promise<OtpAnswer> {
  const { otp, transactionId, reference: orderReference } = submission;
  const middleware = [withSendDeadline(deadline)];
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
 * The specification marks a refused OTP by data.status alone. `TOO MANY OTP ATTEMPTS`, or any words with "too many",
 * end the tries: a mistake costs one look-up.
 */
function judgeOtp({ isOk, httpStatus, code, status, message }: Reply): OtpAnswer | undefined {
  if (status === false && (isOk || httpStatus === 400 || httpStatus === 422)) {
    return { kind: /too many/i.test(message ?? '') ? 'too_many' : 'wrong', bankMessage: message };
  }
  return isOk && code === '00' && status === true ? { kind: 'accepted' } : undefined;
}

/**
 * The service's answer to a request for another OTP. Its body is unspecified, so only the envelope counts: `resent`
 * needs code "00".
 *
 * Spec: resend-otp.
 */
type ResendAnswer = { kind: 'resent' | 'refused' } | NotMade | Unknown;

/**
 * Asks the bank, through the service, for another OTP, without Authorization or accountId. Adds neither time nor tries.
 * Never throws. The sandbox has no such endpoint and gives `unknown`.
 *
 * Spec: resend-otp (the charge's transactionId travels in the field named orderReference).
 */
export async function resendOtp(
  client: PaymentsClient,
  transactionId: string,
  deadline: SendDeadline,
): Promise<ResendAnswer> {
  const middleware = [withSendDeadline(deadline)];
  return await askForEffect({
    call: () =>
      client.POST('/v1/checkout/resend-otp', { body: { orderReference: transactionId }, middleware }),
    judge: judgeResend,
    secrets: [transactionId],
  });
}

/** The body is unspecified: any false in it is a refusal. */
function judgeResend(reply: Reply): ResendAnswer | undefined {
  const { code, status, data, isDenied } = reply;
  if (reply.httpStatus === 404) return { kind: 'refused' };
  if (!reply.isOk || code === undefined) return undefined;
  const saysNo = isDenied || status === false || readBoolean(data?.['success']) === false;
  return { kind: code === '00' && !saysNo ? 'resent' : 'refused' };
}
