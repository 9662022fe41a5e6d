import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { openHouse } from '../support/house.ts';

const program = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
const env = { PAYMENTS_TOKEN_REVOKE_BODY: '{"accessToken":"{{ACCESS_TOKEN}}"}' };

type End = { code: number; stdout: string; stderr: string };

function run(words: readonly string[], settings: Record<string, string>): Promise<End> {
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [program, ...words],
      { env: settings, timeout: 60_000, killSignal: 'SIGKILL' },
      (error, stdout, stderr) => {
        resolve({ code: Number(error?.code ?? 0), stdout, stderr });
      },
    );
  });
}

describe('node src/main.ts revoke-token', () => {
  it('ends the token of a running bot, and the next start gets a new one', async (test) => {
    const house = await openHouse(test, { env });
    const bot = house.bot();
    await house.start(bot);

    expect(await run(['revoke-token'], house.settings())).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('The store holds no access token'),
    });

    const first = await house.command(bot, 'ORDER-1001');
    await house.until('it is answered', () => first.answers.length > 0);
    expect(await run(['revoke-token', '--help'], house.settings())).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('npm run revoke-token'),
    });
    expect(house.payments.stats()).toMatchObject({ tokensRevoked: 0 });
    expect(await run(['revoke-token'], house.settings())).toEqual({
      code: 0,
      stdout: expect.stringMatching(/^The shared access token is revoked .+ and forgotten here\./),
      stderr: '',
    });
    expect(house.payments.stats()).toMatchObject({ tokensIssued: 1, tokensRevoked: 1 });

    await bot.stop();
    await house.start(bot);
    const second = await house.command(bot, 'ORDER-1001');
    await house.until('it is answered', () =>
      second.answers.some((text) => text.includes('Paid (confirmed)')),
    );
    expect(house.payments.stats()).toMatchObject({ tokensIssued: 2 });
  });

  it('does not start a bot for a word that is no command', async (test) => {
    const house = await openHouse(test);
    expect(await run(['revok-token'], house.settings())).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Payops has no command “revok-token”'),
    });
  });
});
