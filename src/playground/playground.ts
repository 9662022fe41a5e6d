import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createBotProcess } from './bot-process.ts';
import { botSettings, payopsFile } from './bot-settings.ts';
import { stormCustomers } from '../simulators/payments/panel.ts';
import { startPaymentsService, type PaymentsService } from '../simulators/payments/service.ts';
import type { ActResult, Exchange, PlaygroundAction } from '../simulators/protocol.ts';
import { playOpening } from './opening.ts';
import { startPageServer } from './server.ts';
import { startWorkspace, type Workspace } from '../simulators/slack/workspace.ts';

type PlaygroundOptions = {
  /** The page's port, or the next free one; 0, the default: any. */
  port?: number;
  /** Additional rules for the bot's payops.yml. */
  rules?: string;
};

export type Playground = {
  /** The page's address. */
  url: string;
  workspace: Workspace;
  payments: PaymentsService;
  /** Ends the bot and the simulators, and removes their files. */
  close: () => Promise<void>;
};

const keptExchanges = 300;
/** Started like `npm start` does. */
const botProgram = fileURLToPath(new URL('../start.js', import.meta.url));
const manifestPath = fileURLToPath(new URL('../../manifest.yml', import.meta.url));

/**
 * A local Slack workspace, a simulated payments service, the bot between them, and the page that shows all
 * three. Resolves when the page answers; the bot may still be starting then. Everything listens on 127.0.0.1
 * and is kept in memory or in a folder that `close` removes.
 */
export async function startPlayground(options: PlaygroundOptions = {}): Promise<Playground> {
  const listeners = new Set<() => void>();
  const changed = (): void => {
    for (const listener of listeners) listener();
  };
  const log = createExchangeLog(changed);
  const workspace = await startWorkspace({
    manifestPath,
    onExchange: log.record(0),
    // All but chat:write.public, so that people can try what happens in a channel that the bot is not in.
    grantedOptionalScopes: [
      'app_mentions:read',
      'channels:history',
      'channels:read',
      'files:write',
      'groups:history',
      'groups:read',
      'usergroups:read',
    ],
  });
  const { users, channels } = workspace.ids;
  const payments = await startPaymentsService({
    onExchange: log.record(1),
    knownCards: true,
  });
  workspace.onChange(changed);
  payments.onChange(changed);
  const folder = await mkdtemp(join(tmpdir(), 'payops-playground-'));
  const bot = await prepareBot(folder, options, { workspace, payments, changed });
  bot.start();
  let isOldWorkspace = false;
  let openedAt: number | undefined;

  function carryOut(action: PlaygroundAction): ActResult | Promise<ActResult> {
    if (action.kind === 'bot_kill') return bot.kill();
    if (action.kind === 'bot_start') return bot.start();
    const { fault, isOn } = action;
    if (fault === 'not_in_channel') workspace.setChannel(channels.payDesk, { botIsMember: !isOn });
    else isOldWorkspace = isOn;
    // An old workspace is played by refusing rich text, which the bot uses nearly everywhere.
    if (isOldWorkspace) workspace.setFaults({ kind: 'unknown_blocks', types: ['rich_text'] });
    else workspace.setFaults();
    return { ok: true };
  }

  const page = await startPageServer(
    {
      state(userId = users.agent) {
        const isSomebody = Object.values<string>(users).includes(userId);
        const seen = workspace.state(isSomebody ? userId : users.agent);
        const desk = seen.channels.find(({ id }) => id === channels.payDesk);
        return {
          ...seen,
          payments: payments.state(),
          bot: bot.state(),
          log: log.list(),
          slackFaults: [
            ...(isOldWorkspace ? ['old_workspace' as const] : []),
            ...(desk?.botIsMember ? [] : ['not_in_channel' as const]),
          ],
          ...(openedAt === undefined ? {} : { openedAt }),
        };
      },
      async act({ user, action }) {
        if (action.to === 'workspace') return workspace.act(user, action.action);
        return action.to === 'payments' ? payments.act(action.action) : carryOut(action.action);
      },
      exchange: log.find,
      botLog: bot.log,
      onChange: (listener) => listeners.add(listener),
    },
    options.port ?? 0,
  );
  workspace.connect(`${bot.state().url}/slack/events`);
  // Events wait for the bot's first start; those it misses later are retried, as by a real service.
  listeners.add(function begin() {
    if (bot.state().status !== 'ready') return;
    listeners.delete(begin);
    payments.sendWebhooksTo(`${bot.state().url}/webhooks/payments`);
    void playOpening(workspace, payments)
      .catch(() => undefined)
      .finally(() => {
        openedAt = Date.now();
        changed();
      });
  });
  return {
    url: page.url,
    workspace,
    payments,
    async close() {
      await page.close();
      await bot.stop();
      await payments.close();
      await workspace.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** One log of both simulators' exchanges, oldest first; keeps the newest. */
function createExchangeLog(changed: () => void) {
  const exchanges = new Map<number, Exchange>();
  return {
    /** Each simulator numbers its own exchanges: `side` makes the ids unique. */
    record: (side: 0 | 1) => (exchange: Exchange) => {
      const id = exchange.id * 2 + side;
      exchanges.set(id, { ...exchange, id });
      const oldest = exchanges.keys().next().value;
      if (exchanges.size > keptExchanges && oldest !== undefined) exchanges.delete(oldest);
      changed();
    },
    /** Without bodies. */
    list: (): Exchange[] =>
      [...exchanges.values()].map(({ request: _request, response: _response, ...line }) => line),
    find: (id: number) => exchanges.get(id),
  };
}

/**
 * Events of saved cards have their own channel, because they come at every start: the first alert should be one that
 * the newcomer caused. Storms have their own channel, so that a digest doesn't hide the alerts of the guide's other
 * steps.
 */
function routes({ cards, storms }: { cards: string; storms: string }): string {
  return `routes:
  - name: saved-cards
    when: { event: card_saved }
    to: ${cards}
  - name: storms
    when: { customer_id: '${stormCustomers}*' }
    to: ${storms}
`;
}

async function prepareBot(
  folder: string,
  { rules = '' }: PlaygroundOptions,
  simulators: { workspace: Workspace; payments: PaymentsService; changed: () => void },
) {
  const { workspace, payments, changed } = simulators;
  const { channels, users } = workspace.ids;
  const [policy, dataDir] = [join(folder, 'payops.yml'), join(folder, 'data')];
  await mkdir(dataDir, { mode: 0o700 });
  const desk = channels.payDesk;
  // All alerts but storms and saved cards come to the desk channel, where a newcomer sees them.
  const written = payopsFile({ channels: { alerts: desk, ops: channels.payOps, desk }, users });
  await writeFile(policy, written + routes({ cards: channels.payOps, storms: channels.payAlerts }) + rules);
  const port = await freePort();
  const settings = botSettings({
    port,
    dataDir,
    payopsFile: policy,
    slack: { apiUrl: workspace.apiUrl, ...workspace.credentials },
    payments: { url: payments.url, ...payments.credentials },
  });
  const url = `http://127.0.0.1:${port}`;
  const env = { ...settings, PUBLIC_URL: url, MERCHANT_NAME: 'Lagos Store' };
  return createBotProcess([process.execPath, botProgram], { env, url, changed });
}

/**
 * A free port for all starts of the bot. Another process could take the port before the bot does; then the bot's start
 * fails and its log says so.
 */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}
