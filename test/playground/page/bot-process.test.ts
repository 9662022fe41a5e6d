import { createServer } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { createBotProcess, type BotProcess } from '../../../src/playground/bot-process.ts';

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer();
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}

const readyBot = `
  console.log('listening');
  require('node:http').createServer((q, s) => s.end()).listen(Number(process.env.PORT), '127.0.0.1');
`;

let bot: BotProcess | undefined;
afterEach(() => bot?.stop());

async function makeBot(
  program: string,
): Promise<{ bot: BotProcess; until: (status: string) => Promise<void> }> {
  const port = await freePort();
  let wake: (() => void) | undefined;
  const made = createBotProcess({
    command: [process.execPath, '-e', program],
    env: { PORT: String(port) },
    url: `http://127.0.0.1:${port}`,
    changed: () => wake?.(),
  });
  bot = made;
  return {
    bot: made,
    until: async (status) => {
      while (made.state().status !== status) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
  };
}

describe('the bot as a child process', () => {
  it('is ready when it says so, dies at once when killed, and starts again', async () => {
    const { bot, until } = await makeBot(readyBot);
    expect(bot.state()).toMatchObject({ status: 'down', starts: 0 });
    expect(await bot.start()).toEqual({ ok: true });
    expect(await bot.start()).toMatchObject({ ok: false });
    await until('ready');
    expect(await bot.kill()).toEqual({ ok: true });
    expect(bot.state()).toMatchObject({ status: 'down', starts: 1 });
    expect(bot.log()).toContain('ended by SIGKILL');
    expect(await bot.kill()).toMatchObject({ ok: false });
    await bot.start();
    await until('ready');
    expect(bot.state()).toMatchObject({ starts: 2, lastLines: [] });
  });

  it('shows its last words when it crashes', async () => {
    const { bot, until } = await makeBot(`console.error('PORT is missing'); process.exit(1)`);
    await bot.start();
    await until('down');
    expect(bot.state().lastLines).toEqual(['PORT is missing', '--- ended with code 1 ---']);
  });

  it('inherits nothing from the terminal', async () => {
    const { bot, until } = await makeBot(`console.log(Object.keys(process.env).join()); process.exit(0)`);
    await bot.start();
    await until('down');
    expect(bot.state().lastLines[0]).toBe('PORT');
  });
});
