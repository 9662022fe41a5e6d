import { chmodSync, rmSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { minimalSettings, fileOf } from './minimal-settings.ts';
import { drainSecondsOf, type SettingsCheck } from '../../src/config/config.ts';
import { readConfig } from '../../src/config/read-config.ts';
import { serviceSets } from '../../src/config/service-sets.ts';

const policy = fileOf(
  'channels:\n  alerts: C0ALERTS01\nroles:\n  agent: { users: [U0AGENT01], may: [lookup] }\n',
);
const complete = { ...minimalSettings, PAYOPS_FILE: policy };

function problemsOf(variables: Record<string, string | undefined>): string[] {
  const result = readConfig(variables);
  return result.kind === 'refused' ? result.problems : [];
}

function warningsOf(variables: Record<string, string>): string[] {
  return readConfig({ ...complete, ...variables }).warnings;
}

function configOf(variables: Record<string, string>) {
  const result = readConfig(variables);
  if (result.kind !== 'read') throw new Error(result.problems.join('\n'));
  return result;
}

describe('PAYMENTS_SERVICE', () => {
  it('reads the set of that name, and the environment overrides it', () => {
    const name = `test-${process.pid}`;
    const file = `openapi/services/${name}.env`;
    writeFileSync(file, 'PAYMENTS_PAID_STATUSES=SETTLED\nPAYMENTS_FEE_POINTER=/fee\n# A remark\n');
    try {
      const own = { ...complete, PAYMENTS_SERVICE: name, PAYMENTS_FEE_POINTER: '/charge' };
      const said = { paymentsPaidStatuses: ['SETTLED'], paymentsFeePointer: '/charge' };
      expect(configOf(own).config).toMatchObject(said);
      expect(configOf({ ...own, PAYMENTS_FEE_POINTER: ' ' }).config.paymentsFeePointer).toBe('/fee');
      writeFileSync(file, 'PAYMENTS_CLIENT_SECRET_FILE=/x\nWEBHOOK_SECRETS__LAGOS=whsec_canary\n');
      expect(problemsOf(own)).toEqual([
        `openapi/services/${name}.env may not hold PAYMENTS_CLIENT_SECRET_FILE or WEBHOOK_SECRETS__LAGOS: put it into the environment.`,
      ]);
    } finally {
      rmSync(file);
    }
  });

  it('refuses an unknown name and lists the sets', () => {
    for (const PAYMENTS_SERVICE of ['nobody', '../services/specification']) {
      const [told, ...more] = problemsOf({ ...complete, PAYMENTS_SERVICE });
      expect(told).toMatch(/^PAYMENTS_SERVICE must be a set of openapi\/services: .*specification.*\.$/);
      expect(more).toEqual([]);
    }
  });

  it('has only readable sets, and the specification’s own changes nothing', () => {
    for (const PAYMENTS_SERVICE of serviceSets()) {
      const { kind, warnings } = readConfig({ ...complete, PAYMENTS_SERVICE });
      expect({ kind, warnings }).toEqual({ kind: 'read', warnings: [] });
    }
    const { config } = configOf({ ...complete, PAYMENTS_SERVICE: 'specification' });
    expect({ ...config, paymentsService: undefined }).toEqual(configOf(complete).config);
  });
});

describe('readConfig', () => {
  it('reads statuses and amounts as specified or as set, and refuses a status with two meanings', () => {
    expect(configOf(complete).config).toMatchObject({
      paymentsPaidStatuses: ['SUCCESS'],
      paymentsFinalStatuses: undefined,
      paymentsAmountPointer: '/amount',
      paymentsFeePointer: undefined,
    });
    const said = { PAYMENTS_PAID_STATUSES: 'SUCCESS,SETTLED', PAYMENTS_FEE_POINTER: '/fee' };
    expect(configOf({ ...complete, ...said }).config).toMatchObject({
      paymentsPaidStatuses: ['SUCCESS', 'SETTLED'],
      paymentsFeePointer: '/fee',
    });
    for (const wrong of [
      { ...said, PAYMENTS_FINAL_STATUSES: 'FAILED,SETTLED' },
      { ...said, PAYMENTS_GIVEN_BACK_STATUSES: 'REFUNDED,SETTLED' },
      { WEBHOOK_KINDS: 'refund=gone' },
      { WEBHOOK_KINDS: 'payment_failed=success' },
      { WEBHOOK_KINDS: 'a=failed,A=success' },
      { PAYMENTS_FINAL_STATUSES: 'FAILED', PAYMENTS_GIVEN_BACK_STATUSES: 'FAILED' },
      { PAYMENTS_FEE_POINTER: 'fee' },
      { PAYMENTS_PAID_STATUSES: ',' },
    ]) {
      expect(problemsOf({ ...complete, ...wrong })).toHaveLength(1);
    }
  });

  it('refuses to remember alerts for less time than a snooze of a week', () => {
    expect(problemsOf({ ...complete, WEBHOOK_REMEMBER_DAYS: '7' })).toEqual([
      expect.stringContaining('WEBHOOK_REMEMBER_DAYS'),
    ]);
    expect(problemsOf({ ...complete, WEBHOOK_REMEMBER_DAYS: '8', ALERT_DETAILS_DAYS: '7' })).toEqual([]);
  });

  it('forwards only by TLS, on this machine or to a named host, and never to this bot itself', () => {
    function toldOf(url: string, more: Record<string, string> = {}): string[] {
      return problemsOf({ ...complete, WEBHOOK_FORWARD_URL: url, ...more });
    }
    const fine = [
      ['https://shop.example.com/hooks/?key=1'],
      ['http://localhost:4000/hooks'],
      ['http://127.0.0.1:3001/hooks'],
      ['http://backend:8080/hooks', { WEBHOOK_FORWARD_HTTP_HOSTS: 'other, backend' }],
      ['http://127.0.0.1/hooks'],
      // One proxy may serve both.
      [
        'https://pay.example.com/webhooks/payments-backend',
        { PUBLIC_URL: 'https://pay.example.com', MERCHANT_NAME: 'Shop' },
      ],
    ] as const;
    for (const [url, more] of fine) expect(toldOf(url, more)).toEqual([]);
    expect(
      configOf({ ...complete, WEBHOOK_FORWARD_URL: 'https://a.example/x/' }).config.webhookForwardUrl,
    ).toBe('https://a.example/x/');
    expect(toldOf('http://backend:8080/hooks')).toEqual([
      expect.stringContaining('WEBHOOK_FORWARD_HTTP_HOSTS'),
    ]);
    for (const wrong of [
      'shop.example.com',
      'ftp://shop.example.com',
      'https://ada:secret@shop.example.com',
    ]) {
      expect(toldOf(wrong)).toEqual([expect.stringContaining('WEBHOOK_FORWARD_URL must be an absolute URL')]);
    }
    const itself = [
      ['http://127.0.0.1:3000/webhooks/payments'],
      ['http://[::1]:3000/anywhere'],
      ['http://localhost:9090/metrics', { METRICS_PORT: '9090' }],
      ['https://localhost/webhooks/payments', { PORT: '443' }],
      [
        'https://pay.example.com/webhooks/payments/lagos',
        { PUBLIC_URL: 'https://pay.example.com', MERCHANT_NAME: 'Shop' },
      ],
    ] as const;
    for (const [url, more] of itself) {
      expect(toldOf(url, more)).toEqual([expect.stringContaining('leads to this bot itself')]);
    }
  });

  it('lets customers type codes only with a page, a merchant name and, in live, TLS', () => {
    const page = { ...complete, PUBLIC_URL: 'https://pay.example.com', MERCHANT_NAME: 'Lagos Store' };
    expect(problemsOf({ ...page, OTP_ENTRY: 'customer' })).toEqual([]);
    expect(problemsOf({ ...page, PUBLIC_URL: 'http://pay.example.com' })).toEqual([
      expect.stringContaining('PUBLIC_URL must start with https://'),
    ]);
    expect(problemsOf({ ...complete, OTP_ENTRY: 'customer' })).toEqual([
      expect.stringContaining('PUBLIC_URL is missing'),
    ]);
    expect(problemsOf({ ...page, MERCHANT_NAME: '' })).toEqual([
      expect.stringContaining('MERCHANT_NAME is missing'),
    ]);
    expect(problemsOf({ ...page, MERCHANT_NAME: '', OTP_ENTRY: 'agent' })).toEqual([]);
  });

  it('forgets no alert before its message is edited down', () => {
    const alike = { ...complete, WEBHOOK_REMEMBER_DAYS: '20', ALERT_DETAILS_DAYS: '20' };
    expect(problemsOf(alike)).toEqual([expect.stringContaining('ALERT_DETAILS_DAYS must be less')]);
    expect(problemsOf({ ...alike, ALERT_DETAILS_DAYS: '19' })).toEqual([]);
    expect(problemsOf({ ...alike, ALERT_DETAILS_DAYS: '0' })).toEqual([]);
  });

  it('stops a single bot without a drain, and drains replicas for five seconds', () => {
    expect(drainSecondsOf(configOf({ ...complete, STOP_SECONDS: '3' }).config)).toBe(0);
    const shared = {
      ...complete,
      REDIS_URL: 'redis://127.0.0.1:6379',
      SEALING_KEYS: `k1:${Buffer.alloc(32).toString('base64')}`,
    };
    expect(drainSecondsOf(configOf(shared).config)).toBe(5);
    expect(problemsOf({ ...shared, STOP_SECONDS: '3' })).toEqual([
      expect.stringContaining('STOP_SECONDS must be more than DRAIN_SECONDS'),
    ]);
  });

  it('reads a whole configuration, with defaults, frozen', () => {
    const { config, warnings } = configOf(complete);
    expect(config).toMatchObject({
      port: 3000,
      slackMode: 'http',
      paymentsBaseUrl: 'https://payments.test',
      webhookRememberDays: 30,
      redisUrl: undefined,
      redisWaitReplicas: 0,
      policy: { channels: { alerts: 'C0ALERTS01' }, roles: { agent: { users: ['U0AGENT01'], groups: [] } } },
    });
    expect(Object.isFrozen(config)).toBe(true);
    expect(warnings).toEqual([]);
  });

  it('reports every problem at once, and calls no unreadable setting missing', () => {
    const problems = problemsOf({
      PORT: 'eighty',
      LOG_LEVEL: 'loud',
      PAYMENTS_ENVIRONMENT: 'live',
      PAYMENTS_BASE_URL: 'ftp://x',
      PAYOPS_FILE: 'none.yml',
    });
    expect(problems).toEqual([
      'PORT must be a whole number from 0 to 65535.',
      'LOG_LEVEL must be debug or info or warn or error.',
      'PAYMENTS_BASE_URL must be an absolute URL that starts with https:// or http://.',
      'The policy file none.yml cannot be read (ENOENT): copy payops.example.yml and fill it in, or name yours in PAYOPS_FILE.',
      expect.stringContaining('SLACK_BOT_TOKEN is missing'),
      expect.stringContaining('SLACK_SIGNING_SECRET is missing'),
      expect.stringContaining('PAYMENTS_ACCOUNT_ID is missing'),
      expect.stringContaining('PAYMENTS_TOKEN_ISSUE_BODY is missing'),
    ]);
  });

  it('refuses a misspelt setting and names the nearest: a limit that is not read would not apply', () => {
    expect(problemsOf({ ...complete, SLACK_SIGNIN_SECRET: 'x', CHARGE_RETRY_ATTEMPT: '1' })).toEqual([
      'SLACK_SIGNIN_SECRET is not a setting. Did you mean SLACK_SIGNING_SECRET?',
      'CHARGE_RETRY_ATTEMPT is not a setting. Did you mean CHARGE_RETRY_ATTEMPTS?',
    ]);
  });

  it('warns of an unknown name with one of its own prefixes, and ignores all others', () => {
    const { warnings } = configOf({ ...complete, WEBHOOK_COLOUR: 'blue', HOME: '/', PATH: '/bin' });
    expect(warnings).toEqual([expect.stringContaining('WEBHOOK_COLOUR')]);
  });

  it.each([
    ['LOG_LEVLE', 'LOG_LEVEL'],
    ['WORK_LEASE_SECOND', 'WORK_LEASE_SECONDS'],
    ['DATA_DIRR', 'DATA_DIR'],
    ['CARD_LEGDER', 'CARD_LEDGER'],
    ['slack_app_token', 'SLACK_APP_TOKEN'],
  ])('warns that %s was probably meant to be %s, and starts: it may be another program’s', (slip, right) => {
    expect(warningsOf({ [slip]: 'x' })).toEqual([`${slip} is not a setting. Did you mean ${right}?`]);
    expect(problemsOf({ ...complete, [slip]: 'x' })).toEqual([]);
  });

  it('ignores a name that resembles a setting which is set too', () => {
    expect(warningsOf({ DATA_DIRS: '/a', DATA_DIR: '/b' })).toEqual([]);
  });

  it('warns of a misspelt prefix, beside the setting that is missing because of it', () => {
    const { SLACK_BOT_TOKEN: token, ...rest } = complete;
    expect(readConfig({ ...rest, SLAK_BOT_TOKEN: token })).toEqual({
      kind: 'refused',
      problems: [expect.stringContaining('SLACK_BOT_TOKEN is missing')],
      warnings: ['SLAK_BOT_TOKEN is not a setting. Did you mean SLACK_BOT_TOKEN?'],
    });
  });

  it('ignores the variables of other programs', () => {
    const foreign =
      'HOME HOSTNAME HOSTTYPE PATH PORT_3000_TCP PORTS POST LOGNAME LOG_FORMAT LOG_FILE LANG DATABASE_URL ' +
      'DATA_PATH NODE_ENV NODE_OPTIONS TZ PWD OLDPWD SHLVL TERM USER MAIL SHELL XDG_DATA_DIRS LOGDIR WORKDIR ' +
      'KUBERNETES_SERVICE_HOST KUBERNETES_PORT npm_config_cache INIT_CWD HTTP_PROXY NO_PROXY CI EDITOR';
    expect(warningsOf(Object.fromEntries(foreign.split(' ').map((name) => [name, 'x'])))).toEqual([]);
  });

  it('refuses an impossible signing secret, and a live service without TLS on another machine', () => {
    for (const secret of ['xoxb-123', 'your-signing-secret', 'a1b2c3'])
      expect(problemsOf({ ...complete, SLACK_SIGNING_SECRET: secret })).toEqual([
        expect.stringMatching(/^SLACK_SIGNING_SECRET must be a Slack signing secret, 32 hex/),
      ]);
    for (const host of ['pay.example.com', '127.example.com'])
      expect(problemsOf({ ...complete, PAYMENTS_BASE_URL: `http://${host}` })).toEqual([
        expect.stringContaining('must start with https://'),
      ]);
    expect(problemsOf({ ...complete, PAYMENTS_BASE_URL: 'http://127.0.0.1:8080' })).toEqual([]);
    expect(problemsOf({ ...complete, PAYMENTS_BASE_URL: 'HTTP://payments.test' })).toHaveLength(1);
  });

  it('warns of a remote Redis without TLS or a password, of short secrets and of secret files that all may read', () => {
    const keys = { SEALING_KEYS: `k1:${Buffer.alloc(32).toString('base64')}` };
    const plain = expect.stringContaining('REDIS_URL has no TLS');
    const open = expect.stringContaining('REDIS_URL has no password');
    expect(warningsOf({ ...keys, REDIS_URL: 'redis://redis.example.com:6379' })).toEqual([plain, open]);
    expect(warningsOf({ ...keys, REDIS_URL: 'redis+cluster://10.0.0.1:1,127.0.0.1:1' })).toEqual([
      plain,
      open,
    ]);
    expect(warningsOf({ ...keys, REDIS_URL: 'rediss://redis.example.com:6379' })).toEqual([open]);
    expect(warningsOf({ ...keys, REDIS_URL: 'rediss://bot:word@redis.example.com:6379' })).toEqual([]);
    expect(warningsOf({ ...keys, REDIS_URL: 'redis+cluster://:word@10.0.0.1:1' })).toEqual([plain]);
    expect(warningsOf({ ...keys, REDIS_URL: 'redis://localhost:6379' })).toEqual([]);
    expect(warningsOf({ WEBHOOK_SECRETS: 'long-enough-to-be-one,short' })).toEqual([
      expect.stringContaining('WEBHOOK_SECRETS has a secret of less than 16 characters'),
    ]);
    const file = fileOf('long-enough-to-be-one\n');
    chmodSync(file, 0o644);
    expect(warningsOf({ WEBHOOK_SECRETS_FILE: file })).toEqual([
      expect.stringContaining(
        `Every user of this machine may read ${file} (WEBHOOK_SECRETS_FILE): chmod 600`,
      ),
    ]);
    chmodSync(file, 0o640);
    expect(warningsOf({ WEBHOOK_SECRETS_FILE: file })).toEqual([]);
  });

  it('reads a secret from the file that NAME_FILE names', () => {
    const { PAYMENTS_STATIC_TOKEN: _inline, ...rest } = complete;
    const { config } = configOf({ ...rest, PAYMENTS_STATIC_TOKEN_FILE: fileOf('from-a-file\n') });
    expect(config.paymentsStaticToken).toBe('from-a-file');
  });

  it('refuses a secret given twice, and a missing file', () => {
    expect(problemsOf({ ...complete, PAYMENTS_STATIC_TOKEN_FILE: fileOf('x') })).toEqual([
      'PAYMENTS_STATIC_TOKEN and PAYMENTS_STATIC_TOKEN_FILE are both set: keep one of them.',
    ]);
    expect(problemsOf({ ...complete, WEBHOOK_SECRETS_FILE: '/no/such/file' })[0]).toContain(
      'WEBHOOK_SECRETS_FILE',
    );
  });

  it('never repeats a secret in a problem', () => {
    const broken = {
      ...complete,
      SLACK_BOT_TOKEN: 'canary bot',
      REDIS_URL: 'canary://user:pass@host',
      SEALING_KEYS: 'canary',
    };
    const problems = problemsOf(broken);
    expect(problems).toHaveLength(3);
    expect(problems.join('\n')).not.toContain('canary');
  });

  it.each([
    [
      'two sealing keys of one id',
      { SEALING_KEYS: [1, 2].map((n) => `k1:${Buffer.alloc(32, n).toString('base64')}`).join() },
      'SEALING_KEYS must be id:key pairs with an id of its own each',
    ],
    ['Redis without shared sealing keys', { REDIS_URL: 'redis://localhost' }, 'SEALING_KEYS is missing'],
    ['a recipe without a secret', { WEBHOOK_SIGNATURE_PRESET: 'raw-body' }, 'WEBHOOK_SECRETS is missing'],
    [
      'a lease shorter than the calls it covers',
      { WORK_LEASE_SECONDS: '29' },
      'WORK_LEASE_SECONDS must be at least PAYMENTS_TIMEOUT_SECONDS + 2 × SLACK_TIMEOUT_SECONDS + 2, which is 30,',
    ],
    [
      'a call that may outlast its charge',
      { PAYMENTS_TIMEOUT_SECONDS: '26', WORK_LEASE_SECONDS: '60' },
      'PAYMENTS_TIMEOUT_SECONDS must be a whole number from 1 to 25',
    ],
    [
      'a decline that is forgotten while its card is on hold',
      { CHARGE_RETRY_FORGET_DAYS: '3', CHARGE_RETRY_WAIT_HOURS: '73' },
      'CHARGE_RETRY_FORGET_DAYS must be at least as long as CHARGE_RETRY_WAIT_HOURS',
    ],
    [
      'a currency that is not a code',
      { CHARGE_CURRENCIES: 'NGN,ngn' },
      'CHARGE_CURRENCIES must be three-letter',
    ],
    ['no currency at all', { CHARGE_CURRENCIES: ',' }, 'CHARGE_CURRENCIES must be three-letter'],
    ['a field twice', { ACCOUNT_NEW_FIELDS: 'a!,a' }, 'ACCOUNT_NEW_FIELDS must be field names'],
    ['Socket Mode without an app token', { SLACK_MODE: 'socket' }, 'SLACK_APP_TOKEN is missing'],
    [
      'a token body that is not JSON',
      { PAYMENTS_TOKEN_ISSUE_BODY: '{nope' },
      'PAYMENTS_TOKEN_ISSUE_BODY must be a JSON object',
    ],
    [
      'a token body with an unknown placeholder',
      { PAYMENTS_TOKEN_ISSUE_BODY: '{"id":["{{CLIENT_IDD}}"]}' },
      'PAYMENTS_TOKEN_ISSUE_BODY may hold no other places than {{CLIENT_ID}}, {{CLIENT_SECRET}} and {{ACCOUNT_ID}}',
    ],
    [
      'a token body with a misspelt placeholder',
      { PAYMENTS_TOKEN_REFRESH_BODY: '{"token":"{{ refreshToken }}"}' },
      'PAYMENTS_TOKEN_REFRESH_BODY may hold no other places than',
    ],
    [
      'a token body whose secret is missing',
      { PAYMENTS_TOKEN_ISSUE_BODY: '{"id":"{{CLIENT_ID}}"}', PAYMENTS_STATIC_TOKEN: '' },
      'PAYMENTS_CLIENT_ID is missing: PAYMENTS_TOKEN_ISSUE_BODY has {{CLIENT_ID}}',
    ],
    [
      'a token that is not a bot’s',
      { SLACK_BOT_TOKEN: 'xoxp-of-a-person' },
      'SLACK_BOT_TOKEN must be a Slack bot token, which starts with xoxb-',
    ],
    [
      'a token in quotation marks, which Docker’s env files keep',
      { SLACK_BOT_TOKEN: '“xoxb-canary”' },
      'starts with xoxb-; leave the quotation marks out.',
    ],
    [
      'a token copied from a page that shortens it',
      { SLACK_BOT_TOKEN: 'xoxb-…' },
      'SLACK_BOT_TOKEN must be a Slack bot token, which starts with xoxb-',
    ],
  ])('refuses %s', (_what, variables, words) => {
    expect(problemsOf({ ...complete, ...variables })).toEqual([expect.stringContaining(words)]);
  });

  it.each([
    { WORK_LEASE_SECONDS: '30' },
    { PAYMENTS_TIMEOUT_SECONDS: '3', SLACK_TIMEOUT_SECONDS: '2', WORK_LEASE_SECONDS: '9' },
  ])('takes a lease that just covers its calls: %o', (variables) => {
    expect(configOf({ ...complete, ...variables }).config.workLeaseSeconds).toBe(
      Number(variables.WORK_LEASE_SECONDS),
    );
  });

  it('drops the problems of a check that reads an unreadable setting', () => {
    const judged: unknown[] = [];
    const checks: SettingsCheck[] = [
      ({ port }) => `port ${port}`,
      ({ policy }) => [`alerts ${policy.channels.alerts}`],
      ({ port, logLevel }) => {
        judged.push(port, logLevel);
        return false;
      },
    ];
    const result = readConfig({ ...complete, LOG_LEVEL: 'loud' }, checks);
    expect(result.kind === 'refused' && result.problems).toEqual([
      'LOG_LEVEL must be debug or info or warn or error.',
      'port 3000',
      'alerts C0ALERTS01',
    ]);
    const withoutPolicy = readConfig({ ...complete, PAYOPS_FILE: fileOf('channels: [') }, checks);
    expect(withoutPolicy.kind === 'refused' && withoutPolicy.problems).toEqual([
      expect.stringContaining('line 1'),
      'port 3000',
    ]);
    expect(judged).toEqual([3_000, 'info']);
  });
});
