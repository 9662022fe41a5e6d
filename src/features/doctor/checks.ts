import { withDeadline, DeadlinePassed } from '../../deadline.ts';
import { StoreUnavailable } from '../../domain/failure.ts';
import { newErrorId, type Log } from '../../log.ts';

/**
 * The result of one check. `warning`: the part works, but an operator should know something. `skipped`: the part was
 * not checked, because of another problem or a missing permission.
 */
export type CheckResult = {
  state: 'ok' | 'warning' | 'problem' | 'skipped';
  /** A sentence of the bot's own, for Slack and scripts; never secret. */
  says: string;
  /** What to do, in one line. */
  fix?: string;
};

export type Finding = CheckResult & { part: string; account?: string };

export type Check = {
  part: string;
  account?: string | undefined;
  look: () => CheckResult | Promise<CheckResult>;
};

export function ok(says: string): CheckResult {
  return { state: 'ok', says };
}

export function warning(says: string, fix: string): CheckResult {
  return { state: 'warning', says, fix };
}

export function problem(says: string, fix: string): CheckResult {
  return { state: 'problem', says, fix };
}

export function skippedFor(part: string): CheckResult {
  return { state: 'skipped', says: `Not looked at: see ${part}` };
}

/** A problem from words whose last sentence is the fix, like a start error's. `fix`: for words of one sentence. */
export function problemWithFix(words: string, fix: string): CheckResult {
  const [, says, last] = /^(.*)\. ([A-Z].*?)\.?$/s.exec(words) ?? [];
  return says === undefined || last === undefined ? problem(words, fix) : problem(says, `${last}.`);
}

/** Clocks that differ by less than this are right. */
const clockSlackMs = 30_000;

/** `whose`: the other clock. */
export function judgeClock(whose: string, theirMs: number, nowMs: number): CheckResult {
  if (Number.isNaN(theirMs)) return { state: 'skipped', says: `No time came from ${whose}` };
  const apartMs = Math.abs(theirMs - nowMs);
  if (apartMs < clockSlackMs) return ok(`This machine and ${whose} agree on the time`);
  const seconds = Math.round(apartMs / 1_000);
  const words = `This machine's clock is ${seconds} s ${nowMs > theirMs ? 'ahead of' : 'behind'} that of ${whose}`;
  const fix = 'Set the clock by NTP: from five minutes apart, what Slack sends is refused.';
  return problem(words, fix);
}

/** Returns a function that runs `ask` at its first call, and always returns that answer. */
export function once<T>(ask: () => Promise<T>): () => Promise<T> {
  let answer: Promise<T> | undefined;
  return () => (answer ??= ask());
}

/**
 * Runs all checks in parallel, each with the deadline. Never rejects. Words of unexpected errors go only to the log.
 */
export async function runChecks(checks: readonly Check[], deadlineMs: number, log: Log): Promise<Finding[]> {
  return await Promise.all(
    checks.map(async ({ part, account, look }): Promise<Finding> => {
      const whose = account === undefined ? { part } : { part, account };
      try {
        return { ...whose, ...(await withDeadline(deadlineMs, look)) };
      } catch (error) {
        return { ...whose, ...failedCheck(part, error, log) };
      }
    }),
  );
}

function failedCheck(part: string, error: unknown, log: Log): CheckResult {
  const networkFix = 'Check the network between the bot and it, then run the doctor again.';
  if (error instanceof DeadlinePassed) return problem('No answer in time', networkFix);
  if (error instanceof StoreUnavailable) return skippedFor('Store');
  // What `fetch` throws for a network error or a refused redirect.
  if (error instanceof TypeError && error.message === 'fetch failed') {
    log('warn', `The doctor could not look at ${part}`, {}, error);
    return problem('The connection failed', networkFix);
  }
  const errorId = newErrorId();
  log('error', `The doctor could not look at ${part}`, { errorId }, error);
  return problem(`The check failed (${errorId})`, 'This is a bug: report the log line with this id.');
}
