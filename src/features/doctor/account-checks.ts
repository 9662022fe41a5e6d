import { randomBytes } from 'node:crypto';
import type { Account } from '../../account.ts';
import { addressSetting } from '../../payments/failures.ts';
import { clientSettings, type Payments } from '../../payments/payments.ts';
import {
  networkTrouble,
  type NetworkTrouble,
  type PartHealth,
  ServiceFailure,
  type FailureKind,
  wordsOfCauses,
} from '../../domain/failure.ts';
import { withDeadline } from '../../deadline.ts';
import { isJsonObject } from '../../domain/json.ts';
import type { OrderReference } from '../../domain/order-reference.ts';
import type { LastSeen } from '../../records/last-seen.ts';
import { utcTime } from '../../slack/kit/text.ts';
import {
  judgeClock,
  ok,
  once,
  problem,
  skippedFor,
  warning,
  type Check,
  type CheckResult,
} from './checks.ts';

type Config = Account['settings'];

/** When the last event was stored (UTC ms), the last refused delivery, and the last event of an unknown kind. */
type SeenWebhooks = { acceptedAtMs?: number; refused?: LastSeen; unknown?: LastSeen };

/** The health of an account's parts, from the bot's own records and settings. */
export type AccountHealth = {
  webhooks: PartHealth;
  undelivered: () => Promise<PartHealth>;
  /** Undefined if no events are forwarded. */
  forwarding: (() => Promise<PartHealth>) | undefined;
  seenWebhooks: () => Promise<SeenWebhooks>;
};

type AccountCheckNeeds = AccountHealth & {
  config: Config;
  payments: Pick<Payments, 'checkToken' | 'findTransaction'>;
  now: () => number;
};

const servicePart = 'Payments service';
const tokenPart = 'Payments token';

/** The deadline of one check. Long, because a check may first wait for a token that another replica is requesting. */
export function checkDeadlineMs({ paymentsTimeoutSeconds }: Pick<Config, 'paymentsTimeoutSeconds'>): number {
  return (2 * paymentsTimeoutSeconds + 5) * 1_000;
}

export function accountChecks(needs: AccountCheckNeeds): Check[] {
  const { config, payments, webhooks, undelivered, forwarding, seenWebhooks, now } = needs;
  const account = config.merchant?.name;
  const token = once(() => failureOf(payments.checkToken()));
  const lookUp = once(async () => {
    const reference = `payops-doctor-${randomBytes(9).toString('hex')}` as OrderReference;
    let found: unknown;
    const failure = await failureOf(payments.findTransaction(reference).then((one) => (found = one)));
    return { failure, found };
  });
  /** The failure if the service is away. A static token needs no request, so then only the look-up shows an outage. */
  const away = once(async () => {
    const failure = (await token()) ?? (config.paymentsStaticToken ? (await lookUp()).failure : undefined);
    return failure && isAway(failure) ? failure : undefined;
  });
  const checks: Check[] = [
    {
      part: servicePart,
      async look() {
        const failure = await away();
        return failure ? failedCall(failure, config) : ok('It answers');
      },
    },
    {
      part: tokenPart,
      async look() {
        const failure = await token();
        if (!failure)
          return ok(config.paymentsStaticToken ? 'PAYMENTS_STATIC_TOKEN is used' : 'A new one was given');
        return isAway(failure) ? skippedFor(servicePart) : failedCall(failure, config);
      },
    },
    {
      part: 'Payments look-up',
      async look() {
        if (await away()) return skippedFor(servicePart);
        if (await token()) return skippedFor(tokenPart);
        const { failure, found } = await lookUp();
        if (failure) return failedCall(failure, config);
        if (found === undefined) return ok('A reference that cannot exist is not found, as specified');
        return problem(
          'A reference that cannot exist was answered with a transaction',
          `Check that ${addressSetting(config)} leads to the payments service and not to a stand-in: its look-ups prove nothing.`,
        );
      },
    },
    {
      part: 'Payments clock',
      look: async () => ((await away()) ? skippedFor(servicePart) : await serviceClock(config, now)),
    },
    { part: 'Payments environment', look: async () => await judgeEnvironment(config, away) },
    {
      part: 'Webhook settings',
      look: () => judgeHealth(webhooks, 'Signatures can be checked'),
    },
    {
      part: 'Webhook deliveries',
      look: async () =>
        webhooks.state === 'ok' ? judgeSeen(await seenWebhooks()) : skippedFor('Webhook settings'),
    },
    {
      part: 'Undelivered messages',
      look: async () => judgeHealth(await undelivered(), 'Slack has taken every message'),
    },
    ...(forwarding
      ? [
          {
            part: 'Forwarded events',
            look: async () => judgeHealth(await forwarding(), 'Your backend takes them'),
          },
        ]
      : []),
  ];
  return checks.map((check) => ({ ...check, account }));
}

/** The service's failure, if any; rethrows other errors. */
async function failureOf(call: Promise<unknown>): Promise<ServiceFailure | undefined> {
  try {
    await call;
    return undefined;
  } catch (error) {
    if (error instanceof ServiceFailure) return error;
    throw error;
  }
}

function isAway({ kind }: ServiceFailure): boolean {
  return kind === 'timeout' || kind === 'network' || kind === 'server' || kind === 'rate_limited';
}

/**
 * What to do about a failure, for people who can change the settings: the failure's own advice, if its message has one.
 */
export function adviceOn(failure: ServiceFailure, config: Config): { says: string; fix: string } {
  const { kind, message } = failure;
  const url = addressSetting(config);
  const [, says = message, check] = /^(.*?): ((?:check|set) .*?)\.?$/s.exec(message) ?? [];
  if (check !== undefined) return { says, fix: `${check.charAt(0).toUpperCase()}${check.slice(1)}.` };
  const causes = kind === 'network' ? wordsOfCauses(failure) : '';
  if (causes.includes('redirect')) {
    return {
      says: 'The address sends the bot elsewhere, and it follows nobody with a token',
      fix: `Put the address it leads to into ${url}.`,
    };
  }
  const trouble = networkTrouble(causes);
  if (trouble !== undefined) return networkAdvice[trouble](url);
  return { says: says.replace(/\.$/, ''), fix: fixes[kind](url) };
}

const networkAdvice: Readonly<Record<NetworkTrouble, (url: string) => { says: string; fix: string }>> = {
  no_host: (url) => ({
    says: 'The host of the payments service has no address',
    fix: `Check the host in ${url}, and whether this machine can look names up.`,
  }),
  refused: (url) => ({
    says: 'The payments service could not be reached: nothing listens there',
    fix: `Check host and port in ${url}.`,
  }),
  untrusted: () => ({
    says: 'The payments service could not be reached: the bot does not trust its certificate',
    fix: 'Set NODE_EXTRA_CA_CERTS to the file of the authority that signed it, and start the bot again.',
  }),
  wrong_certificate: (url) => ({
    says: 'The payments service could not be reached: its certificate is not good for this host and this time',
    fix: `Use the name that the certificate has in ${url}, or have it renewed.`,
  }),
  no_tls: (url) => ({
    says: 'The payments service could not be reached: it does not speak TLS at that port',
    fix: `Check host and port in ${url}.`,
  }),
};

export function failedCall(failure: ServiceFailure, config: Config): CheckResult {
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
 * Compares clocks by an answer's Date header. At most a warning: only signed times and token lifetimes depend on the
 * clock.
 */
async function serviceClock(config: Config, now: () => number): Promise<CheckResult> {
  const { baseUrl, timeoutMs } = clientSettings(config);
  const { headers } = await withDeadline(timeoutMs, (signal) =>
    fetch(baseUrl, { method: 'HEAD', signal, redirect: 'manual' }),
  );
  const result = judgeClock('the payments service', Date.parse(headers.get('date') ?? ''), now());
  if (result.state !== 'problem') return result;
  const fix = 'If the Slack clock check is fine, tell the payments service; otherwise set the clock by NTP.';
  return warning(result.says, fix);
}

/**
 * Whether PAYMENTS_ENVIRONMENT fits the address. The sandbox has its own paths; one of them answers with a fixed
 * sample. For the live service only the address is checked, because the doctor must try nothing there.
 */
async function judgeEnvironment(config: Config, away: () => Promise<unknown>): Promise<CheckResult> {
  const { baseUrl, sandbox, timeoutMs } = clientSettings(config);
  if (!sandbox) {
    return /sandbox/i.test(baseUrl)
      ? problem(
          'PAYMENTS_ENVIRONMENT is live, and the address is of a sandbox',
          'Set PAYMENTS_BASE_URL to the production address, or PAYMENTS_ENVIRONMENT to sandbox.',
        )
      : ok('live');
  }
  if (await away()) return skippedFor(servicePart);
  const answer = await withDeadline(timeoutMs, (signal) =>
    fetch(`${baseUrl}/sandbox/checkout/tokenized-card-data`, { signal, redirect: 'error' }),
  );
  const body: unknown = await answer.json().catch(() => undefined);
  return answer.status === 404 && !isServiceAnswer(body)
    ? problem(
        'PAYMENTS_ENVIRONMENT is sandbox, and the address has none of the sandbox’s paths',
        'Set PAYMENTS_SANDBOX_URL to the test address, or PAYMENTS_ENVIRONMENT to live.',
      )
    : ok('sandbox');
}

/** Whether a 404 is the service's own “not found”, which has a code. An unknown path gives none. */
function isServiceAnswer(body: unknown): boolean {
  return isJsonObject(body) && body['code'] !== undefined;
}

/** A part's health as in `/readyz`. A part without a fix could not be checked, because the store is away. */
function judgeHealth({ state, detail = '', fix }: PartHealth, okWords: string): CheckResult {
  if (state === 'ok') return ok(okWords);
  return fix === undefined ? skippedFor('Store') : problem(detail, fix);
}

/** Judges the last deliveries. An event of an unknown kind is mentioned even after later accepted events. */
export function judgeSeen({ acceptedAtMs = -Infinity, refused, unknown }: SeenWebhooks): CheckResult {
  if (refused && refused.atMs > acceptedAtMs) {
    return problem(
      `The last one was refused at ${utcTime(refused.atMs)}: ${refused.why}`,
      'Capture one delivery and run npm run explain-delivery -- <file>: it names the setting.',
    );
  }
  const unknownWords = unknown && `${unknown.why}, at ${utcTime(unknown.atMs)}`;
  const fix =
    'Should it be an alert? Check WEBHOOK_EVENT_POINTERS; npm run explain-delivery -- <file> shows how a captured one is read.';
  if (unknownWords && unknown.atMs > acceptedAtMs) return warning(unknownWords, fix);
  if (acceptedAtMs > 0) {
    const last = `The last one came at ${utcTime(acceptedAtMs)}`;
    return ok(unknownWords ? `${last}. ${unknownWords}. ${fix}` : last);
  }
  return warning('None has come yet', 'Give the payments service the address of /webhooks/payments.');
}
