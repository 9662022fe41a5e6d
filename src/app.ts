import { setTimeout as rest } from 'node:timers/promises';
import { tellRulesElsewhere, tellUnreadParts } from './config/alert-rules.ts';
import { beginAudit } from './audit/audit-chain.ts';
import { createAuditTrail, type AuditTrail } from './audit/audit-trail.ts';
import { createMerchantBot, merchantPlaces, type MerchantBot, type MerchantBots } from './merchants.ts';
import type { Storage } from './store/storage.ts';
import { checkOwners } from './store/check-owners.ts';
import { createMetrics, createMetricsRoute } from './http/metrics.ts';
import type { Outside } from './config/config.ts';
import { readsField, tellUnsignedFields } from './webhooks/webhook-settings.ts';
import { createCommandSet, type AccountVerbs } from './features/help/command-set.ts';
import { type AnswerCodePage, answerCodePages, codePagePath } from './features/customer-code/code-pages.ts';
import { formPageRoutes } from './http/form-page.ts';
import { createReadinessRoute, healthRoute, type PartCheck } from './http/health.ts';
import { createHttpServer, type Route } from './http/server.ts';
import { startWorker, type Worker, workOnce, type Kind } from './records/worker.ts';
import { createSlack, type Slack } from './slack/router/bolt.ts';
import { refusalCauses as slackRefusalCauses } from './slack/router/receiver.ts';
import { inAccount } from './slack/own-account.ts';
import { createRefusedRequests } from './features/doctor/refused-requests.ts';
import { createStoreWatch } from './features/doctor/watch-store.ts';
import { createDirectory } from './slack/people/directory.ts';
import { createClients, type SlackClients } from './slack/workspace.ts';
import { createCache } from './store/cache.ts';
import { refusalWords } from './webhooks/refusal-words.ts';
import { createWebhookHandler, webhookResults } from './webhooks/route.ts';
import { channelChecks } from './features/doctor/slack-checks.ts';
import { toRouteLanes } from './features/alerts/route-event.ts';
import { merchantPrefix } from './domain/merchant.ts';
import { StoreUnavailable } from './domain/failure.ts';
import { outsideText } from './domain/outside-text.ts';
import { unreadableKind } from './domain/payment-event.ts';
import { logged } from './log.ts';
import { asideReasons, createPutAside } from './records/put-aside.ts';
import type { Entry, Store } from './store/store.ts';
import { storeHealth } from './store/storage.ts';
import { createStoreSteps } from './store/store-steps.ts';
import { hourMs } from './domain/span.ts';

export type App = {
  /** Listens and begins to work; gives the port. Rejects, in words that name the setting, when it cannot. */
  start(): Promise<number>;
  /**
   * `/readyz` turns 503 at once and requests are served for `drainMs` more (0 when absent), each the last of its
   * connection; then nothing new is taken
   * and what is under way is finished. What is not by STOP_SECONDS stays safe in the store: `late`.
   */
  stop(drainMs?: number): Promise<'finished' | 'late'>;
  /** Looks for due work now, for tests that moved the clock. */
  wake(): void;
};

/** So many at once come of a flood of events; people’s commands and a sender’s usual pace are a few. */
const pressingRequests = 16;

/** All of Payops, put together. Nothing is contacted before `start`, and nothing outside need be there then. */
export function createApp(outside: Outside, opened: Storage): App {
  const { config, log, now } = outside;
  const metrics = createMetrics({ webhookResults, asideReasons, slackRefusalCauses, log, now });
  const storage = { ...opened, store: metrics.measured(opened.store) };
  const workspace = { botToken: config.slackBotToken ?? '', slackApiUrl: config.slackApiUrl };
  const deliveryTimeoutMs = config.slackTimeoutSeconds * 1_000;
  const clients = createClients({ ...workspace, deliveryTimeoutMs }, log, metrics.slackCalled);
  let worker: Worker | undefined;
  const wake = (): void => worker?.wake();
  const cache = createCache<{ value: unknown; atMs: number }>(
    storage.redis,
    config.redisPrefix,
    'slack-directory',
  );
  /** Who may do what, for every account. */
  const directory = createDirectory(config.policy.roles, {
    client: clients.interactive,
    cache,
    log,
    now,
    identity: () => slack.identity(),
  });
  const audit = createAuditTrail(outside, storage);
  const shared = { clients, wake, metrics, ...directory, audit };
  const [first, ...further] = merchantPlaces(outside, storage);
  const merchantBots: MerchantBots = [
    createMerchantBot(first, shared),
    ...further.map((place) => createMerchantBot(place, shared)),
  ];
  const features = merchantBots.flatMap((bot) => bot.features);
  const [firstBot, ...furtherBots] = merchantBots;
  const slack: Slack = createSlack(
    {
      ...workspace,
      ...(config.slackMode === 'socket'
        ? {
            mode: 'socket',
            appToken: config.slackAppToken ?? '',
            processes: config.slackSocketProcesses ?? (config.redisUrl === undefined ? 1 : undefined),
          }
        : { mode: 'http', signingSecret: config.slackSigningSecret ?? '' }),
    },
    {
      clients,
      commands: createCommandSet([verbsOf(firstBot), ...furtherBots.map(verbsOf)], log),
      // Each entry names the account of what was asked for, if it is any one's.
      note: audit.notesOf(undefined).note,
      acknowledged: metrics.acknowledged,
      checked: createRefusedRequests({
        store: storage.store,
        count: metrics.slackRefused,
        tell: merchantBots[0].tellOperators,
        log,
        now,
      }),
      // Slack's own signatures hold for five minutes; an hour is well past any repeat.
      claimOnce: (key) => storage.store.create(`once:${key}`, '', { ttlMs: hourMs }),
      log,
      now,
    },
  );
  const storeWatch = createStoreWatch({ storage, tell: merchantBots[0].tellOperators, log, now });
  const claim = (): Promise<boolean> => storage.mark.claim(() => beginAudit(storage));
  const storeSteps = createStoreSteps({
    store: storage.store,
    claim,
    file: storage.file,
    parts: merchantBots.map(({ place: { storage: part, entryOf }, steps }) => ({
      store: part.store,
      entryOf,
      steps,
    })),
    log,
  });
  const stopping = new AbortController();
  const isStopping = (): boolean => stopping.signal.aborted;
  const slackRoute = slack.httpListener
    ? [{ method: 'POST', path: '/slack/events', handle: slack.httpListener }]
    : [];
  const routes = [
    ...slackRoute,
    ...merchantBots.map((bot) => webhookRoute(bot, now)),
    ...codePageRoutes(merchantBots, { log, now, wait: rest }),
    healthRoute,
  ];
  // For monitoring: on a port of its own with METRICS_PORT.
  const watching = [
    createReadinessRoute(
      readinessChecks({ storage, slack, merchantBots, isStopping }),
      log,
      config.metricsToken,
    ),
    createMetricsRoute(metrics, config.metricsToken),
  ];
  const isApart = config.metricsPort !== undefined;
  const server = createHttpServer(isApart ? routes : [...routes, ...watching], log);
  const watchingServer = createHttpServer(isApart ? watching : [], log);
  const isBusy = (): boolean => server.underWay() >= pressingRequests;

  async function finish(drainMs: number): Promise<void> {
    server.drain();
    if (drainMs > 0) await rest(drainMs);
    for (const feature of features) feature.stop?.();
    storeWatch.stop();
    // All at once: together they must fit the platform's grace period.
    await Promise.all([server.close(), slack.stop(), worker?.stop(), storeSteps.stop()]);
    // In their order: what one has begun may begin something of the next.
    for (const feature of features) await feature.drained?.();
    await watchingServer.close();
    // Close the audit and the store last: other parts still write while they stop.
    await audit.stop();
    await storage.close();
  }

  return {
    async start() {
      await storage.checked();
      // Of a store that is away the worker asks before it takes anything.
      await claim().catch(passUnavailable);
      const refusal = storage.refusal();
      if (refusal !== undefined) throw new Error(refusal);
      await checkOwners(storage.store, config);
      for (const bot of merchantBots) tellAtStart(bot);
      tellRulesElsewhere(
        merchantBots.map(({ routes }) => routes),
        log,
      );
      const port = await server.listen(config.port, config.host);
      const metricsPort = isApart
        ? { metricsPort: await watchingServer.listen(config.metricsPort ?? 0, config.host, 'METRICS_PORT') }
        : {};
      slack.start();
      void tellChannels(outside, clients, isStopping);
      worker = startWork(outside, {
        store: storage.store,
        claim,
        merchantBots,
        audit,
        putAside: metrics.putAside,
        isBusy,
      });
      audit.start();
      storeWatch.start();
      storeSteps.start();
      for (const feature of features) feature.start?.();
      log('info', 'Payops listens', { port, ...metricsPort, mode: config.slackMode });
      return port;
    },
    async stop(drainMs = 0) {
      stopping.abort();
      return await Promise.race([
        finish(drainMs).then(() => 'finished' as const),
        rest(config.stopSeconds * 1_000, 'late' as const, { ref: false }),
      ]);
    },
    wake,
  };
}

function passUnavailable(error: unknown): void {
  if (!(error instanceof StoreUnavailable)) throw error;
}

/** What of an account's settings is seldom meant. */
function tellAtStart({ webhooks, routes, place, health }: MerchantBot): void {
  const { log } = place.outside;
  const { scheme } = webhooks;
  const { detail, fix } = health.webhooks;
  if (detail !== undefined) log('warn', detail, { fix });
  tellUnsignedFields(webhooks, log);
  if (scheme) tellUnreadParts(routes, (field) => readsField(webhooks, field), log);
}

/** Names the channels of the policy file that the bot cannot post in: after the start, each once; the doctor looks again. */
async function tellChannels(
  { config, log }: Outside,
  { interactive }: SlackClients,
  isStopping: () => boolean,
): Promise<void> {
  for (const { part, look } of channelChecks(config.policy, interactive)) {
    if (isStopping()) return;
    const { state, says, fix } = await look();
    if (state === 'problem') log('warn', `${part}: the bot cannot post there, ${says}`, { fix });
  }
}

function verbsOf({ place: { merchant, outside }, verbs, mayRun }: MerchantBot): AccountVerbs {
  const { paymentsEnvironment: environment, paymentsAccountName: label, policy } = outside.config;
  const channels = policy.accounts?.find(({ name }) => name === merchant?.name)?.channels ?? [];
  return { merchant, mayRun, environment, label, channels, verbs };
}

/** Under a path of its own for each further account. */
function webhookRoute(
  { place, webhooks, receiving, forwarding, ...bot }: MerchantBot,
  now: () => number,
): Route {
  const { merchant, outside } = place;
  const path = merchant?.isFirst === false ? `/webhooks/payments/${merchant.name}` : '/webhooks/payments';
  const handle = createWebhookHandler({
    scheme: webhooks.scheme,
    secrets: outside.config.webhookSecrets ?? [],
    pointers: webhooks.pointers,
    kinds: webhooks.kinds,
    ...receiving,
    forward: forwarding.keep,
    forwardsRefused: outside.config.webhookForwardDeliveries === 'all',
    async keepUnknown(delivery) {
      await receiving.keepUnknown(delivery);
      bot.seenWebhooks.unknown(now(), () => unknownWords(delivery.eventKind));
    },
    count: bot.metrics.delivered,
    refused(delivery, why, atMs) {
      bot.metrics.refused(why);
      bot.seenWebhooks.refused(atMs, () => refusalWords(webhooks.scheme, delivery, why, atMs));
    },
    log: outside.log,
    now,
  });
  return { method: 'POST', path, handle: (...asked) => inAccount(merchant, () => handle(...asked)) };
}

/** The pages where customers type the bank’s code. No route if only agents type codes. */
function codePageRoutes(bots: MerchantBots, around: Parameters<typeof answerCodePages>[1]): Route[] {
  const accounts = bots.flatMap(({ answerCodePage, place: { merchant } }): AnswerCodePage[] =>
    answerCodePage ? [(request) => inAccount(merchant, () => answerCodePage(request))] : [],
  );
  return accounts.length === 0 ? [] : formPageRoutes(codePagePath, answerCodePages(accounts, around));
}

const longestKind = 80;

function unknownWords(eventKind: string): string {
  return eventKind === unreadableKind
    ? 'An event without a kind that can be read came'
    : `An event of a kind that the bot does not know came, “${outsideText(eventKind, longestKind)}”`;
}

type Watched = {
  /** Whether the process was told to end: a load balancer then sends nothing more. */
  isStopping: () => boolean;
  storage: Storage;
  slack: Slack;
  merchantBots: readonly MerchantBot[];
};

/**
 * Only a stop under way, or a store that is away or not to be trusted, makes the process unready: without Slack or the payments
 * service it still keeps events safe, and a load balancer that took it out would lose them. Anyone who
 * reaches the port reads the answers: nothing in them comes from outside.
 */
export function readinessChecks({ storage, slack, merchantBots, isStopping }: Watched): PartCheck[] {
  return [
    { name: 'store', check: () => storeHealth(storage) },
    { name: 'slack', check: () => slack.health() },
    ...merchantBots.flatMap(accountChecks),
    {
      name: 'process',
      check: () => (isStopping() ? { state: 'down', detail: 'it was told to stop' } : { state: 'ok' }),
    },
  ];
}

/** Under a name of its own for each further account. */
function accountChecks({ place: { merchant }, payments, health }: MerchantBot): PartCheck[] {
  const { webhooks, undelivered, forwarding } = health;
  const named = (name: string): string => (merchant?.isFirst === false ? `${name}_${merchant.name}` : name);
  return [
    {
      name: named('payments'),
      check() {
        const failure = payments.lookUpFailure();
        // Its words are the bot's own, and say what to check.
        if (failure) return { state: 'degraded', detail: `the last look-up failed: ${failure.message}` };
        if (!payments.isContended()) return { state: 'ok' };
        return {
          state: 'degraded',
          detail: 'an access token was rejected soon after it was given',
          fix: 'another system seems to use the same credentials: give the bot its own',
        };
      },
    },
    { name: named('webhooks'), check: () => webhooks },
    { name: named('undelivered'), check: undelivered },
    ...(forwarding ? [{ name: named('forward'), check: forwarding }] : []),
  ];
}

/** Enough that one slow look-up does not hold up the other channels. */
const lanesAtOnce = 4;
/** Of the events that a rule routes by what only their look-up says; by all replicas together, so that a flood is easy on the payments service. */
const lookUpsAtOnce = 8;
const idleMs = 250;
const failureDelayMs = 1_000;

type MerchantWork = Pick<MerchantBot, 'kinds' | 'tellStuck'> & {
  place: Pick<MerchantBot['place'], 'entryOf' | 'merchant'>;
};

/** The worker over the whole store: each record is the work of the account whose it is. `putAside` is called for each that is put aside. */
export function startWork(
  { config, log, now }: Outside,
  {
    store,
    claim,
    merchantBots,
    audit,
    ...told
  }: {
    store: Store;
    /** Nothing is taken from a store that this process cannot open. */
    claim: () => Promise<boolean>;
    merchantBots: readonly [MerchantWork, ...MerchantWork[]];
    audit: Pick<AuditTrail, 'kinds'>;
    putAside: (reason: string) => void;
    isBusy: () => boolean;
  },
): Worker {
  const ofAccounts = merchantBots.flatMap(({ kinds, place: { merchant, entryOf } }) => {
    const scope = merchant && !merchant.isFirst ? merchantPrefix(merchant.name) : '';
    function ownOf(entry: Entry): Entry {
      const own = entryOf(entry);
      if (!own) throw new Error('A record was taken for another account.');
      return own;
    }
    return kinds.map(({ prefix, work, prepare }): Kind => {
      const kind = {
        prefix: scope + prefix,
        work: (entry: Entry) =>
          logged({ key: entry.key }, () => inAccount(merchant, () => work(ownOf(entry)))),
      };
      if (!prepare) return kind;
      return {
        ...kind,
        async prepare(entry) {
          const ready = await logged({ key: entry.key }, () =>
            inAccount(merchant, () => prepare(ownOf(entry))),
          );
          return ready && { ...ready, key: entry.key };
        },
      };
    });
  });
  const putAside = createPutAside({
    store,
    async tell(entry, errorId) {
      const owner = merchantBots.find(({ place }) => place.entryOf(entry)) ?? merchantBots[0];
      await owner.tellStuck(owner.place.entryOf(entry)?.key ?? entry.key, errorId);
    },
    count: told.putAside,
    now,
    log,
  });
  const kinds = putAside.guard([...ofAccounts, ...audit.kinds]);
  const leaseMs = config.workLeaseSeconds * 1_000;
  const together = { lanes: toRouteLanes, most: lookUpsAtOnce, now };
  return startWorker({
    isBusy: told.isBusy,
    concurrency: lanesAtOnce,
    idleMs,
    failureDelayMs,
    log,
    async workOnce() {
      if (!(await claim())) return false;
      await putAside.retryAll();
      return await workOnce({ store, leaseMs, kinds, together });
    },
  });
}
