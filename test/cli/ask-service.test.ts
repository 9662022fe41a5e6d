import { describe, expect, it } from 'vitest';
import { askStore, serviceProblem } from '../../src/cli/ask-service.ts';
import { exitCodes } from '../../src/cli/exit-codes.ts';
import type { Config } from '../../src/config/config.ts';
import { ServiceFailure } from '../../src/domain/failure.ts';
import { failureWords } from '../../src/slack/words/error-message.ts';
import { findProgram } from '../support/programs.ts';
import { redisForTests } from '../support/redis-for-tests.ts';
import { runtimeOf } from '../support/runtime-of.ts';

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

describe.skipIf(missing)('a command on a Redis that the bot refuses', () => {
  const redis = redisForTests();

  it('asks it nothing, and says why', async () => {
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
