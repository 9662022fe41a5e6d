import type { TestContext } from 'vitest';
import { openHouse, type House, type HouseOptions } from './house.ts';
import { runPayops, type PayopsEnd } from './run-payops.ts';

/** A loaded machine reads 200 pages slowly; the house's second would be the test's accident. */
const patient = { PAYMENTS_TIMEOUT_SECONDS: '4', WORK_LEASE_SECONDS: '10' };

/** The house of a bot, and the command line beside it. */
export type PayopsDesk = { house: House; ask: (...words: string[]) => Promise<PayopsEnd> };

export async function openPayopsDesk(test: TestContext, options: HouseOptions = {}): Promise<PayopsDesk> {
  const house = await openHouse(test, { ...options, env: { ...patient, ...options.env } });
  return { house, ask: (...words) => runPayops(words, house.settings()) };
}
