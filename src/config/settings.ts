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
      'With it /metrics wants `Authorization: Bearer` with this token, and /readyz tells who does not bring it the state alone, not the parts.',
      text(/^\S{16,}$/, 'at least 16 characters without a blank'),
    ),
    publicUrl: setting(
      'Address at which customers’ browsers reach this server; only /c/ need be open to them. With it customers can type the bank’s code themselves, without it agents alone do. https:// when an account is live.',
      httpUrl(),
    ),
    logLevel: setting(
      'How much is logged. No level logs a body, a token or an e-mail address.',
      oneOf(logLevels),
      'info',
    ),
    drainSeconds: setting(
      'After SIGTERM: how long requests are still served while /readyz answers 503, so that a load balancer takes this replica out first. 0 where nothing asks /readyz.',
      wholeNumber(0, 120),
      '5',
    ),
    stopSeconds: setting(
      'After SIGTERM: when the process ends, whatever is still under way; it is taken up again at the next start. Less than the grace period of what sends the signal (Kubernetes: 30), and more than DRAIN_SECONDS.',
      wholeNumber(1, 300),
      '25',
    ),
    payopsFile: setting('The policy file: channels and roles.', text(), 'payops.yml'),
  }),

  ...inGroup('Slack', {
    slackMode: setting(
      '`http`: Slack calls this server at /slack/events. `socket`: Socket Mode, no public address needed.',
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
      'In mode `socket`: how many processes of the bot run with this app token. Each opens two of the ten connections that Slack allows; where Slack counts more, /readyz and `/pay doctor` say so. When absent: 1 with the embedded store, 5 with Redis.',
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
      'How many failed charges, and how many payments, a channel is told one by one within five minutes. Past it, one digest of the failures or of the payments counts them all, those that still wait for Slack included, until fewer than three have come for as long; every event keeps its record. 0 never makes a digest. A rule of the policy file may say its own with `digest_after`; one that mentions somebody is counted for itself.',
      wholeNumber(0, 200),
      '20',
    ),

    alertDetailsDays: setting(
      'How many days an alert shows what it tells. Then its message is edited down to outcome and reference, without buttons, and customer, amount and reasons go from the bot’s record of it. Less than WEBHOOK_REMEMBER_DAYS; longer than a snooze (7) is wise. 0 never does it.',
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
      'Declines after which a card is charged no more until the first of them is forgotten; a charge that is still open counts as one. Spec: “a few”.',
      wholeNumber(1, 10),
      String(defaultRetryRule.attempts),
    ),
    chargeRetryForgetDays: setting(
      'When a decline no longer counts, so that next month’s charge starts fresh. At least CHARGE_RETRY_WAIT_HOURS. Spec: not shown.',
      wholeNumber(3, 365),
      String(defaultRetryRule.forgetMs / 86_400_000),
    ),
    chargeTwinMinutes: setting(
      'Asks before the same card is charged the same amount and currency as in the last so many minutes before the terms were read, or since, naming who did it; 0 never asks. While the first is open it is refused, whatever stands here.',
      wholeNumber(0, 1_440),
      '10',
    ),
    chargeRepeatLost: setting(
      '`on`: a charge request that was lost before the service knew its reference is sent again, at most twice within two minutes, under the same reference. `off`: each charge is sent once; for a service that does not promise one charge a reference. Spec: charge a saved card (retry rules).',
      oneOf(['on', 'off']),
      'on',
    ),
    chargeCurrencies: setting(
      'Currencies to choose from, separated by commas; the first is chosen at first. Spec: only NGN is supported.',
      currencyList(),
      'NGN',
    ),
    chargeThreeDSecureWords: setting(
      'Phrases in the bank’s own words that mean 3-D Secure, separated by commas; case, blanks and hyphens make no difference. Such a card is charged no more: only saving it again helps. Spec: not shown, so complete the list with what your banks say.',
      list(),
      '3D Secure,3DS,3DS2,secure authentication',
    ),
    chargeRememberDays: setting(
      'How long a charge is remembered once nothing is left to do about it.',
      wholeNumber(30, 3_650),
      '365',
    ),
    otpEntry: setting(
      'Who types the bank’s code. `customer`: customers alone, on the page at PUBLIC_URL. `agent`: agents alone. `both`: agents, or the customer once the agent makes a link.',
      oneOf(['agent', 'customer', 'both']),
      'both',
    ),
    merchantName: setting(
      'Who asks, as customers read it on the page for the bank’s code. Needed with PUBLIC_URL, of each account: `MERCHANT_NAME__LAGOS`.',
      text(),
    ),
    linkFollowHours: setting(
      'How long an unpaid payment link is looked up, from every half minute to every ten; then its card says that no payment came so far. A payment that comes later still counts. How long the service keeps a link payable: not shown.',
      wholeNumber(1, 720),
      '72',
    ),
    linkCallbackUrl: setting(
      'Where the customer is sent after paying on the checkout page of a link; without it, nowhere.',
      httpUrl(),
    ),
    cardLedger: setting(
      '`on`: saved cards that arrive with events are remembered, sealed, so that agents choose them. `off`: they are dropped, and a token is pasted for each charge.',
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
      'How many replicas of Redis must have a change before it counts; fewer within half a second, and the call fails as if Redis were away. With a Cluster or Sentinels set it to 1: with 0 a failover can lose the last changes, and with them events that were answered 200 and charges that were sent.',
      wholeNumber(0, 5),
      '0',
    ),
    redisPrefix: setting(
      'Prefix of every key in Redis, put into one hash tag.',
      text(/^[A-Za-z0-9:_-]{1,40}$/, 'up to 40 letters, digits, colons, dashes or underscores'),
      'payops',
    ),
    sealingKeys: secret(
      'Keys that seal secrets at rest, `id:base64`: the first seals, all open. Needed with Redis; the embedded store makes its own key file. To rotate, add the new key at the end on every replica, then move it to the front; `npm run reseal` seals everything under it and says when the old one can go. An embedded store goes on opening what its key file sealed, until the file is deleted.',
      sealingKeys(),
    ),
    auditKeepDays: setting(
      'How long the audit trail is kept: once a day, blocks of entries that are all older are removed, and a signed record says which. 0 keeps it for ever.',
      wholeNumber(0, 36_500),
      '730',
    ),
    workLeaseSeconds: setting(
      'How long a replica may hold one piece of work before another takes it over after a crash. At least PAYMENTS_TIMEOUT_SECONDS + 2 × SLACK_TIMEOUT_SECONDS + 2.',
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
