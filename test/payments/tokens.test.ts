import nock from 'nock';
import { describe, expect, it } from 'vitest';
import { createPaymentsClient, type PaymentsClient } from '../../src/payments/client.ts';
import { mockTheOutside } from '../support/mocks.ts';
import {
  fillTemplate,
  issueToken,
  readTokenAnswer,
  refreshToken,
  revokeToken,
  type TokenSettings,
} from '../../src/payments/tokens.ts';

const baseUrl = 'https://payments.test';
const nowMs = Date.UTC(2026, 10, 20);
const settings: TokenSettings = {
  parentAccountId: '8b0e2f74-16c9-4d3a-b5a7-90c4d1e26f38',
  clientId: 'me',
  clientSecret: 'pa"ss\\word',
  issueBody: {
    credentials: { id: '{{CLIENT_ID}}', secret: '{{CLIENT_SECRET}}' },
    scopes: ['all'],
    version: 1,
  },
  refreshBody: { token: '{{REFRESH_TOKEN}}' },
  pointers: {
    accessToken: ['/data/accessToken', '/token'],
    refreshToken: ['/data/refresh'],
    expiry: ['/data/expires'],
  },
  fallbackLifetimeMs: 1_800_000,
};
const never = () => Promise.reject(new Error('asked for a token while asking for a token'));

function client(): PaymentsClient {
  return createPaymentsClient(
    { baseUrl, sandbox: false, timeoutMs: 1_000 },
    { accessToken: { current: never, replace: never }, fetch: (request) => fetch(request) },
  );
}

mockTheOutside();

describe('issueToken', () => {
  it('sends the template’s body with accountId and no Authorization', async () => {
    nock(baseUrl, { reqheaders: { accountid: settings.parentAccountId }, badheaders: ['authorization'] })
      .post('/v1/auth/token/issue', {
        credentials: { id: 'me', secret: 'pa"ss\\word' },
        scopes: ['all'],
        version: 1,
      })
      .reply(200, { code: '00', data: { accessToken: 'a', refresh: 'r', expires: 60 } });
    const token = await issueToken(client(), settings, () => nowMs);
    expect(token).toEqual({ accessToken: 'a', refreshToken: 'r', lifetimeMs: 60_000 });
  });

  it.each([400, 401, 404])('names the settings to check when it is refused with %i', async (status) => {
    nock(baseUrl).post('/v1/auth/token/issue').reply(status, { description: 'pa"ss\\word is wrong' });
    const failure = await issueToken(client(), settings, () => nowMs).catch((error: unknown) => error);
    expect(failure).toMatchObject({
      kind: 'unauthorized',
      message: expect.stringContaining('PAYMENTS_CLIENT_SECRET'),
    });
    expect(String(failure)).not.toContain('pa"ss');
  });
});

describe('a token answer that refuses', () => {
  const refusal = {
    code: '05',
    description: 'client me is locked: pa"ss\\word was wrong 5 times',
    data: { accessToken: 'looks-like-one' },
  };
  const failure = {
    kind: 'unauthorized',
    said: 'client me is locked: [secret] was wrong 5 times',
    message: expect.stringContaining('code 05'),
  };

  it.each([200, 400, 401, 422])('gives no token with HTTP %i, and tells why', async (status) => {
    nock(baseUrl).post('/v1/auth/token/issue').reply(status, refusal);
    await expect(issueToken(client(), settings, () => nowMs)).rejects.toMatchObject(
      status === 401 ? { kind: 'unauthorized' } : failure,
    );
    if (status === 401) return;
    nock(baseUrl).post('/v1/auth/token/refresh').reply(status, refusal);
    const refresh = { ...settings, refreshBody: {} };
    const last = { accessToken: 'old', refreshToken: 'r' };
    await expect(refreshToken(client(), refresh, last, () => nowMs)).rejects.toMatchObject(failure);
  });

  it('holds no refresh token and no lifetime where their fields say N/A', async () => {
    nock(baseUrl)
      .post('/v1/auth/token/issue')
      .reply(200, { code: '00', data: { accessToken: 'a', refresh: 'N/A', expires: 'n/a' } });
    expect(await issueToken(client(), settings, () => nowMs)).toEqual({
      accessToken: 'a',
      lifetimeMs: 1_800_000,
    });
  });
});

describe('refreshToken', () => {
  it('brings the token it refreshes, and never asks for another', async () => {
    nock(baseUrl, { reqheaders: { authorization: 'Bearer old' } })
      .post('/v1/auth/token/refresh', { token: 'r' })
      .reply(200, { code: '00', data: { accessToken: 'new' } });
    const last = { accessToken: 'old', refreshToken: 'r' };
    const token = await refreshToken(
      client(),
      { ...settings, refreshBody: { token: '{{REFRESH_TOKEN}}' } },
      last,
      () => nowMs,
    );
    expect(token.accessToken).toBe('new');
  });
});

describe('revokeToken', () => {
  const revokeBody = { token: '{{ACCESS_TOKEN}}', also: '{{REFRESH_TOKEN}}' };
  const last = { accessToken: 'leaked', refreshToken: 'r' };

  it('brings the token in the template’s body, and neither Authorization nor accountId', async () => {
    nock(baseUrl, { badheaders: ['authorization', 'accountid'] })
      .post('/v1/auth/token/revoke', { token: 'leaked', also: 'r' })
      .reply(200, {});
    await expect(revokeToken(client(), { ...settings, revokeBody }, last)).resolves.toBeUndefined();
  });

  it.each([
    [400, {}],
    [401, {}],
    [404, {}],
    [200, { code: '01', description: 'leaked' }],
  ])('names the setting to check when it is refused with %i %j', async (status, body) => {
    nock(baseUrl).post('/v1/auth/token/revoke').reply(status, body);
    const failure = await revokeToken(client(), { ...settings, revokeBody }, last).catch(
      (error: unknown) => error,
    );
    expect(failure).toMatchObject({
      kind: 'unauthorized',
      httpStatus: status,
      message: expect.stringContaining('PAYMENTS_TOKEN_REVOKE_BODY'),
    });
    expect(String(failure)).not.toContain('leaked');
  });
});

describe('fillTemplate', () => {
  it('fills leaves at any depth and cannot be made to change the shape', () => {
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
  const clock = { nowMs, fallbackLifetimeMs: 1_800_000 };

  it.each([
    ['seconds', 60, 60_000],
    ['seconds as text', '60', 60_000],
    ['a Unix time in seconds', nowMs / 1_000 + 120, 120_000],
    ['a Unix time in milliseconds', nowMs + 120_000, 120_000],
    ['an ISO time', new Date(nowMs + 90_000).toISOString(), 90_000],
    ['the year 9999, which means never', '9999-12-31T23:59:59Z', 365 * 86_400_000],
    ['nonsense', 'soon', 1_800_000],
    ['a time that is over', nowMs - 1, 1_800_000],
    ['nothing', undefined, 1_800_000],
  ])('reads a lifetime told as %s', (_what, expires, lifetimeMs) => {
    expect(
      readTokenAnswer({ data: { accessToken: 'a', expires } }, settings.pointers, clock).lifetimeMs,
    ).toBe(lifetimeMs);
  });

  it('takes the first pointer that leads somewhere', () => {
    expect(
      readTokenAnswer({ data: { accessToken: null }, token: 't' }, settings.pointers, clock).accessToken,
    ).toBe('t');
  });

  it('refuses a token that no header can carry, without quoting it', () => {
    const answer = { data: { accessToken: 'canary\nline' } };
    expect(() => readTokenAnswer(answer, settings.pointers, clock)).toThrow(/no usable access token/);
    expect(() => readTokenAnswer(answer, settings.pointers, clock)).not.toThrow(/canary/);
  });

  it('names the pointers and not the answer when there is no token', () => {
    expect(() => readTokenAnswer({ data: { secret: 'canary' } }, settings.pointers, clock)).toThrow(
      /accessToken or \/token/,
    );
    expect(() => readTokenAnswer({ data: { secret: 'canary' } }, settings.pointers, clock)).not.toThrow(
      /canary/,
    );
  });
});
