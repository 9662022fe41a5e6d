import { setTimeout as rest } from 'node:timers/promises';
import { startPlayground } from '../../src/playground/playground.ts';

const lookAgainMs = 50;
const deadlineMs = 30_000;

/**
 * Once before the tests that start bots: one starts and ends in good order, and leaves its compiled code to all that
 * start after it, in half the processor time. Most bots of tests are killed, and leave nothing to anybody.
 */
export async function setup(): Promise<void> {
  const { bot, close } = await startPlayground();
  const endsAt = performance.now() + deadlineMs;
  // oxlint-disable-next-line no-await-in-loop -- one look after the other
  while (bot.state().status !== 'ready' && performance.now() < endsAt) await rest(lookAgainMs);
  await close();
}
