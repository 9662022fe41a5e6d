import type { Middleware } from 'openapi-fetch';
import type { Leave, TooLate } from '../domain/charge-answer.ts';

/** It was after `leaveBy` when the request was ready to leave; it did not. */
class TooLateToLeave extends Error {}

const latestLeaves = new WeakMap<Request, Leave>();

/** For a request that must not leave late: the clock is asked at the door, after any wait for a token. */
export function leavingBy(leave: Leave): Middleware {
  return {
    onRequest({ request }) {
      latestLeaves.set(request, leave);
    },
  };
}

/** Throws when the request was given a time to leave by, and it is over. A time that is no number is over. */
export function refuseLate(request: Request): void {
  const leave = latestLeaves.get(request);
  if (leave && !(leave.now() <= leave.leaveBy)) throw new TooLateToLeave('too late to leave');
}

/** The call's own outcome, or `too_late` when its request was kept from leaving. */
export async function orTooLate<A>(call: Promise<A>): Promise<A | TooLate> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof TooLateToLeave) return { kind: 'too_late' };
    throw error;
  }
}

export function isTooLateToLeave(error: unknown): boolean {
  return error instanceof TooLateToLeave;
}
