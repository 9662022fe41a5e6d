import { onTestFinished } from 'vitest';
import { readFileSync } from 'node:fs';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { parse } from 'yaml';
import type { Exchange } from '../../../src/simulators/protocol.ts';
import {
  type PaymentsOptions,
  type PaymentsService,
  startPaymentsService,
} from '../../../src/simulators/payments/service.ts';
import { signWebhook } from '../../../src/simulators/payments/webhooks-out.ts';
import { serveOnLoopback } from '../../support/loopback.ts';

/**
 * Records the simulator always tells whole. The specification requires none of their fields, so without
 * this an empty object would pass for a transaction.
 */
const wholeRecords = ['Account', 'BankEntry', 'SavedCard', 'Transaction', 'Terminal'];

export const openapi = loadOpenapiAnswers(new URL('../../../openapi/payments.yaml', import.meta.url));

export type Reply = { status: number; headers: Headers; body: { [name: string]: unknown }; data: Data };
export type Data = { [name: string]: unknown };
export type CallOptions = {
  body?: unknown;
  headers?: Record<string, string>;
  query?: Record<string, string>;
};

export type Card = { customerEmail: string; tokenKey: string };

/** A merchant's system over real HTTP: every answer it gets is held against openapi/payments.yaml. */
export type Merchant = {
  service: PaymentsService;
  exchanges: Exchange[];
  clock: { now: number };
  token: string;
  /** With Authorization and accountId. */
  call: (method: string, path: string, options?: CallOptions) => Promise<Reply>;
  /** With only the headers given. */
  callBare: (method: string, path: string, options?: CallOptions) => Promise<Reply>;
  charge: (order: Data, tokenKey: string) => Promise<Reply>;
  /** NGN 5000.00 when no amount is said. */
  chargeCard: (card: Card, orderReference: string, amount?: string) => Promise<Reply>;
  /** Waits a moment for the answer, and rejects. */
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
    openapi.check({ method, path, status: response.status, headers: response.headers, body });
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

/** Everything received so far, once nothing is under way, each payload held against openapi/payments.yaml. */
export async function eventsOf(merchant: Merchant, receiver: Receiver): Promise<Received['payload'][]> {
  await merchant.service.settled();
  for (const { payload } of receiver.received) openapi.checkEvent(payload.event, payload);
  return receiver.received.map(({ payload }) => payload);
}

type Json = { [name: string]: unknown };

/** What of the answer is held against the document. `headers` are read case-blind. */
type GivenAnswer = { method: string; path: string; status: number; headers: Headers; body: unknown };

type OpenapiAnswers = {
  /** Every "METHOD /path" the document declares. */
  operations: string[];
  /** Throws, saying why, unless the document declares this answer. */
  check: (answer: GivenAnswer) => void;
  /** Throws, saying why, unless the document declares this event with this payload. */
  checkEvent: (event: string, payload: unknown) => void;
};

function loadOpenapiAnswers(file: string | URL): OpenapiAnswers {
  const document = parse(readFileSync(file, 'utf8'), { maxAliasCount: -1 }) as Json;
  const schemas = at(document, 'components', 'schemas');
  for (const name of wholeRecords) {
    const record = schemas[name] as Json;
    record['required'] = Object.keys(record['properties'] as Json);
    record['additionalProperties'] = false;
  }
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats.default(ajv);
  ajv.addSchema(document, 'openapi');
  const validators = new Map<string, ValidateFunction>();

  function check(pointer: string[], value: unknown, what: string): void {
    const ref = `openapi#/${pointer.map(escapePointer).join('/')}`;
    const validate = validators.get(ref) ?? ajv.compile({ $ref: ref });
    validators.set(ref, validate);
    if (!validate(value)) {
      throw new Error(
        `${what} breaks openapi/payments.yaml: ${ajv.errorsText(validate.errors)}\n${JSON.stringify(value)}`,
      );
    }
  }

  function checkHeaders(pointer: string[], headers: Headers, what: string): void {
    const declared = (at(document, ...pointer)['headers'] ?? {}) as Json;
    for (const name of Object.keys(declared)) {
      const header = follow(document, [...pointer, 'headers', name]);
      const text = headers.get(name);
      if (text === null) throw new Error(`${what} has no header ${name}, which the document declares.`);
      const schema = at(document, ...header, 'schema');
      check([...header, 'schema'], schema['type'] === 'integer' ? Number(text) : text, `${what} ${name}`);
    }
  }

  return {
    operations: Object.entries(document['paths'] as Json).flatMap(([path, item]) =>
      ['get', 'post', 'put', 'patch', 'delete']
        .filter((method) => method in (item as Json))
        .map((method) => `${method.toUpperCase()} ${path}`),
    ),
    check: ({ method, path, status, headers, body }) => {
      const what = `${method} ${path} ${status}`;
      const operation = ['paths', path, method.toLowerCase(), 'responses'];
      if (!(String(status) in at(document, ...operation))) throw new Error(`${what} is not declared.`);
      const response = follow(document, [...operation, String(status)]);
      checkHeaders(response, headers, what);
      check([...response, 'content', 'application/json', 'schema'], body, what);
    },
    checkEvent: (event, payload) => {
      const body = follow(document, ['webhooks', event, 'post', 'requestBody']);
      check([...body, 'content', 'application/json', 'schema'], payload, `Event ${event}`);
    },
  };
}

function at(document: Json, ...pointer: string[]): Json {
  let value: unknown = document;
  for (const name of pointer) value = (value as Json | undefined)?.[name];
  if (typeof value !== 'object' || value === null)
    throw new Error(`The document has no ${pointer.join(' → ')}.`);
  return value as Json;
}

/** Where the thing really stands, behind a reference. */
function follow(document: Json, pointer: string[]): string[] {
  const reference = at(document, ...pointer)['$ref'];
  return typeof reference === 'string' ? reference.slice(2).split('/') : pointer;
}

function escapePointer(name: string): string {
  return encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1'));
}
