import { createRequire } from 'node:module';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as rest } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type TestContext, vi } from 'vitest';
import { botSettings, payopsFile } from '../../src/playground/bot-settings.ts';
import {
  type PaymentsOptions,
  type PaymentsService,
  startPaymentsService,
} from '../../src/simulators/payments/service.ts';
import { signatureHeader, signWebhook } from '../../src/simulators/payments/webhooks-out.ts';
import type { Exchange, PageMessage } from '../../src/simulators/protocol.ts';
import type { BotPost } from '../../src/simulators/slack/payloads.ts';
import { readQuirks } from '../../src/simulators/slack/quirks.ts';
import {
  startWorkspace,
  type Workspace,
  type WorkspaceSettings,
} from '../../src/simulators/slack/workspace.ts';
import { galleryVariable, recordScreens } from './screens.ts';
import { type Bot, createBot, createBotHere } from './bot.ts';
import { type Gate, openGate } from './gate.ts';
import { createLimit } from './limit.ts';
import { openSlashSender, type Sent } from './slash.ts';
import { redisContents, sqliteContents, type StoreContents, workIn } from './store-contents.ts';

export type HouseOptions = {
  workspace?: WorkspaceSettings & { manifestPath?: string };
  payments?: PaymentsOptions;
  /** Where the bots keep their store, under a prefix of this house; default: a file. */
  redisUrl?: string;
  /** Additions and changes to the playground's environment, for every bot. */
  env?: Record<string, string>;
  /** Bots are processes, for tests in which one dies, hangs or is measured. */
  processes?: boolean;
  /** The program of every bot, instead of `src/main.ts`; also a process. */
  program?: string;
  /**
   * `later` moves the clock of this whole process, with Slack's and the timers that run each minute; time runs ten times
   * as fast while the test waits. No other test may run meanwhile.
   */
  clock?: boolean;
};

/** A saved-card charge by the merchant's own system. */
export type Charged = { amount?: string; customerEmail?: string; reason?: string };

export type Channel = 'payAlerts' | 'payDesk' | 'payOps' | 'general';
export type Person = 'agent' | 'lead' | 'onCall' | 'outsider';

export type House = {
  workspace: Workspace;
  payments: PaymentsService;
  /** Between the bots and Slack, and between the bots and the payments service. */
  slackGate: Gate;
  paymentsGate: Gate;
  /** Between the payments service's events and the bots. */
  webhookGate: Gate;
  /** The clock of the payments service, of the bots in this process and of their store: real time plus `later`. */
  now: () => number;
  /** Puts that clock forward. Without `clock` Slack's stays: signatures are valid for five real minutes. */
  later: (ms: number) => void;
  folder: string;
  dataDir: string;
  policyFile: string;
  /** The environment of a bot of this house. */
  settings: (more?: Record<string, string>) => Record<string, string>;
  /** A bot that is not started yet. `here`: in this process, even if the house's others are processes. */
  bot: (more?: Record<string, string>, where?: 'here') => Bot;
  /** Starts the bot; from then on it alone gets Slack's payloads and the payments service's events. */
  start: (bot: Bot, more?: Record<string, string>) => Promise<void>;
  /** From now on all of these bots get each event of the payments service at once. */
  sendEventsTo: (bots: readonly Bot[]) => void;
  /** Every exchange so far, of both simulators. */
  exchanges: () => Exchange[];
  posts: (channel: Channel) => BotPost[];
  /** Types in #pay-desk; resolves when the bot has acknowledged. */
  type: (person: Person, text: string) => Promise<void>;
  /** Sends the agent's command to that bot, past the workspace. */
  command: (bot: Bot, words: string) => Promise<Sent>;
  /** The bot's messages that the person sees in #pay-desk, oldest first. */
  seenBy: (person: Person) => PageMessage[];
  /** A saved-card charge that the bank declines; its event is sent at once. Returns its reference. */
  decline: (charged?: Charged) => Promise<string>;
  /** A charge that the bank approves; by default for the same customer. */
  approve: (charged?: Omit<Charged, 'reason'>) => Promise<string>;
  /** Sends the bots an event of one's own making, by default signed like the service's; returns the status. */
  sendEvent: (event: object, headers?: Record<string, string>) => Promise<number>;
  /** With `payments: { knownCards: true }`: resolves when a bot has taken the first-payment event of every card. */
  cardsKnown: () => Promise<void>;
  /** Unfinished records of the store; if there are none, nothing more will be posted. */
  workLeft: (untilMs?: number) => Promise<number>;
  /** All records with a due time, timers included. */
  due: StoreContents['due'];
  /** The store's whole content as text. */
  storeDump: () => Promise<string>;
  /** The keys of the store's records with this prefix. */
  storeKeys: (prefix: string) => Promise<string[]>;
  /** Resolves when the condition holds, checked after every change here. Rejects with `what` after the time. */
  until: (what: string, condition: () => boolean | Promise<boolean>, timeoutMs?: number) => Promise<void>;
};

/**
 * `PAYOPS_TEST_SOCKET=1`: runs every story in Socket Mode. Tests that send signed requests past the workspace make no
 * sense there.
 */
export const bySocket = process.env['PAYOPS_TEST_SOCKET'] === '1';
/**
 * `PAYOPS_TEST_QUIRKS=all`, or some by name: runs every story with these quirks of Slack. `all` leaves out double
 * delivery: stories that count calls would fail, and it has its own.
 */
const quirkNames = process.env['PAYOPS_TEST_QUIRKS'] ?? '';
const quirks = {
  ...readQuirks(quirkNames),
  ...(quirkNames === 'all' ? { deliversTwice: false } : {}),
};
const socketMode = {
  SLACK_MODE: 'socket',
  SLACK_APP_TOKEN: 'xapp-playground-app-token',
  SLACK_SIGNING_SECRET: '',
};

const manifestPath = fileURLToPath(new URL('../../manifest.yml', import.meta.url));
const sealingKey = `test:${Buffer.alloc(32, 'sealing-key-canary').toString('base64')}`;
const customerEmail = 'chidi.eze@example.com';
/** For changes that nothing announces: rows of a store, an answer of /readyz. */
const lookAgainMs = 50;
/**
 * Short, because a test that waits for a dead process's lease waits in real seconds. A bot in this process shares the
 * processor, so it gets more time.
 */
const hurried = { PAYMENTS_TIMEOUT_SECONDS: '1', SLACK_TIMEOUT_SECONDS: '1', WORK_LEASE_SECONDS: '5' };
const patient = { PAYMENTS_TIMEOUT_SECONDS: '5', SLACK_TIMEOUT_SECONDS: '5', WORK_LEASE_SECONDS: '20' };
/** With `clock`: how often to check, and how much time passes between. */
const fast = { lookAgainMs: 20, passesMs: 200 };
/** A condition that still fails after this much real time probably waits for a lease: then time runs faster still. */
const slow = { afterMs: 8_000, passesMs: 2_000 };
/** Longer, because leases and triggers end by the moved clock, and connections are not faster. */
const slowly = { env: { WORK_LEASE_SECONDS: '120' }, triggerLifeMs: 60_000 };
let prefixes = 0;
/**
 * One start at a time among concurrent tests: many at once overload the machine, and then Slack's three seconds for a
 * modal pass.
 */
const oneStart = createLimit(1);

/** Slack's library treats a connection as lost if its pong is older than 5 s, which moving the clock causes. */
function stopPings(): void {
  const ofBolt = createRequire(import.meta.resolve('@slack/bolt'));
  const { SlackWebSocket } = ofBolt('@slack/socket-mode/dist/src/SlackWebSocket.js') as {
    SlackWebSocket: { prototype: { monitorPingToSlack: () => void } };
  };
  SlackWebSocket.prototype.monitorPingToSlack = () => undefined;
}

/**
 * A workspace, a payments service and bots between them, all with real processes and sockets on loopback. Ends with its
 * test in any case; a failed test prints its bots' output.
 */
export async function openHouse(
  test: Pick<TestContext, 'onTestFinished' | 'onTestFailed'>,
  options: HouseOptions = {},
): Promise<House> {
  const clock = options.clock === true ? openClock() : undefined;
  if (clock && bySocket) stopPings();
  const news = createNews(clock && { lookAgainMs: fast.lookAgainMs, pass: later });
  const seen = createExchanges(news.tell);
  let aheadMs = 0;
  const now = (): number => Date.now() + aheadMs;
  const folder = mkdtempSync(join(tmpdir(), 'payops-e2e-'));
  const [workspace, payments] = await Promise.all([
    startWorkspace({
      manifestPath,
      keepPassed: true,
      onExchange: seen.from('workspace'),
      ...(clock ? { triggerLifeMs: slowly.triggerLifeMs } : {}),
      ...options.workspace,
      quirks: { ...quirks, ...options.workspace?.quirks },
    }),
    startPaymentsService({ now, keepPassed: true, onExchange: seen.from('payments'), ...options.payments }),
  ]);
  workspace.onChange(news.tell);
  payments.onChange(news.tell);
  const gallery = process.env[galleryVariable];
  const recording = gallery === undefined ? undefined : recordScreens(workspace, gallery);
  let receivers: readonly Bot[] = [];
  const webhookGate = await openGate(() => receivers.map((bot) => bot.url()));
  payments.sendWebhooksTo(`${webhookGate.url}/webhooks/payments`);
  const { channels, users, teamId } = workspace.ids;
  const { signingSecret } = workspace.credentials;
  const slash = await openSlashSender({ signingSecret, userId: users.agent, teamId }, news.tell);
  const { dataDir, policyFile } = prepareFolder(folder, workspace);
  prefixes += 1;
  const prefix = `house-${process.pid}-${prefixes}`;
  const bots: Bot[] = [];
  const isProcess = options.processes === true || options.program !== undefined;
  const contents =
    options.redisUrl === undefined ? sqliteContents(dataDir) : redisContents(options.redisUrl, prefix);

  function settings(more: Record<string, string> = {}): Record<string, string> {
    const around = {
      port: 0,
      dataDir,
      payopsFile: policyFile,
      slack: { ...workspace.credentials, apiUrl: workspace.apiUrl },
      payments: { ...payments.credentials, url: payments.url },
    };
    const { redisUrl } = options;
    const redis =
      redisUrl === undefined ? {} : { REDIS_URL: redisUrl, REDIS_PREFIX: prefix, SEALING_KEYS: sealingKey };
    return {
      ...botSettings(around),
      ...(isProcess ? hurried : patient),
      // Digests have tests of their own.
      DIGEST_THRESHOLD: '0',
      ...(clock ? slowly.env : {}),
      ...redis,
      ...(bySocket ? socketMode : {}),
      ...options.env,
      ...more,
    };
  }

  async function act(action: Parameters<PaymentsService['act']>[0]): Promise<string> {
    const result = await payments.act(action);
    if (!result.ok) throw new Error(result.problem);
    return payments.state().orders[0]?.orderReference ?? '';
  }

  function later(ms: number): void {
    if (clock) {
      clock.pass(ms);
      for (const bot of bots) bot.wake();
    } else aheadMs += ms;
    news.tell();
  }

  const house: House = {
    workspace,
    payments,
    slackGate: workspace,
    paymentsGate: payments,
    webhookGate,
    now,
    later,
    folder,
    dataDir,
    policyFile,
    settings,
    bot(more, where) {
      const bot =
        where !== 'here' && isProcess
          ? createBot(settings(more), news.tell, options.program)
          : createBotHere(settings(more), news.tell, now);
      bots.push(bot);
      return bot;
    },
    async start(bot, more) {
      const from = bot.lines.length;
      await oneStart(() => bot.start(more));
      workspace.connect(bySocket ? undefined : `${bot.url()}/slack/events`);
      const hasTried = (): boolean =>
        bot.lines.slice(from).some((line) => /Socket Mode (is connected|cannot connect)/.test(line));
      if (bySocket) await news.until('it has tried to connect', hasTried);
      receivers = [bot];
    },
    sendEventsTo(next) {
      receivers = next;
    },
    exchanges: seen.all,
    posts: (channel) => workspace.posts(channels[channel]),
    async type(person, text) {
      const action = { kind: 'send_message', channel: channels.payDesk, text } as const;
      const result = await workspace.act(users[person], action);
      if (!result.ok) throw new Error(result.problem);
    },
    command: slash.send,
    seenBy: (person) =>
      (workspace.state(users[person]).messages[channels.payDesk] ?? []).filter(
        (message) => message.authorIsBot,
      ),
    decline: (charged) =>
      act({
        kind: 'decline_saved_card_charge',
        amount: '5000.00',
        customerEmail,
        reason: 'Insufficient funds',
        ...charged,
      }),
    approve: (charged) =>
      act({ kind: 'approve_saved_card_charge', amount: '7500.50', customerEmail, ...charged }),
    async sendEvent(event, headers) {
      const body = JSON.stringify(event);
      const signature = { [signatureHeader]: signWebhook(body, payments.credentials.webhookSecret) };
      const response = await fetch(`${webhookGate.url}/webhooks/payments`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...(headers ?? signature) },
        body,
      });
      await response.text();
      return response.status;
    },
    cardsKnown: () =>
      news.until('the cards are known', () =>
        payments
          .state()
          .deliveries.filter(({ orderReference }) => orderReference.startsWith('CARD-'))
          .every(({ state }) => state === 'delivered'),
      ),
    due: contents.due,
    workLeft: async (untilMs) => workIn(await contents.due(untilMs)).length,
    storeDump: contents.dump,
    storeKeys: contents.keys,
    until: news.until,
  };

  test.onTestFailed(() => {
    for (const bot of bots)
      console.error(
        bot.lines
          .slice(-40)
          .map((line) => line.slice(0, 400))
          .join('\n'),
      );
  });
  test.onTestFinished(async () => {
    recording?.end();
    await Promise.all(bots.map((bot) => bot.end()));
    await Promise.all([webhookGate, slash].map((part) => part.close()));
    await Promise.all([workspace.close(), payments.close()]);
    contents.close();
    rmSync(folder, { recursive: true, force: true });
    clock?.close();
  });
  return house;
}

function prepareFolder(folder: string, workspace: Workspace): { dataDir: string; policyFile: string } {
  const { channels, users } = workspace.ids;
  const dataDir = join(folder, 'data');
  const policyFile = join(folder, 'payops.yml');
  mkdirSync(dataDir, { mode: 0o700 });
  const policy = payopsFile({
    channels: { alerts: channels.payAlerts, ops: channels.payOps, desk: channels.payDesk },
    users,
  });
  // Payments are posted too, so that there is more than one channel with an order.
  writeFileSync(policyFile, policy.replace('  ops:', `  successes: ${channels.general}\n  ops:`));
  return { dataDir, policyFile };
}

type FastTime = { lookAgainMs: number; pass: (ms: number) => void };

function createNews(fastTime?: FastTime): { tell: () => void; until: House['until'] } {
  let next = Promise.withResolvers<void>();
  return {
    tell() {
      next.resolve();
      next = Promise.withResolvers();
    },
    async until(what, condition, timeoutMs = 60_000) {
      const startedAt = performance.now();
      const endsAt = startedAt + timeoutMs;
      for (;;) {
        const change = next.promise;
        if (await condition()) return;
        if (performance.now() > endsAt) throw new Error(`Not within ${timeoutMs} ms: ${what}.`);
        const nothing = rest(fastTime?.lookAgainMs ?? lookAgainMs, true);
        if ((await Promise.race([change, nothing])) !== true) continue;
        const isSlow = performance.now() - startedAt > slow.afterMs;
        fastTime?.pass(isSlow ? slow.passesMs : fast.passesMs);
      }
    },
  };
}

function createExchanges(tell: () => void): {
  from: (party: string) => (exchange: Exchange) => void;
  all: () => Exchange[];
} {
  const byId = new Map<string, Exchange>();
  return {
    from: (party) => (exchange) => {
      byId.set(`${party}:${exchange.id}`, exchange);
      tell();
    },
    all: () => [...byId.values()],
  };
}

type Clock = {
  /** Moves the clock. Timers that run each minute run once. */
  pass: (ms: number) => void;
  close: () => void;
};

/** At least as long as any interval between two rounds of work. */
const roundMs = 60_000;

/**
 * The time of this process: dates and intervals, which follow real time and are moved by `pass`. Timeouts stay real, like
 * connections. Between two ticks of 20 ms it stands still.
 */
function openClock(): Clock {
  vi.useFakeTimers({ toFake: ['Date', 'setInterval', 'clearInterval'], shouldAdvanceTime: true });
  return {
    pass(ms) {
      if (ms > roundMs) vi.setSystemTime(Date.now() + ms - roundMs);
      vi.advanceTimersByTime(Math.min(ms, roundMs));
    },
    close: () => void vi.useRealTimers(),
  };
}
