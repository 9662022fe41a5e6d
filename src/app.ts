import { createAlarms } from './app/alarms.ts';
import { createAlerts, type Alerts } from './app/alerts.ts';
import { readRoutes, tellMutes } from './app/alert-routes.ts';
import { createChannels, type Channels } from './app/channels.ts';
import { createCharges, type Charges } from './app/charges.ts';
import { createChecks } from './app/health-checks.ts';
import { createDeskLists } from './app/desk-lists.ts';
import { openKept, type Kept } from './app/kept.ts';
import { checkOwners, merchantPlaces, type MerchantPlace } from './app/merchants.ts';
import { createOutbox, createPostCounter, startWork, type PostCounter } from './app/outbox.ts';
import type { Outside } from './app/outside.ts';
import { createPayments, type Payments } from './app/payments.ts';
import { createUndelivered, undeliveredMetric, type Undelivered } from './app/undelivered.ts';
import { readWebhooks, type Webhooks } from './app/webhook-settings.ts';
import { createCommandSet } from './commands/command-set.ts';
import { withHints } from './commands/merchant-hints.ts';
import { createMerchantSets } from './commands/merchant-sets.ts';
import { createVerbs } from './commands/registry.ts';
import { destinationsOf, needsLookUp, type RoutePlan } from './domain/alert-route.ts';
import type { OrderReference } from './domain/order-reference.ts';
import { createHealthRoute, createReadinessRoute } from './http/health.ts';
import { createCounter, createMetricsRoute } from './http/metrics.ts';
import { createHttpServer, type Route } from './http/server.ts';
import { keepUnknownEvent, receiveEvent, type ReceiveDeps } from './operations/receive-event.ts';
import { rehearse } from './operations/rehearse.ts';
import { createTestAlerts } from './operations/send-test-alert.ts';
import type { Worker } from './operations/worker.ts';
import { createSlack, type Slack } from './slack/bolt.ts';
import type { Command, CommandSet, MayRun } from './slack/command.ts';
import { createShowEnd } from './slack/show-end.ts';
import { createMayRun } from './slack/directory.ts';
import { merchantIds, type MerchantIds } from './slack/merchant-ids.ts';
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

/** All of Payops, put together. Nothing is contacted before `start`, and nothing outside need be there then. */
export function createApp(outside: Outside, kept: Kept = openKept(outside)): App {
  const { config, log, now } = outside;
  const clients = openClients(outside);
  let worker: Worker | undefined;
  const wake = (): void => worker?.wake();
  const posts = createPostCounter();
  const [first, ...further] = merchantPlaces(outside, kept);
  const main = createHouse(first, { clients, wake, posts });
  const houses: Houses = [main, ...further.map((place) => createHouse(place, { clients, wake, posts }))];
  const slack = createSlackSide(outside, { kept, clients, houses });
  const channels = createChannels(outside, clients);
  const server = createHttpServer({
    log,
    routes: createRoutes(outside, { kept, slack, channels, houses, posts }),
  });

  return {
    async start() {
      await kept.checked();
      const refusal = kept.refusal();
      if (refusal !== undefined) throw new Error(refusal);
      await checkOwners(kept.store, config);
      for (const { webhooks, routes, place } of houses) {
        tellRefusal(webhooks, place.outside.log);
        tellMutes(routes, now(), place.outside.log);
      }
      const port = await server.listen(config.port, config.host);
      slack.start();
      channels.start();
      worker = startWork(outside, kept.store, houses);
      for (const { alarms, alerts } of houses) {
        alarms.watch.start();
        alerts.summaries.start();
      }
      log('info', 'Payops listens', { port, mode: config.slackMode });
      return port;
    },
    async stop() {
      for (const { alerts } of houses) alerts.summaries.stop();
      // All at once: together they must fit the grace period of whoever stops us.
      await Promise.all([server.close(), slack.stop(), channels.stop(), worker?.stop()]);
      await Promise.all(houses.map(({ charges }) => charges.drained()));
      await Promise.all(houses.map(({ alarms }) => alarms.watch.stop()));
      await kept.close();
    },
  };
}

type Houses = readonly [House, ...House[]];

/** All that works for one merchant account, and for no other. */
type House = ReturnType<typeof createHouse>;

type HouseParts = { clients: SlackClients; wake: () => void; posts: PostCounter };

function createHouse(place: MerchantPlace, { clients, wake, posts }: HouseParts) {
  const { outside, kept, merchant } = place;
  const ids = merchant && merchantIds(merchant);
  const payments = createPayments(outside, kept);
  const webhooks = readWebhooks(outside.config);
  const alarms = createAlarms(outside, { kept, webhooks, wake });
  const { approved } = alarms.watch;
  const among = merchant && { store: place.shared, merchant: merchant.name };
  const charges = createCharges(outside, { kept, payments, clients, wake, approved, ids, among });
  const routes = readRoutes(outside.config);
  const alerts = createAlerts(outside, { kept, payments, clients, charges, routes, wake });
  const undelivered = createUndelivered(outside, { kept, wake });
  const receiving = createReceiving(outside, { kept, charges, alerts, routes, wake });
  const outbox = createOutbox(outside, {
    kept,
    payments,
    clients,
    receiving,
    charges,
    alerts,
    alarms: alarms.watch,
    posts,
    ids,
  });
  const verbs = createHouseVerbs(outside, {
    kept,
    payments,
    clients,
    charges,
    alerts,
    routes,
    undelivered,
    wake,
    ids,
  });
  return {
    place,
    payments,
    webhooks,
    alarms,
    charges,
    routes,
    alerts,
    undelivered,
    receiving,
    outbox,
    verbs,
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

type ReceivingParts = { kept: Kept; charges: Charges; alerts: Alerts; routes: RoutePlan; wake: () => void };

function createReceiving({ config, now }: Outside, parts: ReceivingParts): ReceiveDeps {
  const { kept, charges, alerts, routes, wake } = parts;
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
      await Promise.all([charges.trigger(event), alerts.expect(event)]);
    },
  };
}

type VerbParts = {
  kept: Kept;
  payments: Payments;
  clients: SlackClients;
  charges: Charges;
  alerts: Alerts;
  routes: RoutePlan;
  undelivered: Undelivered;
  wake: () => void;
  /** The ids of its messages; undefined in a bot that knows one account alone. */
  ids: MerchantIds | undefined;
};

function createHouseVerbs({ config, log, now }: Outside, parts: VerbParts): Command[] {
  const { kept, payments, clients, charges, alerts, routes, wake } = parts;
  const { storms, takeStorm } = alerts;
  const cardActions = {
    alertCards: alerts.cards,
    chargeAgain: alerts.chargeAgain,
    storms,
    takeStorm,
    uploadFile: createUploadFile(clients.delivery),
  };
  const verbDeps = {
    findTransaction: payments.findTransaction,
    isOwnCharge: async (reference: OrderReference) => (await charges.find(reference)) !== undefined,
    environment: config.paymentsEnvironment,
    account: config.paymentsAccountName,
    isMixed: config.merchant?.isMixed === true,
    desk: charges.desk,
    cardEmails: charges.cardEmails,
    showEnd: createShowEnd({ client: clients.interactive, log, ids: parts.ids }),
    ledger: charges.ledger,
    findAccount: payments.findAccount,
    accountFields: config.accountNewFields,
    ...createDeskLists({ config, log, now }, { kept, payments }),
    undelivered: parts.undelivered,
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
  return createVerbs(verbDeps, cardActions);
}

type SlackParts = { kept: Kept; clients: SlackClients; houses: Houses };

function createSlackSide({ config, log, now }: Outside, { kept, clients, houses }: SlackParts): Slack {
  const { policy, slackApiUrl } = config;
  const botToken = config.slackBotToken ?? '';
  const groupMembers = createCache<string>({
    ...(kept.redis ? { redis: kept.redis } : {}),
    prefix: config.redisPrefix,
    namespace: 'user-groups',
    ttlMs: 86_400_000,
  });
  const mayRun = withHints(
    createMayRun(policy.roles, { client: clients.interactive, cache: groupMembers, log, now }),
    policy.accounts?.map(({ name }) => name) ?? [],
  );
  const way =
    config.slackMode === 'socket'
      ? { mode: 'socket' as const, appToken: config.slackAppToken ?? '' }
      : { mode: 'http' as const, signingSecret: config.slackSigningSecret ?? '' };
  return createSlack(
    { botToken, slackApiUrl, ...way },
    {
      clients,
      commands: createCommands(houses, mayRun, log),
      mayRun,
      // Slack's own signatures hold for five minutes; an hour is well past any repeat.
      claimOnce: (key) => kept.store.create(`once:${key}`, '', { ttlMs: 3_600_000 }),
      log,
      now,
    },
  );
}

function createCommands(houses: Houses, mayRun: MayRun, log: Outside['log']): CommandSet {
  const verbs = houses.flatMap(({ place: { merchant, outside }, verbs }) => {
    const { paymentsEnvironment: environment, paymentsAccountName: label, policy } = outside.config;
    const channels = policy.accounts?.find(({ name }) => name === merchant?.name)?.channels ?? [];
    return merchant ? [{ merchant, environment, label, channels, verbs }] : [];
  });
  return verbs.length > 0
    ? createMerchantSets(verbs, mayRun, log)
    : createCommandSet(houses[0].verbs, mayRun, log);
}

type Doors = { kept: Kept; slack: Slack; channels: Channels; houses: Houses; posts: PostCounter };

function createRoutes({ log, now }: Outside, doors: Doors): Route[] {
  const { slack, houses } = doors;
  const deliveries = createCounter(
    {
      name: 'payops_webhook_deliveries_total',
      help: 'Webhook deliveries by what became of them.',
      label: 'result',
    },
    webhookResults,
  );
  const webhookRoutes = houses.map(({ place, webhooks, receiving, alarms }): Route => {
    const { merchant, outside } = place;
    const path = merchant?.isFirst === false ? `/webhooks/payments/${merchant.name}` : '/webhooks/payments';
    const handle = createWebhookHandler({
      scheme: webhooks.scheme,
      secrets: outside.config.webhookSecrets ?? [],
      pointers: webhooks.pointers,
      receive: (event, fingerprint) => receiveEvent(receiving, event, fingerprint),
      keepUnknown: (delivery) => keepUnknownEvent(receiving, delivery),
      count: deliveries.add,
      watch: alarms.seen,
      log: outside.log,
      now,
    });
    return { method: 'POST', path, handle };
  });
  const slackRoute = slack.httpListener
    ? [{ method: 'POST', path: '/slack/events', handle: slack.httpListener }]
    : [];
  return [
    ...slackRoute,
    ...webhookRoutes,
    createHealthRoute(),
    createReadinessRoute({ checks: createChecks(doors), log }),
    createMetricsRoute({ metrics: [deliveries.metric, doors.posts.metric, undeliveredMetric(houses)], log }),
  ];
}
