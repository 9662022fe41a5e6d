import { StoreUnavailable } from '../../src/domain/failure.ts';
import type { CardsHouse } from './cards-house.ts';

/**
 * Drains the house, and ends its process at the `killAt`th point that it passes, before and after each call of the
 * store and of Slack: from there on nothing is done any more. False when it was killed. `atPoint` is told of each.
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

/** Plays again and again, killed at a later point each time, until it is over before the kill; gives the kills. */
export async function killAtEachPoint(
  play: (killAt: number) => Promise<boolean>,
  next: (killAt: number) => number = (killAt) => killAt + 1,
): Promise<number> {
  let kills = 0;
  for (let killAt = 1; !(await play(killAt)); killAt = next(killAt)) kills += 1;
  return kills;
}
