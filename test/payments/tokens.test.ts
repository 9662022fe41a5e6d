import nock from 'nock';
import { describe, expect, it } from 'vitest';
import { createPaymentsClient, type PaymentsClient } from '../../src/payments/client.ts';
import { mockTheOutside } from '../support/mocks.ts';
import { runtimeOf } from '../support/runtime-of.ts';
import {
  fillTemplate,
  issueToken,
  readTokenAnswer,
  refreshToken,
  revokeToken,
} from '../../src/payments/tokens.ts';

const baseUrl = 'https://payments.test';
const nowMs = Date.UTC(2026, 10, 20);
const parentId = '8b0e2f74-16c9-4d3a-b5a7-90c4d1e26f38';
const { config } = runtimeOf({
  PAYMENTS_PARENT_ACCOUNT_ID: parentId,
  PAYMENTS_CLIENT_ID: 'client-7',
  PAYMENTS_CLIENT_SECRET: 'pa"ss\\word',
  PAYMENTS_TOKEN_ISSUE_BODY: JSON.stringify({
    credentials: { id: '{{CLIENT_ID}}', secret: '{{CLIENT_SECRET}}' },
    scopes: ['all'],
    version: 1,
  }),
  PAYMENTS_TOKEN_REFRESH_BODY: '{"token":"{{REFRESH_TOKEN}}"}',
  PAYMENTS_TOKEN_REVOKE_BODY: '{"token":"{{ACCESS_TOKEN}}","also":"{{REFRESH_TOKEN}}"}',
  PAYMENTS_ACCESS_TOKEN_POINTERS: '/data/accessToken,/token',
  PAYMENTS_REFRESH_TOKEN_POINTERS: '/data/refresh',
  PAYMENTS_TOKEN_EXPIRY_POINTERS: '/data/expires',
});
const last = { accessToken: 'leaked', refreshToken: 'r', freshUntilMs: nowMs };
const never = () => Promise.reject(new Error('asked for a token while asking for a token'));
const accessToken = { current: never, replace: never };
const client: PaymentsClient = createPaymentsClient({
  baseUrl,
  sandbox: false,
  timeoutMs: 1_000,
  accessToken,
});

mockTheOutside();

describe('issueToken', () => {
  it('sends the template’s body with accountId and no Authorization', async () => {
    nock(baseUrl, { reqheaders: { accountid: parentId }, badheaders: ['authorization'] })
      .post('/v1/auth/token/issue', {
        credentials: { id: 'client-7', secret: 'pa"ss\\word' },
        scopes: ['all'],
        version: 1,
      })
      .reply(200, { code: '00', data: { accessToken: 'a', refresh: 'r', expires: 60 } });
    const token = await issueToken(client, config, nowMs);
    expect(token).toEqual({ accessToken: 'a', refreshToken: 'r', lifetimeMs: 60_000 });
  });

  it('has no refresh token and no lifetime if their fields say N/A', async () => {
    nock(baseUrl)
      .post('/v1/auth/token/issue')
      .reply(200, { code: '00', data: { accessToken: 'a', refresh: 'N/A', expires: 'n/a' } });
    expect(await issueToken(client, config, nowMs)).toEqual({ accessToken: 'a', lifetimeMs: 1_800_000 });
  });

  it.each([400, 401])('names the settings to check if it is refused with %i', async (status) => {
    nock(baseUrl).post('/v1/auth/token/issue').reply(status, { description: 'pa"ss\\word is wrong' });
    const failure: unknown = await issueToken(client, config, nowMs).catch((error: unknown) => error);
    expect(failure).toMatchObject({
      kind: 'unauthorized',
      message: expect.stringContaining('PAYMENTS_CLIENT_SECRET'),
    });
    expect(String(failure)).not.toContain('pa"ss');
  });

  it('names the address if its path does not exist', async () => {
    nock(baseUrl).post('/v1/auth/token/issue').reply(404, { message: 'no Route matched' });
    await expect(issueToken(client, config, nowMs)).rejects.toMatchObject({
      kind: 'malformed',
      message: expect.stringMatching(
        /HTTP 404.*: check PAYMENTS_(?:BASE|SANDBOX)_URL, which must not end in \/v1\.$/,
      ),
    });
  });

  it.each([200, 400, 422])(
    'gives no token if the answer refuses with HTTP %i, and says why',
    async (status) => {
      const refusal = {
        code: '05',
        description: 'client-7 is locked: pa"ss\\word was wrong 5 times',
        data: { accessToken: 'looks-like-one' },
      };
      const failure = {
        kind: 'unauthorized',
        said: '[secret] is locked: [secret] was wrong 5 times',
        message: expect.stringContaining('code 05'),
      };
      nock(baseUrl).post('/v1/auth/token/issue').reply(status, refusal);
      await expect(issueToken(client, config, nowMs)).rejects.toMatchObject(failure);
      nock(baseUrl).post('/v1/auth/token/refresh').reply(status, refusal);
      await expect(refreshToken(client, config, last, nowMs)).rejects.toMatchObject(failure);
    },
  );
});

describe('refreshToken', () => {
  it('sends the token to refresh, and never requests another', async () => {
    nock(baseUrl, { reqheaders: { authorization: 'Bearer leaked' } })
      .post('/v1/auth/token/refresh', { token: 'r' })
      .reply(200, { code: '00', data: { accessToken: 'new' } });
    expect(await refreshToken(client, config, last, nowMs)).toMatchObject({ accessToken: 'new' });
  });
});

describe('revokeToken', () => {
  it('sends the token in the template’s body, without Authorization and accountId', async () => {
    nock(baseUrl, { badheaders: ['authorization', 'accountid'] })
      .post('/v1/auth/token/revoke', { token: 'leaked', also: 'r' })
      .reply(200, {});
    await expect(revokeToken(client, config, last)).resolves.toBeUndefined();
  });

  it.each([
    [400, {}],
    [401, {}],
    [404, {}],
    [200, { code: '01', description: 'leaked' }],
  ])('names the setting to check when it is refused with %i %j', async (status, body) => {
    nock(baseUrl).post('/v1/auth/token/revoke').reply(status, body);
    const failure: unknown = await revokeToken(client, config, last).catch((error: unknown) => error);
    expect(failure).toMatchObject({
      kind: 'unauthorized',
      httpStatus: status,
      message: expect.stringContaining('PAYMENTS_TOKEN_REVOKE_BODY'),
    });
    expect(String(failure)).not.toContain('leaked');
  });
});

describe('fillTemplate', () => {
  it('fills values at any depth, and no value can change the shape', () => {
    const filled = fillTemplate(
      { a: ['{{X}}', { b: 'pre-{{X}}-post' }], c: 3, d: null },
      { X: '","evil":"' },
    );
    expect(filled).toEqual({ a: ['","evil":"', { b: 'pre-","evil":"-post' }], c: 3, d: null });
  });

  it('leaves a place without a value empty', () => {
    expect(fillTemplate({ a: '{{NOBODY}}' }, {})).toEqual({ a: '' });
  });
});

describe('readTokenAnswer', () => {
  it.each([
    ['seconds', 60, 60_000],
    ['seconds as text', '60', 60_000],
    ['a Unix time in seconds', nowMs / 1_000 + 120, 120_000],
    ['a Unix time in milliseconds', nowMs + 120_000, 120_000],
    ['an ISO time', new Date(nowMs + 90_000).toISOString(), 90_000],
    ['the year 9999, which means never', '9999-12-31T23:59:59Z', 365 * 86_400_000],
    ['nonsense', 'soon', 1_800_000],
    ['a time in the past', nowMs - 1, 60_000],
    ['the time of its issue', nowMs, 60_000],
    ['the time of its issue, by a clock that is a little ahead', nowMs + 1_500, 60_000],
    ['a short time', nowMs + 3_000, 3_000],
    ['nothing', undefined, 1_800_000],
  ])('reads a lifetime given as %s', (_what, expires, lifetimeMs) => {
    expect(readTokenAnswer({ data: { accessToken: 'a', expires } }, config, nowMs).lifetimeMs).toBe(
      lifetimeMs,
    );
  });

  it.each([
    ['as long as the token itself says, even if clocks differ', { iat: 1_000, exp: 4_600 }, 3_600_000],
    ['until the time that the token itself says', { exp: nowMs / 1_000 + 900 }, 900_000],
    ['a minute if the token doesn’t say', { exp: nowMs / 1_000 }, 60_000],
  ])('ignores an expiry that is the time of issue: the token then lives %s', (_what, said, lifetimeMs) => {
    const accessToken = `e30.${Buffer.from(JSON.stringify(said)).toString('base64url')}.c2ln`;
    expect(readTokenAnswer({ data: { accessToken, expires: nowMs } }, config, nowMs).lifetimeMs).toBe(
      lifetimeMs,
    );
  });

  it('takes the first pointer that leads to a value', () => {
    expect(readTokenAnswer({ data: { accessToken: null }, token: 't' }, config, nowMs).accessToken).toBe('t');
  });

  it('refuses a token that doesn’t fit in a header, without quoting it', () => {
    const answer = { data: { accessToken: 'canary\nline' } };
    expect(() => readTokenAnswer(answer, config, nowMs)).toThrow(/no usable access token/);
    expect(() => readTokenAnswer(answer, config, nowMs)).not.toThrow(/canary/);
  });

  it('names the pointers but not the answer if there is no token', () => {
    expect(() => readTokenAnswer({ data: { secret: 'canary' } }, config, nowMs)).toThrow(
      /accessToken or \/token/,
    );
    expect(() => readTokenAnswer({ data: { secret: 'canary' } }, config, nowMs)).not.toThrow(/canary/);
  });
});
