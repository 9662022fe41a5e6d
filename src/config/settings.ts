import { redisAddressForms } from '../store/redis-address.ts';
import { defaultRetryRule } from '../domain/decline-reason.ts';
import { logLevels } from '../log.ts';
import {
  currencyList,
  inGroup,
  httpUrl,
  list,
  oneOf,
  redisUrl,
  sealingKeys,
  text,
  wholeNumber,
  secret,
  setting,
  type RequiredSetting,
  type Setting,
} from './readers.ts';
import { paymentsSettings } from './payments-settings.ts';
import { savedCardSettings } from './saved-card-settings.ts';
import { webhookSettings } from './webhook-settings.ts';
import { dayMs, hourMs } from '../domain/span.ts';

/**
 * Every setting, in the order of `docs/settings.md`, which is generated from this table. The variable's name is the key
 * in capitals: `slackBotToken` is SLACK_BOT_TOKEN. To add a setting, add an entry here or in its group's file.
 */
export const settings = {
  ...inGroup('Server', {
    host: setting('Address to listen on.', text(), '0.0.0.0'),
    port: setting('Port for Slack, webhooks and health.', wholeNumber(0, 65_535), '3000'),
    metricsPort: setting('Own, private port for /metrics and /readyz.', wholeNumber(0, 65_535)),
    metricsToken: secret(
      'Token for /metrics, as `Authorization: Bearer`. If set, /readyz names its parts only with it.',
      text(/^\S{16,}$/, 'at least 16 characters without a blank'),
    ),
    publicUrl: setting(
      'Public address of the page for the bank’s code; https:// if an account is live.',
      httpUrl(),
    ),
    logLevel: setting('How much is logged; never a body, a token or an e-mail.', oneOf(logLevels), 'info'),
    drainSeconds: setting(
      'How long requests are served after SIGTERM. When absent: 0 on SQLite, 5 with Redis.',
      wholeNumber(0, 120),
    ),
    stopSeconds: setting(
      'When the process ends after SIGTERM. More than DRAIN_SECONDS, less than the grace period.',
      wholeNumber(1, 300),
      '25',
    ),
    payopsFile: setting('The policy file: channels and roles.', text(), 'payops.yml'),
  }),

  ...inGroup('Slack', {
    slackMode: setting(
      '`http`: Slack calls /slack/events; `socket`: Socket Mode, without a public address.',
      oneOf(['http', 'socket']),
      'http',
    ),
    slackBotToken: secret(
      'Bot token (starts with xoxb-).',
      text(/^xoxb-[!-~]+$/, 'a Slack bot token, which starts with xoxb-'),
    ),
    slackSigningSecret: secret(
      'Signing secret of the Slack app, for `http`.',
      text(
        /^[0-9a-f]{32,64}$/i,
        'a Slack signing secret, 32 hexadecimal digits (Slack app › Basic Information)',
      ),
    ),
    slackAppToken: secret(
      'App-level token (starts with xapp-) with connections:write, for `socket`.',
      text(/^xapp-[!-~]+$/, 'a Slack app-level token, which starts with xapp-'),
    ),
    slackSocketProcesses: setting(
      'How many processes use this app token, so more are noticed. When absent: 1 with SQLite, 5 with Redis.',
      wholeNumber(1, 5),
    ),
    slackApiUrl: setting(
      'Slack’s API; change it for a proxy, GovSlack or a simulator.',
      httpUrl(),
      'https://slack.com/api',
    ),
    slackTimeoutSeconds: setting(
      'Deadline of one post, or one read of a channel’s history.',
      wholeNumber(1, 30),
      '10',
    ),
  }),

  ...paymentsSettings,
  ...savedCardSettings,
  ...webhookSettings,

  ...inGroup('Alerts', {
    digestThreshold: setting(
      'Failures, or payments, of a channel in five minutes before [a digest](alerts.md#storms); 0: never.',
      wholeNumber(0, 200),
      '20',
    ),

    alertDetailsDays: setting(
      'How long an alert keeps customer, amount and reasons; 0: always. Less than WEBHOOK_REMEMBER_DAYS; a week’s snooze needs 8.',
      wholeNumber(0, 364),
      '14',
    ),
  }),

  ...inGroup('Charges', {
    chargeRetryWaitHours: setting(
      'How long a card is on hold after a bank decline. Spec: “for example 24 hours”.',
      wholeNumber(1, 720),
      String(defaultRetryRule.waitMs / hourMs),
    ),
    chargeRetryAttempts: setting(
      'Declines after which a card isn’t charged until the first is forgotten. Spec: “a few”.',
      wholeNumber(1, 10),
      String(defaultRetryRule.attempts),
    ),
    chargeRetryForgetDays: setting(
      'When a decline no longer counts. At least CHARGE_RETRY_WAIT_HOURS. Spec: not shown.',
      wholeNumber(3, 365),
      String(defaultRetryRule.forgetMs / dayMs),
    ),
    chargeTwinMinutes: setting(
      'How long the bot asks before it charges a card the same again; 0: only under review.',
      wholeNumber(0, 1_440),
      '10',
    ),
    chargeRepeatLost: setting(
      '`on`: a charge request that the service never had is sent again. `off` if the service doesn’t promise one charge a reference.',
      oneOf(['on', 'off']),
      'on',
    ),
    chargeCurrencies: setting(
      'Currencies to choose from; the first is preset. Spec: only NGN is supported.',
      currencyList(),
      'NGN',
    ),
    chargeThreeDSecureWords: setting(
      'The bank’s phrases for 3-D Secure; case, blanks and hyphens don’t matter. Add your banks’. Spec: not shown.',
      list(),
      '3D Secure,3DS,3DS2,secure authentication',
    ),
    chargeRememberDays: setting('How long a finished charge is remembered.', wholeNumber(30, 3_650), '365'),
    otpEntry: setting(
      'Who types the bank’s code: `customer`, `agent` or `both`. With `both`, the customer once the agent makes a link.',
      oneOf(['agent', 'customer', 'both']),
      'both',
    ),
    merchantName: setting('Your name on the page for the bank’s code. Needed with PUBLIC_URL.', text()),
    linkFollowHours: setting(
      'How long an unpaid payment link is looked up. Spec: not shown.',
      wholeNumber(1, 720),
      '72',
    ),
    linkCallbackUrl: setting('Where a customer goes after paying a link.', httpUrl()),
    cardLedger: setting(
      '`on`: cards that events bring are remembered, sealed; `off`: paste a token for each charge.',
      oneOf(['on', 'off']),
      'on',
    ),
    savedCardDays: setting(
      'How long a saved card is remembered after its last news; not beyond its expiry.',
      wholeNumber(1, 3_650),
      '1095',
    ),
  }),

  ...inGroup('Store', {
    dataDir: setting('Folder of the embedded store and its key file.', text(), 'data'),
    redisUrl: secret(
      `Redis instead of the embedded store; needed for several replicas. ${redisAddressForms}. Name several nodes or Sentinels. For your own authority set \`NODE_EXTRA_CA_CERTS\`; with TLS nodes must announce the names in their certificates.`,
      redisUrl(),
    ),
    redisWaitReplicas: setting(
      'How many Redis replicas must have a change; 1 with Cluster or Sentinels. With 0 a failover can lose events and charges.',
      wholeNumber(0, 5),
      '0',
    ),
    redisPrefix: setting(
      'Prefix of every Redis key, in one hash tag.',
      text(/^[A-Za-z0-9:_-]{1,40}$/, 'up to 40 letters, digits, colons, dashes or underscores'),
      'payops',
    ),
    sealingKeys: secret(
      'Keys that seal secrets at rest, as `id:base64`; the first seals, all open. Needed with Redis. To rotate: [operating.md](operating.md#rotate-keys-and-secrets).',
      sealingKeys(),
    ),
    auditKeepDays: setting('How long the audit trail is kept; 0: for ever.', wholeNumber(0, 36_500), '730'),
    workLeaseSeconds: setting(
      'When another replica takes work over after a crash. At least PAYMENTS_TIMEOUT_SECONDS + 2 × SLACK_TIMEOUT_SECONDS + 2.',
      wholeNumber(5, 600),
      '45',
    ),
  }),
};

type Table = typeof settings;

export type SettingValues = {
  readonly [K in keyof Table]: Table[K] extends RequiredSetting<infer T>
    ? T
    : Table[K] extends Setting<infer T>
      ? T | undefined
      : never;
};

/** `slackBotToken` → `SLACK_BOT_TOKEN` */
export function variableName(key: string): string {
  return key.replace(/[A-Z]/g, '_$&').toUpperCase();
}
