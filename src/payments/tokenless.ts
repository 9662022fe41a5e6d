import type { Middleware } from 'openapi-fetch';

const tokenless = new WeakSet<Request>();

/** For a call that takes no Authorization because a setting says so, whatever its path. */
export const withoutAuthorization: Middleware = {
  onRequest({ request }) {
    tokenless.add(request);
  },
};

export function takesNoToken(request: Request): boolean {
  return tokenless.has(request);
}
