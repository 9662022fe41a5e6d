import { env } from 'node:process';

/** The bot as `src/main.ts` starts it, BOT_LATER_DAYS after today by its clock and that of its store's file. */
const laterMs = Number(env['BOT_LATER_DAYS'] ?? '0') * 86_400_000;
const realNow = Date.now.bind(Date);
Date.now = () => realNow() + laterMs;

await import('../../src/main.ts');
