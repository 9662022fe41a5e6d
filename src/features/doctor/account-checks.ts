import { randomBytes } from 'node:crypto';
import type { Account } from '../../account.ts';
import { clientSettings, type Payments } from '../../payments/payments.ts';
import { type PartHealth, ServiceFailure, type FailureKind } from '../../domain/failure.ts';
import { withDeadline } from '../../deadline.ts';
import { isJsonObject } from '../../domain/json.ts';
import type { OrderReference } from '../../domain/order-reference.ts';
import { utcTime } from '../../slack/kit/text.ts';
import { ok, once, problem, skippedFor, warning, type Check, type Verdict } from './examine.ts';

type Config = Account['settings'];

/** When an event was kept last, and why a delivery was refused last; UTC ms. */
type SeenWebhooks = { acceptedAtMs?: number; refused?: { atMs: number; why: string } };

type AccountLooked = {
  config: Config;
  payments: Pick<Payments, 'checkToken' | 'findTransaction'>;
  /** Why no delivery can be accepted. */
  webhooks: { problem: string | undefined };
  undelivered: () => Promise<PartHealth>;
  /** Undefined: no event is forwarded. */
  forwarding: (() => Promise<PartHealth>) | undefined;
  seenWebhooks: () => Promise<SeenWebhooks>;
};

const servicePart = 'Payments service';
const tokenPart = 'Payments token';

/** For one look. A token may be waited for first, and another replica may be asking for it. */
export function longestLookMs({ paymentsTimeoutSeconds }: Pick<Config, 'paymentsTimeoutSeconds'>): number {
  return (2 * paymentsTimeoutSeconds + 5) * 1_000;
}

/** Of one merchant account. */
export function accountChecks(looked: AccountLooked): Check[] {
  const { config, payments, webhooks, undelivered, forwarding, seenWebhooks } = looked;
  const account = config.merchant?.name;
  const token = once(() => failureOf(payments.checkToken()));
  const checks: Check[] = [
    {
      part: servicePart,
      async look() {
        const failure = await token();
        return failure && isAway(failure) ? failed(failure, config) : ok('It answers');
      },
    },
    {
      part: tokenPart,
      async look() {
        const failure = await token();
        if (!failure)
          return ok(config.paymentsStaticToken ? 'PAYMENTS_STATIC_TOKEN is used' : 'A new one was given');
        return isAway(failure) ? skippedFor(servicePart) : failed(failure, config);
      },
    },
    {
      part: 'Payments look-up',
      async look() {
        const without = await token();
        if (without) return skippedFor(isAway(without) ? servicePart : tokenPart);
        const reference = `payops-doctor-${randomBytes(9).toString('hex')}` as OrderReference;
        let found: unknown;
        const failure = await failureOf(payments.findTransaction(reference).then((one) => (found = one)));
        if (failure) return failed(failure, config);
        if (found === undefined) return ok('A reference that cannot exist is not found, as specified');
        return problem(
          'A reference that cannot exist was answered with a transaction',
          `Check that ${urlSetting(config)} leads to the payments service and not to a stand-in: its look-ups prove nothing.`,
        );
      },
    },
    { part: 'Payments environment', look: async () => await judgeEnvironment(config, token) },
    { part: 'Webhook settings', look: () => judgeWebhooks(webhooks) },
    {
      part: 'Webhook deliveries',
      look: async () =>
        webhooks.problem === undefined ? judgeSeen(await seenWebhooks()) : skippedFor('Webhook settings'),
    },
    {
      part: 'Undelivered messages',
      async look() {
        const { state, detail = '', fix } = await undelivered();
        if (state === 'ok') return ok('Slack has taken every message');
        return fix === undefined ? skippedFor('Store') : problem(detail, fix);
      },
    },
    ...(forwarding
      ? [{ part: 'Forwarded events', look: async () => judgeForwarding(await forwarding()) }]
      : []),
  ];
  return checks.map((check) => ({ ...check, account }));
}

/** What the service did not do; any other throw goes on. */
async function failureOf(asked: Promise<unknown>): Promise<ServiceFailure | undefined> {
  try {
    await asked;
    return undefined;
  } catch (error) {
    if (error instanceof ServiceFailure) return error;
    throw error;
  }
}

function isAway({ kind }: ServiceFailure): boolean {
  return kind === 'timeout' || kind === 'network' || kind === 'server' || kind === 'rate_limited';
}

function urlSetting({ paymentsEnvironment: environment }: Config): string {
  return environment === 'sandbox' ? 'PAYMENTS_SANDBOX_URL' : 'PAYMENTS_BASE_URL';
}

/** What helps, for whoever can change the settings; the failure's own words end with what to check where they know it. */
export function adviceOn({ kind, message }: ServiceFailure, config: Config): { says: string; fix: string } {
  const [, says = message, check] = /^(.*?): (check .*?)\.?$/s.exec(message) ?? [];
  const own = check === undefined ? undefined : `${check.charAt(0).toUpperCase()}${check.slice(1)}.`;
  return { says: says.replace(/\.$/, ''), fix: own ?? fixes[kind](urlSetting(config)) };
}

function failed(failure: ServiceFailure, config: Config): Verdict {
  const { says, fix } = adviceOn(failure, config);
  return problem(says, fix);
}

const fixes: Readonly<Record<FailureKind, (url: string) => string>> = {
  timeout: (url) => `Check the network and the proxy to ${url}, and whether the service is well.`,
  network: (url) => `Check ${url}, its certificate, and the network between it and the bot.`,
  server: () => 'Ask the payments service: it is not well. The bot tries again by itself.',
  rate_limited: () => 'None needed: the bot goes on by itself. Else ask the service for a higher limit.',
  unauthorized: () => 'Check PAYMENTS_CLIENT_ID, PAYMENTS_CLIENT_SECRET or PAYMENTS_STATIC_TOKEN.',
  forbidden: () =>
    'Check PAYMENTS_ACCOUNT_ID and PAYMENTS_PARENT_ACCOUNT_ID: these credentials are not theirs.',
  refused: () => 'Check PAYMENTS_TOKEN_ISSUE_BODY and PAYMENTS_ACCOUNT_ID.',
  malformed: (url) =>
    `Check that ${url} leads to the payments service, and nothing in between answers for it.`,
};

/**
 * Charges that are labelled as one thing and are the other. The sandbox has paths of its own, and one of them answers
 * with a fixed sample; of the live service only its address tells, as nothing there may be tried.
 */
async function judgeEnvironment(
  config: Config,
  token: () => Promise<ServiceFailure | undefined>,
): Promise<Verdict> {
  const { baseUrl, sandbox, timeoutMs } = clientSettings(config);
  if (!sandbox) {
    return /sandbox/i.test(baseUrl)
      ? problem(
          'PAYMENTS_ENVIRONMENT is live, and the address is of a sandbox',
          'Set PAYMENTS_BASE_URL to the production address, or PAYMENTS_ENVIRONMENT to sandbox.',
        )
      : ok('live');
  }
  const failure = await token();
  if (failure && isAway(failure)) return skippedFor(servicePart);
  const answer = await withDeadline(timeoutMs, (signal) =>
    fetch(`${baseUrl}/sandbox/checkout/tokenized-card-data`, { signal, redirect: 'error' }),
  );
  const body: unknown = await answer.json().catch(() => undefined);
  return answer.status === 404 && !isSample(body)
    ? problem(
        'PAYMENTS_ENVIRONMENT is sandbox, and the address has none of the sandbox’s paths',
        'Set PAYMENTS_SANDBOX_URL to the test address, or PAYMENTS_ENVIRONMENT to live.',
      )
    : ok('sandbox');
}

/** The service’s own “not found” has a code; that of a path which is not there has none. */
function isSample(body: unknown): boolean {
  return isJsonObject(body) && body['code'] !== undefined;
}

function judgeWebhooks({ problem: why }: AccountLooked['webhooks']): Verdict {
  if (why === undefined) return ok('Signatures can be checked');
  return problem(`Every delivery is refused: ${why}`, 'Set WEBHOOK_SIGNATURE_PRESET and WEBHOOK_SECRETS.');
}

function judgeForwarding({ state, detail = '', fix }: PartHealth): Verdict {
  if (state === 'ok') return ok('Your backend takes them');
  return fix === undefined ? skippedFor('Store') : problem(detail, fix);
}

function judgeSeen({ acceptedAtMs, refused }: SeenWebhooks): Verdict {
  if (refused && (acceptedAtMs === undefined || refused.atMs > acceptedAtMs)) {
    return problem(
      `The last one was refused at ${utcTime(refused.atMs)}: ${refused.why}`,
      'Capture one delivery and run npm run explain-delivery -- <file>: it names the setting.',
    );
  }
  if (acceptedAtMs !== undefined) return ok(`The last one came at ${utcTime(acceptedAtMs)}`);
  return warning('None has come yet', 'Give the payments service the address of /webhooks/payments.');
}
