import { flushCompileCache } from 'node:module';
import { bundleVariable } from './bot.ts';
import { bundleBots } from './bot-bundle.ts';
import { openHouse } from './house.ts';

/**
 * Runs once before tests that start bots. Bundles the bot into few files for all of them, and starts and stops it once so
 * that its compiled code is cached: most test bots are killed and write no cache. The first group of tests to call it
 * does the work for all.
 */
export async function setup(): Promise<(() => void) | undefined> {
  if (process.env[bundleVariable] !== undefined) return undefined;
  const bundle = await bundleBots();
  const cleanUps: (() => unknown)[] = [];
  const test = {
    onTestFinished: (cleanUp: unknown) => void cleanUps.push(cleanUp as () => unknown),
    onTestFailed: () => undefined,
  };
  const house = await openHouse(test, { program: bundle.program });
  const bot = house.bot();
  await house.start(bot);
  await Promise.all([house.decline(), house.type('agent', '/pay ORDER-1001')]);
  await house.until(
    'both are answered',
    () => house.seenBy('agent').length > 0 && house.posts('payAlerts').length > 0,
  );
  await bot.stop();
  for (const cleanUp of cleanUps) await cleanUp();
  process.env[bundleVariable] = bundle.program;
  // In a fresh clone the workers would compile again what this process has compiled.
  flushCompileCache();
  return bundle.remove;
}
