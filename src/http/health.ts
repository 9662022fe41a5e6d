import { withDeadline } from '../deadline.ts';
import type { PartHealth } from '../domain/failure.ts';
import type { Log } from '../log.ts';
import { bringsToken, sendJson, type Route } from './server.ts';

export type PartCheck = { name: string; check: () => PartHealth | Promise<PartHealth> };

type PartReport = PartHealth & { name: string };

/**
 * GET /healthz: 200 as long as the process can answer. Nothing else is checked, because a restart would fix nothing
 * else.
 */
export const healthRoute: Route = {
  method: 'GET',
  path: '/healthz',
  handle: (_request, response) => sendJson(response, 200, { state: 'ok' }),
};

/** A check that takes longer counts as down. */
const longestMs = 1_000;

/**
 * GET /readyz: the state of every part by name; 503 if one is down. A check that throws or takes over a second counts
 * as down; its error is only logged. Simultaneous requests share one round of checks. Without the bearer token the
 * answer has only the states.
 */
export function createReadinessRoute(
  checks: readonly PartCheck[],
  log: Log,
  token: string | undefined,
): Route {
  let underWay: Promise<PartReport[]> | undefined;

  async function runCheck({ name, check }: PartCheck): Promise<PartReport> {
    try {
      return { name, ...(await withDeadline(longestMs, check)) };
    } catch (error) {
      log('warn', `The check of ${name} failed`, {}, error);
      return { name, state: 'down', detail: 'the check failed; the log says how' };
    }
  }

  return {
    method: 'GET',
    path: '/readyz',
    handle: async (request, response) => {
      underWay ??= Promise.all(checks.map(runCheck)).finally(() => {
        underWay = undefined;
      });
      const parts = await underWay;
      const states = new Set(parts.map(({ state }) => state));
      const state = (['down', 'degraded'] as const).find((one) => states.has(one)) ?? 'ok';
      const report = bringsToken(request, token) ? { state, parts } : { state };
      sendJson(response, state === 'down' ? 503 : 200, report);
    },
  };
}
