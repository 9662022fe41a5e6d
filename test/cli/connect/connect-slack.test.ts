import { expect, it } from 'vitest';
import type { Conversation } from '../../../src/cli/connect/conversation.ts';
import { connectSlack } from '../../../src/cli/connect/connect-slack.ts';
import { openDraft } from '../../../src/cli/connect/draft.ts';
import { freePort } from '../../support/redis-server.ts';

it('keeps the tokens that are set if Slack is away', async () => {
  const draft = openDraft({
    SLACK_MODE: 'socket',
    SLACK_BOT_TOKEN: 'xoxb-set',
    SLACK_APP_TOKEN: 'xapp-set',
    SLACK_API_URL: `http://127.0.0.1:${await freePort()}/api/`,
  });
  const said: string[] = [];
  /** Presses Enter at each question. */
  const talk: Conversation = {
    isPerson: true,
    ask: async ({ proposal }) => proposal,
    tell: async (text) => void said.push(text),
    waitFor: () => Promise.reject(new Error('nothing is waited for')),
  };
  expect(await connectSlack({ talk, draft, log: () => undefined }, false)).toBeUndefined();
  expect(said.join()).toContain('Slack does not answer');
  expect(draft.changes()).toEqual({});
});
