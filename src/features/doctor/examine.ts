import { withDeadline, DeadlinePassed } from '../../deadline.ts';
import { StoreUnavailable } from '../../domain/failure.ts';
import { newErrorId, type Log } from '../../log.ts';

/**
 * What one look came to. `warning`: it works, and somebody should know. `skipped`: it could not be looked at, because of
 * another problem or because nobody lets the bot look.
 */
export type Verdict = {
  state: 'ok' | 'warning' | 'problem' | 'skipped';
  /** A sentence, in the bot's own words: it is read in Slack and in scripts, and holds nothing secret. */
  says: string;
  /** What ends it, in one line. */
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

/** `part` has the problem that keeps this from being looked at. */
export function skippedFor(part: string): Verdict {
  return { state: 'skipped', says: `Not looked at: see ${part}` };
}

/** Of words whose last sentence is what to do, as errors of the start are; of those without one it is `fix`. */
export function problemWithFix(words: string, fix: string): Verdict {
  const [, says, last] = /^(.*)\. ([A-Z].*?)\.?$/s.exec(words) ?? [];
  return says === undefined || last === undefined ? problem(words, fix) : problem(says, `${last}.`);
}

/** Below it is what any two clocks differ by. */
const clockSlackMs = 30_000;

/** `whose` says another time than ours. */
export function judgeClock(whose: string, theirMs: number, nowMs: number): Verdict {
  if (Number.isNaN(theirMs)) return { state: 'skipped', says: `No time came from ${whose}` };
  const apartMs = Math.abs(theirMs - nowMs);
  if (apartMs < clockSlackMs) return ok(`This machine and ${whose} agree on the time`);
  const seconds = Math.round(apartMs / 1_000);
  const words = `This machine's clock is ${seconds} s ${nowMs > theirMs ? 'ahead of' : 'behind'} that of ${whose}`;
  const fix = 'Set the clock by NTP: from five minutes apart, what Slack sends is refused.';
  return problem(words, fix);
}

/** Asked once: later looks judge the same answer. */
export function once<T>(ask: () => Promise<T>): () => Promise<T> {
  let asked: Promise<T> | undefined;
  return () => (asked ??= ask());
}

/** Looks at everything at once, each within the time; never rejects, and repeats no words of an error it does not know. */
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
