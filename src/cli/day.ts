import type { Runtime } from '../config/config.ts';
import { dayNamed } from '../domain/local-day.ts';
import { parsed, problem } from '../domain/wording.ts';
import { dayFile } from '../merchants.ts';
import { askStore } from './ask-service.ts';
import { command, type CommandEnd, type Out } from './command.ts';
import { exitCodes } from './exit-codes.ts';

export const dayCommand = command({
  summary: 'Write a day as CSV for finance: what this bot knows of it, from its own store',
  usage: ['npm run payops --silent -- day 2026-11-20 [--account NAME]'],
  more: 'A day of the policy file’s time zone. Reads the bot’s store alone; the bot may run. With several accounts, name one.',
  scope: 'one',
  mostWords: 1,
  prepare({ positionals: [date = ''] }) {
    return dayNamed('UTC', date)
      ? parsed({ run: (runtime, out) => writeDay(runtime, date, out) })
      : problem('Give a day, like 2026-11-20.');
  },
});

async function writeDay(runtime: Runtime, date: string, out: Out): Promise<CommandEnd> {
  const { policy } = runtime.config;
  if (!dayNamed(policy.timezone, date))
    return { exitCode: exitCodes.usage, words: `There is no ${date} in the policy file’s time zone.` };
  return await askStore(runtime, async ({ store, sealer }) => {
    const { text, words, isWhole } = await dayFile({ store, sealer, settings: runtime.config }, date);
    await out(text);
    return { exitCode: isWhole ? exitCodes.ok : exitCodes.unproven, words };
  });
}
