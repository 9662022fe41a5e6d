import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createBotProcess, type BotProcess } from './bot-process.ts';
import { botSettings, payopsFile } from './bot-settings.ts';
import { createExchangeLog } from './exchange-log.ts';
import { startPaymentsService, type PaymentsService } from '../simulators/payments/service.ts';
import type { ActResult, WorkspaceFault } from '../simulators/protocol.ts';
import { playOpening } from './opening.ts';
import { startPageServer, type ActRequest } from './server.ts';
import { startWorkspace, type Workspace } from '../simulators/slack/workspace.ts';

export type PlaygroundOptions = {
  /** The page's port, or the next free one after it; 0, the default, takes any. */
  port?: number;
  /** The bot keeps its store there instead of in a folder of its own. */
  redisUrl?: string;
  /** More of the bot's environment, or other than the playground gives it. */
  botEnv?: Record<string, string>;
  /** The account is a live one, whose money is real by all that the bot says. Default false: a sandbox. */
  live?: boolean;
  /** The conversation that a newcomer finds. Default true. */
  opening?: boolean;
  /** More rules of the bot's payops.yml. */
  rules?: string;
};

export type Playground = {
  /** The page. */
  url: string;
  workspace: Workspace;
  payments: PaymentsService;
  bot: BotProcess;
  /** Ends the bot and the simulators and removes what they kept. */
  close: () => Promise<void>;
};

const keptExchanges = 300;
const botProgram = fileURLToPath(new URL('../main.ts', import.meta.url));
const manifestPath = fileURLToPath(new URL('../../manifest.yml', import.meta.url));

/**
 * A local Slack workspace, a simulated payments service, the bot between them, and the page that shows all
 * three. Resolves when the page answers; the bot may still be starting then. Everything listens on 127.0.0.1
 * and is kept in memory or in a folder that `close` removes.
 */
export async function startPlayground(options: PlaygroundOptions = {}): Promise<Playground> {
  const undo: (() => Promise<void>)[] = [];
  async function close(): Promise<void> {
    for (const step of undo.splice(0).toReversed()) await step();
  }
  try {
    return { ...(await startParts(options, undo)), close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Starts everything; `undo` is given, in order, what ends each part. */
async function startParts(
  options: PlaygroundOptions,
  undo: (() => Promise<void>)[],
): Promise<Omit<Playground, 'close'>> {
  const listeners = new Set<() => void>();
  const changed = (): void => {
    for (const listener of listeners) listener();
  };
  const log = createExchangeLog(keptExchanges, changed);
  const folder = await mkdtemp(join(tmpdir(), 'payops-playground-'));
  undo.push(() => rm(folder, { recursive: true, force: true }));
  const workspace = await startWorkspace({
    manifestPath,
    onExchange: log.recorder(),
    // All but one: where the bot is no member it cannot post, so that this can be tried.
    grantedOptionalScopes: ['usergroups', 'channels', 'groups', 'files'].flatMap((of) =>
      ['read', 'history', 'write'].map((right) => `${of}:${right}`),
    ),
  });
  undo.push(() => workspace.close());
  // One conversation for everything: a newcomer sees the alert arrive.
  workspace.setChannel(workspace.ids.channels.payAlerts, { archived: true });
  const payments = await startPaymentsService({
    onExchange: log.recorder(),
    knownCards: true,
    sandboxIsLive: true,
  });
  undo.push(() => payments.close());
  workspace.onChange(changed);
  payments.onChange(changed);
  const slackFaults = new Set<WorkspaceFault>();
  let openedAt: number | undefined;
  const bot = await prepareBot({ folder, workspace, payments, options, changed });
  undo.push(() => bot.stop());
  const page = await startPageServer(
    {
      firstUser: workspace.ids.users.agent,
      state: (userId) => ({
        ...workspace.state(userId),
        payments: payments.state(),
        bot: bot.state(),
        log: log.list(),
        slackFaults: [...slackFaults].filter((fault) => fault !== 'not_in_channel' || !isAtDesk(workspace)),
        ...(openedAt === undefined ? {} : { openedAt }),
      }),
      act: (request) => carryOut(request, { workspace, payments, bot, slackFaults }),
      exchange: log.find,
      botLog: bot.log,
      botSettings: bot.settings,
      onChange(listener) {
        listeners.add(listener);
        return () => void listeners.delete(listener);
      },
    },
    options.port ?? 0,
  );
  undo.push(() => page.close());
  workspace.connect(`${bot.state().url}/slack/events`);
  onceReady(bot, listeners, () => {
    payments.sendWebhooksTo(`${bot.state().url}/webhooks/payments`);
    if (options.opening === false) return;
    void playOpening(workspace, payments)
      .catch(() => undefined)
      .finally(() => {
        openedAt = Date.now();
        changed();
      });
  });
  await bot.start();
  return { url: page.url, workspace, payments, bot };
}

/** Events wait until the bot answers for the first time; what it misses later is sent again, as a real service does. */
function onceReady(bot: BotProcess, listeners: Set<() => void>, begin: () => void): void {
  function listen(): void {
    if (bot.state().status !== 'ready') return;
    listeners.delete(listen);
    begin();
  }
  listeners.add(listen);
}

type BotParts = {
  folder: string;
  workspace: Workspace;
  payments: PaymentsService;
  options: PlaygroundOptions;
  changed: () => void;
};

/** The merchant's cards are told at every start: a newcomer's first alert is to be one of their own. */
function savedCardsTo(channel: string): string {
  return `routes:
  - name: saved-cards
    when: { event: card_saved }
    to: ${channel}
`;
}

async function prepareBot(parts: BotParts): Promise<BotProcess> {
  const { folder, workspace, payments, options } = parts;
  const port = await freePort();
  const { channels, users } = workspace.ids;
  const policy = join(folder, 'payops.yml');
  const dataDir = join(folder, 'data');
  await mkdir(dataDir, { mode: 0o700 });
  const written = payopsFile({
    channels: { alerts: channels.payDesk, ops: channels.payOps, desk: channels.payDesk },
    users,
  });
  await writeFile(policy, written + savedCardsTo(channels.payOps) + (options.rules ?? ''));
  const settings = botSettings({
    port,
    dataDir,
    payopsFile: policy,
    slack: { apiUrl: workspace.apiUrl, ...workspace.credentials },
    payments: { url: payments.url, ...payments.credentials },
    redisUrl: options.redisUrl,
  });
  return createBotProcess({
    command: [process.execPath, botProgram],
    env: { ...settings, PAYMENTS_ENVIRONMENT: options.live ? 'live' : 'sandbox', ...options.botEnv },
    url: `http://127.0.0.1:${port}`,
    changed: parts.changed,
  });
}

/** Somebody may have invited the bot since. */
function isAtDesk(workspace: Workspace): boolean {
  const { channels, users } = workspace.ids;
  return workspace
    .state(users.agent)
    .channels.some(({ id, botIsMember }) => id === channels.payDesk && botIsMember);
}

async function carryOut(
  { user, action }: ActRequest,
  {
    workspace,
    payments,
    bot,
    slackFaults,
  }: Omit<Playground, 'url' | 'close'> & { slackFaults: Set<WorkspaceFault> },
): Promise<ActResult> {
  switch (action.to) {
    case 'workspace':
      return workspace.act(user, action.action);
    case 'payments':
      return payments.act(action.action);
    case 'playground':
      if (action.action.kind === 'bot_kill') return bot.kill();
      if (action.action.kind === 'bot_start') return bot.start();
      if (action.action.isOn) slackFaults.add(action.action.fault);
      else slackFaults.delete(action.action.fault);
      // Rich text is among the younger blocks, and the bot writes nearly everything in it.
      workspace.setFaults(
        ...(slackFaults.has('old_workspace')
          ? [{ kind: 'unknown_blocks', types: ['rich_text'] } as const]
          : []),
      );
      workspace.setChannel(workspace.ids.channels.payDesk, {
        botIsMember: !slackFaults.has('not_in_channel'),
      });
      return { ok: true };
  }
}

/** A port the bot can have at every start. It is given back before the bot takes it, so a rare clash is possible and is shown. */
function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}
