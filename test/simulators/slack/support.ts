import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { App, LogLevel } from '@slack/bolt';
import { WebClient } from '@slack/web-api';
import {
  startWorkspace,
  type Workspace,
  type WorkspaceSettings,
} from '../../../src/simulators/slack/workspace.ts';
import { serveOnLoopback } from '../../support/loopback.ts';

export const manifest = {
  display_information: { name: 'Pay' },
  features: {
    app_home: { home_tab_enabled: true, messages_tab_enabled: true, messages_tab_read_only_enabled: false },
    bot_user: { display_name: 'Pay' },
    slash_commands: [
      { command: '/pay', description: 'Payments', usage_hint: '<reference>', should_escape: true },
    ],
    shortcuts: [
      { type: 'global', name: 'Charge a saved card', callback_id: 'charge', description: 'x' },
      { type: 'message', name: 'Look up the reference here', callback_id: 'lookup_here', description: 'x' },
    ],
  },
  oauth_config: {
    scopes: {
      bot: ['commands', 'chat:write', 'im:write', 'usergroups:read', 'users:read', 'channels:read'],
      bot_optional: ['channels:history', 'chat:write.public'],
    },
  },
  settings: {
    event_subscriptions: { bot_events: ['app_home_opened'] },
    interactivity: { is_enabled: true },
  },
};

/** A clock that stands until it is moved; it starts at the real time because the bot checks signatures against that. */
export function createClock(): { now: () => number; advance: (ms: number) => void } {
  let at = Date.now();
  return {
    now: () => at,
    advance(ms) {
      at += ms;
    },
  };
}

const cleanups: (() => Promise<unknown>)[] = [];

/** Call in afterEach: ends everything a test opened, last first. */
export async function closeAll(): Promise<void> {
  for (const close of cleanups.splice(0).toReversed()) await close();
}

type OpenOptions = WorkspaceSettings & { manifest?: object; manifestPath?: string };

export async function openWorkspace(options: OpenOptions = {}): Promise<Workspace> {
  const { manifestPath, manifest: own = manifest, ...settings } = options;
  const source = manifestPath === undefined ? { manifest: own } : { manifestPath };
  const workspace = await startWorkspace({ ...source, ...settings });
  cleanups.push(() => workspace.close());
  return workspace;
}

export function clientOf(
  workspace: Workspace,
  token: string | undefined = workspace.credentials.botToken,
): WebClient {
  return new WebClient(token, {
    slackApiUrl: workspace.apiUrl,
    retryConfig: { retries: 0 },
    rejectRateLimitedCalls: true,
    timeout: 2000,
    logLevel: LogLevel.ERROR,
  });
}

/** The error word of a refused call, with what Slack says beside it. */
export async function refusal(call: Promise<unknown>): Promise<Record<string, unknown>> {
  try {
    await call;
  } catch (error) {
    const data = (error as { data?: Record<string, unknown> }).data;
    if (data === undefined) throw error;
    return data;
  }
  throw new Error('The call was not refused.');
}

/** A real Bolt app behind its real HTTP receiver, signature check included. */
export async function openBot(workspace: Workspace, register: (app: App) => void): Promise<App> {
  const app = new App({
    token: workspace.credentials.botToken,
    signingSecret: workspace.credentials.signingSecret,
    clientOptions: {
      slackApiUrl: workspace.apiUrl,
      retryConfig: { retries: 0 },
      rejectRateLimitedCalls: true,
    },
    logLevel: LogLevel.ERROR,
  });
  register(app);
  const server = (await app.start({ port: 0, host: '127.0.0.1' })) as Server;
  cleanups.push(async () => {
    server.closeAllConnections();
    await app.stop();
  });
  workspace.connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}/slack/events`);
  return app;
}

export async function openSocketBot(workspace: Workspace, register: (app: App) => void): Promise<App> {
  const app = new App({
    token: workspace.credentials.botToken,
    appToken: workspace.credentials.appToken,
    socketMode: true,
    clientOptions: { slackApiUrl: workspace.apiUrl },
    logLevel: LogLevel.ERROR,
  });
  register(app);
  await app.start();
  cleanups.push(() => app.stop());
  return app;
}

export type RawRequest = { headers: IncomingMessage['headers']; body: string };

/** Something at the bot's address that answers what it is told; `undefined` means no answer at all. */
export async function openRawBot(
  workspace: Workspace,
  answer: (
    request: RawRequest,
    count: number,
  ) => { status: number; body?: string; headers?: Record<string, string> } | undefined,
): Promise<{ requests: RawRequest[]; url: string; next: () => Promise<RawRequest> }> {
  const requests: RawRequest[] = [];
  const waiting: ((request: RawRequest) => void)[] = [];
  let read = 0;
  async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const received = { headers: request.headers, body: Buffer.concat(chunks).toString() };
    requests.push(received);
    const reply = answer(received, requests.length);
    if (reply !== undefined) response.writeHead(reply.status, reply.headers).end(reply.body ?? '');
    const waiter = waiting.shift();
    if (waiter !== undefined) {
      read += 1;
      waiter(received);
    }
  }
  const server = await serveOnLoopback((request, response) => void receive(request, response));
  cleanups.push(server.close);
  const url = `${server.url}/slack/events`;
  workspace.connect(url);
  return {
    requests,
    url,
    next() {
      const ready = requests[read];
      if (ready !== undefined) {
        read += 1;
        return Promise.resolve(ready);
      }
      return new Promise((resolve) => waiting.push(resolve));
    },
  };
}

export function payloadOf(request: RawRequest): Record<string, unknown> {
  const form = new URLSearchParams(request.body).get('payload');
  return JSON.parse(form ?? request.body) as Record<string, unknown>;
}

export function section(text: string) {
  return { type: 'section' as const, text: { type: 'plain_text' as const, text } };
}

export function textInput(blockId: string, element: Record<string, unknown> = {}) {
  return {
    type: 'input' as const,
    block_id: blockId,
    label: { type: 'plain_text' as const, text: blockId },
    element: { type: 'plain_text_input' as const, action_id: 'value', ...element },
  };
}

export function modal(title: string, more: Record<string, unknown> = {}) {
  return {
    type: 'modal' as const,
    title: { type: 'plain_text' as const, text: title },
    submit: { type: 'plain_text' as const, text: 'Charge' },
    blocks: [section(title)],
    ...more,
  };
}
