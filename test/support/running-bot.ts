import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import nock from 'nock';
import { createCommandSet } from '../../src/features/help/command-set.ts';
import { lookupCommand } from '../../src/features/lookup/lookup.ts';
import { createLog } from '../../src/log.ts';
import { createSlack, type Slack, type SlackDeps } from '../../src/slack/router/bolt.ts';
import type { Command, MayRun } from '../../src/slack/command.ts';
import { createClients } from '../../src/slack/workspace.ts';
import { serveOnLoopback } from './loopback.ts';
import { oneAccount } from './permission-stage.ts';
import {
  botToken,
  pressBody,
  signingSecret,
  signSlack,
  slashBody,
  closedBody,
  submitBody,
  suggestBody,
  teamId,
  type Pressed,
  type SignedRequest,
  type Sought,
  type Submitted,
  type Typed,
} from './slack-requests.ts';
import { lookupsOf } from '../features/no-sharing.ts';

/** Without the slash at its end, as a person would set it. */
export const slackApiUrl = 'https://slack.test/api';

/** What the bot sent to a response_url. */
export type Told = { text: string; replace_original: boolean; response_type: string; blocks: unknown[] };

/** How Slack was answered: the status and what the body says. */
export type Acknowledged = { status: number; body: Record<string, unknown> | undefined };

export type RunningBot = {
  slack: Slack;
  /** Types a slash command, waits for all it set off, and gives the status of the acknowledgement. */
  type(words: string, more?: Partial<Typed>): Promise<number>;
  /** The same for a press on a button. */
  press(pressed: Pressed): Promise<number>;
  /** Submits a modal, and gives what Slack is told in the acknowledgement, at once; undefined closes the modal. */
  submit(submitted: Submitted): Promise<Acknowledged>;
  /** Closes a modal without submitting it. */
  closeModal(closed: Submitted): Promise<Acknowledged>;
  /** What an external select offers, and waits for nothing else. */
  suggest(sought: Sought): Promise<Acknowledged>;
  /** Sends and gives the status as soon as it is there, waiting for nothing else. */
  send(request: SignedRequest): Promise<number>;
  /** A slash command ready to be sent. */
  typed(words: string): SignedRequest;
  /** What was told through response_urls, oldest first. */
  told: Told[];
  /** All of it as one text. */
  toldText(): string;
  logged: string[];
  /** Resolves at the next thing that is told or logged. */
  next(): Promise<void>;
  stop(): Promise<void>;
};

export type BotOptions = { mayRun?: MayRun; findTransaction?: Parameters<typeof lookupsOf>[0] } & Partial<
  Pick<SlackDeps, 'claimOnce' | 'note' | 'patienceMs' | 'openMs' | 'submitMs' | 'suggestMs' | 'wait'>
> & {
    mayRun?: MayRun;
    more?: Command[];
    /** Which answers a response_url refuses, as Slack does with 400. */
    refuses?: (said: Told) => boolean;
    /** Answers `auth.test` unless false. */
    slackIsUp?: boolean;
  };

export const allowAll: MayRun = async () => ({ kind: 'allowed' });

/** The real Slack side of the bot behind a bare server on loopback; Slack's API and the payments service are mocked. */
export async function runBot(options: BotOptions = {}): Promise<RunningBot> {
  const logged: string[] = [];
  const told: Told[] = [];
  let wake: (() => void)[] = [];
  function happened(): void {
    for (const go of wake) go();
    wake = [];
  }
  const slack = createBot(options, (line) => {
    logged.push(line);
    happened();
  });
  if (options.slackIsUp !== false) answerAuthTest();
  slack.start();
  const bot = await serveOnLoopback((request, response) => void slack.httpListener?.(request, response));
  async function hear(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const said: Told = JSON.parse(await text(request));
    told.push(said);
    if (options.refuses?.(said)) response.statusCode = 400;
    response.end('ok');
    happened();
  }
  const responseUrl = await serveOnLoopback((request, response) => void hear(request, response));

  async function ask(request: SignedRequest): Promise<Acknowledged> {
    const response = await fetch(`${bot.url}/slack/events`, { method: 'POST', ...request });
    const said = await response.text();
    return { status: response.status, body: said.startsWith('{') ? JSON.parse(said) : undefined };
  }
  async function send(request: SignedRequest): Promise<number> {
    return (await ask(request)).status;
  }
  async function sendAndWait(body: string): Promise<number> {
    const status = await send(signSlack(body));
    await slack.drained();
    return status;
  }
  return {
    slack,
    send,
    typed: (words) => signSlack(slashBody({ text: words, responseUrl: responseUrl.url })),
    type: (words, more) => sendAndWait(slashBody({ text: words, responseUrl: responseUrl.url, ...more })),
    press: (pressed) => sendAndWait(pressBody({ responseUrl: responseUrl.url, ...pressed })),
    submit: (submitted) => ask(signSlack(submitBody(submitted))),
    closeModal: (closed) => ask(signSlack(closedBody(closed))),
    suggest: (sought) => ask(signSlack(suggestBody(sought))),
    told,
    toldText: () => JSON.stringify(told),
    logged,
    next: () => new Promise((resolve) => wake.push(resolve)),
    async stop() {
      await slack.stop();
      await Promise.all([bot.close(), responseUrl.close()]);
    },
  };
}

function createBot(options: BotOptions, write: (line: string) => void): Slack {
  const log = createLog({ level: 'debug', secrets: [], write, now: () => new Date(0) });
  const mayRun = options.mayRun ?? allowAll;
  const lookup = lookupCommand(lookupsOf(options.findTransaction ?? (async () => undefined)));
  return createSlack(
    { mode: 'http', signingSecret, botToken, slackApiUrl },
    {
      log,
      now: () => 0,
      clients: createClients({ botToken, slackApiUrl }, log),
      claimOnce: options.claimOnce ?? (async () => true),
      commands: createCommandSet([oneAccount([lookup, ...(options.more ?? [])], mayRun)], log),
      patienceMs: options.patienceMs ?? 60_000,
      openMs: options.openMs ?? 60_000,
      ...(options.submitMs === undefined ? {} : { submitMs: options.submitMs }),
      ...(options.suggestMs === undefined ? {} : { suggestMs: options.suggestMs }),
      ...(options.wait ? { wait: options.wait } : {}),
      ...(options.note ? { note: options.note } : {}),
    },
  );
}

export function answerAuthTest(): void {
  nock('https://slack.test')
    .post('/api/auth.test')
    .optionally()
    .reply(200, { ok: true, team_id: teamId, user_id: 'U0BOT', bot_id: 'B0BOT' });
}
