import { readFileSync } from 'node:fs';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { withDeadline } from '../deadline.ts';
import { verdicts } from '../domain/charge.ts';
import { StoreUnavailable } from '../domain/failure.ts';
import { bringsToken, sendJson, type Route } from './server.ts';
import type { Log } from '../log.ts';
import type { Store } from '../store/store.ts';

/** All metrics, each defined once: rules, dashboard and docs use these names. */
export type Metrics = ReturnType<typeof createMetrics>;

/** Histogram bounds in seconds: from a quick store call to longer than a person waits. */
const buckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

type WatchedAccount = {
  /** Charges whose outcome is open. */
  openCharges: () => Promise<readonly { intent: { state: { kind: string }; submittedAt: number } }[]>;
  /** Unacknowledged alerts; `oldestAtMs`: the oldest one's time, Infinity if there is none. */
  openAlerts: () => Promise<readonly OpenAlerts[]>;
  undelivered: () => Promise<number>;
  /** Absent if no event is forwarded. */
  forwards?: (() => Promise<Forwards>) | undefined;
};

type OpenAlerts = { severity: string; count: number; oldestAtMs: number };

type Forwards = { waiting: number; abandoned: number; oldestAtMs?: number };

type Sample = { value: number; labels?: Record<string, string> };
type ReadGauge = () => Promise<readonly Sample[]>;
type AddGauge = (name: string, help: string, labelNames: string[], read: ReadGauge) => void;

type MetricsOptions = {
  webhookResults: readonly string[];
  signatureRefusals: readonly string[];
  asideReasons: readonly string[];
  slackRefusalCauses: readonly string[];
  log: Log;
  now: () => number;
};

export function createMetrics(options: MetricsOptions) {
  const { webhookResults, signatureRefusals, asideReasons, slackRefusalCauses, log, now } = options;
  const registry = new Registry();
  const registers = [registry];
  const accounts = new Map<string, WatchedAccount>();
  const counter = (name: string, help: string, labelNames: string[]): Counter =>
    new Counter({ name, help, labelNames, registers });
  const histogram = (name: string, help: string, labelNames: string[]): Histogram =>
    new Histogram({ name, help, labelNames, buckets, registers });
  /** A gauge whose `read` runs at each scrape. The scrape leaves the gauge out if `read` throws or takes over a second. */
  const gauge: AddGauge = (name, help, labelNames, read) =>
    new Gauge({
      name,
      help,
      labelNames,
      registers,
      async collect() {
        this.reset();
        // `reset()` sets a gauge without labels to 0, but the gauge must be absent until it is read.
        this.remove({});
        try {
          for (const { value, labels = {} } of await withDeadline(1_000, read)) this.set(labels, value);
        } catch (error) {
          log('warn', `The metric ${name} could not be read`, {}, error);
        }
      },
    });
  const deliveries = counter(
    'payops_webhook_deliveries_total',
    'Webhook deliveries, by what became of them.',
    ['account', 'result'],
  );
  const refusals = counter(
    'payops_webhook_refusals_total',
    'Webhook deliveries whose signature does not hold, by why.',
    ['account', 'cause'],
  );
  const forwards = counter(
    'payops_webhook_forwards_total',
    'Tries to forward a delivery to your own backend, by what became of it; `left`: it is not tried again.',
    ['account', 'result'],
  );
  const slackRefusals = counter(
    'payops_slack_refusals_total',
    'Requests that do not bear Slack’s signature, by why.',
    ['cause'],
  );
  for (const cause of slackRefusalCauses) slackRefusals.inc({ cause }, 0);
  const charges = counter('payops_charges_total', 'Charges told, by outcome.', ['account', 'outcome']);
  const service = histogram(
    'payops_service_request_duration_seconds',
    'Calls of the payments service, by operation and result.',
    ['account', 'operation', 'result'],
  );
  const slack = histogram('payops_slack_request_duration_seconds', 'Calls of Slack, by method and result.', [
    'method',
    'result',
  ]);
  const acks = histogram(
    'payops_slack_ack_duration_seconds',
    'From a request of Slack to its acknowledgement; Slack waits three seconds.',
    [],
  );
  const storeCalls = histogram(
    'payops_store_request_duration_seconds',
    'Calls of the store, by operation and result.',
    ['operation', 'result'],
  );
  const aside = counter(
    'payops_records_put_aside_total',
    'Records that could not be worked on, kept until the next start, by why.',
    ['reason'],
  );
  for (const reason of asideReasons) aside.inc({ reason }, 0);
  // Start at 0: alarm rules test for an increase, and Prometheus doesn't see one in a series' first value.
  slack.zero({ method: 'chat.postMessage', result: 'ok' });
  gauge('payops_build_info', 'Which release runs.', ['version', 'node'], async () => [
    { value: 1, labels: { version: version(), node: process.version } },
  ]);
  addAccounts(gauge, accounts, now);
  let isScraped = false;
  const inScrape = new Map<unknown, Promise<unknown>>();
  /** Several gauges are made of one list, which a scrape reads once. */
  function onceAScrape<T>(read: () => Promise<T>): () => Promise<T> {
    return () => {
      const found = inScrape.get(read) ?? read();
      inScrape.set(read, found);
      return found as Promise<T>;
    };
  }

  return {
    /** Prometheus's text format. */
    expose(): Promise<string> {
      // The default metrics measure the event loop all the time, so start them only at the first scrape.
      if (!isScraped) collectDefaultMetrics({ register: registry });
      isScraped = true;
      return registry.metrics().finally(() => inScrape.clear());
    },
    contentType: registry.contentType,
    slackCalled: (method: string, result: string, seconds: number) =>
      slack.observe({ method, result }, seconds),
    acknowledged: (seconds: number) => acks.observe(seconds),
    slackRefused: (cause: string) => slackRefusals.inc({ cause }),
    putAside: (reason: string) => aside.inc({ reason }),
    /** The store with each call measured. Also adds gauges for the store's backlog and for whether it takes writes. */
    measured(store: Store): Store {
      addStore(
        gauge,
        store,
        onceAScrape(() => store.backlog()),
      );
      return measuredStore(store, (operation, result, seconds) =>
        storeCalls.observe({ operation, result }, seconds),
      );
    },
    of(account: string) {
      for (const result of webhookResults) deliveries.inc({ account, result }, 0);
      for (const cause of signatureRefusals) refusals.inc({ account, cause }, 0);
      for (const outcome of verdicts) charges.inc({ account, outcome }, 0);
      service.zero({ account, operation: 'POST /v1/auth/token/issue', result: 'ok' });
      return {
        delivered: (result: string) => deliveries.inc({ account, result }),
        refused: (cause: string) => refusals.inc({ account, cause }),
        charged: (outcome: string) => charges.inc({ account, outcome }),
        forwarded: (result: string) => forwards.inc({ account, result }),
        called: (operation: string, result: string, seconds: number) =>
          service.observe({ account, operation, result }, seconds),
        watch: ({ openCharges, openAlerts, undelivered, forwards: ofBackend }: WatchedAccount) =>
          void accounts.set(account, {
            openCharges: onceAScrape(openCharges),
            openAlerts: onceAScrape(openAlerts),
            undelivered,
            forwards: ofBackend && onceAScrape(ofBackend),
          }),
      };
    },
  };
}

/** GET /metrics, for Prometheus. If `token` is set, requests without it as a bearer token get 401. */
export function createMetricsRoute(
  { expose, contentType }: Pick<Metrics, 'expose' | 'contentType'>,
  token: string | undefined,
): Route {
  return {
    method: 'GET',
    path: '/metrics',
    async handle(request, response) {
      if (!bringsToken(request, token)) {
        response.setHeader('www-authenticate', 'Bearer');
        return sendJson(response, 401, { error: 'unauthorized' });
      }
      const body = await expose();
      response.writeHead(200, { 'content-type': contentType, 'content-length': Buffer.byteLength(body) });
      response.end(body);
    },
  };
}

function addAccounts(
  gauge: AddGauge,
  accounts: ReadonlyMap<string, WatchedAccount>,
  now: () => number,
): void {
  /** A gauge with one reading of each account. */
  const addForEach = (
    name: string,
    help: string,
    read: (watched: WatchedAccount) => Promise<readonly Sample[]>,
    labelNames: string[] = [],
  ): void =>
    gauge(name, help, ['account', ...labelNames], async () => {
      const all = Array.from(accounts, async ([account, watched]) =>
        (await read(watched)).map(({ value, labels }) => ({ value, labels: { account, ...labels } })),
      );
      return (await Promise.all(all)).flat();
    });
  const ageSeconds = (atMs: number): number => Math.max(0, now() - atMs) / 1_000;
  const submitted = async ({ openCharges }: WatchedAccount, waitsForCode: boolean): Promise<number[]> =>
    (await openCharges())
      .filter(({ intent }) => (intent.state.kind === 'otp') === waitsForCode)
      .map(({ intent }) => intent.submittedAt);
  addForEach(
    'payops_charges_in_doubt',
    'Charges whose outcome is not known yet, those under way included; without those that wait for a code.',
    async (watched) => [{ value: (await submitted(watched, false)).length }],
  );
  addForEach(
    'payops_charges_in_doubt_oldest_seconds',
    'How long ago the oldest of them was submitted; 0: there is none.',
    async (watched) => [{ value: ageSeconds(Math.min(...(await submitted(watched, false)))) }],
  );
  addForEach('payops_charge_codes_open', 'Charges that wait for a code.', async (watched) => [
    { value: (await submitted(watched, true)).length },
  ]);
  const ofSeverities = async ({ openAlerts }: WatchedAccount, read: (alerts: OpenAlerts) => number) =>
    (await openAlerts()).map((alerts) => ({ value: read(alerts), labels: { severity: alerts.severity } }));
  addForEach(
    'payops_alerts_open',
    'Alerts that nobody has acknowledged, by the severity of their rule; a storm counts as one. 100 stands for that many or more.',
    (watched) => ofSeverities(watched, ({ count }) => count),
    ['severity'],
  );
  addForEach(
    'payops_alerts_open_oldest_seconds',
    'How long ago the oldest of them came; 0: there is none.',
    (watched) => ofSeverities(watched, ({ oldestAtMs }) => ageSeconds(oldestAtMs)),
    ['severity'],
  );
  addForEach(
    'payops_undelivered_messages',
    'Messages that Slack refused for too long, kept until somebody has them delivered again.',
    async ({ undelivered }) => [{ value: await undelivered() }],
  );
  const ofForwards = async (watched: WatchedAccount, read: (forwards: Forwards) => number) => {
    const forwards = await watched.forwards?.();
    return forwards ? [{ value: read(forwards) }] : [];
  };
  addForEach(
    'payops_forwards_waiting',
    'Events that wait for your own backend. 1,000 stands for that many or more.',
    (watched) => ofForwards(watched, ({ waiting }) => waiting),
  );
  addForEach(
    'payops_forwards_oldest_seconds',
    'How long the oldest of them waits; 0: none does.',
    (watched) => ofForwards(watched, ({ oldestAtMs = Infinity }) => ageSeconds(oldestAtMs)),
  );
  addForEach(
    'payops_forwards_left',
    'Events that your backend did not take, kept until somebody has them sent once more.',
    (watched) => ofForwards(watched, ({ abandoned }) => abandoned),
  );
}

function addStore(gauge: AddGauge, store: Store, backlog: Store['backlog']): void {
  gauge('payops_store_up', '1 when the store can be written to.', [], async () => {
    const isUp = await store.ping().then(
      () => true,
      () => false,
    );
    return [{ value: isUp ? 1 : 0 }];
  });
  gauge(
    'payops_work_oldest_due_seconds',
    'How long the oldest due work waits; 0: nothing is due.',
    [],
    async () => [{ value: (await backlog()).oldestDueMs / 1_000 }],
  );
  gauge(
    'payops_work_due',
    'Work that is due, by the state of its lane (usually a channel): free, leased by a worker, or paused. 10,000 stands for that many or more.',
    ['lane'],
    async () => {
      const { due } = await backlog();
      return Object.entries(due).map(([lane, value]) => ({ value, labels: { lane } }));
    },
  );
}

/** The release, from package.json beside `src`. */
export function version(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return String((JSON.parse(text) as { version?: unknown }).version);
}

const measuredOperations = ['create', 'read', 'write', 'take', 'replace', 'list'] as const;

function measuredStore(
  store: Store,
  called: (operation: string, result: string, seconds: number) => void,
): Store {
  const measured = Object.create(store) as Store;
  for (const operation of measuredOperations) {
    const call = store[operation].bind(store) as (...given: unknown[]) => Promise<unknown>;
    async function timed(...given: unknown[]): Promise<unknown> {
      const startedMs = performance.now();
      let result = 'ok';
      try {
        return await call(...given);
      } catch (error) {
        result = error instanceof StoreUnavailable ? 'unavailable' : 'error';
        throw error;
      } finally {
        called(operation, result, (performance.now() - startedMs) / 1_000);
      }
    }
    Object.assign(measured, { [operation]: timed });
  }
  return measured;
}
