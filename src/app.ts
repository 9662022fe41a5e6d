import { setTimeout as sleep } from 'node:timers/promises';
import { warnOfForeignRules, warnOfUnreadFields } from './config/alert-rules.ts';
import { beginAudit } from './audit/audit-chain.ts';
import { createAuditTrail, type AuditTrail } from './audit/audit-trail.ts';
import { createMerchantBot, merchantScopes, type MerchantBot, type MerchantBots } from './merchants.ts';
import type { Storage } from './store/storage.ts';
import { checkOwners } from './store/check-owners.ts';
import { createMetrics, createMetricsRoute } from './http/metrics.ts';
import type { Runtime } from './config/config.ts';
import { readsField, tellUnsignedFields } from './webhooks/webhook-settings.ts';
import { createCommandSet, type AccountCommands } from './features/help/command-set.ts';
import { type AnswerCodePage, answerCodePages, codePagePath } from './features/customer-code/code-pages.ts';
import { formPageRoutes } from './http/form-page.ts';
import { createReadinessRoute, healthRoute, type PartCheck } from './http/health.ts';
import { createHttpServer, type Route } from './http/server.ts';
import { startWorker, type Worker, workOnce, type WorkKind } from './records/worker.ts';
import { createSlack, type Slack } from './slack/router/bolt.ts';
import { refusalCauses as slackRefusalCauses } from './slack/router/receiver.ts';
import { inAccount } from './slack/own-account.ts';
import { createRefusedRequests } from './features/doctor/refused-requests.ts';
import { createStoreWatch } from './features/doctor/watch-store.ts';
import { createDirectory } from './slack/people/directory.ts';
import { createClients, type SlackClients } from './slack/workspace.ts';
import { createCache } from './store/cache.ts';
import { refusalWords } from './webhooks/refusal-words.ts';
import { signatureRefusals } from './webhooks/signature.ts';
import { createWebhookHandler, webhookResults } from './webhooks/route.ts';
import { channelChecks } from './features/doctor/slack-checks.ts';
import { merchantPrefix } from './domain/merchant.ts';
import { undefinedIfAway } from './domain/failure.ts';
import { outsideText } from './domain/outside-text.ts';
import { unreadableKind } from './domain/payment-event.ts';
import { logged } from './log.ts';
import { asideReasons, createPutAside } from './records/put-aside.ts';
import type { Entry, Store } from './store/store.ts';
import { storeHealth } from './store/storage.ts';
import { createStoreSteps } from './store/store-steps.ts';
import { hourMs } from './domain/span.ts';

export type App = {
  /** Starts to listen and work; resolves to the port. Rejects with an error whose message names the setting to fix. */
  start(): Promise<number>;
  /**
   * `/readyz` answers 503 at once. Requests are served for `drainMs` more (default 0), each closing its connection;
   * then the work under way is finished. `late`: it was not finished within STOP_SECONDS, and stays safe in the store.
   */
  stop(drainMs?: number): Promise<'finished' | 'late'>;
  /** Looks for due work now, for tests that moved the clock. */
  wake(): void;
};

/**
 * From this many requests at once, which only a flood of events brings, the worker slows down to leave them the processor.
 */
const manyRequests = 16;
const metricLabels = { webhookResults, signatureRefusals, asideReasons, slackRefusalCauses };

/**
 * Assembles the whole bot. Contacts nothing before `start`. Slack and the payments service may be away at the start; so
 * may the store, if there is only one account.
 */
export function createApp(runtime: Runtime, opened: Storage): App {
  const { config, log, now } = runtime;
  const metrics = createMetrics({ ...metricLabels, log, now });
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
  /** Permission checks for all accounts. */
  const directory = createDirectory(config.policy.roles, {
    client: clients.interactive,
    cache,
    log,
    now,
    identity: () => slack.identity(),
  });
  const audit = createAuditTrail(runtime, storage);
  const shared = { clients, wake, metrics, ...directory, audit };
  const [first, ...further] = merchantScopes(runtime, storage);
  const merchantBots: MerchantBots = [
    createMerchantBot(first, shared),
    ...further.map((scope) => createMerchantBot(scope, shared)),
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
      commands: createCommandSet([commandsOf(firstBot), ...furtherBots.map(commandsOf)], log),
      // Not bound to one account: each entry names the account that the person asked about, if any.
      note: audit.notesOf(undefined).note,
      acknowledged: metrics.acknowledged,
      checked: createRefusedRequests({
        store: storage.store,
        count: metrics.slackRefused,
        tell: merchantBots[0].tellOperators,
        log,
        now,
      }),
      // Slack's signatures are valid for five minutes, so after an hour no repeat can come.
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
    parts: merchantBots.map(({ scope: { storage: part, entryOf }, steps }) => ({
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
    ...merchantBots.flatMap((bot) => webhookRoutes(bot, now)),
    ...codePageRoutes(merchantBots, { log, now, wait: sleep }),
    healthRoute,
  ];
  // On METRICS_PORT if it is set, else on the public port.
  const monitoringRoutes = [
    createReadinessRoute(
      readinessChecks({ storage, slack, merchantBots, isStopping }),
      log,
      config.metricsToken,
    ),
    createMetricsRoute(metrics, config.metricsToken),
  ];
  const hasMetricsPort = config.metricsPort !== undefined;
  const server = createHttpServer(hasMetricsPort ? routes : [...routes, ...monitoringRoutes], log);
  const metricsServer = createHttpServer(hasMetricsPort ? monitoringRoutes : [], log);
  const isBusy = (): boolean => server.underWay() >= manyRequests;

  async function finish(drainMs: number): Promise<void> {
    server.drain();
    if (drainMs > 0) await sleep(drainMs);
    for (const feature of features) feature.stop?.();
    storeWatch.stop();
    // In parallel, to fit in the platform's grace period.
    await Promise.all([server.close(), slack.stop(), worker?.stop(), storeSteps.stop()]);
    // In the features' order: work of one may still begin work of a later one.
    for (const feature of features) await feature.drained?.();
    await metricsServer.close();
    // Close the audit and the store last: other parts still write while they stop.
    await audit.stop();
    await storage.close();
  }

  return {
    async start() {
      await storage.checked();
      // If the store is away, the worker claims it later, before it takes any work.
      await claim().catch(undefinedIfAway);
      const refusal = storage.refusal();
      if (refusal !== undefined) throw new Error(refusal);
      await checkOwners(storage.store, config);
      for (const bot of merchantBots) warnAtStart(bot);
      warnOfForeignRules(
        merchantBots.map(({ routes }) => routes),
        log,
      );
      const port = await server.listen(config.port, config.host);
      const metricsPort = hasMetricsPort
        ? { metricsPort: await metricsServer.listen(config.metricsPort ?? 0, config.host, 'METRICS_PORT') }
        : {};
      slack.start();
      void warnOfChannels(runtime, clients, isStopping);
      worker = startWork(runtime, {
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
        sleep(config.stopSeconds * 1_000, 'late' as const, { ref: false }),
      ]);
    },
    wake,
  };
}

/** Logs warnings about an account's webhook settings and rules. */
function warnAtStart({ webhooks, routes, scope, health }: MerchantBot): void {
  const { log } = scope.runtime;
  const { scheme } = webhooks;
  const { detail, fix } = health.webhooks;
  if (detail !== undefined) log('warn', detail, { fix });
  tellUnsignedFields(webhooks, log);
  if (scheme) warnOfUnreadFields(routes, (field) => readsField(webhooks, field), log);
}

/** Logs the channels of the policy file in which the bot can't post. Only at the start; the doctor checks again. */
async function warnOfChannels(
  { config, log }: Runtime,
  { interactive }: SlackClients,
  isStopping: () => boolean,
): Promise<void> {
  for (const { part, look } of channelChecks(config.policy, interactive)) {
    if (isStopping()) return;
    const { state, says, fix } = await look();
    if (state === 'problem') log('warn', `${part}: the bot cannot post there, ${says}`, { fix });
  }
}

function commandsOf({ scope: { merchant, runtime }, verbs, mayRun }: MerchantBot): AccountCommands {
  const { paymentsEnvironment: environment, paymentsAccountName: label, policy } = runtime.config;
  const channels = policy.accounts?.find(({ name }) => name === merchant?.name)?.channels ?? [];
  return { merchant, mayRun, environment, label, channels, commands: verbs };
}

/** The routes for an account's webhooks: each has its name's path, and the first account the plain one, too. */
function webhookRoutes(
  { scope, webhooks, receiving, forwarding, ...bot }: MerchantBot,
  now: () => number,
): Route[] {
  const { merchant, runtime } = scope;
  const paths = [
    ...(merchant?.isFirst === false ? [] : ['/webhooks/payments']),
    ...(merchant ? [`/webhooks/payments/${merchant.name}`] : []),
  ];
  const handle = createWebhookHandler({
    scheme: webhooks.scheme,
    secrets: runtime.config.webhookSecrets ?? [],
    pointers: webhooks.pointers,
    kinds: webhooks.kinds,
    ...receiving,
    forward: forwarding.keep,
    forwardsRefused: runtime.config.webhookForwardDeliveries === 'all',
    async keepUnknown(delivery) {
      await receiving.keepUnknown(delivery);
      bot.seenWebhooks.unknown(now(), () => unknownWords(delivery.eventKind));
    },
    count: bot.metrics.delivered,
    refused(delivery, { cause, why }, atMs) {
      bot.metrics.refused(cause);
      bot.seenWebhooks.refused(atMs, () => refusalWords(webhooks.scheme, delivery, why, atMs));
    },
    log: runtime.log,
    now,
  });
  // Also with a slash at the end, which is easily typed at the service.
  return paths
    .flatMap((path) => [path, `${path}/`])
    .map((path) => {
      return { method: 'POST', path, handle: (...args) => inAccount(merchant, () => handle(...args)) };
    });
}

/** The pages where customers type the bank’s code. No route if only agents type codes. */
function codePageRoutes(bots: MerchantBots, options: Parameters<typeof answerCodePages>[1]): Route[] {
  const accounts = bots.flatMap(({ answerCodePage, scope: { merchant } }): AnswerCodePage[] =>
    answerCodePage ? [(request) => inAccount(merchant, () => answerCodePage(request))] : [],
  );
  return accounts.length === 0 ? [] : formPageRoutes(codePagePath, answerCodePages(accounts, options));
}

const longestKind = 80;

function unknownWords(eventKind: string): string {
  return eventKind === unreadableKind
    ? 'An event without a kind that can be read came'
    : `An event of a kind that the bot does not know came, “${outsideText(eventKind, longestKind)}”`;
}

type ReadinessNeeds = {
  /** Whether the process was told to stop: then a load balancer should send nothing more. */
  isStopping: () => boolean;
  storage: Storage;
  slack: Slack;
  merchantBots: readonly MerchantBot[];
};

/**
 * The checks of `/readyz`. Only the store and a stop can make the process unready: without Slack or the payments
 * service it still accepts events, which would be lost if a load balancer took it out. Answers contain no outside text,
 * because anybody who reaches the port can read them.
 */
export function readinessChecks({ storage, slack, merchantBots, isStopping }: ReadinessNeeds): PartCheck[] {
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

/** Checks of one account. Names end with the account's name, except for the first account. */
function accountChecks({ scope: { merchant }, payments, health }: MerchantBot): PartCheck[] {
  const { webhooks, undelivered, forwarding } = health;
  const named = (name: string): string => (merchant?.isFirst === false ? `${name}_${merchant.name}` : name);
  return [
    {
      name: named('payments'),
      check() {
        const failure = payments.lookUpFailure();
        // The message is the bot's own and says what to check; the service's words are in `said`.
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

/** Several at once, so that one slow look-up doesn't delay other channels. */
const lanesAtOnce = 4;
const idleMs = 250;
const failureDelayMs = 1_000;

type MerchantWork = Pick<MerchantBot, 'kinds' | 'tellStuck'> & {
  scope: Pick<MerchantBot['scope'], 'entryOf' | 'merchant'>;
};

/**
 * Starts the worker for all accounts: each due record is handled by its own account. `putAside` counts records put
 * aside.
 */
export function startWork(
  { config, log, now }: Runtime,
  needs: {
    store: Store;
    /** False: this process can't open the store's records, so it takes no work. */
    claim: () => Promise<boolean>;
    merchantBots: readonly [MerchantWork, ...MerchantWork[]];
    audit: Pick<AuditTrail, 'kinds'>;
    putAside: (reason: string) => void;
    isBusy: () => boolean;
  },
): Worker {
  const { store, claim, merchantBots, audit } = needs;
  const ofAccounts = merchantBots.flatMap(({ kinds, scope: { merchant, entryOf } }) => {
    const keyPrefix = merchant && !merchant.isFirst ? merchantPrefix(merchant.name) : '';
    function ownOf(entry: Entry): Entry {
      const own = entryOf(entry);
      if (!own) throw new Error('A record was taken for another account.');
      return own;
    }
    const forOwn = <Result>(entry: Entry, work: (own: Entry) => Promise<Result>): Promise<Result> =>
      logged({ key: entry.key }, () => inAccount(merchant, () => work(ownOf(entry))));
    return kinds.map(({ prefix, work, prepare }): WorkKind => ({
      prefix: keyPrefix + prefix,
      work: (entry) => forOwn(entry, work),
      ...(prepare && {
        prepare: {
          ...prepare,
          async run(entry) {
            const ready = await forOwn(entry, prepare.run);
            return ready && { ...ready, key: entry.key };
          },
        },
      }),
    }));
  });
  const putAside = createPutAside({
    store,
    async tell(entry, errorId) {
      const owner = merchantBots.find(({ scope }) => scope.entryOf(entry)) ?? merchantBots[0];
      await owner.tellStuck(owner.scope.entryOf(entry)?.key ?? entry.key, errorId);
    },
    count: needs.putAside,
    now,
    log,
  });
  const kinds = putAside.guard([...ofAccounts, ...audit.kinds]);
  const leaseMs = config.workLeaseSeconds * 1_000;
  return startWorker({
    isBusy: needs.isBusy,
    concurrency: lanesAtOnce,
    idleMs,
    failureDelayMs,
    log,
    async workOnce() {
      if (!(await claim())) return false;
      await putAside.retryAll();
      return await workOnce({ store, leaseMs, kinds, now });
    },
  });
}
