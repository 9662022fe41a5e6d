import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import nock from 'nock';
import { onTestFinished } from 'vitest';
import { createCommandSet } from '../../src/features/help/command-set.ts';
import { lookupCommand } from '../../src/features/lookup/lookup.ts';
import { createLog } from '../../src/log.ts';
import { createSlack } from '../../src/slack/router/bolt.ts';
import type { Command, MayRun } from '../../src/slack/command.ts';
import { createClients } from '../../src/slack/workspace.ts';
import { lookupsOf } from '../features/no-sharing.ts';
import { serveOnLoopback } from './loopback.ts';
import { oneAccount } from './permission-stage.ts';
import {
  pressBody,
  signingSecret,
  signSlack,
  submitBody,
  teamId,
  type Pressed,
  type Submitted,
} from './slack-requests.ts';

const slackApiUrl = 'https://slack.test/api';
const botToken = 'xoxb-test-token';

/** How Slack was answered: the status and what the body says. */
export type Acknowledged = { status: number; body: Record<string, unknown> | undefined };

/**
 * The real Slack side of the bot behind a bare server on loopback, with these verbs, for one test; Slack's API is mocked.
 * What is sent is Slack's to sign and nobody's to believe: whatever ids, values and fields the test likes.
 */
export async function runBot(verbs: readonly Command[], mayRun: MayRun) {
  const logged: string[] = [];
  const told: { text: string }[] = [];
  const log = createLog({
    level: 'debug',
    secrets: [],
    write: (line) => void logged.push(line),
    now: () => new Date(0),
  });
  const lookup = lookupCommand(lookupsOf(async () => undefined));
  const slack = createSlack(
    { mode: 'http', signingSecret, botToken, slackApiUrl },
    {
      log,
      now: () => 0,
      clients: createClients({ botToken, slackApiUrl }, log),
      claimOnce: async () => true,
      commands: createCommandSet([oneAccount([lookup, ...verbs], mayRun)], log),
      patienceMs: 60_000,
      openMs: 60_000,
    },
  );
  nock('https://slack.test')
    .post('/api/auth.test')
    .optionally()
    .reply(200, { ok: true, team_id: teamId, user_id: 'U0BOT', bot_id: 'B0BOT' });
  slack.start();
  async function hear(request: IncomingMessage, response: ServerResponse): Promise<void> {
    told.push(JSON.parse(await text(request)) as { text: string });
    response.end('ok');
  }
  const bot = await serveOnLoopback((request, response) => void slack.httpListener?.(request, response));
  const responseUrl = await serveOnLoopback((request, response) => void hear(request, response));
  onTestFinished(async () => {
    await slack.stop();
    await Promise.all([bot.close(), responseUrl.close()]);
  });

  async function send(body: string): Promise<Acknowledged> {
    const response = await fetch(`${bot.url}/slack/events`, { method: 'POST', ...signSlack(body) });
    const said = await response.text();
    await slack.drained();
    return { status: response.status, body: said.startsWith('{') ? JSON.parse(said) : undefined };
  }
  return {
    /** Presses a button, waits for all that this set off, and gives the acknowledgement. */
    press: (pressed: Pressed) => send(pressBody(pressed, responseUrl.url)),
    /** The same for the submission of a modal. */
    submit: (submitted: Submitted) => send(submitBody(submitted)),
    /** What was told through the response_url, oldest first. */
    told,
    logged,
  };
}
