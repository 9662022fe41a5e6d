import { afterEach } from 'vitest';
import { runBot, type BotOptions, type RunningBot } from './running-bot.ts';

/** Runs bots for the tests of one file, and stops each at the end of its test. */
export function runningBots(): (options?: BotOptions) => Promise<RunningBot> {
  const running: RunningBot[] = [];
  afterEach(async () => {
    await Promise.all(running.splice(0).map((bot) => bot.stop()));
  });
  return async function start(options = {}) {
    const bot = await runBot(options);
    running.push(bot);
    return bot;
  };
}
