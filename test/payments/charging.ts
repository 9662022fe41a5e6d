import type { AccessToken } from '../../src/payments/access-token.ts';
import { createPaymentsClient, type PaymentsClient, type SendDeadline } from '../../src/payments/client.ts';
import type { OtpSubmission, SavedCardCharge } from '../../src/payments/charges.ts';
import type { OrderReference } from '../../src/domain/order-reference.ts';

export const baseUrl = 'https://payments.test';
export const accountId = '8b0e2f74-16c9-4d3a-b5a7-90c4d1e26f38';
export const chargePath = '/v1/checkout/tokenized-card-payment';
export const otpPath = '/v1/checkout/checkout-card-otp';
export const resendPath = '/v1/checkout/resend-otp';
export const emailPath = '/v1/checkout/tokenized-card-data';
export const orderPath = '/v1/checkout/order';

export const reference = 'PAY-1' as OrderReference;
export const secrets = {
  tokenKey: 'canary-token-key-4711',
  transactionId: 'canary-transaction-4712',
  otp: '90417713',
  accessToken: 'canary-access-token-4713',
};

export const charge: SavedCardCharge = {
  tokenKey: secrets.tokenKey,
  money: { minor: 500_050, currency: 'NGN' },
  customerEmail: 'ada.obi@example.com',
  reference,
};

export const submission: OtpSubmission = {
  otp: secrets.otp,
  transactionId: secrets.transactionId,
  reference,
};

export const inTime: SendDeadline = { leaveBy: 1_000, now: () => 1_000 };
export const tooLate: SendDeadline[] = [
  { leaveBy: 1_000, now: () => 1_001 },
  { leaveBy: Number.NaN, now: () => 0 },
];

/** A charge's `data`, with any values for the two fields that decide. */
export function chargeData(status: unknown, otpRequired: unknown, more: object = {}): object {
  return {
    status,
    message: 'words of the bank',
    otpRequired,
    orderId: 'S-1',
    orderReference: reference,
    ...more,
  };
}

export function envelope(code: unknown, data: unknown): object {
  return { code, description: 'Success', status: true, data };
}

export function fixedToken(first: string = secrets.accessToken, next = first): AccessToken {
  return { current: () => Promise.resolve(first), replace: () => Promise.resolve(next) };
}

export function clientOf(
  settings: { baseUrl?: string; sandbox?: boolean; timeoutMs?: number } = {},
  accessToken: AccessToken = fixedToken(),
): PaymentsClient {
  return createPaymentsClient({ baseUrl, sandbox: false, timeoutMs: 5_000, ...settings, accessToken });
}

/** A client whose every request gets this answer, without a network. */
export function cannedClient(body: unknown, httpStatus = 200): PaymentsClient {
  return createPaymentsClient({
    baseUrl,
    sandbox: false,
    timeoutMs: 5_000,
    accessToken: fixedToken(),
    fetch: () => Promise.resolve(Response.json(body, { status: httpStatus })),
  });
}

/** An answer's whole content as text, causes included, except the one field that is a secret on purpose. */
export function shown(answer: object): string {
  const texts = [JSON.stringify({ ...answer, transactionId: undefined })];
  let cause: unknown = 'cause' in answer ? answer.cause : undefined;
  while (cause instanceof Error) {
    texts.push(String(cause), cause.stack ?? '', JSON.stringify(cause));
    cause = cause.cause;
  }
  return texts.join('\n');
}
