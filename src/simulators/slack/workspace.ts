import type { ActResult, WorkspaceAction, WorkspaceState } from '../protocol.ts';
import { openSimulator, type Simulator, type SimulatorOptions } from '../simulator.ts';
import { act } from './act.ts';
import { createBotDelivery } from './bot-delivery.ts';
import {
  type AccountKind,
  botId,
  botUserId,
  channel,
  channelIds,
  credentials,
  type Credentials,
  talksOfPeople,
  teamId,
  userIds,
} from './directory.ts';
import { createHttpApi } from './http-api.ts';
import { isDown, type SlackFault, type SlackStats } from './faults.ts';
import { installApp } from './manifest.ts';
import { botPosts, type BotPost, workspaceState } from './payloads.ts';
import type { Quirks } from './quirks.ts';
import { createSocketMode, type SocketMode } from './socket-mode.ts';
import { createWebApi } from './web-api.ts';
import { createWorld } from './world.ts';

type WorkspaceOptions = { manifestPath: string } & WorkspaceSettings;

/** Signatures carry `now`; the bot refuses them if that is five minutes off the real time. */
export type WorkspaceSettings = SimulatorOptions & {
  /** Whether the workspace has user groups, which Slack's free plan lacks. Default true. */
  hasUserGroups?: boolean;
  /** The manifest's optional scopes that the installer granted. Default none. */
  grantedOptionalScopes?: readonly string[] | 'all';
  /** How long the bot has to acknowledge. Default 3000, as Slack. */
  ackTimeoutMs?: number;
  /** How long a trigger_id is valid, by `now`: longer for a clock that runs fast. Default 3000, like Slack. */
  triggerLifeMs?: number;
  /** Additional public channels that the bot is in: their ids. */
  moreChannels?: readonly string[];
  /** Whether people have conversations without the bot. Default false. */
  talks?: boolean;
  /** How many messages a channel takes at once, before one a second. Default 3; Infinity: no limit. */
  postBurst?: number;
  /** Behaviour of Slack that only some users report. Default none. */
  quirks?: Quirks;
};

export type Workspace = Simulator<SlackFault> & {
  /** Slack's Web API here, for `slackApiUrl`; ends in `/api/`. */
  apiUrl: string;
  credentials: Credentials;
  ids: {
    teamId: string;
    botId: string;
    botUserId: string;
    channels: typeof channelIds;
    users: typeof userIds;
  };
  /** Sets where payloads go if there is no Socket Mode connection; undefined: nowhere. */
  connect(botEventsUrl: string | undefined): void;
  /** Throws for a person outside the workspace. */
  state(userId: string): WorkspaceState;
  /** Never rejects: the result has what Slack would show. Settles when the bot acknowledged, or its time is over. */
  act(userId: string, action: WorkspaceAction): Promise<ActResult>;
  /** What the workspace has received from the bot. */
  stats(): SlackStats;
  /** The bot's posts in a channel or in all, oldest first, with thread replies, without ephemeral ones. */
  posts(channelId?: string): BotPost[];
  /** Like an administrator: archives a channel, or removes the bot from it. */
  setChannel(
    channelId: string,
    change: { botIsMember?: boolean; archived?: boolean; isShared?: boolean },
  ): void;
  /** Like an administrator: makes a member a guest, or deactivates them. */
  setAccount(userId: string, kind: AccountKind): void;
  /** Socket Mode connections that take payloads. */
  openSockets(): number;
  /** Slack's and the network's effects on Socket Mode connections. */
  sockets: Pick<SocketMode, 'disconnect' | 'turn' | 'setGhosts' | 'halfOpen' | 'unread' | 'cutOff'>;
  close(): Promise<void>;
};

/**
 * A Slack workspace on 127.0.0.1, as strict as the real one, for a bot that knows only its base URL. Tests see what its
 * people see, act for them, make Slack fail, and read what it received. Rejects if the manifest is unreadable. In a test:
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
 * Faults are in `faults.ts`; for a channel that refuses the bot use `setChannel`, for an account without rights
 * `setAccount`. Wait with `onChange` instead of polling.
 */
export async function startWorkspace(options: WorkspaceOptions): Promise<Workspace> {
  const app = await installApp(options.manifestPath, options.grantedOptionalScopes ?? []);
  const opened = await openSimulator<SlackFault>(options);
  const { simulator, now, changed, record, faults, server } = opened;
  const world = createWorld({
    app,
    now,
    changed,
    hasUserGroups: options.hasUserGroups ?? true,
    triggerLifeMs: options.triggerLifeMs,
    postBurst: options.postBurst ?? 3,
    quirks: options.quirks ?? {},
    moreChannels: [
      ...(options.moreChannels ?? []).map((id) => channel(id, id.toLowerCase(), '')),
      ...(options.talks === true ? talksOfPeople() : []),
    ],
  });
  const sockets = createSocketMode(world.ids, options.quirks ?? {});
  const bot = createBotDelivery({
    app,
    signingSecret: credentials.signingSecret,
    ackTimeoutMs: options.ackTimeoutMs ?? 3000,
    now,
    record,
    sockets,
    quirks: options.quirks ?? {},
  });
  const { url } = simulator;
  const openSocketUrl = (): string => `${url.replace('http', 'ws')}/link?ticket=${sockets.ticket()}`;
  opened.serve(
    createHttpApi({ world, api: createWebApi({ world, credentials, url, openSocketUrl }), faults }),
  );
  server.on('upgrade', (request, socket, head) => {
    if (isDown(faults.all())) socket.destroy();
    else sockets.upgrade(request, socket, head);
  });
  const actDeps = { world, bot, responseUrl: (path: string) => url + path };

  return {
    ...simulator,
    apiUrl: `${url}/api/`,
    credentials: { ...credentials },
    ids: { teamId, botId, botUserId, channels: channelIds, users: userIds },
    connect: (botUrl) => bot.connect(botUrl),
    state: (userId) => workspaceState(world, userId),
    act: (userId, action) => act(actDeps, userId, action),
    setFaults(...next) {
      simulator.setFaults(...next);
      if (isDown(next)) sockets.cut();
    },
    stats: () => ({ ...world.counter.read(), faults: faults.counts() }),
    posts: (channelId) => botPosts(world, channelId),
    setChannel(channelId, change) {
      const found = world.directory.channel(channelId);
      if (found === undefined) throw new Error(`There is no channel ${channelId} in this workspace.`);
      Object.assign(found, change);
      changed();
    },
    setAccount: (userId, kind) => world.directory.setAccount(userId, kind),
    openSockets: () => sockets.open(),
    sockets,
    async close() {
      sockets.close();
      await opened.close();
    },
  };
}
