import { readFileSync, writeFileSync } from 'node:fs';
import { buffer } from 'node:stream/consumers';
import { startPaymentsService, type PaymentsService } from '../../src/simulators/payments/service.ts';
import { openHouse, type House, type HouseOptions } from './house.ts';
import { serveOnLoopback } from './loopback.ts';

/** One call of the bot, whole and unmasked, as it reached the service of the account that it was sent to. */
export type Call = {
  path: string;
  authorization: string | undefined;
  accountId: string | undefined;
  /** Address, every header and body in one text. */
  request: string;
  answer: string;
  status: number;
};

export type SeveralAccount = {
  name: string;
  service: PaymentsService;
  /** Where the bot finds it. */
  url: string;
  calls: Call[];
  /** So many of the next calls with an access token are answered 401. */
  refuse: (times: number) => void;
};

export type SeveralAccounts = {
  house: House;
  accounts: readonly SeveralAccount[];
  /** Writes the accounts into the policy file; until then the bot has the first one’s settings alone. */
  addAccounts: () => void;
};

/**
 * A house whose bot works for several live accounts, each with a payments service, secrets and saved cards of its
 * own. The first has the house's own service.
 */
export async function openSeveralAccounts(
  test: Parameters<typeof openHouse>[0],
  names: readonly string[],
  options: HouseOptions & { everybodyMay?: true; later?: true; sandbox?: string } = {},
): Promise<SeveralAccounts> {
  const payments = { seed: false, ...options.payments };
  const house = await openHouse(test, { ...options, payments });
  const accounts = await Promise.all(
    names.map(async (name, index): Promise<SeveralAccount> => {
      const service = index === 0 ? house.payments : await startPaymentsService(payments);
      const line = await openLine(service);
      test.onTestFinished(async () => {
        await line.close();
        if (index > 0) await service.close();
      });
      const path = index === 0 ? '/webhooks/payments' : `/webhooks/payments/${name}`;
      service.sendWebhooksTo(`${house.webhookGate.url}${path}`);
      return { name, service, ...line };
    }),
  );
  const policy = readFileSync(house.policyFile, 'utf8');
  const before = options.everybodyMay ? policy.replaceAll(/may: \[.*\]/g, "may: ['*']") : policy;
  function addAccounts(): void {
    writeFileSync(
      house.policyFile,
      `${before}accounts:\n${accounts.map((account) => accountLines(account, options.sandbox)).join('')}`,
    );
  }
  if (!options.later) addAccounts();
  return { house, accounts, addAccounts };
}

/** What the accounts' secrets are called in the bot's environment. */
export function secretsOf({ accounts }: Pick<SeveralAccounts, 'accounts'>): Record<string, string> {
  return Object.fromEntries(
    accounts.flatMap(({ name, service: { credentials } }) => {
      const suffix = name.toUpperCase();
      return [
        [`PAYMENTS_CLIENT_ID__${suffix}`, credentials.clientId],
        [`PAYMENTS_CLIENT_SECRET__${suffix}`, credentials.clientSecret],
        [`WEBHOOK_SECRETS__${suffix}`, credentials.webhookSecret],
      ];
    }),
  );
}

function accountLines({ name, url, service }: SeveralAccount, sandbox: string | undefined): string {
  return `  - name: ${name}
    account_id: ${service.credentials.accountId}
    environment: ${name === sandbox ? 'sandbox' : 'live'}
    base_url: ${url}
`;
}

async function openLine(service: PaymentsService): Promise<{
  url: string;
  calls: Call[];
  refuse: (times: number) => void;
  close: () => Promise<void>;
}> {
  const calls: Call[] = [];
  let refusals = 0;
  const server = await serveOnLoopback((request, response) => {
    void (async () => {
      const body = await buffer(request);
      const { authorization } = request.headers;
      const headers = Object.entries(request.headersDistinct)
        .filter(
          ([name]) => !/^(connection|keep-alive|transfer-encoding|content-length|host|expect)$/.test(name),
        )
        .flatMap(([name, values = []]) => values.map((value): [string, string] => [name, value]));
      const isRefused = authorization !== undefined && refusals > 0;
      if (isRefused) refusals -= 1;
      const answer = isRefused
        ? new Response('{"code":"401","description":"no"}', { status: 401 })
        : await fetch(`${service.url}${request.url}`, {
            method: request.method ?? 'GET',
            headers,
            ...(body.length === 0 ? {} : { body: new Uint8Array(body) }),
          });
      const text = await answer.text();
      calls.push({
        path: (request.url ?? '').split('?', 1)[0] ?? '',
        authorization,
        accountId: request.headersDistinct['accountid']?.[0],
        request: `${request.url}\n${JSON.stringify(headers)}\n${body.toString()}`,
        answer: text,
        status: answer.status,
      });
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(text);
    })().catch(() => request.socket.destroy());
  });
  return {
    ...server,
    calls,
    refuse: (times) => void (refusals = times),
  };
}

/** Everything that belongs to the account and to no other: its id, secret, tokens, token keys and transaction ids. */
function ownWords({ service, calls }: SeveralAccount): string[] {
  const { accountId, clientSecret, webhookSecret } = service.credentials;
  const told = calls.flatMap(({ answer }) =>
    Array.from(
      answer.matchAll(/"(?:accessToken|refreshToken|transactionId|cursor)":"([^"]+)"/g),
      ([, word = '']) => word,
    ),
  );
  const cards = service.state().cards.map(({ tokenKey }) => tokenKey);
  return [...new Set([accountId, clientSecret, webhookSecret, ...told, ...cards])].filter(
    (word) => word.length > 8,
  );
}

/** Calls that carry what is another account's, or speak as nobody or somebody else; none if nothing was mixed. */
export function mixedCalls(accounts: readonly SeveralAccount[]): string[] {
  return accounts.flatMap((account) => {
    const { name, calls, service } = account;
    const own = new Set(ownWords(account));
    const foreign = accounts
      .filter((other) => other !== account)
      .flatMap((other) => ownWords(other).map((word) => ({ of: other.name, word })))
      .filter(({ word }) => !own.has(word));
    return calls.flatMap(({ path, request, authorization, accountId }) => {
      const carried = foreign.filter(({ word }) => request.includes(word));
      const token = authorization?.replace(/^Bearer /, '');
      return [
        ...carried.map(({ of }) => `${path} of ${name} carries what is ${of}’s`),
        ...(token === undefined || own.has(token)
          ? []
          : [`${path} of ${name} carries a token it was not given`]),
        ...(accountId === undefined || accountId === service.credentials.accountId
          ? []
          : [`${path} of ${name} names another account`]),
      ];
    });
  });
}

/** The customer pays an order of the account, which saves their card. */
export async function saveCard(
  { service }: SeveralAccount,
  orderReference: string,
  customerEmail: string,
  amount: string,
): Promise<void> {
  await service.act({ kind: 'create_order', amount, customerEmail, orderReference });
  await service.act({ kind: 'pay_order', orderReference, outcome: 'approved' });
}
