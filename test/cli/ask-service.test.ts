import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { askService, askStore, serviceProblem } from '../../src/cli/ask-service.ts';
import { readCommand, type CommandEnd } from '../../src/cli/command.ts';
import { examineAll } from '../../src/cli/doctor.ts';
import { exitCodes } from '../../src/cli/exit-codes.ts';
import { rehearseCommand } from '../../src/cli/rehearse.ts';
import type { Config, Runtime } from '../../src/config/config.ts';
import { ServiceFailure } from '../../src/domain/failure.ts';
import { failureWords } from '../../src/slack/words/error-message.ts';
import { findProgram } from '../support/programs.ts';
import { redisForTests } from '../support/redis-for-tests.ts';
import { runtimeOf } from '../support/runtime-of.ts';

describe('a command where no bot has started', () => {
  const ok: CommandEnd = { exitCode: exitCodes.ok, words: '' };

  it.for([
    ['that asks the service', (runtime: Runtime) => askService(runtime, async () => ok), exitCodes.ok],
    ['rehearse', rehearse, exitCodes.settings],
    ['doctor', (runtime: Runtime) => examineAll(runtime, {}), exitCodes.failed],
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
  const { exitCode, words } = serviceProblem({ paymentsBaseUrl: 'https://pay.example' } as Config, failure);
  expect(exitCode).toBe(exitCodes.refused);
  expect(words).toContain(said);
  expect(words.split('\n').at(-1)).toBe(`Next: ${failureWords.refused.next}`);
});

describe.skipIf(missing)('a command on Redis', () => {
  const redis = redisForTests();

  it('finds nothing settled under a prefix where no bot has started', async () => {
    const runtime = runtimeOf({
      REDIS_URL: redis.server().url,
      REDIS_PREFIX: 'mistyped',
      SEALING_KEYS: `a:${Buffer.alloc(32, 1).toString('base64')}`,
    });
    const end = await askStore(runtime, async () => expect.unreachable());
    expect(end).toMatchObject({
      exitCode: exitCodes.settings,
      words: expect.stringContaining('REDIS_PREFIX, mistyped'),
    });
    expect(await redis.connection().client.keys('{mistyped}*')).toEqual([]);
  });

  it('that the bot refuses asks it nothing, and says why', async () => {
    await redis.connection().client.set('{newer}:schema', '1000');
    const runtime = runtimeOf({
      REDIS_URL: redis.server().url,
      REDIS_PREFIX: 'newer',
      SEALING_KEYS: `a:${Buffer.alloc(32, 1).toString('base64')}`,
    });
    const end = await askStore(runtime, async () => expect.unreachable());
    expect(end).toMatchObject({
      exitCode: exitCodes.settings,
      words: expect.stringContaining('written by a newer Payops'),
    });
  });
});
