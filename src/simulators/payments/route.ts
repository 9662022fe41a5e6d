import type { IncomingHttpHeaders } from 'node:http';
import type { Exchange } from '../protocol.ts';
import type { Answer } from './answer.ts';

/** One request, read and parsed. `body` is undefined when there was none or it was not JSON. */
export type Call = {
  headers: IncomingHttpHeaders;
  query: URLSearchParams;
  params: Record<string, string>;
  body: unknown;
  /** The account the call acts for; the route's access rule has checked it. */
  accountId: string;
};

/**
 * Who may call. `account`: the accountId header alone (token issue). `parent`: a bearer token with the
 * parent's accountId. `merchant`: a bearer token with the accountId of the parent or of a sub account.
 *
 * Spec: Authentication.
 */
export type Access = 'open' | 'account' | 'parent' | 'merchant';

/** Handlers are synchronous, so that "is this reference used?" and "use it" can never be parted by another request. */
export type Route = {
  method: 'GET' | 'POST' | 'DELETE';
  path: string;
  label: string;
  access: Access;
  from: Exchange['from'];
  /** The 200 response carries the X-Rate-Limit headers. Spec: Limits. */
  tellsLimit?: boolean;
  answer: (call: Call) => Answer;
};

export type Found =
  | { kind: 'route'; route: Route; params: Record<string, string> }
  | { kind: 'wrong_method' }
  | { kind: 'unknown' };

export function findRoute(routes: readonly Route[], method: string, path: string): Found {
  let pathKnown = false;
  for (const route of routes) {
    const params = matchPath(route.path, path);
    if (!params) continue;
    if (route.method === method) return { kind: 'route', route, params };
    pathKnown = true;
  }
  return { kind: pathKnown ? 'wrong_method' : 'unknown' };
}

function matchPath(template: string, path: string): Record<string, string> | undefined {
  const wanted = template.split('/');
  const given = path.split('/');
  if (wanted.length !== given.length) return undefined;
  const params: Record<string, string> = {};
  for (const [index, part] of wanted.entries()) {
    const value = given[index] ?? '';
    if (part.startsWith(':')) params[part.slice(1)] = value;
    else if (part !== value) return undefined;
  }
  return params;
}
