import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { enveloped, readBody, refusal, type Answer, type Call, type Route } from './route.ts';
import type { World } from './world.ts';

export type Credentials = {
  accountId: string;
  clientId: string;
  clientSecret: string;
  webhookSecret: string;
};

/** The token payload. Spec: fields not shown; the playground sends seconds in `expiresIn`. */
type IssuedToken = { accessToken: string; refreshToken: string; expiresIn: number };

/** At most one session: a new token revokes earlier ones, as a strict service may do. */
export type Tokens = ReturnType<typeof createTokens>;

export function createTokens(options: { credentials: Credentials; lifetimeMs: number; now: () => number }) {
  const { credentials, lifetimeMs, now } = options;
  let session: { accessToken: string; refreshToken: string; expiresAt: number } | undefined;

  function open(): IssuedToken {
    const accessToken = `at_${randomBytes(24).toString('base64url')}`;
    const refreshToken = `rt_${randomBytes(24).toString('base64url')}`;
    session = { accessToken, refreshToken, expiresAt: now() + lifetimeMs };
    return { accessToken, refreshToken, expiresIn: Math.floor(lifetimeMs / 1000) };
  }

  return {
    issue: (clientId: string, clientSecret: string) =>
      clientId === credentials.clientId && clientSecret === credentials.clientSecret ? open() : undefined,
    refresh: (refreshToken: string) => (session?.refreshToken === refreshToken ? open() : undefined),
    revoke: (accessToken: string) => {
      if (session?.accessToken === accessToken) session = undefined;
    },
    isValid: (authorization: string | undefined) => {
      const [scheme, token] = (authorization ?? '').split(' ');
      if (!session || scheme?.toLowerCase() !== 'bearer' || token === undefined) return false;
      return token === session.accessToken && now() < session.expiresAt;
    },
  };
}

const uuid = z.guid();
const issueBody = z.object({ clientId: z.string().min(1), clientSecret: z.string().min(1) });
const refreshBody = z.object({ refreshToken: z.string().min(1) });
const revokeBody = z.object({ accessToken: z.string().min(1) });

/** Spec: Authenticate. The bodies are not shown: the field names are this simulator's choice. */
const posted = { method: 'POST', from: 'bot', tellsLimit: true } as const;
export const authRoutes: readonly Route[] = [
  {
    ...posted,
    path: '/v1/auth/token/issue',
    label: 'Issue an access token',
    access: 'account',
    answer: issue,
  },
  {
    ...posted,
    path: '/v1/auth/token/refresh',
    label: 'Refresh the access token',
    access: 'parent',
    answer: refresh,
  },
  {
    ...posted,
    path: '/v1/auth/token/revoke',
    label: 'Revoke an access token',
    access: 'open',
    answer: revoke,
  },
];

/**
 * The refusal of a forbidden call: 401 for a missing, wrong or expired token, 403 for an account without permission;
 * undefined if the call is allowed.
 *
 * Spec: Authentication.
 */
export function checkAccess(
  world: World,
  route: Route,
  headers: { authorization: string | undefined; accountId: string },
): Answer | undefined {
  if (route.access === 'open') return undefined;
  const needsToken = route.access !== 'account';
  if (needsToken && !world.tokens.isValid(headers.authorization)) {
    return refusal(401, 'The access token is missing, invalid or expired');
  }
  if (!uuid.safeParse(headers.accountId).success) {
    return refusal(403, 'The accountId header is missing or not an account id');
  }
  const isParent = headers.accountId === world.parentAccountId;
  const isSubAccount = route.access === 'merchant' && world.accounts.byId(headers.accountId) !== undefined;
  return isParent || isSubAccount ? undefined : refusal(403, 'No permission for this account');
}

function issue(world: World, call: Call): Answer {
  const read = readBody(issueBody, call);
  if (!read.ok) return read.answer;
  const token = world.tokens.issue(read.value.clientId, read.value.clientSecret);
  if (!token) return refusal(401, 'The client id or secret is wrong');
  world.stats.tokensIssued += 1;
  return enveloped(token, 'a new token; the one before is worthless now');
}

function refresh(world: World, call: Call): Answer {
  const read = readBody(refreshBody, call);
  if (!read.ok) return read.answer;
  const token = world.tokens.refresh(read.value.refreshToken);
  if (!token) return refusal(401, 'The refresh token is invalid');
  return enveloped(token, 'a new token; the one before is worthless now');
}

function revoke(world: World, call: Call): Answer {
  const read = readBody(revokeBody, call);
  if (!read.ok) return read.answer;
  world.tokens.revoke(read.value.accessToken);
  world.stats.tokensRevoked += 1;
  return enveloped(null, 'revoked');
}
