import { withDeadline, DeadlinePassed } from '../../deadline.ts';
import { StoreUnavailable } from '../../domain/failure.ts';
import { newErrorId, type Log } from '../../log.ts';

/**
 * The result of one check. `warning`: it works, but an operator should know. `skipped`: not checked, because of another
 * problem or a missing permission.
 */
export type Verdict = {
  state: 'ok' | 'warning' | 'problem' | 'skipped';
  /** A sentence of the bot's own, for Slack and scripts; never secret. */
  says: string;
  /** What to do, in one line. */
  fix?: string;
};

export type Finding = Verdict & { part: string; account?: string };

export type Check = { part: string; account?: string | undefined; look: () => Verdict | Promise<Verdict> };

export function ok(says: string): Verdict {
  return { state: 'ok', says };
}

export function warning(says: string, fix: string): Verdict {
  return { state: 'warning', says, fix };
}

export function problem(says: string, fix: string): Verdict {
  return { state: 'problem', says, fix };
}

/** Skipped because of a problem of `part`. */
export function skippedFor(part: string): Verdict {
  return { state: 'skipped', says: `Not looked at: see ${part}` };
}

/** Splits words whose last sentence is the fix, like start errors; `fix` for words without one. */
export function problemWithFix(words: string, fix: string): Verdict {
  const [, says, last] = /^(.*)\. ([A-Z].*?)\.?$/s.exec(words) ?? [];
  return says === undefined || last === undefined ? problem(words, fix) : problem(says, `${last}.`);
}

/** Any two clocks may differ by this much. */
const clockSlackMs = 30_000;

/** `whose`: the other clock. */
export function judgeClock(whose: string, theirMs: number, nowMs: number): Verdict {
  if (Number.isNaN(theirMs)) return { state: 'skipped', says: `No time came from ${whose}` };
  const apartMs = Math.abs(theirMs - nowMs);
  if (apartMs < clockSlackMs) return ok(`This machine and ${whose} agree on the time`);
  const seconds = Math.round(apartMs / 1_000);
  const words = `This machine's clock is ${seconds} s ${nowMs > theirMs ? 'ahead of' : 'behind'} that of ${whose}`;
  const fix = 'Set the clock by NTP: from five minutes apart, what Slack sends is refused.';
  return problem(words, fix);
}

/** Runs `ask` once; later calls get the same answer. */
export function once<T>(ask: () => Promise<T>): () => Promise<T> {
  let asked: Promise<T> | undefined;
  return () => (asked ??= ask());
}

/** Runs all checks at once, each with the deadline. Never rejects; hides the words of unexpected errors. */
export async function examine(checks: readonly Check[], deadlineMs: number, log: Log): Promise<Finding[]> {
  return await Promise.all(
    checks.map(async ({ part, account, look }): Promise<Finding> => {
      const whose = account === undefined ? { part } : { part, account };
      try {
        return { ...whose, ...(await withDeadline(deadlineMs, look)) };
      } catch (error) {
        return { ...whose, ...brokenOff(part, error, log) };
      }
    }),
  );
}

function brokenOff(part: string, error: unknown, log: Log): Verdict {
  if (error instanceof DeadlinePassed) {
    return problem(
      'No answer in time',
      'Check the network between the bot and it, then run the doctor again.',
    );
  }
  if (error instanceof StoreUnavailable) return skippedFor('Store');
  const errorId = newErrorId();
  log('error', `The doctor could not look at ${part}`, { errorId }, error);
  return problem(`The check failed (${errorId})`, 'This is a bug: report the log line with this id.');
}
