import { withDeadline } from '../deadline.ts';
import type { PartHealth } from '../domain/failure.ts';
import type { Log } from '../log.ts';
import { bringsToken, sendJson, type Route } from './server.ts';

export type PartCheck = { name: string; check: () => PartHealth | Promise<PartHealth> };

export type PartReport = PartHealth & { name: string };

/** GET /healthz: 200 as long as the process answers at all. Restarting it would mend nothing else. */
export function createHealthRoute(): Route {
  return {
    method: 'GET',
    path: '/healthz',
    handle: (_request, response) => sendJson(response, 200, { state: 'ok' }),
  };
}

/**
 * GET /readyz: every part by name, and 503 when one is down. A check that throws or takes longer than its
 * second is down; what it threw is in the log only. Askers at the same time share one round of checks.
 */
export function createReadinessRoute(deps: {
  checks: readonly PartCheck[];
  log: Log;
  deadlineMs?: number;
  /** Only who brings it as a bearer token is told more than the state. */
  token?: string | undefined;
}): Route {
  let underWay: Promise<PartReport[]> | undefined;
  return {
    method: 'GET',
    path: '/readyz',
    handle: async (request, response) => {
      underWay ??= checkParts(deps.checks, deps.log, deps.deadlineMs).finally(() => {
        underWay = undefined;
      });
      const parts = await underWay;
      const state = worstState(parts);
      const told = bringsToken(request, deps.token) ? { state, parts } : { state };
      sendJson(response, state === 'down' ? 503 : 200, told);
    },
  };
}

/** Runs all checks at once, each within its deadline (default 1 s); never rejects. */
export async function checkParts(
  checks: readonly PartCheck[],
  log: Log,
  deadlineMs = 1_000,
): Promise<PartReport[]> {
  return await Promise.all(
    checks.map(async ({ name, check }) => {
      try {
        return { name, ...(await withDeadline(deadlineMs, check)) };
      } catch (error) {
        log('warn', `The check of ${name} failed`, {}, error);
        return { name, state: 'down' as const, detail: 'the check failed; the log says how' };
      }
    }),
  );
}

function worstState(parts: readonly PartReport[]): PartHealth['state'] {
  if (parts.some((part) => part.state === 'down')) return 'down';
  return parts.some((part) => part.state === 'degraded') ? 'degraded' : 'ok';
}
