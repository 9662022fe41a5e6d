import nock from 'nock';
import type { IncomingHttpHeaders } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { text } from 'node:stream/consumers';
import { createGzip } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { AccessToken } from '../../src/payments/access-token.ts';
import { createPaymentsClient } from '../../src/payments/client.ts';
import { findTransaction, findTransactionById, type TransactionReading } from '../../src/payments/lookups.ts';
import type { OrderReference } from '../../src/domain/order-reference.ts';
import type { Span } from '../../src/domain/span.ts';
import { serveOnLoopback } from '../support/loopback.ts';
import { mockTheOutside } from '../support/mocks.ts';
import { runtimeOf } from '../support/runtime-of.ts';

const baseUrl = 'https://payments.test';
const accountId = '8b0e2f74-16c9-4d3a-b5a7-90c4d1e26f38';
const parentId = '0d1c7b92-7a0e-4a51-8f2c-3f9f7f6f0d11';
const reference = 'ORDER-1' as OrderReference;
const header = { accountId };
const order = { amount: '10.00', currency: 'NGN', customerEmail: 'a@example.com' };

mockTheOutside();

function fixedToken(): AccessToken & { replaced: string[] } {
  const replaced: string[] = [];
  return {
    replaced,
    current: () => Promise.resolve('token-1'),
    replace(rejected) {
      replaced.push(rejected);
      return Promise.resolve('token-2');
    },
  };
}

function clientOf(options: Partial<Parameters<typeof createPaymentsClient>[0]> = {}) {
  const accessToken = fixedToken();
  const client = createPaymentsClient({
    baseUrl,
    sandbox: false,
    timeoutMs: 1_000,
    accessToken,
    ...options,
  });
  return { client, accessToken };
}

const { config } = runtimeOf({});

/** Looks the reference up. */
function found(client = clientOf().client, reading: TransactionReading = config, id = accountId) {
  return findTransaction(client, id, reference, reading);
}

const record = {
  id: 'T-1',
  status: 'SUCCESS',
  amount: '5000.00',
  currency: 'NGN',
  onlineCheckoutOrderReference: 'ORDER-1',
  onlineCheckoutAmount: '5000.00',
  onlineCheckoutCurrency: 'NGN',
};

function lookUpMock() {
  return nock(baseUrl).get('/v1/transactions/accounts/single').query({ orderReference: 'ORDER-1' });
}

function byIdMock() {
  return nock(baseUrl).get('/v1/transactions/accounts/single').query({ transactionId: 'T-1' });
}

describe('payments client', () => {
  it.each([
    '/v1/checkout/checkout-card-otp',
    '/v1/checkout/resend-otp',
    '/v1/checkout/checkout-card-detail',
  ] as const)('sends neither Authorization nor accountId to %s', async (path) => {
    nock(baseUrl, { badheaders: ['authorization', 'accountid'] })
      .post(path)
      .reply(200, { code: '00' });
    const { client } = clientOf();
    const post = client.POST as (path: string, init: object) => Promise<{ response: Response }>;
    const { response } = await post(path, { body: { otp: '1', orderReference: 'r', transactionId: 't' } });
    expect(response.status).toBe(200);
  });

  it('repeats once with a new token after a 401, body included', async () => {
    const body = { tokenKey: 'k', order };
    nock(baseUrl, { reqheaders: { authorization: 'Bearer token-1' } })
      .post('/v1/checkout/tokenized-card-payment', body)
      .reply(401, {});
    nock(baseUrl, { reqheaders: { authorization: 'Bearer token-2' } })
      .post('/v1/checkout/tokenized-card-payment', body)
      .reply(200, { code: '00', description: '', status: true, data: {} });
    const { client, accessToken } = clientOf();
    const { response } = await client.POST('/v1/checkout/tokenized-card-payment', {
      params: { header },
      body,
    });
    expect(response.status).toBe(200);
    expect(accessToken.replaced).toEqual(['token-1']);
  });

  it('throws unauthorized after the second 401 and repeats no third time', async () => {
    lookUpMock().twice().reply(401, 'no');
    await expect(found()).rejects.toMatchObject({
      kind: 'unauthorized',
    });
  });

  it.each([
    [403, 'forbidden'],
    [500, 'server'],
    [502, 'server'],
    [418, 'server'],
  ])('throws on HTTP %i with kind %s, with any body', async (status, kind) => {
    lookUpMock().reply(status, '<html>gateway</html>');
    await expect(found()).rejects.toMatchObject({
      kind,
      httpStatus: status,
    });
  });

  it.each([
    [{ 'Retry-After': '7' }, 7_000],
    [{ 'Retry-After': 'Thu, 01 Jan 1970 00:00:09 GMT' }, 9_000],
    [{ 'Retry-After': 'Thu, 01 Jan 1970 00:00:00 GMT' }, undefined],
    [{ 'Retry-After': '999999' }, 900_000],
    [{ 'X-Rate-Limit-Window': '60s' }, 60_000],
    [{ 'X-Rate-Limit-Window': '60 seconds' }, 60_000],
    [{ 'X-Rate-Limit-Window': 'a while' }, undefined],
    [{}, undefined],
  ])('throws rate_limited on 429 and reads %j', async (headers, retryAfterMs) => {
    lookUpMock().reply(429, {}, headers);
    const { client } = clientOf({ now: () => 0 });
    await expect(found(client)).rejects.toMatchObject({
      kind: 'rate_limited',
      retryAfterMs,
    });
  });

  it('throws timeout at the deadline, also while the body trickles', async () => {
    const { url, close } = await serveOnLoopback((_request, response) => {
      response.writeHead(200, { 'Content-Type': 'application/json' });
      response.write('{"code":');
    });
    const { client } = clientOf({ timeoutMs: 50, baseUrl: url });
    await expect(found(client)).rejects.toMatchObject({ kind: 'timeout' });
    await close();
  });

  it('sends the length of each body, also when it repeats after a 401', async () => {
    const seen: { headers: IncomingHttpHeaders; body: string }[] = [];
    const { url, close } = await serveOnLoopback((request, response) => {
      void text(request).then((body) => {
        seen.push({ headers: request.headers, body });
        const status = seen.length === 1 ? 401 : 200;
        return response.writeHead(status, { 'Content-Type': 'application/json' }).end('{}');
      });
    });
    const body = { tokenKey: 'k', order: { ...order, customerEmail: 'ọlá@example.com' } };
    const { client } = clientOf({ baseUrl: url });
    await client.POST('/v1/checkout/tokenized-card-payment', { params: { header }, body });
    await close();
    expect(seen.map(({ body: sent }) => JSON.parse(sent))).toEqual([body, body]);
    const length = String(Buffer.byteLength(JSON.stringify(body)));
    for (const { headers } of seen) {
      expect(headers).toMatchObject({ 'content-length': length, 'content-type': 'application/json' });
      expect(headers).not.toHaveProperty('transfer-encoding');
    }
  });

  it('refuses an answer of more than 1 MiB once decompressed, and reads no further', async () => {
    const mebibyte = Buffer.alloc(1_048_576, ' ');
    let sent = 0;
    function* bomb(): Generator<Buffer> {
      for (sent = 0; sent < 64; sent += 1) yield mebibyte;
    }
    const { url, close } = await serveOnLoopback((_request, response) => {
      response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' });
      void pipeline(Readable.from(bomb()), createGzip(), response).catch(() => undefined);
    });
    const { client } = clientOf({ baseUrl: url, timeoutMs: 10_000 });
    const before = process.memoryUsage().arrayBuffers;
    await expect(found(client)).rejects.toMatchObject({
      kind: 'malformed',
      message: expect.stringContaining('1 MiB'),
    });
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(20 * mebibyte.length);
    await close();
  });

  it('makes one call of twenty during a 429 of 60 s, and tells the others when calls resume', async () => {
    let nowMs = 0;
    const pauses = new Map<string, Span>();
    const { client } = clientOf({ pauses, now: () => nowMs });
    lookUpMock().reply(429, {}, { 'Retry-After': '60' });
    for (let call = 0; call < 20; call += 1) {
      nowMs = call * 1_000;
      await expect(found(client)).rejects.toMatchObject({
        kind: 'rate_limited',
        retryAfterMs: 60_000 - nowMs,
      });
    }
    // Other endpoints and other accounts have their own quota.
    nock(baseUrl).get('/v1/accounts/terminals').query(true).reply(200, {});
    await client.GET('/v1/accounts/terminals', { params: { header, query: { limit: 50 } } });
    const other = clientOf({ pauses, now: () => nowMs }).client;
    await expect(found(other)).rejects.toMatchObject({
      kind: 'rate_limited',
    });
    lookUpMock().reply(404, {});
    expect(await found(other, config, parentId)).toBeUndefined();
    nowMs = 60_000;
    lookUpMock().reply(404, {});
    expect(await found(client)).toBeUndefined();
  });

  it('waits no longer than asked even if the clock is put back meanwhile', async () => {
    let nowMs = 7_200_000;
    const { client } = clientOf({ now: () => nowMs });
    lookUpMock().reply(429, {}, { 'Retry-After': '60' });
    await expect(found(client)).rejects.toMatchObject({ kind: 'rate_limited' });
    nowMs = 0;
    lookUpMock().reply(404, {});
    expect(await found(client)).toBeUndefined();
  });

  it.each([
    ['60s', 60_000],
    ['60', 60_000],
    ['60000ms', 60_000],
    ['1m', 60_000],
    ['1 minute', 60_000],
    ['1h', 900_000],
    ['30 seconds', 30_000],
    ['PT1M', 60_000],
    ['60 requests', undefined],
  ])('reads the window %j as %s ms', async (window, retryAfterMs) => {
    lookUpMock().reply(429, {}, { 'X-Rate-Limit-Window': window });
    await expect(found(clientOf().client)).rejects.toMatchObject({ kind: 'rate_limited', retryAfterMs });
  });

  it('continues at once if the service names only its window, which is no request to wait', async () => {
    lookUpMock().reply(429, {}, { 'X-Rate-Limit-Window': '60s' });
    lookUpMock().reply(404, {});
    const { client } = clientOf();
    await expect(found(client)).rejects.toMatchObject({
      retryAfterMs: 60_000,
    });
    expect(await found(client)).toBeUndefined();
  });

  it('still sends an OTP: holding it back would cost the customer a try', async () => {
    const otp = { otp: '1', orderReference: 'r', transactionId: 't' };
    nock(baseUrl).post('/v1/checkout/checkout-card-otp').reply(429, {}, { 'Retry-After': '60' });
    nock(baseUrl).post('/v1/checkout/checkout-card-otp').reply(200, { code: '00' });
    const { client } = clientOf();
    await expect(client.POST('/v1/checkout/checkout-card-otp', { body: otp })).rejects.toThrow(
      'no more calls',
    );
    await client.POST('/v1/checkout/checkout-card-otp', { body: otp });
  });

  it('sends nothing more while 256 calls wait for a hanging service, and resumes when they end', async () => {
    let asked = 0;
    const fetch = ({ signal }: Request) =>
      new Promise<Response>((_resolve, reject) => {
        asked += 1;
        signal.addEventListener('abort', () => reject(new Error('broken off')));
      });
    const { client } = clientOf({ timeoutMs: 300, fetch });
    const waiting = Array.from({ length: 256 }, () => found(client).catch((error: unknown) => error));
    await expect(found(client)).rejects.toMatchObject({
      kind: 'timeout',
      message: '256 calls wait for the payments service: nothing was sent.',
    });
    await Promise.all(waiting);
    expect(asked).toBe(256);
    await expect(found(client)).rejects.toMatchObject({ message: expect.stringContaining('0.3 s') });
    expect(asked).toBe(257);
  });

  it('throws network when nothing answers, and keeps the cause', async () => {
    const cause = new Error('connect ECONNREFUSED');
    // Thrown like this by the standard fetch.
    lookUpMock().replyWithError(new TypeError('fetch failed', { cause }));
    const failure = await found().catch((error: unknown) => error);
    expect(failure).toMatchObject({ kind: 'network', cause: expect.anything() });
  });

  it('reads a number too long for JavaScript as its digits, also deep inside', async () => {
    const id = '12345678901234567890';
    const other = `"amount":5000.10,"others":[{"id":-${id},"note":"id: ${id}"}]`;
    lookUpMock().reply(200, `{"code":"00","data":{"id": ${id},${other}}}`, {
      'Content-Type': 'application/json',
    });
    const { data } = await clientOf().client.GET('/v1/transactions/accounts/single', {
      params: { header, query: { orderReference: reference } },
    });
    expect(data).toEqual({
      code: '00',
      data: { id, amount: 5000.1, others: [{ id: `-${id}`, note: `id: ${id}` }] },
    });
  });

  it('throws malformed for a 200 that is not JSON', async () => {
    lookUpMock().reply(200, '<html>');
    await expect(found()).rejects.toMatchObject({
      kind: 'malformed',
    });
  });

  it('follows no redirect: credentials must not travel', async () => {
    lookUpMock().reply(302, '', { Location: 'https://elsewhere.test/' });
    await expect(found()).rejects.toMatchObject({
      kind: 'network',
    });
  });

  it('puts paths behind a base URL that has one itself', async () => {
    nock('https://proxy.test').get('/payments/v1/transactions/accounts/single').query(true).reply(404, {});
    const { client } = clientOf({ baseUrl: 'https://proxy.test/payments' });
    expect(await found(client)).toBeUndefined();
  });
});

describe('payments client in the sandbox', () => {
  it('changes checkout paths only', async () => {
    nock(baseUrl).post('/sandbox/checkout/order').reply(200, { code: '00' });
    nock(baseUrl).get('/v1/transactions/accounts/single').query(true).reply(200, { code: '01', data: null });
    nock(baseUrl).get('/v1/accounts/terminals').query({ limit: 50 }).reply(200, { code: '00' });
    const { client } = clientOf({ sandbox: true });
    await client.POST('/v1/checkout/order', { params: { header }, body: { order } });
    expect(await found(client)).toBeUndefined();
    await client.GET('/v1/accounts/terminals', { params: { header, query: { limit: 50 } } });
  });

  it('sends no token to the OTP endpoint there either', async () => {
    nock(baseUrl, { badheaders: ['authorization'] })
      .post('/sandbox/checkout/checkout-card-otp')
      .reply(200, { code: '00' });
    const body = { otp: '9999', orderReference: 'r', transactionId: 't' };
    const { response } = await clientOf({ sandbox: true }).client.POST('/v1/checkout/checkout-card-otp', {
      body,
    });
    expect(response.status).toBe(200);
  });

  it('refuses to resend an OTP, since the sandbox can’t', async () => {
    const call = clientOf({ sandbox: true }).client.POST('/v1/checkout/resend-otp', {
      body: { orderReference: 't' },
    });
    await expect(call).rejects.toMatchObject({ kind: 'malformed' });
  });
});

describe('findTransaction', () => {
  it.each([
    ['code 01 with null data', 200, { code: '01', description: 'Transaction not found', data: null }],
    ['code 01 without data', 200, { code: '01' }],
    ['HTTP 404 with a JSON object', 404, {}],
  ])('says undefined for %s', async (_what, status, body) => {
    lookUpMock().reply(status, body as nock.Body);
    expect(await found()).toBeUndefined();
  });

  it.each([
    ['a web server’s page', '<html><h1>404 Not Found</h1><hr>nginx</html>'],
    ['words', 'Not Found'],
    ['nothing', ''],
    ['JSON that is no object', '"Not Found"'],
  ])(
    'does not take HTTP 404 with %s for the service’s answer, and names the address to check',
    async (_what, body) => {
      lookUpMock().reply(404, body);
      await expect(found()).rejects.toMatchObject({
        kind: 'malformed',
        httpStatus: 404,
        message: expect.stringContaining('PAYMENTS_BASE_URL'),
      });
      lookUpMock().reply(404, body);
      const { client } = clientOf({ sandbox: true });
      await expect(found(client)).rejects.toThrow('PAYMENTS_SANDBOX_URL');
    },
  );

  it.each([
    ['a number for the amount', { ...record, amount: 5000, onlineCheckoutAmount: 5000.0 }],
    ['one decimal', { ...record, amount: '5000.0' }],
    ['a list of one', [record]],
    [
      'a list with the right one among others',
      [{ ...record, onlineCheckoutOrderReference: 'OTHER' }, record],
    ],
  ])('reads %s', async (_what, data) => {
    lookUpMock().reply(200, { code: '00', data });
    expect(await found()).toMatchObject({
      status: 'SUCCESS',
      amountMinor: 500_000,
      orderReference: 'ORDER-1',
    });
  });

  it('returns every record of the reference, so that the first alone is not trusted', async () => {
    lookUpMock().reply(200, {
      code: '00',
      data: [record, { ...record, onlineCheckoutOrderReference: 'OTHER' }, { ...record, status: 'FAILED' }],
    });
    expect(await found()).toMatchObject({ status: 'SUCCESS', others: [{ status: 'FAILED' }] });
  });

  it.each([
    ['FAILED', 'not_paid'],
    ['SETTLED', 'paid'],
    ['SUCCESS', 'unknown'],
  ])('says of the status %s what the settings say: %s', async (status, outcome) => {
    const reading = { paymentsPaidStatuses: ['SETTLED'], paymentsFinalStatuses: ['FAILED'] };
    lookUpMock().reply(200, { code: '00', data: { ...record, status } });
    expect(await found(undefined, { ...config, ...reading })).toMatchObject({
      outcome,
    });
  });

  const withFee = { ...record, amount: '5075.00', fee: '75.00' };
  const minusFee = { paymentsFeePointer: '/fee' };
  const named = { paymentsAmountPointer: '/onlineCheckoutAmount' };
  it.each([
    [minusFee, withFee, [500_000, 'NGN 5,075.00 − NGN 75.00 fee']],
    [named, withFee, [500_000, 'onlineCheckoutAmount']],
    [minusFee, record, [500_000, undefined]],
    [minusFee, { ...withFee, fee: 'some' }, [undefined, undefined]],
    [minusFee, { ...withFee, fee: '5075.01' }, [undefined, undefined]],
  ])('reads the amount where the settings say: %j of %j', async (reading, data, [amountMinor, how]) => {
    lookUpMock().reply(200, { code: '00', data });
    const transaction = await found(undefined, { ...config, ...reading });
    expect(transaction?.amountMinor).toBe(amountMinor);
    expect(transaction?.compared).toEqual(how === undefined ? undefined : { how, takenMinor: 507_500 });
  });

  it.each([
    [{}, { amount: '5.000,00' }, '5.000,00'],
    [{}, { amount: { value: 500 } }, '{"value":500}'],
    [{}, { amount: '4111 1111 1111 1111' }, '•••• 1111'],
    [{}, { amount: null }, undefined],
    [minusFee, { amount: '5075.00', fee: 'some' }, 'NGN 5,075.00 − some fee'],
  ])(
    'keeps the text of an amount that cannot be read, without card numbers: %j of %j',
    async (reading, odd, unreadAmount) => {
      lookUpMock().reply(200, { code: '00', data: { ...record, ...odd } });
      const transaction = await found(undefined, { ...config, ...reading });
      expect(transaction?.amountMinor).toBeUndefined();
      expect(transaction?.unreadAmount).toEqual(unreadAmount);
    },
  );

  it('asks by transaction id in the parameter of the setting, and ignores other records', async () => {
    const wanted = { parameter: 'transactionId', id: 'T-1' };
    const byId = () => findTransactionById(clientOf().client, accountId, wanted, config);
    byIdMock().reply(200, { code: '00', data: record });
    expect(await byId()).toMatchObject({ id: 'T-1', orderReference: 'ORDER-1' });
    byIdMock().reply(200, { code: '00', data: { ...record, id: 'T-2' } });
    expect(await byId()).toBeUndefined();
    byIdMock().reply(200, { code: '01', data: null });
    expect(await byId()).toBeUndefined();
  });

  it('passes on unknown statuses and odd amounts unchanged', async () => {
    lookUpMock().reply(200, { code: '00', data: { ...record, status: 'SETTLED_LATER', amount: 'five' } });
    const transaction = await found();
    expect(transaction).toMatchObject({ status: 'SETTLED_LATER' });
    expect(transaction).not.toHaveProperty('amountMinor');
  });

  it.each([
    ['<b>4111111111111111</b>', 'code b4111111).'],
    ['E-1_a', 'code E-1_a).'],
    ['…', 'code unreadable).'],
  ])('shows at most eight safe characters of the unknown code %j', async (code, told) => {
    lookUpMock().reply(200, { code, data: null });
    await expect(found()).rejects.toThrow(told);
  });

  it.each([
    [400, { description: 'orderReference has 51 characters' }],
    [422, { message: 'orderReference has 51 characters' }],
    [200, { code: '99', description: 'orderReference has 51 characters', data: null }],
  ])('tells the service’s own words for HTTP %i with %j', async (status, body) => {
    lookUpMock().reply(status, body);
    const failure = await found().catch((error: unknown) => error);
    expect(failure).toMatchObject({
      kind: 'refused',
      httpStatus: status,
      said: 'orderReference has 51 characters',
    });
    // The message reaches the log and the health report, so it must not hold the service's words.
    expect(String(failure)).not.toContain('51');
  });

  it.each([
    { code: '00', data: null },
    { data: record, description: 'success' },
  ])('throws malformed for %j: neither found nor not found', async (body) => {
    lookUpMock().reply(200, body);
    await expect(found()).rejects.toMatchObject({
      kind: 'malformed',
    });
  });
});
