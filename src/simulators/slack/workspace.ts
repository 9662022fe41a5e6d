import { createServer, type Server } from 'node:http';
import type { ActResult, Exchange, WorkspaceAction, WorkspaceState } from '../protocol.ts';
import { act } from './act.ts';
import { createBotLine, createEvents } from './bot-line.ts';
import {
  type AccountKind,
  botId,
  botUserId,
  channel,
  channelIds,
  credentials,
  type Credentials,
  groupIds,
  slackbotId,
  teamId,
  userIds,
} from './cast.ts';
import { createFaults } from '../faults.ts';
import { createHolds, type Holds, type Passed } from '../holds.ts';
import { createDoor } from './door.ts';
import { createRecorder } from './exchanges.ts';
import { isDown, type SlackFault, type SlackStats } from './faults.ts';
import { installApp, type InstalledApp, type ManifestSource } from './manifest.ts';
import { botPosts, type BotPost, workspaceState } from './payloads.ts';
import { createSocketMode, type DisconnectReason } from './socket-mode.ts';
import { createWebApi } from './web-api.ts';
import { createWorld } from './world.ts';

type WorkspaceOptions = ManifestSource & WorkspaceSettings;

export type WorkspaceSettings = {
  /** 0, the default, takes a free one. */
  port?: number;
  /** Milliseconds since the epoch. The bot refuses signatures that are five minutes off the real time. */
  now?: () => number;
  /** Called when an exchange begins and, with the same id, when it is over; ids count up from 1 within this workspace. */
  onExchange?: (exchange: Exchange) => void;
  /** Whether the workspace has user groups, which Slack's free plan lacks. Default true. */
  userNamesOnPaidPlan?: boolean;
  /** Which of the manifest's optional scopes the installer granted. Default none. */
  grantedOptionalScopes?: readonly string[] | 'all';
  /** How long the bot has to acknowledge. Default 3000, as Slack. */
  ackTimeoutMs?: number;
  /** How long a trigger_id is good for, by `now`: longer for a clock that runs fast. Default 3000, as Slack. */
  triggerLifeMs?: number;
  /** Public channels besides those of everybody, which the bot is in: their ids. */
  moreChannels?: readonly string[];
  /** How many messages in a channel Slack lets through at once, at one a second. Default 3; Infinity keeps no pace. */
  postBurst?: number;
  /** Keeps in `passed` what the bot has asked and been answered. Default false. */
  keepPassed?: boolean;
  /** Draws what shares of the faults strike. Default Math.random. */
  dice?: () => number;
  /** When an event that was not answered with 2xx is sent again. Default at once, after 1 and after 5 minutes. */
  eventRetryDelaysMs?: readonly number[];
};

export type Workspace = {
  url: string;
  /** Slack's Web API here, for `slackApiUrl`; ends in `/api/`. */
  apiUrl: string;
  port: number;
  credentials: Credentials;
  ids: {
    teamId: string;
    botId: string;
    botUserId: string;
    slackbotId: string;
    channels: typeof channelIds;
    users: typeof userIds;
    groups: typeof groupIds;
  };
  /** Where payloads go while no Socket Mode connection is open; undefined: nowhere. */
  connect(botEventsUrl: string | undefined): void;
  /** Throws for a person who is not in the workspace. */
  state(userId: string): WorkspaceState;
  /** Never rejects: what Slack would show the person is in the result. Settles when the bot acknowledged or its time is over. */
  act(userId: string, action: WorkspaceAction): Promise<ActResult>;
  /** Called after every change of anybody's screen; the returned function ends it. */
  onChange(listener: () => void): () => void;
  /** What goes wrong from now on, these and no others; none: all is well. Cuts what hangs. */
  setFaults(...faults: readonly SlackFault[]): void;
  /** Resolves when the next request of the bot whose path ends so, as `/chat.postMessage`, stands at that point. */
  hold: Holds['hold'];
  /** With `keepPassed`: each request of the bot that was answered. */
  readonly passed: readonly Passed[];
  /** Breaks every connection of the bot off, those held included. */
  cut(): void;
  /** What the workspace has seen of the bot. */
  stats(): SlackStats;
  /** The bot's posts in a channel or in all, oldest first, thread replies included, ephemeral ones not. */
  posts(channelId?: string): BotPost[];
  /** As an administrator would: archive a channel, or take the bot out of it. */
  setChannel(channelId: string, change: { botIsMember?: boolean; archived?: boolean }): void;
  /** As an administrator would: make a member a guest, or deactivate them. */
  setAccount(userId: string, kind: AccountKind): void;
  /** How many Socket Mode connections take payloads now. */
  openSockets(): number;
  /** Slack asking Socket Mode clients to come back on a new connection. */
  disconnectSockets(reason: DisconnectReason): void;
  close(): Promise<void>;
};

/**
 * A Slack workspace on 127.0.0.1, as strict as the real one, for a bot that knows nothing but its base url: what its
 * people see and do, what goes wrong, and what it has seen. Rejects when the manifest cannot be read or the port is
 * taken. In a test:
 *
 *     const workspace = await startWorkspace({ manifestPath, now: () => clock.nowMs, postBurst: 1 });
 *     // SLACK_API_URL is workspace.apiUrl; tokens and signing secret are in workspace.credentials.
 *     workspace.connect(`${botUrl}/slack/events`);
 *     workspace.setFaults({ kind: 'answer_lost', method: 'chat.postMessage', times: 1 });
 *     await workspace.act(workspace.ids.users.agent, { kind: 'send_message', channel, text: '/pay help' });
 *     workspace.setFaults();
 *     expect(workspace.posts(channel)).toHaveLength(1);
 *     expect(workspace.stats()).toMatchObject({ historyReads: 1, faults: { answer_lost: 1 } });
 *
 * Faults are in `faults.ts`; a channel that refuses the bot is `setChannel`, an account that may not `setAccount`.
 * `onChange` tells of every change, so that nobody needs to look again and again.
 */
export async function startWorkspace(options: WorkspaceOptions): Promise<Workspace> {
  const app = await installApp(options, options.grantedOptionalScopes ?? []);
  const { world, listeners, line, events, sockets, faults, holds, passed, door, server, baseUrl } = assemble(
    options,
    app,
  );
  await listen(server, options.port ?? 0);
  const actDeps = { world, line, events, responseUrl: (path: string) => baseUrl() + path };

  return {
    url: baseUrl(),
    apiUrl: `${baseUrl()}/api/`,
    port: portOf(server),
    credentials: { ...credentials },
    ids: { teamId, botId, botUserId, slackbotId, channels: channelIds, users: userIds, groups: groupIds },
    connect: (url) => line.connect(url),
    state: (userId) => workspaceState(world, userId),
    act: (userId, action) => act(actDeps, userId, action),
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    setFaults(...next) {
      faults.set(next);
      door.cutHanging();
      if (isDown(next)) sockets.cut();
    },
    hold: holds.hold,
    passed,
    cut: () => server.closeAllConnections(),
    stats: () => ({ ...world.counter.read(), faults: faults.struck() }),
    posts: (channelId) => botPosts(world, channelId),
    setChannel(channelId, change) {
      const changed = world.directory.channel(channelId);
      if (changed === undefined) throw new Error(`There is no channel ${channelId} in this workspace.`);
      Object.assign(changed, change);
      world.changed();
    },
    setAccount: (userId, kind) => world.directory.setAccount(userId, kind),
    openSockets: () => sockets.open(),
    disconnectSockets: (reason) => sockets.disconnect(reason),
    async close() {
      events.close();
      sockets.close();
      door.cutHanging();
      await stop(server);
    },
  };
}

function assemble(options: WorkspaceOptions, app: InstalledApp) {
  const now = options.now ?? Date.now;
  const listeners = new Set<() => void>();
  const world = createWorld({
    app,
    now,
    hasUserGroups: options.userNamesOnPaidPlan ?? true,
    triggerLifeMs: options.triggerLifeMs,
    postBurst: options.postBurst ?? 3,
    moreChannels: (options.moreChannels ?? []).map((id) => channel(id, id.toLowerCase(), '')),
    changed: () => {
      for (const listener of listeners) listener();
    },
  });
  const record = createRecorder(options.onExchange);
  const sockets = createSocketMode(world.ids);
  const line = createBotLine({
    signingSecret: credentials.signingSecret,
    ackTimeoutMs: options.ackTimeoutMs ?? 3000,
    now,
    record,
    sockets,
  });
  const events = createEvents({
    world,
    line,
    retryDelaysMs: options.eventRetryDelaysMs ?? [0, 60_000, 300_000],
  });
  // As a load balancer has it: Node’s own five seconds end a connection under a caller that is slow to use it again.
  const server = createServer({ keepAliveTimeout: 65_000 });
  const baseUrl = (): string => `http://127.0.0.1:${portOf(server)}`;
  const openSocketUrl = (): string => `ws://127.0.0.1:${portOf(server)}/link?ticket=${sockets.ticket()}`;
  const faults = createFaults<SlackFault>(options.dice ?? Math.random);
  const holds = createHolds();
  const passed: Passed[] = [];
  const door = createDoor({
    world,
    api: createWebApi({ world, credentials, baseUrl, openSocketUrl }),
    record,
    faults,
    holds,
    passed: options.keepPassed === true ? (one) => passed.push(one) : undefined,
  });
  server.on('request', (request, response) => {
    door.handle(request, response).catch(() => request.socket.destroy());
  });
  server.on('upgrade', (request, socket, head) => {
    if (isDown(faults.all())) socket.destroy();
    else sockets.upgrade(request, socket, head);
  });
  return { world, listeners, line, events, sockets, faults, holds, passed, door, server, baseUrl };
}

function stop(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => {
      server.off('error', reject);
      resolve();
    });
  });
}

function portOf(server: Server): number {
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}
