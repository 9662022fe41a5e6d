import { expect, it, vi } from 'vitest';
import { createBotProcess } from '../../../src/playground/bot-process.ts';

it('starts a bot that inherits no variable of the terminal, and shows its last output when it crashes', async () => {
  const program = `console.log(Object.keys(process.env).join()); console.error('PORT is taken'); process.exit(1)`;
  const bot = createBotProcess([process.execPath, '-e', program], {
    env: { PORT: '9' },
    url: 'http://127.0.0.1:9',
    changed: () => {},
  });
  expect(bot.start()).toEqual({ ok: true });
  expect(bot.start()).toMatchObject({ ok: false });
  await vi.waitUntil(() => bot.state().status === 'down', { timeout: 20_000 });
  expect(bot.state().lastLines.toSorted()).toEqual(['--- ended with code 1 ---', 'PORT', 'PORT is taken']);
  expect(await bot.kill()).toMatchObject({ ok: false });
});
