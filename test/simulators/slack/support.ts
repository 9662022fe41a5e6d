import type { IncomingMessage, ServerResponse } from 'node:http';
import { fileURLToPath } from 'node:url';
import { LogLevel, WebClient } from '@slack/web-api';
import {
  startWorkspace,
  type Workspace,
  type WorkspaceSettings,
} from '../../../src/simulators/slack/workspace.ts';
import { serveOnLoopback } from '../../support/loopback.ts';

/** A clock that only moves when told to; it starts at the real time, because the bot checks signatures against that. */
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

/** Call in afterEach: ends everything that a test opened, last first. */
export async function closeAll(): Promise<void> {
  for (const close of cleanups.splice(0).toReversed()) await close();
}

const manifestPath = fileURLToPath(new URL('../../../manifest.yml', import.meta.url));

/** A workspace with the bot’s own manifest, and the optional scopes that most tests need. */
export async function openWorkspace(
  settings: WorkspaceSettings & { manifestPath?: string } = {},
): Promise<Workspace> {
  const workspace = await startWorkspace({
    manifestPath,
    grantedOptionalScopes: ['usergroups:read', 'channels:read'],
    ...settings,
  });
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

/** The error word of a refused call, with Slack's details. */
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

export type RawRequest = { headers: IncomingMessage['headers']; body: string };

/** A server at the bot's address that answers as told; `undefined` means no answer. */
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
