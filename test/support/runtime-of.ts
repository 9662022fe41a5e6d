import { filledPolicyFile } from './filled-policy.ts';
import type { Runtime } from '../../src/config/config.ts';
import { readConfig } from '../../src/config/read-config.ts';

export const accountId = '8b0e2f74-16c9-4d3a-b5a7-90c4d1e26f38';

/** The input of an operator's command, with the minimal settings and those given. */
export function runtimeOf(settings: Record<string, string>): Runtime {
  const result = readConfig({
    SLACK_BOT_TOKEN: 'xoxb-token',
    SLACK_SIGNING_SECRET: 'ca4a2700ca4a2700ca4a2700ca4a2700',
    PAYMENTS_SANDBOX_URL: 'https://payments.test',
    PAYMENTS_ACCOUNT_ID: accountId,
    PAYMENTS_TOKEN_ISSUE_BODY: '{}',
    PAYOPS_FILE: filledPolicyFile,
    ...settings,
  });
  if (result.kind === 'refused') throw new Error(result.problems.join('\n'));
  return { config: result.config, log: () => undefined, now: () => Date.now() };
}
