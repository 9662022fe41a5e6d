import { describe, expect, it } from 'vitest';
import {
  holdsCredentials,
  proposeTokenBody,
  proposeTokenReading,
} from '../../../src/cli/connect/propose-token.ts';
import { parseShownRequest } from '../../../src/cli/connect/shown-request.ts';

const own = { clientId: 'id-1', clientSecret: 'secret-canary', accountId: 'acc-1' };

describe('a token request as shown in documentation', () => {
  const documented = `curl --location --request POST 'https://api.bank.test/v1/auth/token/issue' \\
    -H "Content-Type: application/json" -H 'accountId: f666ef9b' \\
    --data-raw '{"grant_type": "client_credentials", "auth": {"client_id": "YOUR_ID", "client_secret": "it\\u0027s"}}'`;

  it('is read with quotes, line continuations and headers', () => {
    expect(parseShownRequest(documented)).toEqual({
      ok: true,
      value: {
        url: 'https://api.bank.test/v1/auth/token/issue',
        headers: { 'content-type': 'application/json', accountid: 'f666ef9b' },
        body: { grant_type: 'client_credentials', auth: { client_id: 'YOUR_ID', client_secret: "it's" } },
      },
    });
  });

  it.each<[string, object]>([
    [`curl -XPOST https://x.test -d '{"a":"b c"}'`, { a: 'b c' }],
    [`curl https://x.test --json "{\\"a\\": \\"b\\"}"`, { a: 'b' }],
    [`curl -s --url=https://x.test --data=$'{"a":1}'`, { a: 1 }],
    [`{"a": {"b": "c"}}`, { a: { b: 'c' } }],
    ['curl -X POST https://x.test', {}],
  ])('is read from %s', (text, body) => {
    expect(parseShownRequest(text)).toMatchObject({ ok: true, value: { body } });
  });

  it.each(['wget https://x.test', `curl https://x.test -d 'a=b&secret=canary'`, `curl 'https://canary`])(
    'is refused as %s, without repeating it',
    (text) => {
      const read = parseShownRequest(text);
      expect(read).toMatchObject({ ok: false, problem: expect.stringMatching(/JSON/) });
      expect(JSON.stringify(read)).not.toContain('canary');
    },
  );

  it('gets a placeholder for each credential, recognised by its name or its value', () => {
    const shown = {
      grant_type: 'client_credentials',
      app: 'id-1',
      deep: { ClientSecret: 'x', 'api-key': 'y' },
    };
    const body = proposeTokenBody({ ...shown, list: ['acc-1', 3] }, own);
    expect(body).toEqual({
      grant_type: 'client_credentials',
      app: '{{CLIENT_ID}}',
      deep: { ClientSecret: '{{CLIENT_SECRET}}', 'api-key': '{{CLIENT_ID}}' },
      list: ['{{ACCOUNT_ID}}', 3],
    });
    expect(holdsCredentials(body)).toBe(true);
    expect(holdsCredentials(proposeTokenBody({ scope: 'all', password: 'x' }, own))).toBe(false);
  });
});

const ours = {
  paymentsAccessTokenPointers: ['/data/accessToken'],
  paymentsRefreshTokenPointers: ['/data/refreshToken'],
  paymentsTokenExpiryPointers: ['/data/expiresIn'],
  paymentsTokenLifetimeSeconds: 1_800,
};
const nowMs = Date.UTC(2026, 2, 1);

function part(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

function jwt(seconds: number): string {
  return `${part({ alg: 'none' })}.${part({ exp: nowMs / 1_000 + seconds, iat: nowMs / 1_000 })}.c2ln`;
}

describe('the answer to a token request', () => {
  it('changes nothing if the settings find token and lifetime', () => {
    const data = {
      accessToken: 'at_12345678',
      refreshToken: 'rt_12345678',
      expiresIn: 1800,
      tokenType: 'Bearer-x',
    };
    expect(proposeTokenReading({ code: '00', data }, ours, nowMs)).toEqual({
      changes: {},
      lifetimeMs: 1_800_000,
    });
  });

  it('gives pointers to token, refresh token and lifetime', () => {
    const answer = {
      session: { jwt: 'at_12345678', 'refresh/jwt': 'rt_12345678', ttl: 900, refresh_ttl: 86_400 },
    };
    expect(proposeTokenReading(answer, ours, nowMs)).toEqual({
      changes: {
        PAYMENTS_ACCESS_TOKEN_POINTERS: '/session/jwt',
        PAYMENTS_REFRESH_TOKEN_POINTERS: '/session/refresh~1jwt',
        PAYMENTS_TOKEN_EXPIRY_POINTERS: '/session/ttl',
      },
      lifetimeMs: 900_000,
    });
  });

  it('reads the lifetime from the token if the answer lacks it', () => {
    const answer = { data: { token_id: 'an-id-of-it', access: jwt(600) } };
    expect(proposeTokenReading(answer, ours, nowMs)).toEqual({
      changes: { PAYMENTS_ACCESS_TOKEN_POINTERS: '/data/access', PAYMENTS_TOKEN_LIFETIME_SECONDS: '600' },
      lifetimeMs: 600_000,
    });
  });

  it('ignores fields whose names don’t fit a terminal or a setting', () => {
    const data = {
      'access,token': 'at_12345678',
      'token\u001B[2J': 'at_12345678',
      'my token': 'at_12345678',
    };
    expect(proposeTokenReading({ data }, ours, nowMs)).toBeUndefined();
  });

  it('proposes nothing if no field is called a token', () => {
    expect(
      proposeTokenReading({ code: '01', description: 'a_long_description' }, ours, nowMs),
    ).toBeUndefined();
  });
});
