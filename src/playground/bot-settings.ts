type BotAddresses = {
  port: number;
  dataDir: string;
  payopsFile: string;
  slack: { apiUrl: string; botToken: string; signingSecret: string };
  payments: {
    url: string;
    accountId: string;
    clientId: string;
    clientSecret: string;
    webhookSecret: string;
  };
};

/**
 * The bot's whole environment in the playground: an operator's settings with the simulators' addresses. Inherits
 * nothing, so a real token exported in the terminal can't get in.
 */
export function botSettings(addresses: BotAddresses): Record<string, string> {
  const { slack, payments } = addresses;
  return {
    HOST: '127.0.0.1',
    PORT: String(addresses.port),
    LOG_LEVEL: 'info',
    DRAIN_SECONDS: '0',
    DATA_DIR: addresses.dataDir,
    PAYOPS_FILE: addresses.payopsFile,
    SLACK_MODE: 'http',
    SLACK_BOT_TOKEN: slack.botToken,
    SLACK_SIGNING_SECRET: slack.signingSecret,
    SLACK_API_URL: slack.apiUrl,
    PAYMENTS_ENVIRONMENT: 'live',
    PAYMENTS_BASE_URL: payments.url,
    PAYMENTS_SANDBOX_URL: payments.url,
    PAYMENTS_ACCOUNT_ID: payments.accountId,
    PAYMENTS_ACCOUNT_NAME: 'Lagos store',
    PAYMENTS_CLIENT_ID: payments.clientId,
    PAYMENTS_CLIENT_SECRET: payments.clientSecret,
    PAYMENTS_TOKEN_ISSUE_BODY: '{"clientId":"{{CLIENT_ID}}","clientSecret":"{{CLIENT_SECRET}}"}',
    PAYMENTS_GIVEN_BACK_STATUSES: 'REFUNDED',
    // The shape of the simulated service's own list; the specification shows none.
    SAVED_CARDS_QUERY: 'customerEmail',
    SAVED_CARDS_LIST_POINTERS: '/data/tokenizedCardDataList',
    SAVED_CARDS_CURSOR_QUERY: 'none',
    SAVED_CARDS_HEADERS: 'Authorization,accountId',
    SAVED_CARDS_DELETE_BODY: '{"tokenKey":"{{TOKEN_KEY}}"}',
    WEBHOOK_SIGNATURE_PRESET: 'raw-body',
    WEBHOOK_SIGNATURE_HEADER: 'x-payments-signature',
    WEBHOOK_SIGNATURE_ALGORITHM: 'sha512',
    WEBHOOK_SECRETS: payments.webhookSecret,
    WEBHOOK_KINDS: 'payment_refunded=given_back',
    // Shorter than in production: a person who killed the bot waits until this lease expires.
    PAYMENTS_TIMEOUT_SECONDS: '4',
    SLACK_TIMEOUT_SECONDS: '2',
    WORK_LEASE_SECONDS: '10',
  };
}

type PolicyIds = {
  channels: { alerts: string; ops: string; desk: string };
  users: { agent: string; lead: string; onCall: string };
};

/** The bot's policy file. The user called outsider has no role on purpose. */
export function payopsFile({ channels, users }: PolicyIds): string {
  return `# Written by the playground at every start.
channels:
  alerts: ${channels.alerts}
  ops: ${channels.ops}
  desk: ${channels.desk}
roles:
  support-agent:
    users: [${users.agent}]
    may: [lookup, find, charge, otp, link, card-email, cards, doubt, terminals, accounts]
  lead:
    users: [${users.lead}]
    may: [lookup, find, reveal, charge, otp, link, card-email, cards, card-delete, doubt, terminals, accounts, account-new]
  on-call:
    users: [${users.onCall}]
    may: [lookup, doubt]
  pay-ops:
    users: [${users.lead}, ${users.onCall}]
    may: [alerts, mute, undelivered, doctor, approve, story]
# High enough to be out of the way: try /pay charge 100,000.00, then decide as somebody else.
approvals:
  channel: ${channels.ops}
  rules:
    - { what: charge, currency: NGN, amount_from: 100000.00 }
    - { what: retry }
`;
}
