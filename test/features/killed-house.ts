import { StoreUnavailable } from '../../src/domain/failure.ts';
import type { CardsHouse } from './cards-house.ts';

/**
 * Works on everything that is due, and kills the process at the `killAt`th point, before or after a call of the store
 * or Slack; from there on nothing happens. False if it was killed. `atPoint` is called at each point.
 */
export async function drainKilled(
  house: Pick<CardsHouse, 'watched' | 'drain'>,
  killAt: number,
  forMs: number,
  atPoint: (passed: number) => void = () => undefined,
): Promise<boolean> {
  let passed = 0;
  house.watched.pass = () => {
    passed += 1;
    atPoint(passed);
    if (passed >= killAt) throw new StoreUnavailable('killed');
  };
  const survived = await house.drain(forMs).then(
    () => true,
    (error: unknown) => {
      if (!(error instanceof StoreUnavailable)) throw error;
      return false;
    },
  );
  house.watched.pass = () => undefined;
  return survived;
}

/** Repeats the run, killed at a later point each time, until it ends before the kill. Returns the number of kills. */
export async function killAtEachPoint(
  play: (killAt: number) => Promise<boolean>,
  next: (killAt: number) => number = (killAt) => killAt + 1,
): Promise<number> {
  let kills = 0;
  for (let killAt = 1; !(await play(killAt)); killAt = next(killAt)) kills += 1;
  return kills;
}
