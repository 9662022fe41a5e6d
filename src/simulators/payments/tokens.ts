import { randomBytes, timingSafeEqual } from 'node:crypto';

export type Credentials = {
  accountId: string;
  clientId: string;
  clientSecret: string;
  webhookSecret: string;
};

/** The token payload. Spec: fields not shown; the playground sends seconds in `expiresIn`. */
export type IssuedToken = { accessToken: string; refreshToken: string; expiresIn: number };

/** One session at most: issuing or refreshing makes the tokens before it worthless, as a strict service may. */
export type Tokens = {
  issue: (clientId: string, clientSecret: string) => IssuedToken | undefined;
  refresh: (refreshToken: string) => IssuedToken | undefined;
  revoke: (accessToken: string) => void;
  isValid: (authorization: string | undefined) => boolean;
};

export function createTokens(options: {
  credentials: Credentials;
  lifetimeMs: number;
  now: () => number;
}): Tokens {
  const { credentials, lifetimeMs, now } = options;
  let session: { accessToken: string; refreshToken: string; expiresAt: number } | undefined;

  function open(): IssuedToken {
    const accessToken = `at_${randomBytes(24).toString('base64url')}`;
    const refreshToken = `rt_${randomBytes(24).toString('base64url')}`;
    session = { accessToken, refreshToken, expiresAt: now() + lifetimeMs };
    return { accessToken, refreshToken, expiresIn: Math.floor(lifetimeMs / 1000) };
  }

  return {
    issue: (clientId, clientSecret) =>
      same(clientId, credentials.clientId) && same(clientSecret, credentials.clientSecret)
        ? open()
        : undefined,
    refresh: (refreshToken) => (session && same(refreshToken, session.refreshToken) ? open() : undefined),
    revoke: (accessToken) => {
      if (session && same(accessToken, session.accessToken)) session = undefined;
    },
    isValid: (authorization) => {
      const [scheme, token] = (authorization ?? '').split(' ');
      if (!session || scheme?.toLowerCase() !== 'bearer' || token === undefined) return false;
      return same(token, session.accessToken) && now() < session.expiresAt;
    },
  };
}

function same(given: string, wanted: string): boolean {
  const left = Buffer.from(given);
  const right = Buffer.from(wanted);
  return left.length === right.length && timingSafeEqual(left, right);
}
