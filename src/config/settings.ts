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

/**
 * Every setting, in the order of `docs/settings.md`, which is made from this table. The variable's name is
 * the key in capitals: `slackBotToken` is SLACK_BOT_TOKEN. Adding a setting is adding a line here, or in the file of its group.
 */
export const settings = {
  ...inGroup('Server', {
    host: setting('Address to listen on.', text(), '0.0.0.0'),
    port: setting('Port to listen on, for Slack, webhooks and health alike.', wholeNumber(0, 65_535), '3000'),
    metricsPort: setting(
      'Port of its own for /metrics and /readyz, on HOST; on PORT when absent. Let no stranger reach it.',
      wholeNumber(0, 65_535),
    ),
    metricsToken: secret(
      'Token that /metrics asks for as `Authorization: Bearer`. Requests to /readyz without it read the state alone, not the parts.',
      text(/^\S{16,}$/, 'at least 16 characters without a blank'),
    ),
    publicUrl: setting(
      'Address at which customers’ browsers reach this server, so that they can type the bank’s code. Only /c/ need be open to them. https:// when an account is live.',
      httpUrl(),
    ),
    logLevel: setting(
      'How much is logged. No level logs a body, a token or an e-mail address.',
      oneOf(logLevels),
      'info',
    ),
    drainSeconds: setting(
      'How long requests are still served after SIGTERM, while /readyz answers 503. A load balancer takes this replica out meanwhile; 0 where nothing asks /readyz.',
      wholeNumber(0, 120),
      '5',
    ),
    stopSeconds: setting(
      'When the process ends after SIGTERM, whatever is still under way. It is taken up again at the next start. More than DRAIN_SECONDS, less than the sender’s grace period (Kubernetes: 30).',
      wholeNumber(1, 300),
      '25',
    ),
    payopsFile: setting('The policy file: channels and roles.', text(), 'payops.yml'),
  }),

  ...inGroup('Slack', {
    slackMode: setting(
      '`http`: Slack calls this server at /slack/events; `socket`: Socket Mode, no public address needed.',
      oneOf(['http', 'socket']),
      'http',
    ),
    slackBotToken: secret(
      'Bot token (starts with xoxb-).',
      text(/^xoxb-[!-~]+$/, 'a Slack bot token, which starts with xoxb-'),
    ),
    slackSigningSecret: secret(
      'Signing secret of the Slack app. Needed in mode `http`.',
      text(
        /^[0-9a-f]{32,64}$/i,
        'a Slack signing secret, 32 hexadecimal digits (Slack app › Basic Information)',
      ),
    ),
    slackAppToken: secret(
      'App-level token (starts with xapp-) with connections:write. Needed in mode `socket`.',
      text(/^xapp-[!-~]+$/, 'a Slack app-level token, which starts with xapp-'),
    ),
    slackSocketProcesses: setting(
      'How many processes run with this app token, in mode `socket`. Each opens two of the ten connections that Slack allows; where Slack counts more, /readyz and `/pay doctor` say so. When absent: 1 with the embedded store, 5 with Redis.',
      wholeNumber(1, 5),
    ),
    slackApiUrl: setting(
      'Base URL of the Slack API: change it for a proxy, GovSlack or a simulator.',
      httpUrl(),
      'https://slack.com/api',
    ),
    slackTimeoutSeconds: setting(
      'Deadline of one post of an alert, or of one read of a channel’s history.',
      wholeNumber(1, 30),
      '10',
    ),
  }),

  ...paymentsSettings,
  ...savedCardSettings,
  ...webhookSettings,

  ...inGroup('Alerts', {
    digestThreshold: setting(
      'How many failed charges, or payments, a channel is told one by one within five minutes. The rest is counted in one digest until fewer than three come in five minutes; every event keeps its record. 0 never makes a digest. A rule may say its own (`digest_after`); one with a mention is counted for itself.',
      wholeNumber(0, 200),
      '20',
    ),

    alertDetailsDays: setting(
      'How many days an alert shows customer, amount and reasons. Then they go from its message and from the bot’s record. Less than WEBHOOK_REMEMBER_DAYS and more than a snooze (7); 0 keeps them.',
      wholeNumber(0, 364),
      '14',
    ),
  }),

  ...inGroup('Charges', {
    chargeRetryWaitHours: setting(
      'How long a card is on hold after a bank decline, on every path and replica. Spec: “for example 24 hours”.',
      wholeNumber(1, 720),
      String(defaultRetryRule.waitMs / 3_600_000),
    ),
    chargeRetryAttempts: setting(
      'Declines after which a card is not charged until the first is forgotten. A charge that is still open counts as one. Spec: “a few”.',
      wholeNumber(1, 10),
      String(defaultRetryRule.attempts),
    ),
    chargeRetryForgetDays: setting(
      'When a decline no longer counts, so that next month’s charge starts fresh. At least CHARGE_RETRY_WAIT_HOURS. Spec: not shown.',
      wholeNumber(3, 365),
      String(defaultRetryRule.forgetMs / 86_400_000),
    ),
    chargeTwinMinutes: setting(
      'Asks before a card is charged an amount that it was charged within so many minutes; 0 never asks. Counted back from when the terms were read. While the first charge is open the second is refused anyway.',
      wholeNumber(0, 1_440),
      '10',
    ),
    chargeRepeatLost: setting(
      '`on`: a charge request that the service never had is sent again, under the same reference. At most twice, within two minutes. `off` for a service that does not promise one charge a reference. Spec: charge a saved card (retry rules).',
      oneOf(['on', 'off']),
      'on',
    ),
    chargeCurrencies: setting(
      'Currencies to choose from, separated by commas; the first is chosen at first. Spec: only NGN is supported.',
      currencyList(),
      'NGN',
    ),
    chargeThreeDSecureWords: setting(
      'Phrases of the bank that mean 3-D Secure, separated by commas. Case, blanks and hyphens don’t matter. Such a card is charged no more: only saving it again helps. Spec: not shown; add what your banks say.',
      list(),
      '3D Secure,3DS,3DS2,secure authentication',
    ),
    chargeRememberDays: setting(
      'How long a charge is remembered once nothing is left to do about it.',
      wholeNumber(30, 3_650),
      '365',
    ),
    otpEntry: setting(
      'Who types the bank’s code: `customer` on the page at PUBLIC_URL, `agent`, or `both`. With `both` the customer does once the agent makes a link.',
      oneOf(['agent', 'customer', 'both']),
      'both',
    ),
    merchantName: setting(
      'Who asks, as customers read it on the page for the bank’s code. Needed with PUBLIC_URL, of each account: `MERCHANT_NAME__LAGOS`.',
      text(),
    ),
    linkFollowHours: setting(
      'How long an unpaid payment link is looked up, from every half minute to every ten. A payment that comes later still counts. Spec: how long a link is payable is not shown.',
      wholeNumber(1, 720),
      '72',
    ),
    linkCallbackUrl: setting(
      'Where the customer is sent after paying on the checkout page of a link; without it, nowhere.',
      httpUrl(),
    ),
    cardLedger: setting(
      '`on`: saved cards that come with events are remembered, sealed; `off`: a token is pasted for each charge.',
      oneOf(['on', 'off']),
      'on',
    ),
    savedCardDays: setting(
      'How long a saved card is remembered after the last event that told something new of it. One whose expiry date can be read is forgotten when it expires, if that is sooner.',
      wholeNumber(1, 3_650),
      '1095',
    ),
  }),

  ...inGroup('Store', {
    dataDir: setting('Folder of the embedded store and of its key file.', text(), 'data'),
    redisUrl: secret(
      `Redis instead of the embedded store; needed for more than one replica. ${redisAddressForms}. Name several nodes or Sentinels, so that one may be down. Sentinels are asked without a password first. A certificate of your own authority: start the process with \`NODE_EXTRA_CA_CERTS\` set to its file; with TLS the nodes must announce the names or addresses that stand in their certificates.`,
      redisUrl(),
    ),
    redisWaitReplicas: setting(
      'How many replicas of Redis must have a change before it counts; 1 with a Cluster or Sentinels. With 0 a failover can lose the last changes: events that were answered 200, and charges that were sent.',
      wholeNumber(0, 5),
      '0',
    ),
    redisPrefix: setting(
      'Prefix of every key in Redis, put into one hash tag.',
      text(/^[A-Za-z0-9:_-]{1,40}$/, 'up to 40 letters, digits, colons, dashes or underscores'),
      'payops',
    ),
    sealingKeys: secret(
      'Keys that seal secrets at rest, as `id:base64`; the first seals, all open. Needed with Redis; the embedded store makes a key file. To rotate: [operating.md](operating.md#rotate-keys-and-secrets).',
      sealingKeys(),
    ),
    auditKeepDays: setting(
      'How long the audit trail is kept; 0 for ever. [audit.md](audit.md#how-long-it-is-kept).',
      wholeNumber(0, 36_500),
      '730',
    ),
    workLeaseSeconds: setting(
      'After a crash another replica takes work over once it was held this long. At least PAYMENTS_TIMEOUT_SECONDS + 2 × SLACK_TIMEOUT_SECONDS + 2.',
      wholeNumber(5, 600),
      '45',
    ),
  }),
};

type Table = typeof settings;

export type Environment = {
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
