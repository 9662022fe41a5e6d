import { type Place, type Ran, type Run, runCharge, type Story } from './killed-charge.ts';
import type { Limit } from './limit.ts';

export type Kills = {
  story: Story;
  place: Place;
  /** What is played and killed; a charge when absent. */
  play?: (run: Run) => Promise<Ran>;
  /** Lets so many runs be under way at once, those included that only wait. */
  limit: Limit;
  /** 1: at every moment; 4: at every fourth, counted from `from`. */
  every: number;
  from?: number;
  /** A run of its own for each moment at which the agent may press the button of the read-back again. */
  pressAgain: boolean;
  /** See `Run`. */
  awaitExpiry: boolean;
};

export type KillsResult = {
  /** What the charge awaited, twice each: before and after. */
  points: number;
  /** Points between which anything happens. */
  moments: number;
  kills: number;
  /** How often each end was reached. */
  ends: Map<string, number>;
  /** Moments that did not come again, because the charge was over sooner: see `killAt`. */
  missed: string[];
  wrong: { at: string; problems: string[] }[];
};

/** One charge as it goes when nothing happens to it, and one for each moment of that one, killed there. */
export async function killEverywhere({
  story,
  place,
  limit,
  play = runCharge,
  ...options
}: Kills): Promise<KillsResult> {
  /** What throws is a promise broken too: somebody waited for something that did not come. */
  function run(one: Run): Promise<Ran> {
    return limit(() =>
      play(one).catch((error: unknown) => ({
        killed: false,
        stuck: false,
        end: 'broken off',
        passed: [],
        problems: [String(error)],
      })),
    );
  }

  const whole = await run({ story, place });
  const moments = momentsOf(whole.passed);
  const result: KillsResult = {
    points: whole.passed.length,
    moments: moments.length,
    kills: 0,
    ends: new Map(),
    missed: [],
    wrong: whole.problems.length > 0 ? [{ at: 'no point', problems: whole.problems }] : [],
  };

  /** By its name; should things have gone in another order three times over, by its place in the row. */
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

/**
 * Where one await has ended and the next begins at once, nothing but the process's own memory changes between
 * the two points, and that dies either way: they are one moment.
 */
export function momentsOf(points: readonly string[]): string[] {
  return points.filter((point, index) => {
    const previous = points[index - 1];
    return !(point.startsWith('before') && previous?.startsWith('after'));
  });
}
