import { randomBytes, randomUUID } from 'node:crypto';
import type { Recorder } from '../exchanges.ts';
import type { Faults } from '../faults.ts';
import type { ActResult, PaymentsAction, PaymentsState } from '../protocol.ts';
import {
  type Asked,
  openSimulator,
  type Simulator,
  type SimulatorOptions,
  type Visit,
} from '../simulator.ts';
import { accountRoutes, createAccounts, seedAccounts, seedTerminals } from './accounts.ts';
import { authRoutes, checkAccess, createTokens, type Credentials } from './auth.ts';
import { createCards, savedCardRoutes } from './cards.ts';
import { checkoutPageRoutes, checkoutRoutes } from './checkout.ts';
import { type PaymentsFault, underFault } from './faults.ts';
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
import { findRoute, parseBody, refusal, type Answer, type Call, type Found, type Route } from './route.ts';
import { sandboxRoutes } from './sandbox.ts';
import { savedCardChargeRoute } from './saved-card-charge.ts';
import { seedWorld, tellSavedCards } from './seed.ts';
import { createWebhooksOut, type SignDelivery } from './webhooks-out.ts';
import { increase, type Counts, type World } from './world.ts';

export type PaymentsOptions = SimulatorOptions & {
  /** False: no orders and no cards; accounts and terminals remain. */
  seed?: boolean;
  /**
   * Sends payment_success for every seeded card as soon as there is a URL, so bots that learn cards from events know them.
   * Default false.
   */
  knownCards?: boolean;
  tokenLifetimeMs?: number;
  /** Waits between a webhook's attempts. */
  retryDelaysMs?: readonly number[];
  webhookTimeoutMs?: number;
  /** The number of terminals; default two a sub account. */
  terminals?: number;
  /**
   * Makes up orders when they are looked up, if there are too many to create:
   * `(reference) => ({ amountMinor: 500_000, state: 'paid' })`.
   */
  orderFor?: OrderFor;
  /** Calls of one operation in one window. */
  rateLimit?: { limit: number; windowMs: number };
  /** Signs deliveries like another service. */
  sign?: SignDelivery;
  /** Reports transactions like another service: with its fee and statuses. */
  tellTransaction?: TellTransaction;
};

export type PaymentsService = Simulator<PaymentsFault> & {
  state: () => PaymentsState;
  act: (action: PaymentsAction) => Promise<ActResult>;
  /** Events without a URL are sent as soon as there is one. */
  sendWebhooksTo: (url: string | undefined) => void;
  credentials: Credentials;
  /** Resolves when every delivery is acknowledged or given up. */
  settled: () => Promise<void>;
  /** What really reached the service, even if the caller got no answer. */
  stats: () => Counts & { faults: Record<string, number> };
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
 * The payments service's specification as a running service: real HTTP on 127.0.0.1, with its states and time limits, its
 * events signed and retried until they are acknowledged. Keeps everything in memory. In a test:
 *
 *     const service = await startPaymentsService({ now: () => clock.nowMs, knownCards: true });
 *     // PAYMENTS_URL is service.url; account, client and webhook secret are in service.credentials.
 *     service.sendWebhooksTo(`${botUrl}/webhooks/payments`);
 *     service.setFaults({ kind: 'answer_lost', operation: 'POST /v1/checkout/tokenized-card-payment', times: 1 });
 *     // … a charge: taken, and the bot is never told …
 *     service.setFaults();
 *     await service.settled();
 *     expect(service.stats()).toMatchObject({ chargesByReference: { 'PAY-1': 1 }, faults: { answer_lost: 1 } });
 *
 * Faults are in `faults.ts`. A test chooses the bank's behaviour by saved card (`seedCards`), by the amount's last two
 * digits (`magicKobo`), by the OTP, or by `act({ kind: 'set_next_charge' })`; `act` also makes customers pay and events
 * leave.
 *
 * Spec: the whole of it; choices where it is silent are named where they are made.
 */
export async function startPaymentsService(options: PaymentsOptions): Promise<PaymentsService> {
  const opened = await openSimulator<PaymentsFault>(options);
  const { simulator, now, changed, record, faults } = opened;
  const { url, setFaults } = simulator;
  const credentials: Credentials = {
    accountId: randomUUID(),
    clientId: 'playground-client',
    clientSecret: randomBytes(24).toString('base64url'),
    webhookSecret: randomBytes(24).toString('base64url'),
  };
  const world = createWorld({ ...defaults, ...options, now, url, credentials, changed, record });
  if (options.seed !== false) seedWorld(world);
  if (options.knownCards === true) tellSavedCards(world);
  const limit = createRateLimit({ ...(options.rateLimit ?? defaults.rateLimit), now });
  opened.serve((asked) => visitOf({ world, faults, limit }, asked));
  const clock = setInterval(() => failOverdue(world), overdueCheckMs);
  clock.unref();

  return {
    ...simulator,
    credentials,
    state: () => {
      failOverdue(world);
      return panelState(world, faults);
    },
    act: (action) => {
      failOverdue(world);
      return Promise.resolve(act(world, setFaults, action));
    },
    sendWebhooksTo: world.webhooks.sendTo,
    settled: () => world.webhooks.settled(),
    stats: () => ({ ...structuredClone(world.stats), faults: faults.counts() }),
    close: () => {
      clearInterval(clock);
      world.webhooks.close();
      return opened.close();
    },
  };
}

type WorldParts = Required<Pick<PaymentsOptions, 'tokenLifetimeMs' | 'retryDelaysMs' | 'webhookTimeoutMs'>> &
  Pick<PaymentsOptions, 'sign' | 'orderFor' | 'tellTransaction'> & {
    now: () => number;
    url: string;
    credentials: Credentials;
    changed: () => void;
    record: Recorder;
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
const routes: readonly Route[] = [
  ...authRoutes,
  ...accountRoutes,
  ...checkout,
  transactionRoute,
  ...sandboxRoutes(checkout),
  ...checkoutPageRoutes,
];

type Gate = { world: World; faults: Faults<PaymentsFault>; limit: RateLimit };

function visitOf(gate: Gate, asked: Asked): Visit {
  const { request, url } = asked;
  const { method = 'GET', headers } = request;
  const found = findRoute(routes, method, url.pathname);
  const { label, from } = found.kind === 'route' ? found.route : unknownRoute;
  const body = parseBody(asked);
  const accountId = String(headers['accountid'] ?? '');
  return {
    begin: () => ({
      from,
      to: 'payments',
      method,
      path: url.pathname + url.search,
      summary: label,
      request: { authorization: headers.authorization, accountId, body: shownBody(url, body.value) },
    }),
    run() {
      const answer = answerTo(gate, found, asked, body);
      return { ...answer, outcome: `: ${answer.outcome}` };
    },
  };
}

const unknownRoute = { label: 'Unknown endpoint', from: 'bot' } as const;

/** In resend-otp the field orderReference holds a transaction id, which is a secret. */
function shownBody({ pathname }: URL, body: unknown): unknown {
  return pathname.endsWith('/resend-otp') ? { transactionId: body } : body;
}

function answerTo(
  gate: Gate,
  found: Found,
  { request, url }: Asked,
  body: ReturnType<typeof parseBody>,
): Answer {
  if (found.kind === 'unknown') return refusal(404, 'There is no such endpoint');
  if (!body.isJson) return refusal(400, 'The body is not JSON (Content-Type application/json)');
  const { headers } = request;
  const accountId = String(headers['accountid'] ?? '');
  const call = { headers, query: url.searchParams, params: found.params, body: body.value, accountId };
  return answerCall(gate, found.route, call);
}

/** Faults, permission and quota apply to every API call, not to the customer's checkout page. */
function answerCall(gate: Gate, route: Route, call: Call): Answer {
  const { world, faults, limit } = gate;
  const operation = `${route.method} ${route.path}`;
  increase(world.stats.calls, operation);
  failOverdue(world);
  if (route.path.startsWith('/checkout/')) return route.answer(world, call);
  const fault = faults.pick((one) => (one.operation ?? operation) === operation);
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
  const tells = route.tellsLimit === true && answer.kind === 'answer' && answer.status === 200;
  return tells ? { ...answer, headers: quota.headers } : answer;
}

function tooMany(headers: Record<string, string>): Answer {
  return refusal(429, 'The call limit for the period is exceeded', headers);
}
