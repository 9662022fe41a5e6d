import { z } from 'zod';
import { enveloped, refusal, type Answer } from './answer.ts';
import { readBody } from './read-body.ts';
import type { Call, Route } from './route.ts';
import type { World } from './world.ts';

const uuid = z.guid();
const issueBody = z.object({ clientId: z.string().min(1), clientSecret: z.string().min(1) });
const refreshBody = z.object({ refreshToken: z.string().min(1) });
const revokeBody = z.object({ accessToken: z.string().min(1) });

/** Spec: Authenticate. The bodies are not shown; the names are the playground's. */
export function authRoutes(world: World): Route[] {
  const shared = { method: 'POST', from: 'bot', tellsLimit: true } as const;
  return [
    {
      ...shared,
      path: '/v1/auth/token/issue',
      label: 'Issue an access token',
      access: 'account',
      answer: (call) => issue(world, call),
    },
    {
      ...shared,
      path: '/v1/auth/token/refresh',
      label: 'Refresh the access token',
      access: 'parent',
      answer: (call) => refresh(world, call),
    },
    {
      ...shared,
      path: '/v1/auth/token/revoke',
      label: 'Revoke an access token',
      access: 'open',
      answer: (call) => revoke(world, call),
    },
  ];
}

/**
 * The refusal of a call that may not be made: 401 for a missing, wrong or expired token, 403 for an
 * account the token has no permission for; undefined when it may.
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
  world.stats.add('tokensIssued');
  return enveloped(token, 'a new token; the one before is worthless now');
}

function refresh(world: World, call: Call): Answer {
  const read = readBody(refreshBody, call);
  if (!read.ok) return read.answer;
  const token = world.tokens.refresh(read.value.refreshToken);
  if (!token) return refusal(401, 'The refresh token is invalid');
  world.stats.add('tokensRefreshed');
  return enveloped(token, 'a new token; the one before is worthless now');
}

function revoke(world: World, call: Call): Answer {
  const read = readBody(revokeBody, call);
  if (!read.ok) return read.answer;
  world.tokens.revoke(read.value.accessToken);
  world.stats.add('tokensRevoked');
  return enveloped(null, 'revoked');
}
