import { inspect } from 'node:util';
import { momentsOf } from './every-point.ts';
import { type Place, type Ran, type Run, runCharge, type Story } from './killed-charge.ts';
import type { Limit } from './limit.ts';

export type Kills = {
  story: Story;
  place: Place;
  /** Runs and kills a story; default: a charge. */
  play?: (run: Run) => Promise<Ran>;
  /** Limits concurrent runs, waiting ones included. */
  limit: Limit;
  /** 1: every moment; 4: every fourth, from `from` on. */
  every: number;
  from?: number;
  /** Adds a run for each moment at which the agent may press the review's button again. */
  pressAgain: boolean;
  /** As in `Run`. */
  awaitExpiry: boolean;
};

export type KillsResult = {
  /** Kill points: two for each await, before and after it. */
  points: number;
  /** Kill points with something between them. */
  moments: number;
  kills: number;
  /** How often each end was reached. */
  ends: Map<string, number>;
  /** Moments that a second run did not reach, because the charge was over sooner: see `killAt`. */
  missed: string[];
  wrong: { at: string; problems: string[] }[];
};

/** Runs a charge undisturbed once, and then once for each of its moments, killed there. */
export async function killEverywhere({
  story,
  place,
  limit,
  play = runCharge,
  ...options
}: Kills): Promise<KillsResult> {
  /** An exception is a failure as well: something expected did not come. */
  function run(one: Run): Promise<Ran> {
    return limit(() =>
      play(one).catch((error: unknown) => ({
        killed: false,
        stuck: false,
        end: 'broken off',
        passed: [],
        problems: [inspect(error)],
      })),
    );
  }

  const whole = await run({ story, place });
  const moments = momentsOf(whole.passed).map(({ name }) => name);
  const result: KillsResult = {
    points: whole.passed.length,
    moments: moments.length,
    kills: 0,
    ends: new Map(),
    missed: [],
    wrong: whole.problems.length > 0 ? [{ at: 'no point', problems: whole.problems }] : [],
  };

  /** Finds the point by name; if the order differed three times, by position. */
  async function killAt(point: string, pressAgain: boolean): Promise<Ran | undefined> {
    const ordinal = String(whole.passed.indexOf(point) + 1);
    for (const at of [point, point, point, ordinal]) {
      const ran = await run({ story, place, killAt: at, pressAgain, awaitExpiry: options.awaitExpiry });
      if (ran.problems.length > 0) {
        result.wrong.push({ at: pressAgain ? `${point}, and pressed again` : point, problems: ran.problems });
      }
      if (ran.killed) {
        result.kills += 1;
        result.ends.set(ran.end, (result.ends.get(ran.end) ?? 0) + 1);
        return ran;
      }
      if (ran.problems.length > 0) return undefined;
    }
    result.missed.push(point);
    return undefined;
  }

  const chosen = moments.filter((_, index) => index % options.every === (options.from ?? 0) % options.every);
  await Promise.all(
    chosen.map(async (point) => {
      const ran = await killAt(point, false);
      if (ran?.stuck && options.pressAgain) await killAt(point, true);
    }),
  );
  return result;
}
