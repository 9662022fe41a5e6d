import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { WebSocketServer, type WebSocket } from 'ws';
import { createCommandSet } from '../../../src/commands/command-set.ts';
import { lookupCommand } from '../../../src/commands/lookup.ts';
import { createLog } from '../../../src/log.ts';
import { createSlack, type Slack } from '../../../src/slack/router/bolt.ts';
import type { MayRun } from '../../../src/slack/command.ts';
import { helloTimeoutMs } from '../../../src/slack/router/socket-mode.ts';
import { createClients } from '../../../src/slack/workspace.ts';
import { noSharing } from '../../commands/no-sharing.ts';

type Answer = { ok: boolean; error?: string };

/** Slack's side of Socket Mode on loopback: both the Web API methods it needs and the socket. */
class LocalSlack {
  readonly sockets: WebSocket[] = [];
  readonly received: Record<string, unknown>[] = [];
  readonly told: Record<string, unknown>[] = [];
  readonly logged: string[] = [];
  tokens: string[] = [];
  upgrades = 0;
  openAnswer: Answer = { ok: true };
  opening: 'hello' | 'silent' | 'never' = 'hello';
  /** Ends the wait for the hello under way. */
  giveUp: () => void = () => undefined;
  #wake: (() => void)[] = [];
  readonly #server = createServer((request, response) => void this.#answer(request, response));
  readonly #socketServer = new WebSocketServer({ noServer: true });
  slack: Slack | undefined;

  async start(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    this.#socketServer.on('connection', (socket) => {
      this.sockets.push(socket);
      socket.on('message', (data: Buffer) => {
        this.received.push(JSON.parse(data.toString()));
        this.#happened();
      });
      this.#happened();
      if (this.opening === 'hello') socket.send(JSON.stringify({ type: 'hello', num_connections: 1 }));
    });
    this.#server.on('upgrade', (request, socket, head) => {
      this.upgrades += 1;
      this.#happened();
      if (this.opening === 'never') return void socket.resume().once('end', () => socket.destroy());
      this.#socketServer.handleUpgrade(request, socket, head, (made) => {
        this.#socketServer.emit('connection', made);
      });
    });
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  log(line: string): void {
    this.logged.push(line);
    this.#happened();
  }

  #happened(): void {
    for (const go of this.#wake.splice(0)) go();
  }

  silence(): Promise<void> {
    return new Promise((resolve) => {
      this.giveUp = resolve;
    });
  }

  async until(holds: () => boolean): Promise<void> {
    // oxlint-disable-next-line no-await-in-loop -- one event after the other
    while (!holds()) await new Promise<void>((resolve) => this.#wake.push(resolve));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request);
    response.setHeader('content-type', 'application/json');
    if (request.url === '/told') this.told.push(JSON.parse(body));
    if (request.url === '/api/apps.connections.open') {
      this.tokens.push(request.headers.authorization ?? '');
      const url = this.url.replace('http', 'ws');
      response.end(JSON.stringify(this.openAnswer.ok ? { ok: true, url } : this.openAnswer));
    } else {
      response.end(JSON.stringify({ ok: true, team_id: 'T1', bot_id: 'B1', user_id: 'U1' }));
    }
    this.#happened();
  }

  async stop(): Promise<void> {
    await this.slack?.stop();
    this.#socketServer.close();
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

let local: LocalSlack;
beforeEach(async () => {
  local = new LocalSlack();
  await local.start();
});
afterEach(() => local.stop());

const mayRun: MayRun = async () => ({ kind: 'allowed' });

function startBot(): Slack {
  const slackApiUrl = `${local.url}/api`;
  const log = createLog({
    level: 'debug',
    secrets: [],
    write: (line) => local.log(line),
    now: () => new Date(0),
  });
  const lookup = lookupCommand({
    ...noSharing,
    findTransaction: async () => undefined,
    environment: 'sandbox',
    account: 'Main shop',
    now: () => 0,
  });
  const slack = createSlack(
    { mode: 'socket', appToken: 'xapp-1', botToken: 'xoxb-1', slackApiUrl },
    {
      log,
      now: () => 0,
      clients: createClients({ botToken: 'xoxb-1', slackApiUrl }, log),
      mayRun,
      claimOnce: async () => true,
      commands: createCommandSet([lookup], mayRun, log),
      wait: (ms) => (ms === helloTimeoutMs ? local.silence() : local.until(() => local.openAnswer.ok)),
    },
  );
  local.slack = slack;
  slack.start();
  return slack;
}

function slashEnvelope(words: string): string {
  return JSON.stringify({
    type: 'slash_commands',
    envelope_id: 'envelope-1',
    accepts_response_payload: true,
    payload: {
      command: '/pay',
      text: words,
      response_url: `${local.url}/told`,
      trigger_id: '1',
      user_id: 'U0AGENT',
      team_id: 'T1',
      channel_id: 'C1',
    },
  });
}

describe('Socket Mode', () => {
  it('opens with the app-level token at the configured address, acknowledges and answers', async () => {
    const slack = startBot();
    await local.until(() => local.sockets.length === 1 && slack.health().status === 'up');
    expect(slack.httpListener).toBeUndefined();
    expect(local.tokens).toEqual(['Bearer xapp-1']);

    local.sockets[0]?.send(slashEnvelope('help'));
    await local.until(() => local.told.length === 1);
    expect(local.received).toEqual([{ envelope_id: 'envelope-1', payload: {} }]);
    expect(JSON.stringify(local.told)).toContain('/pay lookup');
  });

  it('never logs a frame', async () => {
    const slack = startBot();
    await local.until(() => slack.health().status === 'up');
    local.sockets[0]?.send(slashEnvelope('lookup CANARY-IN-FRAME bad-amount'));
    await local.until(() => local.told.length === 1);
    await slack.drained();
    expect(local.logged.join('')).not.toContain('CANARY');
  });

  it('connects again when the connection ends, as often as it ends', async () => {
    const slack = startBot();
    for (const count of [1, 2, 3]) {
      // oxlint-disable-next-line no-await-in-loop -- one connection after the other
      await local.until(() => local.sockets.length === count && slack.health().status === 'up');
      local.sockets[count - 1]?.close();
      // oxlint-disable-next-line no-await-in-loop
      await local.until(() => local.sockets.length === count + 1);
    }
    expect(local.tokens).toHaveLength(4);
  });

  it('connects again when Slack asks for it', async () => {
    const slack = startBot();
    await local.until(() => slack.health().status === 'up');
    local.sockets[0]?.send(JSON.stringify({ type: 'disconnect', reason: 'refresh_requested' }));
    await local.until(() => local.sockets.length === 2);
    expect(local.tokens).toHaveLength(2);
  });

  it.each([
    ['opens and never says hello', 'silent'],
    ['is never answered', 'never'],
  ] as const)('gives a connection up that %s, says so, and makes another', async (_what, opening) => {
    local.opening = opening;
    const slack = startBot();
    await local.until(
      () => local.upgrades === 1 && local.logged.some((line) => line.includes('knows the bot')),
    );
    expect(slack.health().status).toBe('down');
    local.opening = 'hello';
    local.giveUp();
    await local.until(() => slack.health().status === 'up');
    expect(local.upgrades).toBe(2);
    expect(local.logged.join('')).toContain('Slack does not say hello');
    local.giveUp();
    local.sockets.at(-1)?.send(slashEnvelope('help'));
    await local.until(() => local.told.length === 1);
  });

  it('stops while it waits for a hello', async () => {
    local.opening = 'silent';
    const slack = startBot();
    await local.until(() => local.sockets.length === 1);
    const stopped = slack.stop();
    local.giveUp();
    await stopped;
    expect(local.upgrades).toBe(1);
  });

  it('reports a refused app-level token with the fix, and connects once it is accepted', async () => {
    local.openAnswer = { ok: false, error: 'invalid_auth' };
    const slack = startBot();
    await local.until(() => local.logged.some((line) => line.includes('refuses the app-level token')));
    await local.until(() => local.logged.some((line) => line.includes('Slack knows the bot')));
    expect(slack.health()).toMatchObject({
      status: 'down',
      reason: 'Slack refuses the app-level token: invalid_auth',
      fix: expect.stringContaining('connections:write'),
    });
    local.openAnswer = { ok: true };
    local.log('accepted now');
    await local.until(() => slack.health().status === 'up');
  });
});
