import { readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { createRegistry, type Registry, type Sample } from '../http/metrics.ts';
import { StoreUnavailable } from '../domain/store-unavailable.ts';
import { asideReasons } from '../records/put-aside.ts';
import type { Store } from '../store/store.ts';
import { webhookResults, type WebhookResult } from '../webhooks/route.ts';
import type { ChargeIntent } from '../domain/charge-state.ts';
import type { Log } from '../log.ts';

/** Every metric of the bot, each said once: rules, dashboard and docs name them. */
export type Metrics = ReturnType<typeof createMetrics>;

/** How a charge may end. */
const outcomes = [
  'approved',
  'declined',
  'rejected',
  'abandoned',
  'wrong_codes',
  'expired',
  'review',
] as const;

type AccountWatched = {
  /** Those whose outcome is open, by their intent. */
  openCharges: () => Promise<readonly { intent: Pick<ChargeIntent, 'state' | 'submittedAt'> }[]>;
  undelivered: () => Promise<number>;
};

export function createMetrics({ log, now }: { log: Log; now: () => number }) {
  const registry = createRegistry(log);
  const accounts = new Map<string, AccountWatched>();
  const deliveries = registry.counter(
    'payops_webhook_deliveries_total',
    'Webhook deliveries, by what became of them.',
  );
  const refusals = registry.counter(
    'payops_webhook_refusals_total',
    'Webhook deliveries whose signature does not hold, by why.',
  );
  const charges = registry.counter('payops_charges_total', 'Charges told, by outcome.');
  const service = registry.histogram(
    'payops_service_request_duration_seconds',
    'Calls of the payments service, by operation and result.',
  );
  const slack = registry.histogram(
    'payops_slack_request_duration_seconds',
    'Calls of Slack, by method and result.',
  );
  const acks = registry.histogram(
    'payops_slack_ack_duration_seconds',
    'From a request of Slack to its acknowledgement; Slack waits three seconds.',
  );
  const store = registry.histogram(
    'payops_store_request_duration_seconds',
    'Calls of the store, by operation and result.',
  );
  const aside = registry.counter(
    'payops_records_put_aside_total',
    'Records that could not be worked on, kept until the next start, by why.',
  );
  for (const reason of asideReasons) aside.add({ reason }, 0);
  registry.gauge('payops_build_info', 'Which release runs.', () => [
    { value: 1, labels: { version: version(), node: process.version } },
  ]);
  addProcess(registry);
  addAccounts(registry, accounts, now);

  return {
    expose: registry.expose,
    slackCalled: (method: string, result: string, seconds: number) =>
      slack.observe(seconds, { method, result }),
    acknowledged: (seconds: number) => acks.observe(seconds),
    putAside: (reason: string) => aside.add({ reason }),
    /** The same store, each call measured; its work and whether it can be written to are read at each scrape. */
    measured(whole: Store): Store {
      addStore(registry, whole);
      return measuredStore(whole, (operation, result, seconds) =>
        store.observe(seconds, { operation, result }),
      );
    },
    of(account: string) {
      for (const result of webhookResults) deliveries.add({ account, result }, 0);
      for (const cause of refusalCauses) refusals.add({ account, cause }, 0);
      for (const outcome of outcomes) charges.add({ account, outcome }, 0);
      return {
        delivered: (result: WebhookResult) => deliveries.add({ account, result }),
        refused: (why: string) => refusals.add({ account, cause: causeOf(why) }),
        charged: (outcome: string) => charges.add({ account, outcome }),
        called: (operation: string, result: string, seconds: number) =>
          service.observe(seconds, { account, operation, result }),
        watch: (watched: AccountWatched) => void accounts.set(account, watched),
      };
    },
  };
}

const refusalCauses = ['no_signature', 'mismatch', 'time', 'not_set_up', 'malformed'] as const;

/** Of the verifier's words, which name headers and fields of the settings: a label has few values. */
function causeOf(why: string): (typeof refusalCauses)[number] {
  if (why.includes('not one of ours')) return 'mismatch';
  if (/signature header|carries no signature/.test(why)) return 'no_signature';
  if (why.includes('timestamp')) return 'time';
  return /WEBHOOK_/.test(why) ? 'not_set_up' : 'malformed';
}

function addAccounts(
  { gauge }: Registry,
  accounts: ReadonlyMap<string, AccountWatched>,
  now: () => number,
): void {
  const each = async (read: (watched: AccountWatched) => Promise<number>): Promise<Sample[]> =>
    await Promise.all(
      Array.from(accounts, async ([account, watched]) => ({
        value: await read(watched),
        labels: { account },
      })),
    );
  const submitted = async ({ openCharges }: AccountWatched, isCode: boolean): Promise<number[]> =>
    (await openCharges())
      .filter(({ intent }) => (intent.state.kind === 'otp') === isCode)
      .map(({ intent }) => intent.submittedAt);
  gauge(
    'payops_charges_in_doubt',
    'Charges whose outcome is not known yet, those under way included; without those that wait for a code.',
    () => each(async (watched) => (await submitted(watched, false)).length),
  );
  gauge(
    'payops_charges_in_doubt_oldest_seconds',
    'How long ago the oldest of them was submitted; 0: there is none.',
    () =>
      each(
        async (watched) => Math.max(0, now() - Math.min(now(), ...(await submitted(watched, false)))) / 1_000,
      ),
  );
  gauge('payops_charge_codes_open', 'Charges that wait for a code.', () =>
    each(async (watched) => (await submitted(watched, true)).length),
  );
  gauge(
    'payops_undelivered_messages',
    'Messages that Slack refused for too long, kept until somebody has them delivered again.',
    () => each(({ undelivered }) => undelivered()),
  );
}

function addStore({ gauge }: Registry, store: Store): void {
  gauge('payops_store_up', '1 when the store can be written to.', async () => {
    const isUp = await store.ping().then(
      () => true,
      () => false,
    );
    return [{ value: isUp ? 1 : 0 }];
  });
  gauge(
    'payops_work_oldest_due_seconds',
    'How long the oldest due work waits; 0: nothing is due.',
    async () => [{ value: (await store.backlog()).oldestDueMs / 1_000 }],
  );
  gauge(
    'payops_work_due',
    'Work that is due, by the state of its lane (usually a channel): free, leased by a worker, or paused. 10,000 stands for that many or more.',
    async () => {
      const { due } = await store.backlog();
      return Object.entries(due).map(([lane, value]) => ({ value, labels: { lane } }));
    },
  );
}

/** As package.json says; it lies beside `src` wherever that does. */
export function version(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return String((JSON.parse(text) as { version?: unknown }).version);
}

/** As other programs name them. */
function addProcess({ gauge }: Registry): void {
  const startedAt = Date.now() / 1_000 - process.uptime();
  let delay: ReturnType<typeof monitorEventLoopDelay> | undefined;
  gauge('process_resident_memory_bytes', 'Resident memory.', () => [{ value: process.memoryUsage.rss() }]);
  gauge('process_start_time_seconds', 'Start of the process, Unix time.', () => [{ value: startedAt }]);
  gauge('process_cpu_seconds_total', 'Processor time used.', () => {
    const { user, system } = process.cpuUsage();
    return [{ value: (user + system) / 1e6 }];
  });
  gauge('process_open_fds', 'Open file descriptors.', async () => [
    { value: (await readdir('/proc/self/fd').catch(() => [])).length },
  ]);
  gauge(
    'nodejs_eventloop_lag_p99_seconds',
    'How late timers were since the last scrape, the 99th percentile.',
    () => {
      // From the first scrape on: where nobody scrapes nothing is measured.
      delay ??= monitorEventLoopDelay({ resolution: 10 });
      delay.enable();
      const seconds = delay.percentile(99) / 1e9;
      delay.reset();
      return [{ value: Number.isFinite(seconds) ? seconds : 0 }];
    },
  );
}

const measuredOperations = ['create', 'read', 'write', 'take', 'replace', 'list'] as const;

function measuredStore(
  store: Store,
  called: (operation: string, result: string, seconds: number) => void,
): Store {
  function measured<Given extends unknown[], Answer>(
    operation: string,
    call: (...given: Given) => Promise<Answer>,
  ): (...given: Given) => Promise<Answer> {
    return async (...given) => {
      const startedMs = performance.now();
      const end = (result: string): void =>
        called(operation, result, (performance.now() - startedMs) / 1_000);
      try {
        const answer = await call(...given);
        end('ok');
        return answer;
      } catch (error) {
        end(error instanceof StoreUnavailable ? 'unavailable' : 'error');
        throw error;
      }
    };
  }
  const calls = measuredOperations.map((name) => [name, measured(name, store[name].bind(store) as never)]);
  return Object.assign(Object.create(store) as Store, Object.fromEntries(calls));
}
