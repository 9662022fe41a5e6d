import { describe, expect, it } from 'vitest';
import {
  holdsCredentials,
  proposeTokenBody,
  proposeTokenReading,
} from '../../../src/cli/connect/propose-token.ts';
import { parseShownRequest } from '../../../src/cli/connect/shown-request.ts';

const own = { clientId: 'id-1', clientSecret: 'secret-canary', accountId: 'acc-1' };

describe('a token request as documentation shows it', () => {
  const documented = `curl --location --request POST 'https://api.bank.test/v1/auth/token/issue' \\
    -H "Content-Type: application/json" -H 'accountId: f666ef9b' \\
    --data-raw '{"grant_type": "client_credentials", "auth": {"client_id": "YOUR_ID", "client_secret": "it\\u0027s"}}'`;

  it('is read with its quotes, line ends and headers', () => {
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
  ])('as %s', (text, body) => {
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

  it('gets a place for each credential, by its name or because it is the person’s own', () => {
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

describe('an answer to it', () => {
  it('changes nothing where the settings find all of it', () => {
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

  it('names where token, refresh token and life stand', () => {
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

  it('takes the life out of the token where the answer does not say it', () => {
    const answer = { data: { token_id: 'an-id-of-it', access: jwt(600) } };
    expect(proposeTokenReading(answer, ours, nowMs)).toEqual({
      changes: { PAYMENTS_ACCESS_TOKEN_POINTERS: '/data/access', PAYMENTS_TOKEN_LIFETIME_SECONDS: '600' },
      lifetimeMs: 600_000,
    });
  });

  it('points at nothing under a name that a terminal or a setting would stumble over', () => {
    const data = {
      'access,token': 'at_12345678',
      'token\u001B[2J': 'at_12345678',
      'my token': 'at_12345678',
    };
    expect(proposeTokenReading({ data }, ours, nowMs)).toBeUndefined();
  });

  it('proposes nothing where nothing is called a token', () => {
    expect(
      proposeTokenReading({ code: '01', description: 'a_long_description' }, ours, nowMs),
    ).toBeUndefined();
  });
});
