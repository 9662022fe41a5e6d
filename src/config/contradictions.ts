import { routesCaution, routesCheck } from './alert-rules.ts';
import { approvalsCheck, limitsCheck } from './policy-rules.ts';
import { accountsCheck, credentialsCheck } from './read-merchants.ts';
import { codeEntry } from '../domain/otp.ts';
import { parseRedisAddress } from '../store/redis-address.ts';
import { drainSecondsOf, type Config, type SettingsCheck } from './config.ts';

/** A placeholder id of the example file that was not replaced. No real Slack id has four X after its first letter. */
const placeholder = /^[A-Z]X{4}/;

function placeholderCheck({ policy, payopsFile }: Config): string[] {
  return [
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
  ];
}

export const policyChecks: readonly SettingsCheck[] = [
  routesCheck,
  approvalsCheck,
  limitsCheck,
  accountsCheck,
  placeholderCheck,
];

/** Missing settings, and settings that contradict each other. Checked for the bot and for every command. */
export const contradictions: readonly SettingsCheck[] = [
  ({ slackBotToken: token }) =>
    !token && 'SLACK_BOT_TOKEN is missing: the bot token of the Slack app, which starts with xoxb-.',
  ({ slackMode, slackSigningSecret: secret }) =>
    slackMode === 'http' &&
    !secret &&
    'SLACK_SIGNING_SECRET is missing: it is needed in SLACK_MODE=http (Slack app › Basic Information).',
  ({ slackMode, slackAppToken: token }) =>
    slackMode === 'socket' &&
    !token &&
    'SLACK_APP_TOKEN is missing: it is needed in SLACK_MODE=socket (Slack app › Basic Information › App-Level Tokens).',
  ({ paymentsEnvironment, paymentsBaseUrl: url }) =>
    paymentsEnvironment === 'live' &&
    !url &&
    'PAYMENTS_BASE_URL is missing: the production address of the payments service.',
  ({ paymentsEnvironment, paymentsSandboxUrl: url }) =>
    paymentsEnvironment === 'sandbox' &&
    !url &&
    'PAYMENTS_SANDBOX_URL is missing: the test address of the payments service, needed while PAYMENTS_ENVIRONMENT is sandbox (the default).',
  ({ paymentsEnvironment, paymentsBaseUrl: url }) =>
    paymentsEnvironment === 'live' &&
    isUnencrypted(url) &&
    'PAYMENTS_BASE_URL (or base_url of a live account) must start with https:// while the environment is live: over http:// tokens and customers’ data travel in the clear.',
  ({ paymentsAccountId }) =>
    !paymentsAccountId && 'PAYMENTS_ACCOUNT_ID is missing: the merchant account’s id, a UUID.',
  ({ paymentsPaidStatuses: paid, paymentsFinalStatuses: final = [] }) =>
    final.some((status) => paid.includes(status)) &&
    'PAYMENTS_FINAL_STATUSES names a status that PAYMENTS_PAID_STATUSES names too: it cannot mean both.',
  ({
    paymentsPaidStatuses: paid,
    paymentsFinalStatuses: final = [],
    paymentsGivenBackStatuses: givenBack = [],
  }) =>
    givenBack.some((status) => paid.includes(status) || final.includes(status)) &&
    'PAYMENTS_GIVEN_BACK_STATUSES names a status that PAYMENTS_PAID_STATUSES or PAYMENTS_FINAL_STATUSES names too: it cannot mean both.',
  ({ paymentsStaticToken: token, paymentsTokenIssueBody: body }) =>
    !token &&
    !body &&
    'PAYMENTS_TOKEN_ISSUE_BODY is missing: the JSON body that obtains an access token, or set PAYMENTS_STATIC_TOKEN.',
  ({ redisUrl, sealingKeys: keys }) =>
    redisUrl !== undefined &&
    !keys &&
    'SEALING_KEYS is missing: replicas on one Redis must share the keys that seal secrets (k1:$(openssl rand -base64 32)).',
  (config) =>
    config.stopSeconds <= drainSecondsOf(config) &&
    'STOP_SECONDS must be more than DRAIN_SECONDS, or no time is left to finish what is under way.',
  leaseCheck,
  ...policyChecks,
  credentialsCheck,
  ({ chargeRetryForgetDays: days, chargeRetryWaitHours: hours }) =>
    days * 24 < hours &&
    'CHARGE_RETRY_FORGET_DAYS must be at least as long as CHARGE_RETRY_WAIT_HOURS, or a decline is forgotten while the card is still on hold after it.',
  ({ alertDetailsDays, webhookRememberDays }) =>
    alertDetailsDays >= webhookRememberDays &&
    'ALERT_DETAILS_DAYS must be less than WEBHOOK_REMEMBER_DAYS, or an alert is forgotten before its message is edited down; 0 never does it.',
  ({ webhookSignaturePreset: preset, webhookSecrets: secrets }) =>
    preset !== undefined &&
    !secrets?.length &&
    'WEBHOOK_SECRETS is missing: WEBHOOK_SIGNATURE_PRESET is set, and without a secret every delivery would be refused.',
  forwardCheck,
  ({ publicUrl: url, paymentsEnvironment }) =>
    paymentsEnvironment === 'live' &&
    isUnencrypted(url) &&
    'PUBLIC_URL must start with https:// while an account is live, or the bank’s codes travel in the clear.',
  ({ publicUrl, otpEntry }) =>
    otpEntry === 'customer' &&
    publicUrl === undefined &&
    'PUBLIC_URL is missing: with OTP_ENTRY=customer nobody could type a code without the page for it.',
  ({ merchantName, ...settings }) =>
    codeEntry(settings) !== 'agent' &&
    merchantName === undefined &&
    'MERCHANT_NAME is missing: with PUBLIC_URL customers are told who asks for the bank’s code.',
];

/** Settings that work but are rarely intended: warnings in the log at start. */
export const cautions: readonly SettingsCheck[] = [
  ({ redisUrl }) =>
    remoteRedis(redisUrl)?.isTls === false &&
    'REDIS_URL has no TLS (rediss://): its password and what is stored there travel in the clear. Keep it to a network of its own.',
  ({ redisUrl }) =>
    remoteRedis(redisUrl)?.hasPassword === false &&
    'REDIS_URL has no password: anybody who can reach that Redis can read, change and delete what the bot stores. Set a password there, and put it before the host.',
  ({ webhookSecrets = [] }) =>
    webhookSecrets.some((secret) => secret.length < shortestSecret) &&
    `WEBHOOK_SECRETS has a secret of less than ${shortestSecret} characters: a short one can be guessed, and then events can be forged.`,
  routesCaution,
  // Only a warning: alerts work without any role.
  ({ policy: { roles }, payopsFile }) => {
    const empty = Object.entries(roles).filter(([, { users, groups }]) => users.length + groups.length === 0);
    if (empty.length === Object.keys(roles).length)
      return `${payopsFile}: no role lists people, so nobody may do anything with the bot: list them under roles.`;
    return empty.map(
      ([name]) => `${payopsFile}: role ${name} lists nobody: list users or groups, or take it out.`,
    );
  },
];

const shortestSecret = 16;

/** How a Redis on another machine is protected. Undefined for one on this machine, and for an unreadable address. */
function remoteRedis(url = ''): { isTls: boolean; hasPassword: boolean } | undefined {
  const address = parseRedisAddress(url);
  if (address === undefined) return undefined;
  if (address.kind !== 'alone') {
    const { nodes, tls: isTls, password } = address;
    const isRemote = nodes.some(({ host }) => !isLoopback(host));
    return isRemote ? { isTls, hasPassword: password !== undefined } : undefined;
  }
  const { protocol, hostname, password } = new URL(address.url);
  return isLoopback(hostname) ? undefined : { isTls: protocol === 'rediss:', hasPassword: password !== '' };
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(host);
}

/** Whether requests to this address leave the machine by http://. */
function isUnencrypted(url: string | undefined): boolean {
  if (url === undefined) return false;
  const { protocol, hostname } = new URL(url);
  return protocol === 'http:' && !isLoopback(hostname);
}

/** Customers’ data must not be sent unencrypted, and a forwarded event must not come back to this bot. */
function forwardCheck({ webhookForwardUrl: url, webhookForwardHttpHosts = [], ...own }: Config) {
  if (url === undefined) return false;
  const { protocol, hostname, port, origin, pathname } = new URL(url);
  const isHere = isLoopback(hostname) || hostname === own.host || hostname === '0.0.0.0';
  const isOurPort = [own.port, own.metricsPort].includes(Number(port || (protocol === 'http:' ? 80 : 443)));
  const isOurPage = own.publicUrl !== undefined && origin === new URL(own.publicUrl).origin;
  if ((isHere && isOurPort) || (isOurPage && /^\/webhooks\/payments(?:\/|$)/.test(pathname))) {
    return 'WEBHOOK_FORWARD_URL leads to this bot itself: write the address of your own backend.';
  }
  return (
    isUnencrypted(url) &&
    !webhookForwardHttpHosts.includes(hostname) &&
    'WEBHOOK_FORWARD_URL must start with https://, or events travel in the clear. Where it leads to your own network, name its host in WEBHOOK_FORWARD_HTTP_HOSTS.'
  );
}

/** How long one piece of work may spend on the store, besides its calls to Slack and the payments service. */
const storeSeconds = 2;

/** The lease must cover the longest piece of work: a look-up, a read of the channel's history and a post. */
function leaseCheck({ workLeaseSeconds, paymentsTimeoutSeconds, slackTimeoutSeconds }: Config) {
  const least = paymentsTimeoutSeconds + 2 * slackTimeoutSeconds + storeSeconds;
  return (
    workLeaseSeconds < least &&
    `WORK_LEASE_SECONDS must be at least PAYMENTS_TIMEOUT_SECONDS + 2 × SLACK_TIMEOUT_SECONDS + ${storeSeconds}, which is ${least}, or work is taken over while it is still being done.`
  );
}
