import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Kept } from '../../src/app/kept.ts';
import { merchantPlaces } from '../../src/app/merchants.ts';
import { createPayments, type Payments } from '../../src/app/payments.ts';
import type { SavedCardCalls } from '../../src/app/saved-cards.ts';
import { readConfig } from '../../src/config/read-config.ts';
import { ServiceFailure } from '../../src/domain/failure.ts';
import type { OrderReference } from '../../src/domain/order-reference.ts';
import { createSealer } from '../../src/store/sealed.ts';
import { createRandom } from '../chaos/random.ts';
import { openModelStore } from '../store/model-store.ts';

/** `SEED=7 npx vitest run test/app/payments-of-accounts.test.ts` draws the same again. */
const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 1_000_000));
const names = ['main', 'lagos', 'abuja'];
const runs = 25;
const callsOfRun = 60;

const idOf = (name: string): string => `${names.indexOf(name)}b0e2f74-16c9-4d3a-b5a7-90c4d1e26f38`;
const parentOf = (name: string): string => `${names.indexOf(name)}d1c7b92-7a0e-4a51-8f2c-3f9f7f6f0d11`;

type Service = {
  url: string;
  server: Server;
  /** What no call may ever be: one account's part beside another's, or a token that was given to nobody. */
  mixed: string[];
  calls: number;
  renewals: number;
  /** Answers with words of the account that asked. */
  answered: number;
  /** Tokens that are refused from now on. */
  dead: Set<string>;
  /** Answers 429 to all that is asked. */
  limited: boolean;
};

/** One service for all accounts, so that nothing but what a call carries says whose it is. */
let service: Service;
let nowMs = 1_000_000;
const folder = mkdtempSync(join(tmpdir(), 'payments-of-accounts-'));
beforeAll(async () => {
  service = await openService();
});
afterAll(() => {
  service.server.closeAllConnections();
  service.server.close();
  rmSync(folder, { recursive: true });
});

describe(`the payments of three accounts at one address (seed ${seed})`, () => {
  it('carry one account’s token, id and words each, however they interleave and tokens die', async () => {
    const found: string[] = [];
    for (let run = 0; run < runs; run += 1) {
      const random = createRandom(seed + run);
      const all = openPayments();
      const calls = Array.from({ length: callsOfRun }, () => {
        const name = random.pick(names);
        return { name, call: random.pick(kinds), number: random.below(1_000) };
      });
      const width = 1 + random.below(8);
      for (let start = 0; start < calls.length; start += width) {
        // Long enough that a token which dies may be replaced; now and then so long that it is refreshed first.
        nowMs += 35_000 + random.below(120_000);
        if (random.chance(0.5)) service.dead.add(tokenOf(random.pick(names)));
        const batch = calls.slice(start, start + width);
        // oxlint-disable-next-line no-await-in-loop -- so many are under way at once
        const strangers = await Promise.all(
          batch.map(({ name, call, number }) => strangersIn(call(all(name), name, number), name)),
        );
        found.push(...strangers.flat());
      }
    }
    expect(service.mixed).toEqual([]);
    expect(found).toEqual([]);
    expect(service.answered).toBeGreaterThan((runs * callsOfRun) / 3);
    expect(service.calls).toBeGreaterThan(runs * callsOfRun);
    expect(service.renewals).toBeGreaterThan(3 * runs * names.length);
  });

  it('would be seen to be mixed', async () => {
    const before = service.mixed.length;
    await fetch(`${service.url}/v1/transactions/accounts/single?orderReference=lagos-1`, {
      headers: { accountId: idOf('main'), authorization: 'Bearer token.main.1' },
    });
    expect(service.mixed.splice(before)).toEqual(['GET /v1/transactions/accounts/single: lagos, main']);
  });
});

it('share one token where several accounts have the same credentials, and pauses of what they ask for together', async () => {
  const before = service.renewals;
  const all = openPayments({ client: () => 'main', parent: () => 'main' });
  for (const name of names) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    await all(name).findTransaction(referenceOf('main', 1));
  }
  expect(service.renewals - before).toBe(1);
  service.limited = true;
  const failures = [];
  const calls = service.calls;
  for (const name of names) {
    // oxlint-disable-next-line no-await-in-loop
    failures.push(
      await all(name)
        .listAccounts()
        .catch((error: unknown) => error),
    );
  }
  service.limited = false;
  expect(failures).toMatchObject(names.map(() => ({ kind: 'rate_limited', retryAfterMs: 60_000 })));
  expect(service.calls - calls).toBe(1);
  service.mixed.length = 0;
});

/** Gives what was answered, which must be of the account that asked, or of nobody. */
type Call = (payments: Payments, name: string, number: number) => Promise<unknown>;

const leave = { leaveBy: Infinity, now: () => 0 };
const money = { minor: 100, currency: 'NGN' };
const customerEmail = 'ada@example.com';

const kinds: readonly Call[] = [
  ({ findTransaction }, name, number) => findTransaction(referenceOf(name, number)),
  ({ chargeSavedCard }, name, number) => {
    const reference = referenceOf(name, number);
    return chargeSavedCard({ tokenKey: `card-${name}`, money, customerEmail, reference }, leave);
  },
  ({ submitOtp }, name, number) => {
    const payment = { payment: 'saved_card_charge' as const, reference: referenceOf(name, number) };
    return submitOtp({ otp: '1234', transactionId: `transaction-${name}`, ...payment }, leave);
  },
  ({ resendOtp }, name) => resendOtp(`transaction-${name}`, leave),
  ({ changeCardEmail }, name) => {
    const newEmail = `olu.${name}@example.com`;
    return changeCardEmail({ tokenKey: `card-${name}`, currentEmail: customerEmail, newEmail });
  },
  ({ createCheckoutOrder }, name, number) =>
    createCheckoutOrder({ money, customerEmail, savesCard: true, reference: referenceOf(name, number) }),
  async ({ listTerminals }, name) => [await listTerminals(undefined), await listTerminals(`cursor-${name}`)],
  ({ listAccounts }) => listAccounts(undefined),
  ({ savedCards }, name) => cardsAt(savedCards).list(`ada.${name}@example.com`),
  ({ savedCards }, name) =>
    cardsAt(savedCards).remove({ tokenKey: `card-${name}`, customerEmail: `ada.${name}@example.com` }),
];

function cardsAt(calls: SavedCardCalls): Extract<SavedCardCalls, { kind: 'ready' }> {
  if (calls.kind === 'missing') throw new Error(`not set up: ${calls.settings.join(', ')}`);
  return calls;
}

function referenceOf(name: string, number: number): OrderReference {
  return `${name}-${number}` as OrderReference;
}

/** Other accounts whose words are in the answer. A call that met two dead tokens has none. */
async function strangersIn(answered: Promise<unknown>, name: string): Promise<string[]> {
  try {
    const text = JSON.stringify(await answered);
    if (text.includes(name)) service.answered += 1;
    return names.filter((other) => other !== name && text.includes(other));
  } catch (error) {
    if (error instanceof ServiceFailure) return [];
    throw error;
  }
}

/** A bot started anew: its store is empty, so every account asks for its first token. */
function openPayments(
  of: Record<'client' | 'parent', (name: string) => string> = {
    client: (name) => name,
    parent: (name) => name,
  },
): (name: string) => Payments {
  const path = join(folder, 'payops.yml');
  const accounts = names.map(
    (name) =>
      `  - { name: ${name}, account_id: ${idOf(name)}, parent_id: ${parentOf(of.parent(name))}, environment: live }\n`,
  );
  writeFileSync(path, `channels: { alerts: C0ALERTS01 }\naccounts:\n${accounts.join('')}`);
  const secrets = names.flatMap((name) => [
    [`PAYMENTS_CLIENT_ID__${name.toUpperCase()}`, `client-${of.client(name)}`],
    [`PAYMENTS_CLIENT_SECRET__${name.toUpperCase()}`, `secret-${of.client(name)}`],
  ]);
  const result = readConfig({
    SLACK_BOT_TOKEN: 'xoxb-token',
    SLACK_SIGNING_SECRET: 'ca4a2700ca4a2700ca4a2700ca4a2700',
    PAYMENTS_BASE_URL: service.url,
    // A call that a loaded machine loses must not take half of the test's time: the clock that the bot sees stands still.
    PAYMENTS_TIMEOUT_SECONDS: '2',
    PAYMENTS_TOKEN_ISSUE_BODY: '{"id":"{{CLIENT_ID}}","secret":"{{CLIENT_SECRET}}"}',
    PAYMENTS_TOKEN_REFRESH_BODY: '{"refresh":"{{REFRESH_TOKEN}}"}',
    ...(Object.fromEntries(secrets) as Record<string, string>),
    SAVED_CARDS_QUERY: 'customerEmail',
    SAVED_CARDS_LIST_POINTERS: '/data/cards',
    SAVED_CARDS_HEADERS: 'Authorization,accountId',
    SAVED_CARDS_DELETE_BODY: '{"tokenKey":"{{TOKEN_KEY}}"}',
    PAYOPS_FILE: path,
  });
  if (result.kind === 'refused') throw new Error(result.problems.join('\n'));
  const kept: Kept = {
    store: openModelStore(() => nowMs),
    sealer: createSealer([{ id: 'k', key: Buffer.alloc(32, 1) }]),
    keyIds: [],
    redis: undefined,
    checked: () => Promise.resolve(),
    refusal: () => undefined,
    close: () => Promise.resolve(),
  };
  const places = merchantPlaces({ config: result.config, log: () => undefined, now: () => nowMs }, kept);
  const all = new Map(
    places.map((place) => [place.merchant?.name, createPayments(place.outside, place.kept, place.pauses)]),
  );
  return (name) => {
    const payments = all.get(name);
    if (!payments) throw new Error(`no account ${name}`);
    return payments;
  };
}

async function openService(): Promise<Service> {
  const server = createServer((request, response) => {
    void answer(request).then(({ status, body }) =>
      response
        .writeHead(status, { 'content-type': 'application/json', 'retry-after': '60' })
        .end(JSON.stringify(body)),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  return { url, server, mixed: [], calls: 0, renewals: 0, answered: 0, dead: new Set(), limited: false };
}

const issued = new Map<string, number>();

function tokenOf(name: string): string {
  return `Bearer token.${name}.${issued.get(name) ?? 0}`;
}

async function answer(request: IncomingMessage): Promise<{ status: number; body: unknown }> {
  service.calls += 1;
  const { pathname, search } = new URL(request.url ?? '/', service.url);
  const body = ['POST', 'DELETE'].includes(request.method ?? '') ? JSON.stringify(await json(request)) : '';
  const { authorization = '', accountid: accountId = '' } = request.headers;
  const carried = `${search} ${body} ${authorization} ${whoseId(String(accountId))}`;
  const whose = names.filter((name) => carried.includes(name));
  const [name = ''] = whose;
  if (whose.length !== 1) service.mixed.push(`${request.method} ${pathname}: ${whose.toSorted().join(', ')}`);
  if (/token\/(issue|refresh)$/.test(pathname)) return { status: 200, body: newToken(name) };
  if (service.limited) return { status: 429, body: {} };
  return service.dead.has(authorization) ? refusal : { status: 200, body: bodyOf(pathname, name) };
}

function newToken(name: string): unknown {
  service.renewals += 1;
  const number = (issued.get(name) ?? 0) + 1;
  issued.set(name, number);
  const tokens = { accessToken: `token.${name}.${number}`, refreshToken: `refresh.${name}.${number}` };
  return { code: '00', description: '', data: { ...tokens, expiresIn: 600 } };
}

const refusal = { status: 401, body: { code: '401' } };

function whoseId(accountId: string): string {
  return names.find((name) => [idOf(name), parentOf(name)].includes(accountId)) ?? '';
}

function bodyOf(path: string, name: string): unknown {
  const done = { code: '00', description: '', status: true };
  switch (path) {
    case '/v1/transactions/accounts/single':
      return { ...done, data: { id: `id-${name}`, status: 'SUCCESS', amount: '1.00' } };
    case '/v1/checkout/tokenized-card-payment':
      return {
        ...done,
        data: { status: false, otpRequired: true, message: '', transactionId: `transaction-${name}` },
      };
    case '/v1/accounts/terminals':
      return { ...done, data: { results: [{ terminalId: `terminal-${name}` }], cursor: `cursor-${name}` } };
    case '/v1/checkout/tokenized-card-data':
      return { ...done, data: { cards: [{ tokenKey: `card-${name}` }], status: true, message: '' } };
    case '/v1/accounts':
      return { results: [{ accountName: `account-${name}` }], cursor: '' };
    default:
      return { ...done, data: { status: true, message: '' } };
  }
}
