import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import nock from 'nock';
import { describe, expect, it } from 'vitest';
import { askService, askStore, serviceProblem } from '../../src/cli/ask-service.ts';
import { readCommand, type CommandEnd } from '../../src/cli/command.ts';
import { runDoctor } from '../../src/cli/doctor.ts';
import { exitCodeOf, exitCodes } from '../../src/cli/exit-codes.ts';
import { rehearseCommand } from '../../src/cli/rehearse.ts';
import type { Config, Runtime } from '../../src/config/config.ts';
import { ServiceFailure } from '../../src/domain/failure.ts';
import { failureWords } from '../../src/slack/words/error-message.ts';
import { tokenMemory } from '../../src/payments/payments.ts';
import { openStorage } from '../../src/store/storage.ts';
import { mockTheOutside } from '../support/mocks.ts';
import { findProgram } from '../support/programs.ts';
import { redisForTests } from '../support/redis-for-tests.ts';
import { runtimeOf } from '../support/runtime-of.ts';

mockTheOutside();

describe('a command where no bot has started', () => {
  const ok: CommandEnd = { exitCode: exitCodes.ok, words: '' };

  it.for([
    ['that asks the service', (runtime: Runtime) => askService(runtime, async () => ok), exitCodes.ok],
    ['rehearse', rehearse, exitCodes.settings],
    ['doctor', (runtime: Runtime) => runDoctor(runtime, {}), exitCodes.failed],
  ] as const)('%s makes no store, which another would take for the bot’s', async ([, run, code], test) => {
    const folder = mkdtempSync(join(tmpdir(), 'payops-'));
    test.onTestFinished(() => rmSync(folder, { recursive: true }));
    const DATA_DIR = join(folder, 'elsewhere');
    const dead = 'http://127.0.0.1:1';
    const runtime = runtimeOf({ DATA_DIR, PAYMENTS_SANDBOX_URL: dead, SLACK_API_URL: `${dead}/api/` });
    expect(await run(runtime)).toMatchObject({ exitCode: code });
    expect(existsSync(DATA_DIR)).toBe(false);
  });
});

async function rehearse(runtime: Runtime): Promise<CommandEnd> {
  const read = readCommand(rehearseCommand, []);
  if (!read.ok || !('run' in read.value)) throw new Error('rehearse was not understood.');
  return await read.value.run(runtime, async () => undefined);
}

const missing = findProgram('redis-server') === undefined;
if (missing) console.warn('SKIPPED: commands on a refused Redis, because redis-server is not installed.');

it.each([400, 422])('a question refused with HTTP %i has the same next step as in Slack', (httpStatus) => {
  const said = 'orderReference: too short';
  const failure = new ServiceFailure('refused', 'The payments service refused the request.', {
    httpStatus,
    said,
  });
  const words = serviceProblem({ paymentsBaseUrl: 'https://pay.example' } as Config, failure);
  expect(exitCodeOf(failure)).toBe(exitCodes.refused);
  expect(words).toContain(said);
  expect(words.split('\n').at(-1)).toBe(`Next: ${failureWords.refused.next}`);
});

function keyOf(byte: number): string {
  return `k${byte}:${Buffer.alloc(32, byte).toString('base64')}`;
}

it('a command that asks the service does so while the store is away', async () => {
  const settings = {
    REDIS_URL: 'redis://127.0.0.1:1',
    SEALING_KEYS: keyOf(1),
    PAYMENTS_STATIC_TOKEN: 'ready',
  };
  const ok: CommandEnd = { exitCode: exitCodes.ok, words: '' };
  expect(await askService(runtimeOf(settings), async () => ok)).toEqual(ok);
});

describe.skipIf(missing)('a command on Redis', () => {
  const redis = redisForTests();

  function askUnder(prefix: string): Promise<CommandEnd> {
    const settings = { REDIS_URL: redis.server().url, REDIS_PREFIX: prefix, SEALING_KEYS: keyOf(1) };
    return askStore(runtimeOf(settings), async () => expect.unreachable());
  }

  it('finds nothing settled under a prefix where no bot has started', async () => {
    expect(await askUnder('mistyped')).toMatchObject({
      exitCode: exitCodes.settings,
      words: expect.stringContaining('REDIS_PREFIX, mistyped'),
    });
    expect(await redis.connection().client.keys('{mistyped}*')).toEqual([]);
  });

  it('with other sealing keys leaves the bots their shared token', async () => {
    const settings = {
      REDIS_URL: redis.server().url,
      REDIS_PREFIX: 'keys',
      SLACK_API_URL: 'http://127.0.0.1:1/api/',
    };
    const bot = runtimeOf({ ...settings, SEALING_KEYS: keyOf(1) });
    const other = runtimeOf({ ...settings, SEALING_KEYS: keyOf(2) });
    const storage = await openStorage(bot);
    await storage.checked();
    await storage.mark.claim(() => Promise.resolve());
    const memory = tokenMemory(bot.config, storage);
    const shared = { accessToken: 'the-token-of-the-bots', freshUntilMs: Date.now() + 600_000 };
    await memory.write(shared, 600_000);
    nock('https://payments.test')
      .post('/v1/auth/token/issue')
      .twice()
      .reply(200, { code: '00', data: { accessToken: 'a-token-of-its-own', expires: 600 } });
    const end = await askService(other, async (payments) => {
      await payments.checkToken();
      return { exitCode: exitCodes.ok, words: '' };
    });
    expect(end).toEqual({ exitCode: exitCodes.ok, words: '' });
    expect(await memory.read()).toEqual(shared);
    await runDoctor(other, {});
    expect(await memory.read()).toEqual(shared);
    await storage.close();
  });

  it('that the bot refuses asks it nothing, and says why', async () => {
    await redis.connection().client.set('{newer}:schema', '1000');
    expect(await askUnder('newer')).toMatchObject({
      exitCode: exitCodes.settings,
      words: expect.stringContaining('written by a newer Payops'),
    });
  });
});
