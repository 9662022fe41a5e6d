import { randomBytes, randomUUID } from 'node:crypto';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ActResult, Exchange, PaymentsAction, PaymentsState } from '../protocol.ts';
import { createFaults, type Faults } from '../faults.ts';
import { createHolds, type Holds, type Passed } from '../holds.ts';
import { accountRoutes, createAccounts, seedAccounts, seedTerminals } from './accounts.ts';
import { authRoutes, checkAccess, createTokens, type Credentials } from './auth.ts';
import { createCards, savedCardRoutes } from './cards.ts';
import { checkoutPageRoutes, checkoutRoutes } from './checkout.ts';
import { createExchangeRecorder, type RecordExchange } from './exchanges.ts';
import { isFaultFor, type PaymentsFault, underFault } from './faults.ts';
import {
  createOrders,
  type NewOrder,
  type OrderFor,
  type TellTransaction,
  transactionRoute,
} from './orders.ts';
import { failOverdue, otpRoutes } from './payment-flow.ts';
import { act, panelState } from './panel.ts';
import { createRateLimit, type RateLimit } from './rate-limit.ts';
import { refusal, type Answer, type Call, type Route } from './route.ts';
import { sandboxRoutes } from './sandbox.ts';
import { savedCardChargeRoute } from './saved-card-charge.ts';
import { seedWorld, tellSavedCards } from './seed.ts';
import { createListener } from './serve.ts';
import { createWebhooksOut, type SignDelivery } from './webhooks-out.ts';
import { increase, type Counts, type World } from './world.ts';

export type PaymentsOptions = {
  /** 0 or absent: any free port. */
  port?: number;
  now?: () => number;
  /** Called when an exchange begins and, with the same id, when it ends. Secrets are struck out. */
  onExchange?: (exchange: Exchange) => void;
  /** False starts with no orders and no cards; accounts and terminals are there all the same. */
  seed?: boolean;
  /**
   * Tells the merchant of every seeded card, by the payment_success of the payment that saved it, as soon as
   * there is a URL: who learns cards from events alone would otherwise know none of them. Default false.
   */
  knownCards?: boolean;
  tokenLifetimeMs?: number;
  /** The waits between the attempts of a webhook. */
  retryDelaysMs?: readonly number[];
  webhookTimeoutMs?: number;
  /** How many terminals there are; two for every sub account when absent. */
  terminals?: number;
  /**
   * Makes up an order of the merchant that is looked up and was never made, where there are too many to make each:
   * `(reference) => ({ amountMinor: 500_000, state: 'paid' })`.
   */
  orderFor?: OrderFor;
  /** Calls of one operation in one window. */
  rateLimit?: { limit: number; windowMs: number };
  /** The sandbox saves cards as the live paths do, instead of answering samples. Default false. */
  sandboxIsLive?: boolean;
  /** Keeps in `passed` what was asked and answered. Default false. */
  keepPassed?: boolean;
  /** Draws what shares of the faults strike. Default Math.random. */
  dice?: () => number;
  /** Signs deliveries as another service does. */
  sign?: SignDelivery;
  /** Tells transactions as another service does: with its fee, with its statuses. */
  tellTransaction?: TellTransaction;
};

export type PaymentsService = {
  url: string;
  port: number;
  state: () => PaymentsState;
  act: (action: PaymentsAction) => Promise<ActResult>;
  /** Calls back after every change of `state()`; the returned function ends that. */
  onChange: (listener: () => void) => () => void;
  /** Events that had nowhere to go leave as soon as there is a URL. */
  sendWebhooksTo: (url: string | undefined) => void;
  credentials: Credentials;
  /** Resolves when every delivery is received or given up. */
  settled: () => Promise<void>;
  /** What goes wrong from now on, these and no others; none: all is well. Cuts what hangs. */
  setFaults: (...faults: readonly PaymentsFault[]) => void;
  /** What really reached the service, whatever its callers believe. */
  stats: () => Counts & { faults: Record<string, number> };
  /** Resolves when the next request whose path ends so stands at that point. */
  hold: Holds['hold'];
  /** With `keepPassed`: each request that was answered. */
  readonly passed: readonly Passed[];
  /** Breaks every connection off, those held included. */
  cut: () => void;
  /** Cuts every connection, hanging ones too. */
  close: () => Promise<void>;
};

const defaults = {
  tokenLifetimeMs: 30 * 60_000,
  retryDelaysMs: [500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000],
  webhookTimeoutMs: 10_000,
  rateLimit: { limit: 6_000, windowMs: 60_000 },
};

const overdueCheckMs = 1_000;

/**
 * The payments service's specification as a running service: real HTTP on 127.0.0.1, with its states and
 * clocks, its events signed and sent again until they are received. Holds everything in memory. Throws
 * when the port is taken. In a test:
 *
 *     const service = await startPaymentsService({ now: () => clock.nowMs, knownCards: true });
 *     // PAYMENTS_URL is service.url; account, client and webhook secret are in service.credentials.
 *     service.sendWebhooksTo(`${botUrl}/webhooks/payments`);
 *     service.setFaults({ kind: 'answer_lost', operation: chargeOperation, times: 1 });
 *     // … a charge: taken, and the bot is never told …
 *     service.setFaults();
 *     await service.settled();
 *     expect(service.stats()).toMatchObject({ chargesByReference: { 'PAY-1': 1 }, faults: { answer_lost: 1 } });
 *
 * Faults are in `faults.ts`. What the bank does is chosen by the saved card (`seedCards`), the amount's last two digits
 * (`magicKobo`), the code, or `act({ kind: 'order_next_charge' })`; `act` is also how customers pay and events leave.
 *
 * Spec: the whole of it; what it does not show is chosen here and named where it is chosen.
 */
export async function startPaymentsService(options: PaymentsOptions): Promise<PaymentsService> {
  const now = options.now ?? Date.now;
  // As a load balancer has it: Node’s own five seconds end a connection under a caller that is slow to use it again.
  const server = createServer({ keepAliveTimeout: 65_000 });
  const port = await listen(server, options.port ?? 0);
  const url = `http://127.0.0.1:${port}`;
  const listeners = new Set<() => void>();
  const credentials: Credentials = {
    accountId: randomUUID(),
    clientId: 'playground-client',
    clientSecret: randomBytes(24).toString('base64url'),
    webhookSecret: randomBytes(24).toString('base64url'),
  };
  const changed = (): void => {
    for (const listener of listeners) listener();
  };
  const record = createExchangeRecorder(now, options.onExchange);
  const world = createWorld({ ...defaults, ...options, now, url, credentials, changed, record });
  if (options.seed !== false) seedWorld(world);
  if (options.knownCards === true) tellSavedCards(world);
  const faults = createFaults<PaymentsFault>(options.dice ?? Math.random);
  const hanging = new Set<ServerResponse>();
  const holds = createHolds();
  const passed: Passed[] = [];
  const setFaults = (...next: readonly PaymentsFault[]): void => {
    faults.set(next);
    for (const response of hanging) response.destroy();
    changed();
  };
  const limit = createRateLimit({ ...(options.rateLimit ?? defaults.rateLimit), now });
  let crash: unknown;
  server.on(
    'request',
    createListener({
      routes: routesOf(options.sandboxIsLive === true),
      answer: (route, call) => answerCall({ world, faults, limit }, route, call),
      record,
      holds,
      passed: options.keepPassed === true ? (one) => passed.push(one) : undefined,
      hangs(response) {
        hanging.add(response);
        response.once('close', () => hanging.delete(response));
      },
      onCrash: (error) => {
        crash = error;
      },
    }),
  );
  const clock = setInterval(() => failOverdue(world), overdueCheckMs);
  clock.unref();

  return {
    url,
    port,
    credentials,
    state: () => {
      failOverdue(world);
      return panelState(world, faults);
    },
    act: (action) => {
      failOverdue(world);
      return Promise.resolve(act(world, setFaults, action));
    },
    onChange: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    sendWebhooksTo: world.webhooks.sendTo,
    settled: world.webhooks.settled,
    setFaults,
    hold: holds.hold,
    passed,
    cut: () => server.closeAllConnections(),
    stats: () => ({ ...structuredClone(world.stats), faults: faults.struck() }),
    close: async () => {
      clearInterval(clock);
      world.webhooks.close();
      await close(server);
      if (crash !== undefined)
        throw new Error('The simulated payments service met a bug of its own.', { cause: crash });
    },
  };
}

type WorldParts = Required<Pick<PaymentsOptions, 'tokenLifetimeMs' | 'retryDelaysMs' | 'webhookTimeoutMs'>> &
  Pick<PaymentsOptions, 'sign' | 'orderFor' | 'tellTransaction'> & {
    now: () => number;
    url: string;
    credentials: Credentials;
    changed: () => void;
    record: RecordExchange;
    terminals?: number;
  };

function createWorld(parts: WorldParts): World {
  const { now, url, credentials, changed, record } = parts;
  const accounts = createAccounts(credentials.accountId, now);
  seedAccounts(accounts, now());
  return {
    now,
    baseUrl: () => url,
    parentAccountId: credentials.accountId,
    tokens: createTokens({ credentials, lifetimeMs: parts.tokenLifetimeMs, now }),
    accounts,
    terminals: seedTerminals(credentials.accountId, accounts, now(), parts.terminals),
    orders: createOrders(now, (reference) => madeUp(reference, credentials.accountId, parts.orderFor)),
    cards: createCards(),
    webhooks: createWebhooksOut({
      secret: credentials.webhookSecret,
      now,
      record,
      changed,
      retryDelaysMs: parts.retryDelaysMs,
      answerTimeoutMs: parts.webhookTimeoutMs,
      sign: parts.sign,
    }),
    stats: { calls: {}, chargesByReference: {}, tokensIssued: 0, tokensRevoked: 0, otpSubmissions: 0 },
    tellTransaction: parts.tellTransaction ?? ((record) => record),
    accidentsHad: new Set(),
    next: { charge: 'as_usual' },
    changed,
  };
}

function madeUp(
  orderReference: string,
  accountId: string,
  orderFor: OrderFor = () => undefined,
): NewOrder | undefined {
  const order = orderFor(orderReference);
  return (
    order && { orderReference, accountId, currency: 'NGN', customerEmail: 'made.up@example.com', ...order }
  );
}

const checkout = [...checkoutRoutes, ...otpRoutes, savedCardChargeRoute, ...savedCardRoutes];
const played = checkout
  .filter(({ path }) => !path.endsWith('/resend-otp'))
  .map((route) => ({ ...route, path: route.path.replace('/v1/', '/sandbox/') }));

function routesOf(sandboxIsLive: boolean): Route[] {
  return [
    ...authRoutes,
    ...accountRoutes,
    ...checkout,
    transactionRoute,
    ...(sandboxIsLive ? played : sandboxRoutes(played)),
    ...checkoutPageRoutes,
  ];
}

type Gate = { world: World; faults: Faults<PaymentsFault>; limit: RateLimit };

/** Faults, permission and quota stand before every API call; the checkout page is the customer's and has none of them. */
function answerCall(gate: Gate, route: Route, call: Call): Answer {
  const { world, faults, limit } = gate;
  const operation = `${route.method} ${route.path}`;
  increase(world.stats.calls, operation);
  failOverdue(world);
  if (route.path.startsWith('/checkout/')) return route.answer(world, call);
  const fault = faults.strike((one) => isFaultFor(one, operation, call));
  if (fault === undefined) return carryOut(gate, route, call);
  return underFault(
    fault,
    () => carryOut(gate, route, call),
    () => tooMany(limit.exceeded()),
  );
}

function carryOut({ world, limit }: Gate, route: Route, call: Call): Answer {
  const { authorization } = call.headers;
  const refused = checkAccess(world, route, { authorization, accountId: call.accountId });
  if (refused) return refused;
  const quota = limit.take(`${route.method} ${route.path}`);
  if (!quota.allowed) return tooMany(quota.headers);
  const answer = route.answer(world, call);
  const tells = route.tellsLimit === true && answer.kind === 'json' && answer.status === 200;
  return tells ? { ...answer, headers: quota.headers } : answer;
}

function tooMany(headers: Record<string, string>): Answer {
  const answer = refusal(429, 'The call limit for the period is exceeded');
  return answer.kind === 'json' ? { ...answer, headers } : answer;
}

function listen(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => {
      server.off('error', reject);
      resolve((server.address() as AddressInfo).port);
    });
  });
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
