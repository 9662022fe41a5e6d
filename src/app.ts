import { createAlarms, type Alarms } from './app/alarms.ts';
import { createAlerts, type Alerts } from './app/alerts.ts';
import { readRoutes, tellMutes } from './app/alert-routes.ts';
import { createChannels, type Channels } from './app/channels.ts';
import { createCharges, type Charges } from './app/charges.ts';
import { createChecks } from './app/health-checks.ts';
import { createDeskLists } from './app/desk-lists.ts';
import { createHomes, type Homes } from './app/homes.ts';
import { createLinks } from './app/links.ts';
import { openKept, type Kept } from './app/kept.ts';
import { createOutbox, type Outbox } from './app/outbox.ts';
import type { Outside } from './app/outside.ts';
import { createPayments, type Payments } from './app/payments.ts';
import { createUndelivered, type Undelivered } from './app/undelivered.ts';
import { createSavedCards } from './app/saved-cards.ts';
import { readWebhooks, type Webhooks } from './app/webhook-settings.ts';
import { createCommandSet } from './commands/command-set.ts';
import { createVerbs } from './commands/registry.ts';
import { destinationsOf, needsLookUp, type RoutePlan } from './domain/alert-route.ts';
import { createHealthRoute, createReadinessRoute } from './http/health.ts';
import { createCounter, createMetricsRoute } from './http/metrics.ts';
import { createHttpServer, type Route } from './http/server.ts';
import { keepUnknownEvent, receiveEvent, type ReceiveDeps } from './operations/receive-event.ts';
import { rehearse } from './operations/rehearse.ts';
import { createTestAlerts } from './operations/send-test-alert.ts';
import type { PaymentLinks } from './operations/payment-links.ts';
import type { Worker } from './operations/worker.ts';
import { createSlack, type Slack } from './slack/bolt.ts';
import { createShowEnd } from './slack/show-end.ts';
import { createSharing } from './app/sharing.ts';
import { createMayRun } from './slack/directory.ts';
import { createShareFile } from './slack/share-file.ts';
import { createUploadFile } from './slack/upload-file.ts';
import { createClients, type SlackClients } from './slack/workspace.ts';
import { createCache } from './store/cache.ts';
import { createWebhookHandler, webhookResults } from './webhooks/route.ts';

export type App = {
  /** Listens and begins to work; gives the port. Rejects, in words that name the setting, when it cannot. */
  start(): Promise<number>;
  /** Takes nothing new, finishes what is under way, leaves the rest safe in the store. */
  stop(): Promise<void>;
};

/** So many at once come of a flood of events; people’s commands and a sender’s usual pace are a few. */
const pressingRequests = 16;

/** All of Payops, put together. Nothing is contacted before `start`, and nothing outside need be there then. */
export function createApp(outside: Outside, kept: Kept = openKept(outside)): App {
  const { config, log, now } = outside;
  const payments = createPayments(outside, kept);
  const clients = openClients(outside);
  let worker: Worker | undefined;
  const wake = (): void => worker?.wake();
  const webhooks = readWebhooks(config);
  const alarms = createAlarms(outside, { kept, webhooks, wake });
  const homes = createHomes(outside, { kept, wake });
  const { changed: homeChanged } = homes;
  const { approved } = alarms.watch;
  const charges = createCharges(outside, { kept, payments, clients, wake, homeChanged, approved });
  const links = createLinks(outside, { kept, payments, clients, wake, homeChanged });
  const routes = readRoutes(config);
  const alerts = createAlerts(outside, { kept, payments, clients, charges, routes, wake, homeChanged });
  const undelivered = createUndelivered(outside, { kept, wake });
  const slack = createSlackSide(outside, {
    kept,
    payments,
    clients,
    charges,
    links,
    alerts,
    routes,
    undelivered,
    homes,
    wake,
  });
  homes.showThrough(slack);

  const channels = createChannels(outside, clients);
  const receiving = createReceiving(outside, { kept, charges, links, alerts, routes, wake });
  const outbox = createOutbox(outside, {
    kept,
    payments,
    clients,
    receiving,
    charges,
    links,
    alerts,
    alarms: alarms.watch,
    homes,
  });
  const doors = { kept, payments, slack, channels, webhooks, receiving, outbox, undelivered, alarms };
  const server = createHttpServer({ log, routes: createRoutes(outside, doors) });

  return {
    async start() {
      await kept.checked();
      const refusal = kept.refusal();
      if (refusal !== undefined) throw new Error(refusal);
      tellRefusal(webhooks, log);
      tellMutes(routes, now(), log);
      const port = await server.listen(config.port, config.host);
      slack.start();
      channels.start();
      worker = outbox.start(() => server.underWay() >= pressingRequests);
      alarms.watch.start();
      alerts.summaries.start();
      log('info', 'Payops listens', { port, mode: config.slackMode });
      return port;
    },
    async stop() {
      alerts.summaries.stop();
      // All at once: together they must fit the grace period of whoever stops us.
      await Promise.all([server.close(), slack.stop(), channels.stop(), worker?.stop()]);
      await Promise.all([charges.drained(), homes.drained()]);
      await alarms.watch.stop();
      await kept.close();
    },
  };
}

function tellRefusal({ problem }: Webhooks, log: Outside['log']): void {
  if (problem === undefined) return;
  const fix = 'set WEBHOOK_SIGNATURE_PRESET and WEBHOOK_SECRETS';
  log('warn', `Every webhook delivery is refused: ${problem}.`, { fix });
}

function openClients({ config, log }: Outside): SlackClients {
  return createClients(
    {
      botToken: config.slackBotToken ?? '',
      slackApiUrl: config.slackApiUrl,
      deliveryTimeoutMs: config.slackTimeoutSeconds * 1_000,
    },
    log,
  );
}

type ReceivingParts = {
  kept: Kept;
  charges: Charges;
  links: PaymentLinks;
  alerts: Alerts;
  routes: RoutePlan;
  wake: () => void;
};

function createReceiving({ config, now }: Outside, parts: ReceivingParts): ReceiveDeps {
  const { kept, charges, links, alerts, routes, wake } = parts;
  return {
    store: kept.store,
    sealer: kept.sealer,
    route: (event, receivedAtMs) => destinationsOf(routes, event, receivedAtMs),
    needsLookUp: (event) => needsLookUp(routes, event),
    opsChannel: config.policy.channels.ops,
    rememberMs: config.webhookRememberDays * 86_400_000,
    now,
    wake,
    rememberCard: charges.rememberCard,
    async beforeReceived(event) {
      await Promise.all([charges.trigger(event), links.trigger(event), alerts.expect(event)]);
    },
  };
}

type SlackParts = {
  kept: Kept;
  payments: Payments;
  clients: SlackClients;
  charges: Charges;
  links: PaymentLinks;
  alerts: Alerts;
  routes: RoutePlan;
  undelivered: Undelivered;
  homes: Homes;
  wake: () => void;
};

function createSlackSide({ config, log, now }: Outside, parts: SlackParts): Slack {
  const { kept, payments, clients, charges, alerts, routes, wake } = parts;
  const { policy, slackApiUrl } = config;
  const botToken = config.slackBotToken ?? '';
  const groupMembers = createCache<string>({
    ...(kept.redis ? { redis: kept.redis } : {}),
    prefix: config.redisPrefix,
    namespace: 'user-groups',
    ttlMs: 86_400_000,
  });
  const mayRun = createMayRun(policy.roles, { client: clients.interactive, cache: groupMembers, log, now });
  const { storms, takeStorm } = alerts;
  const uploadFile = createUploadFile(clients.delivery);
  const cardActions = {
    alertCards: alerts.cards,
    chargeAgain: alerts.chargeAgain,
    storms,
    takeStorm,
    uploadFile,
  };
  const verbDeps = {
    findTransaction: payments.findTransaction,
    environment: config.paymentsEnvironment,
    account: config.paymentsAccountName,
    desk: charges.desk,
    cardEmails: charges.cardEmails,
    showEnd: createShowEnd({ client: clients.interactive, log }),
    sharing: createSharing(kept, clients),
    ledger: charges.ledger,
    savedCards: createSavedCards({ log }, { kept, calls: payments.savedCards, charges }),
    mayRun,
    findAccount: payments.findAccount,
    accountFields: config.accountNewFields,
    ...createDeskLists({ config, log, now }, { kept, payments }),
    shareFile: createShareFile(clients.delivery, uploadFile),
    undelivered: parts.undelivered,
    links: parts.links,
    alertsInHand: alerts.inHand,
    currencies: config.chargeCurrencies,
    routes,
    rehearse: (plan: RoutePlan) => rehearse(alerts.eventLog, plan, now()),
    storms: {
      channel: (id: string) => storms.channel(id),
      threshold: config.digestThreshold,
      windowMs: config.digestWindowMinutes * 60_000,
    },
    sendTestAlert: createTestAlerts({ store: kept.store, sealer: kept.sealer, now, wake }),
    now,
  };
  const verbs = createVerbs(verbDeps, cardActions);
  const way =
    config.slackMode === 'socket'
      ? { mode: 'socket' as const, appToken: config.slackAppToken ?? '' }
      : { mode: 'http' as const, signingSecret: config.slackSigningSecret ?? '' };
  return createSlack(
    { botToken, slackApiUrl, ...way },
    {
      clients,
      commands: createCommandSet(verbs, mayRun, log),
      mayRun,
      // Slack's own signatures hold for five minutes; an hour is well past any repeat.
      homeOpened: parts.homes.opened,
      claimOnce: (key) => kept.store.create(`once:${key}`, '', { ttlMs: 3_600_000 }),
      log,
      now,
    },
  );
}

type Doors = {
  alarms: Alarms;
  kept: Kept;
  payments: Payments;
  slack: Slack;
  channels: Channels;
  webhooks: Webhooks;
  receiving: ReceiveDeps;
  outbox: Outbox;
  undelivered: Undelivered;
};

function createRoutes({ config, log, now }: Outside, doors: Doors): Route[] {
  const { slack, webhooks, receiving, outbox } = doors;
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
    watch: doors.alarms.seen,
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
    createReadinessRoute({ checks: createChecks(doors), log }),
    createMetricsRoute({ metrics: [deliveries.metric, outbox.metric, doors.undelivered.metric], log }),
  ];
}
