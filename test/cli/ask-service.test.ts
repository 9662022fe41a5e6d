import { expect, it } from 'vitest';
import { serviceProblem } from '../../src/cli/ask-service.ts';
import { exitCodes } from '../../src/cli/exit-codes.ts';
import type { Config } from '../../src/config/config.ts';
import { ServiceFailure } from '../../src/domain/failure.ts';
import { failureWords } from '../../src/slack/words/error-message.ts';

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
