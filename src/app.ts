import { openKept, type Kept } from './app/kept.ts';
import type { Outside } from './app/outside.ts';
import { createPayments, type Payments } from './app/payments.ts';
import { readWebhooks, type Webhooks } from './app/webhook-settings.ts';
import { createCommandSet } from './commands/command-set.ts';
import { createVerbs } from './commands/registry.ts';
import { createHealthRoute, createReadinessRoute, type PartCheck } from './http/health.ts';
import { createCounter, createMetricsRoute } from './http/metrics.ts';
import { createHttpServer, type Route } from './http/server.ts';
import { deliverNext, type Post } from './operations/deliver-outbox.ts';
import { lookUpEvent } from './operations/look-up-event.ts';
import { keepUnknownEvent, receiveEvent, type ReceiveDeps } from './operations/receive-event.ts';
import { startWorker, type Worker } from './operations/worker.ts';
import { alertMessage } from './slack/alert-message.ts';
import { createSlack, type Slack } from './slack/bolt.ts';
import { createDelivery } from './slack/delivery.ts';
import { createMayRun } from './slack/directory.ts';
import type { SlackMessage } from './slack/message.ts';
import { noticeMessage } from './slack/notice-message.ts';
import { createClients, type SlackClients } from './slack/workspace.ts';
import { createCache } from './store/cache.ts';
import { createWebhookHandler, webhookResults } from './webhooks/route.ts';

export type App = {
  /** Listens and begins to work; gives the port. Rejects, in words that name the setting, when it cannot. */
  start(): Promise<number>;
  /** Takes nothing new, finishes what is under way, leaves the rest safe in the store. */
  stop(): Promise<void>;
};

/** All of Payops, put together. Nothing is contacted before `start`, and nothing outside need be there then. */
export function createApp(outside: Outside): App {
  const { config, log, now } = outside;
  const kept = openKept(outside);
  const payments = createPayments(outside, kept);
  const clients = createClients(
    { botToken: config.slackBotToken ?? '', slackApiUrl: config.slackApiUrl },
    log,
  );
  const slack = createSlackSide(outside, { kept, payments, clients });
  const webhooks = readWebhooks(config);
  const rememberMs = config.webhookRememberDays * 86_400_000;
  let worker: Worker | undefined;

  const receiving: ReceiveDeps = {
    store: kept.store,
    sealer: kept.sealer,
    channelFor: (kind) =>
      kind === 'payment_failed' ? config.policy.channels.alerts : config.policy.channels.successes,
    opsChannel: config.policy.channels.ops,
    rememberMs,
    now,
    wake: () => worker?.wake(),
  };
  const server = createHttpServer({
    log,
    routes: createRoutes(outside, { kept, payments, slack, webhooks, receiving }),
  });

  return {
    async start() {
      const refusal = await kept.refusal();
      if (refusal !== undefined) throw new Error(refusal);
      if (webhooks.problem !== undefined) {
        const fix = 'set WEBHOOK_SIGNATURE_PRESET and WEBHOOK_SECRETS';
        log('warn', `Every webhook delivery is refused: ${webhooks.problem}.`, { fix });
      }
      const port = await server.listen(config.port, config.host);
      slack.start();
      worker = startOutbox(outside, { kept, payments, clients, rememberMs });
      log('info', 'Payops listens', { port, mode: config.slackMode });
      return port;
    },
    async stop() {
      await server.close();
      await slack.stop();
      await worker?.stop();
      await kept.close();
    },
  };
}

type SlackParts = { kept: Kept; payments: Payments; clients: SlackClients };

function createSlackSide({ config, log, now }: Outside, { kept, payments, clients }: SlackParts): Slack {
  const { policy, slackApiUrl } = config;
  const botToken = config.slackBotToken ?? '';
  const groupMembers = createCache<string>({
    ...(kept.redis ? { redis: kept.redis.client } : {}),
    prefix: config.redisPrefix,
    namespace: 'user-groups',
    ttlMs: 86_400_000,
  });
  const mayRun = createMayRun(policy.roles, { client: clients.interactive, cache: groupMembers, log, now });
  const verbs = createVerbs({
    findTransaction: payments.findTransaction,
    environment: config.paymentsEnvironment,
    account: config.paymentsAccountName,
    now,
  });
  const way =
    config.slackMode === 'socket'
      ? { mode: 'socket' as const, appToken: config.slackAppToken ?? '' }
      : { mode: 'http' as const, signingSecret: config.slackSigningSecret ?? '' };
  return createSlack(
    { botToken, slackApiUrl, ...way },
    {
      clients,
      commands: createCommandSet(verbs, mayRun),
      mayRun,
      // Slack's own signatures hold for five minutes; an hour is well past any repeat.
      claimOnce: (key) => kept.store.create(`once:${key}`, '', { ttlMs: 3_600_000 }),
      log,
      now,
    },
  );
}

type Doors = { kept: Kept; payments: Payments; slack: Slack; webhooks: Webhooks; receiving: ReceiveDeps };

function createRoutes({ config, log, now }: Outside, doors: Doors): Route[] {
  const { kept, slack, webhooks, receiving } = doors;
  const deliveries = createCounter(
    {
      name: 'payops_webhook_deliveries_total',
      help: 'Webhook deliveries by what became of them.',
      label: 'result',
    },
    webhookResults,
  );
  const handleWebhook = createWebhookHandler({
    scheme: webhooks.scheme,
    secrets: config.webhookSecrets ?? [],
    pointers: webhooks.pointers,
    receive: (event, fingerprint) => receiveEvent(receiving, event, fingerprint),
    keepUnknown: (delivery) => keepUnknownEvent(receiving, delivery),
    count: deliveries.add,
    log,
    now,
  });
  const slackRoute = slack.httpListener
    ? [{ method: 'POST', path: '/slack/events', handle: slack.httpListener }]
    : [];
  return [
    ...slackRoute,
    { method: 'POST', path: '/webhooks/payments', handle: handleWebhook },
    createHealthRoute(),
    createReadinessRoute({ checks: createChecks(kept, doors), log }),
    createMetricsRoute({ metrics: [deliveries.metric], log }),
  ];
}

/**
 * Only a store that is away makes the process unready: without Slack or the payments service it still keeps
 * events safe, and a load balancer that took it out would lose them.
 */
function createChecks(kept: Kept, { payments, slack, webhooks }: Doors): PartCheck[] {
  return [
    {
      name: 'store',
      async check() {
        await kept.store.ping();
        return { state: 'ok' };
      },
    },
    {
      name: 'slack',
      check() {
        const health = slack.health();
        return health.status === 'up'
          ? { state: 'ok' }
          : { state: 'degraded', detail: health.reason, fix: health.fix };
      },
    },
    {
      name: 'payments',
      check() {
        const failure = payments.failure();
        return failure ? { state: 'degraded', detail: failure.message } : { state: 'ok' };
      },
    },
    {
      name: 'webhooks',
      check() {
        if (webhooks.problem === undefined) return { state: 'ok' };
        return { state: 'degraded', detail: `every delivery is refused: ${webhooks.problem}` };
      },
    },
  ];
}

type OutboxParts = { kept: Kept; payments: Payments; clients: SlackClients; rememberMs: number };

/** Enough that one slow look-up does not hold up the other channels. */
const lanesAtOnce = 4;

function startOutbox({ config, log, now }: Outside, parts: OutboxParts): Worker {
  const { kept, payments, clients, rememberMs } = parts;
  const delivery = createDelivery(clients.delivery);
  return startWorker({
    concurrency: lanesAtOnce,
    idleMs: 250,
    failureDelayMs: 1_000,
    log,
    workOnce: () =>
      deliverNext({
        store: kept.store,
        sealer: kept.sealer,
        lookUp: (event) => lookUpEvent(payments.findTransaction, event),
        post: (channel, post) => delivery.post(channel, messageOf(post)),
        findByKey: (channel, key, sinceMs) => delivery.findByKey(channel, key, sinceMs),
        environment: config.paymentsEnvironment,
        account: config.paymentsAccountName,
        rememberMs,
        leaseMs: config.workLeaseSeconds * 1_000,
        now,
        log,
      }),
  });
}

function messageOf(post: Post): SlackMessage {
  return post.kind === 'alert' ? alertMessage(post.alert) : noticeMessage(post);
}
