import { routesCaution, routesCheck } from './alert-rules.ts';
import { approvalsCheck, limitsCheck } from './policy-rules.ts';
import { accountsCheck, credentialsCheck } from './read-merchants.ts';
import { parseRedisAddress } from '../domain/redis-address.ts';
import { settingsCheck, type Config, type SettingsCheck } from './config.ts';

function refuse<const K extends keyof Config>(
  reads: readonly K[],
  isBroken: (config: Pick<Config, K>) => boolean,
  words: string,
): SettingsCheck {
  return settingsCheck(reads, (config) => (isBroken(config) ? [words] : []));
}

/** A copy of the example file that still has its own ids. No id of Slack's has four X behind its first letter. */
const placeholder = /^[A-Z]X{4}/;

const placeholderCheck = settingsCheck(['policy', 'payopsFile'], ({ policy, payopsFile }) => [
  ...Object.entries(policy.channels)
    .filter(([, id]) => id !== undefined && placeholder.test(id))
    .map(
      ([name, id]) =>
        `${payopsFile}: channels.${name} is ${id}, the example’s: write your channel’s id (in Slack: channel name › About › Channel ID).`,
    ),
  ...Object.entries(policy.roles).flatMap(([name, { users }]) =>
    users
      .filter((id) => placeholder.test(id))
      .map(
        (id) =>
          `${payopsFile}: roles.${name} lists ${id}, the example’s: write a person’s id (in Slack: profile › ⋮ › Copy member ID).`,
      ),
  ),
]);

/** Those that ask what the policy file may say. */
export const policyChecks: readonly SettingsCheck[] = [
  routesCheck,
  approvalsCheck,
  limitsCheck,
  accountsCheck,
  placeholderCheck,
];

/** What must hold between the settings whatever the program does with them. */
export const contradictions: readonly SettingsCheck[] = [
  refuse(
    ['slackBotToken'],
    (config) => !config.slackBotToken,
    'SLACK_BOT_TOKEN is missing: the bot token of the Slack app, which starts with xoxb-.',
  ),
  refuse(
    ['slackMode', 'slackSigningSecret'],
    (config) => config.slackMode === 'http' && !config.slackSigningSecret,
    'SLACK_SIGNING_SECRET is missing: it is needed in SLACK_MODE=http (Slack app › Basic Information).',
  ),
  refuse(
    ['slackMode', 'slackAppToken'],
    (config) => config.slackMode === 'socket' && !config.slackAppToken,
    'SLACK_APP_TOKEN is missing: it is needed in SLACK_MODE=socket (Slack app › Basic Information › App-Level Tokens).',
  ),
  refuse(
    ['paymentsEnvironment', 'paymentsBaseUrl'],
    (config) => config.paymentsEnvironment === 'live' && !config.paymentsBaseUrl,
    'PAYMENTS_BASE_URL is missing: the production address of the payments service.',
  ),
  refuse(
    ['paymentsEnvironment', 'paymentsSandboxUrl'],
    (config) => config.paymentsEnvironment === 'sandbox' && !config.paymentsSandboxUrl,
    'PAYMENTS_SANDBOX_URL is missing: the test address of the payments service, needed while PAYMENTS_ENVIRONMENT is sandbox (the default).',
  ),
  settingsCheck(['paymentsEnvironment', 'paymentsBaseUrl'], ({ paymentsEnvironment, paymentsBaseUrl: url }) =>
    paymentsEnvironment === 'live' && url?.startsWith('http:') && !isLoopback(new URL(url).hostname)
      ? [
          'PAYMENTS_BASE_URL (or base_url of a live account) must start with https:// while the environment is live: over http:// tokens and customers’ data travel in the clear.',
        ]
      : [],
  ),
  refuse(
    ['paymentsAccountId'],
    (config) => !config.paymentsAccountId,
    'PAYMENTS_ACCOUNT_ID is missing: the merchant account’s id, a UUID.',
  ),
  refuse(
    ['paymentsPaidStatuses', 'paymentsFinalStatuses'],
    ({ paymentsPaidStatuses, paymentsFinalStatuses = [] }) =>
      paymentsFinalStatuses.some((status) => paymentsPaidStatuses.includes(status)),
    'PAYMENTS_FINAL_STATUSES names a status that PAYMENTS_PAID_STATUSES names too: it cannot mean both.',
  ),
  refuse(
    ['paymentsStaticToken', 'paymentsTokenIssueBody'],
    (config) => !config.paymentsStaticToken && !config.paymentsTokenIssueBody,
    'PAYMENTS_TOKEN_ISSUE_BODY is missing: the JSON body that obtains an access token, or set PAYMENTS_STATIC_TOKEN.',
  ),
  refuse(
    ['redisUrl', 'sealingKeys'],
    (config) => config.redisUrl !== undefined && !config.sealingKeys,
    'SEALING_KEYS is missing: replicas on one Redis must share the keys that seal secrets (k1:$(openssl rand -base64 32)).',
  ),
  refuse(
    ['drainSeconds', 'stopSeconds'],
    (config) => config.stopSeconds <= config.drainSeconds,
    'STOP_SECONDS must be more than DRAIN_SECONDS, or no time is left to finish what is under way.',
  ),
  settingsCheck(['workLeaseSeconds', 'paymentsTimeoutSeconds', 'slackTimeoutSeconds'], checkLease),
  ...policyChecks,
  credentialsCheck,
  refuse(
    ['chargeRetryForgetDays', 'chargeRetryWaitHours'],
    (config) => config.chargeRetryForgetDays * 24 < config.chargeRetryWaitHours,
    'CHARGE_RETRY_FORGET_DAYS must be at least as long as CHARGE_RETRY_WAIT_HOURS, or a decline is forgotten while the card is still on hold after it.',
  ),
  refuse(
    ['alertDetailsDays', 'webhookRememberDays'],
    (config) => config.alertDetailsDays >= config.webhookRememberDays,
    'ALERT_DETAILS_DAYS must be less than WEBHOOK_REMEMBER_DAYS, or an alert is forgotten before its message is edited down; 0 never does it.',
  ),
  refuse(
    ['webhookSignaturePreset', 'webhookSecrets'],
    (config) => config.webhookSignaturePreset !== undefined && !config.webhookSecrets?.length,
    'WEBHOOK_SECRETS is missing: WEBHOOK_SIGNATURE_PRESET is set, and without a secret every delivery would be refused.',
  ),
];

/** What works, and is told at start because it is seldom meant. */
export const cautions: readonly SettingsCheck[] = [
  settingsCheck(['redisUrl'], ({ redisUrl }) =>
    redisUrl !== undefined && isPlainRemote(redisUrl)
      ? [
          'REDIS_URL has no TLS (rediss://): its password and what is stored there travel in the clear. Keep it to a network of its own.',
        ]
      : [],
  ),
  settingsCheck(['webhookSecrets'], ({ webhookSecrets = [] }) =>
    webhookSecrets.some((secret) => secret.length < shortestSecret)
      ? [
          `WEBHOOK_SECRETS has a secret of less than ${shortestSecret} characters: a short one can be guessed, and then events can be forged.`,
        ]
      : [],
  ),
  routesCaution,
  // Alerts are told all the same, so it is no refusal.
  settingsCheck(['policy', 'payopsFile'], ({ policy: { roles }, payopsFile }) => {
    const empty = Object.entries(roles).filter(([, { users, groups }]) => users.length + groups.length === 0);
    return empty.length === Object.keys(roles).length
      ? [
          `${payopsFile}: no role lists people, so nobody may do anything with the bot: list them under roles.`,
        ]
      : empty.map(
          ([name]) => `${payopsFile}: role ${name} lists nobody: list users or groups, or take it out.`,
        );
  }),
];

const shortestSecret = 16;

function isPlainRemote(url: string): boolean {
  const address = parseRedisAddress(url);
  if (address === undefined) return false;
  if (address.kind !== 'alone') return !address.tls && address.nodes.some(({ host }) => !isLoopback(host));
  const { protocol, hostname } = new URL(address.url);
  return protocol === 'redis:' && !isLoopback(hostname);
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(host);
}

/** Between its calls a piece of work also reads and writes the store. */
const storeSeconds = 2;

/** One piece of work is at most a look-up, a read of the channel's history and a post. */
function checkLease(
  config: Pick<Config, 'workLeaseSeconds' | 'paymentsTimeoutSeconds' | 'slackTimeoutSeconds'>,
): string[] {
  const least = config.paymentsTimeoutSeconds + 2 * config.slackTimeoutSeconds + storeSeconds;
  if (config.workLeaseSeconds >= least) return [];
  return [
    `WORK_LEASE_SECONDS must be at least PAYMENTS_TIMEOUT_SECONDS + 2 × SLACK_TIMEOUT_SECONDS + ${storeSeconds}, which is ${least}, or work is taken over while it is still being done.`,
  ];
}
