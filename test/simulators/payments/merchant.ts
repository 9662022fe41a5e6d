import { onTestFinished } from 'vitest';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { Exchange } from '../../../src/simulators/protocol.ts';
import {
  type PaymentsOptions,
  type PaymentsService,
  startPaymentsService,
} from '../../../src/simulators/payments/service.ts';
import { signWebhook } from '../../../src/simulators/payments/webhooks-out.ts';
import { document, operations, requestOf, resolve, responseOf, type Node } from '../../contract/document.ts';
import { serveOnLoopback } from '../../support/loopback.ts';

/**
 * Records that the simulator always sends whole. The specification requires none of their fields, so without this an
 * empty object would pass for a transaction.
 */
const wholeRecords = ['Account', 'BankEntry', 'SavedCard', 'Transaction', 'Terminal'];

export type Reply = { status: number; headers: Headers; body: { [name: string]: unknown }; data: Data };
export type Data = { [name: string]: unknown };
export type CallOptions = {
  body?: unknown;
  headers?: Record<string, string>;
  query?: Record<string, string>;
};

export type Card = { customerEmail: string; tokenKey: string };

/** A merchant's system over real HTTP: checks every answer against openapi/payments.yaml. */
export type Merchant = {
  service: PaymentsService;
  exchanges: Exchange[];
  clock: { now: number };
  token: string;
  /** With Authorization and accountId. */
  call: (method: string, path: string, options?: CallOptions) => Promise<Reply>;
  /** With only the given headers. */
  callBare: (method: string, path: string, options?: CallOptions) => Promise<Reply>;
  charge: (order: Data, tokenKey: string) => Promise<Reply>;
  /** NGN 5000.00 by default. */
  chargeCard: (card: Card, orderReference: string, amount?: string) => Promise<Reply>;
  /** Aborts soon, and rejects. */
  chargeImpatiently: (card: Card, orderReference: string, amount?: string) => Promise<Response>;
  submitOtp: (orderReference: unknown, transactionId: unknown, otp: string) => Promise<Reply>;
  lookUp: (reference: string) => Promise<Reply>;
};

function orderOn(card: Card, orderReference: string, amount = '5000.00'): Data {
  return { amount, currency: 'NGN', customerEmail: card.customerEmail, orderReference };
}

export async function startMerchant(options: PaymentsOptions = {}): Promise<Merchant> {
  const clock = { now: Date.UTC(2026, 6, 1, 9) };
  const exchanges: Exchange[] = [];
  const service = await startPaymentsService({
    now: () => clock.now,
    onExchange: (exchange) => exchanges.push(exchange),
    retryDelaysMs: [1, 1, 1],
    ...options,
  });
  onTestFinished(() => service.close());

  async function callBare(method: string, path: string, given: CallOptions = {}): Promise<Reply> {
    const query = given.query ? `?${new URLSearchParams(given.query).toString()}` : '';
    const response = await fetch(service.url + path + query, {
      method,
      headers: {
        ...(given.body === undefined ? {} : { 'content-type': 'application/json' }),
        ...given.headers,
      },
      ...(given.body === undefined ? {} : { body: JSON.stringify(given.body) }),
    });
    const body = (await response.json()) as Data;
    checkAnswer(`${method} ${path}`, { status: response.status, headers: response.headers, body });
    return { status: response.status, headers: response.headers, body, data: (body['data'] ?? {}) as Data };
  }

  const merchant: Merchant = {
    service,
    exchanges,
    clock,
    token: '',
    callBare,
    call: (method, path, given = {}) =>
      callBare(method, path, { ...given, headers: { ...merchantHeaders(merchant), ...given.headers } }),
    charge: (order, tokenKey) =>
      merchant.call('POST', '/v1/checkout/tokenized-card-payment', { body: { tokenKey, order } }),
    chargeCard: (card, reference, amount) => merchant.charge(orderOn(card, reference, amount), card.tokenKey),
    chargeImpatiently: (card, reference, amount) =>
      fetch(`${service.url}/v1/checkout/tokenized-card-payment`, {
        method: 'POST',
        headers: { ...merchantHeaders(merchant), 'content-type': 'application/json' },
        body: JSON.stringify({ tokenKey: card.tokenKey, order: orderOn(card, reference, amount) }),
        signal: AbortSignal.timeout(100),
      }),
    submitOtp: (reference, transactionId, otp) =>
      callBare('POST', '/v1/checkout/checkout-card-otp', {
        body: { otp, orderReference: reference, transactionId },
      }),
    lookUp: (orderReference) =>
      merchant.call('GET', '/v1/transactions/accounts/single', { query: { orderReference } }),
  };
  const issued = await issueToken(merchant);
  merchant.token = issued.data['accessToken'] as string;
  return merchant;
}

export function merchantHeaders(merchant: Merchant): Record<string, string> {
  return { authorization: `Bearer ${merchant.token}`, accountId: merchant.service.credentials.accountId };
}

export function issueToken(merchant: Merchant): Promise<Reply> {
  const { accountId, clientId, clientSecret } = merchant.service.credentials;
  return merchant.callBare('POST', '/v1/auth/token/issue', {
    headers: { accountId },
    body: { clientId, clientSecret },
  });
}

export type Received = {
  payload: Data & { event: string; eventId: string; createdAt: string };
  signed: boolean;
};
export type Receiver = { url: string; received: Received[]; answers: number[] };

/** The merchant's webhook URL. Answers the given statuses in turn, then 200; 401 always to a bad signature. */
export async function startReceiver(merchant: Merchant, answers: number[] = []): Promise<Receiver> {
  const receiver: Receiver = { url: '', received: [], answers };
  const server = await serveOnLoopback((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const raw = Buffer.concat(chunks).toString();
      const { webhookSecret } = merchant.service.credentials;
      const signed = request.headers['x-payments-signature'] === signWebhook(raw, webhookSecret);
      const payload = JSON.parse(raw) as Received['payload'];
      receiver.received.push({ payload, signed });
      response.writeHead(signed ? (receiver.answers.shift() ?? 200) : 401).end('{}');
    });
  });
  onTestFinished(server.close);
  receiver.url = `${server.url}/webhooks/payments`;
  merchant.service.sendWebhooksTo(receiver.url);
  return receiver;
}

/** Everything received so far, once nothing is under way; checks each payload against openapi/payments.yaml. */
export async function eventsOf(merchant: Merchant, receiver: Receiver): Promise<Received['payload'][]> {
  await merchant.service.settled();
  for (const { payload } of receiver.received) checkEvent(payload.event, payload);
  return receiver.received.map(({ payload }) => payload);
}

const { components } = structuredClone(document) as { components: { schemas: Record<string, Node> } };
for (const name of wholeRecords) {
  const { properties } = components.schemas[name] as { properties: Node };
  Object.assign(components.schemas[name] ?? {}, {
    required: Object.keys(properties),
    additionalProperties: false,
  });
}
const ajv = new Ajv2020({ strict: false, allErrors: true });
addFormats.default(ajv);
const validators = new Map<unknown, ValidateFunction>();

function checkValue(schema: unknown, value: unknown, what: string): void {
  const validate = validators.get(schema) ?? ajv.compile({ ...(schema as Node), components });
  validators.set(schema, validate);
  if (!validate(value))
    throw new Error(
      `${what} breaks openapi/payments.yaml: ${ajv.errorsText(validate.errors)}\n${JSON.stringify(value)}`,
    );
}

/** Throws, with the reason, unless the document declares this answer. Ignores the case of `headers`. */
export function checkAnswer(
  operation: string,
  { status, headers, body }: { status: number; headers: Headers; body: unknown },
): void {
  const what = `${operation} ${status}`;
  const declared = operations.find((one) => `${one.method.toUpperCase()} ${one.path}` === operation);
  const responses = declared?.node['responses'] as Node | undefined;
  if (!declared || !(status in (responses ?? {}))) throw new Error(`${what} is not declared.`);
  for (const [name, header] of Object.entries((resolve(responses?.[status])['headers'] ?? {}) as Node)) {
    const text = headers.get(name);
    if (text === null) throw new Error(`${what} has no header ${name}, which the document declares.`);
    const { schema } = resolve(header) as { schema: Node };
    checkValue(schema, schema['type'] === 'integer' ? Number(text) : text, `${what} ${name}`);
  }
  checkValue(responseOf(declared, String(status))?.schema, body, what);
}

/** Throws, with the reason, unless the document declares this event with this payload. */
export function checkEvent(event: string, payload: unknown): void {
  const declared = operations.find(({ path, webhook }) => webhook && path === event);
  if (!declared) throw new Error(`Event ${event} is not declared.`);
  checkValue(requestOf(declared)?.schema, payload, `Event ${event}`);
}
