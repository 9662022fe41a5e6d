import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { DatabaseSync } from 'node:sqlite';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@keyv/redis';
import { describe, expect, it, type TestContext } from 'vitest';
import { openSqliteStore } from '../../src/store/sqlite-store.ts';
import { runHere } from '../support/desk.ts';
import {
  behind,
  inStore,
  openStage,
  webPage,
  type Broken,
  type Finding,
  type Stage,
} from '../support/examined.ts';
import { bySocket, type House } from '../support/house.ts';
import { findProgram } from '../support/programs.ts';
import { freePort, redisOf, type RedisServer } from '../support/redis-server.ts';

type Env = Record<string, string>;

type SetUp = Broken & {
  /** Each broken part, with words of the finding and of its fix; and its severity, if not a problem. */
  found: Record<string, readonly [says: string, fix: string, state?: 'warning']>;
  /** Does what the fix says; returns the settings that it changes. */
  tries: (stage: Stage, test: TestContext) => Promise<Env | void> | Env | void;
};

const sealing = { SEALING_KEYS: `k1:${Buffer.alloc(32, 'doctors-key-canary').toString('base64')}` };
const password = 'redis-password-canary-4471';

/** A fault of a Redis with these arguments. `broken`: an unusable address; `mended`: the address after the fix. */
function ofRedis(
  args: readonly string[],
  found: readonly [says: string, fix: string],
  {
    broken = (url: string) => url,
    mended = (url: string) => url,
    also = undefined as ((server: RedisServer) => Promise<void>) | undefined,
  },
): SetUp {
  let server: RedisServer | undefined;
  return {
    async breaks(_house, test) {
      server = await redisOf(test, ...args);
      return { REDIS_URL: broken(server.url), ...sealing };
    },
    found: { Store: found },
    async tries() {
      if (!server) throw new Error('There is no Redis.');
      await also?.(server);
      return { REDIS_URL: mended(server.url) };
    },
  };
}

function by(login: string): (url: string) => string {
  return (url) => url.replace('//', `//${login}@`);
}

async function tell(server: RedisServer, ...words: string[]): Promise<void> {
  const client = createClient({ url: server.url });
  await client.connect();
  await client.sendCommand(words);
  client.destroy();
}

/** A key, and a self-signed certificate for 127.0.0.1. */
function certified(test: TestContext): { key: string; cert: string } {
  const folder = mkdtempSync(join(tmpdir(), 'payops-tls-'));
  test.onTestFinished(() => rmSync(folder, { recursive: true }));
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const made = `req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1 -keyout ${key} -out ${cert}`;
  execFileSync('openssl', made.split(' '), { stdio: 'ignore' });
  return { key, cert };
}

/** A Redis whose port speaks only TLS. */
async function tlsRedis(test: TestContext): Promise<{ port: number; cert: string }> {
  const { key, cert } = certified(test);
  const port = await freePort();
  const tls = `--port 0 --tls-port ${port} --tls-cert-file ${cert} --tls-key-file ${key} --tls-ca-cert-file ${cert} --tls-auth-clients no`;
  await redisOf(test, ...tls.split(' '));
  return { port, cert };
}

/** The payments service behind TLS. */
async function tlsService(house: House, test: TestContext): Promise<{ port: number; cert: string }> {
  const { key, cert } = certified(test);
  const plain = await behind(house, test, {});
  const server = createTlsServer(
    { key: readFileSync(key), cert: readFileSync(cert) },
    (request, response) =>
      void (async () => {
        const body = request.method === 'POST' ? { body: request, duplex: 'half' } : {};
        const { authorization = '', accountid = '' } = request.headers;
        const answer = await fetch(plain + (request.url ?? ''), {
          method: request.method ?? 'GET',
          headers: { authorization, accountid: String(accountid), 'content-type': 'application/json' },
          ...body,
        } as RequestInit);
        response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text());
      })(),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  test.onTestFinished(() => void server.close());
  return { port: (server.address() as AddressInfo).port, cert };
}

function rewrite(house: House, change: (policy: string) => string): void {
  writeFileSync(house.policyFile, change(readFileSync(house.policyFile, 'utf8')));
}

/** Runs a bot while `work` runs. */
async function whileRunning(
  { house }: Pick<Stage, 'house'>,
  env: Env,
  work: () => Promise<unknown>,
): Promise<void> {
  const bot = house.bot(env);
  await house.start(bot);
  await work();
  await bot.stop();
}

async function refusesOne(house: House, env: Env): Promise<Env> {
  await whileRunning({ house }, env, async () => {
    expect(await house.sendEvent(failure)).toBe(401);
    await house.until('it is on record', async () => (await house.storeDump()).includes('webhook-refused'));
  });
  return env;
}

const failure = { event: 'payment_failed', orderReference: 'ORDER-9', amount: '10.00', currency: 'NGN' };

/** Sends a delivery that is now accepted. */
async function takesOne({ house, settings }: Stage, env: Env): Promise<Env> {
  await whileRunning({ house }, { ...settings, ...env }, async () => {
    await house.decline();
    await house.payments.settled();
  });
  return env;
}

/** Not a setting of the bot: the path of the certificate, for this test. */
const certOf = 'CERT_OF_TEST';

function trusts({ settings }: Stage): Env {
  return { NODE_EXTRA_CA_CERTS: settings[certOf] ?? '' };
}

const redisSetUps: Record<string, SetUp> = {
  'a Redis whose password is missing from the address': ofRedis(
    ['--requirepass', password],
    ['wants a password (NOAUTH)', 'redis://:password@'],
    { mended: by(`:${password}`) },
  ),
  'a Redis with another password': ofRedis(
    ['--requirepass', password],
    ['refuses the user or the password (WRONGPASS)', 'redis://user:password@'],
    { broken: by(':another-password-canary'), mended: by(`:${password}`) },
  ),
  'a Redis user who may do too little': ofRedis(
    ['--user', 'payops', 'on', `>${password}`, '~*', '+ping', '+hello', '+client'],
    ['(NOPERM)', 'ACL SETUSER <user> ~* +@all -@dangerous +info +config|get'],
    {
      broken: by(`payops:${password}`),
      mended: by(`payops:${password}`),
      also: (server) =>
        tell(server, ...'ACL SETUSER payops ~* +@all -@dangerous +info +config|get'.split(' ')),
    },
  ),
  'a Redis with TLS whose address says none': {
    async breaks(_house, test) {
      const { port, cert } = await tlsRedis(test);
      return { REDIS_URL: `redis://127.0.0.1:${port}`, [certOf]: cert, ...sealing };
    },
    found: { Store: ['closes the connection at once', 'write rediss:// in REDIS_URL'] },
    tries: (stage) => ({
      REDIS_URL: (stage.settings['REDIS_URL'] ?? '').replace('redis:', 'rediss:'),
      ...trusts(stage),
    }),
  },
  'a Redis whose certificate has an unknown authority': {
    async breaks(_house, test) {
      const { port, cert } = await tlsRedis(test);
      return { REDIS_URL: `rediss://127.0.0.1:${port}`, [certOf]: cert, ...sealing };
    },
    found: { Store: ['does not trust the certificate', 'NODE_EXTRA_CA_CERTS'] },
    tries: trusts,
  },
  'a Redis without TLS whose address says so': ofRedis(
    [],
    ['does not answer in time', 'write redis:// and not rediss://'],
    { broken: (url) => url.replace('redis:', 'rediss:') },
  ),
  'a Redis with a database that it does not have': ofRedis(
    [],
    ['no database of that number', 'at the end of REDIS_URL'],
    { broken: (url) => `${url}/99` },
  ),
  'something else where Redis should be': {
    breaks: async (_house, test) => ({
      REDIS_URL: (await webPage(test, 200)).replace('http:', 'redis:'),
      ...sealing,
    }),
    found: { Store: ['is not Redis', 'Check host and port in REDIS_URL'] },
    tries: async (_stage, test) => ({ REDIS_URL: (await redisOf(test)).url }),
  },
  'a Redis with an unknown host name': {
    env: { REDIS_URL: 'redis://redis.invalid:6379', ...sealing },
    found: { Store: ['has no address', 'Check the host in REDIS_URL'] },
    tries: async (_stage, test) => ({ REDIS_URL: (await redisOf(test)).url }),
  },
  'a Redis that forgets when it starts again': {
    redis: ['--appendonly', 'no'],
    found: {
      'Store durability': ['a restart of Redis forgets everything', 'Set appendonly to yes', 'warning'],
    },
    async tries({ settings }) {
      const client = createClient({ url: settings['REDIS_URL'] ?? '' });
      await client.connect();
      await client.configSet('appendonly', 'yes');
      client.destroy();
    },
  },
  'a move to Redis that was interrupted': {
    async breaks(house, test) {
      await inStore(house, (store) => store.create('once:x', ''));
      const server = await redisOf(test);
      await tell(server, 'MSET', '{payops}:schema', 'moving', '{payops}:version', '0');
      return { REDIS_URL: server.url, ...sealing };
    },
    found: { Store: ['was interrupted', 'Run npm run move-store again'] },
    async tries({ settings }) {
      expect(await runHere(['move-store'], settings)).toMatchObject({ code: 0, stderr: '' });
    },
  },
};

const setUps: Record<string, SetUp> = {
  'a store file of a newer release': {
    breaks: (house) => schemaOf(house, 99),
    found: { Store: ['newer Payops (schema 99', 'Run that version again'] },
    // This release plays the newer one: it opens schema 3.
    tries: ({ house }) => schemaOf(house, 3),
  },
  'a store that was moved to Redis': {
    breaks: (house) => schemaOf(house, 1_000_000),
    found: { Store: ['were moved to Redis', 'Set REDIS_URL'] },
    tries: async (_stage, test) => (hasRedis ? { REDIS_URL: (await redisOf(test)).url, ...sealing } : {}),
  },
  'a sealing key that is cut short': {
    async breaks(house) {
      await inStore(house, async () => undefined);
      writeFileSync(join(house.dataDir, 'sealing.key'), Buffer.alloc(16, 7), { mode: 0o600 });
    },
    found: { Store: ['holds 16 bytes instead of 32', 'Restore it from a backup'] },
    tries: ({ house }) => writeFileSync(join(house.dataDir, 'sealing.key'), Buffer.alloc(32, 7)),
  },
  'a store that tests have written to': {
    breaks: (house) =>
      inStore(house, (store) =>
        store.create('merchant:', `${house.settings()['PAYMENTS_ACCOUNT_ID']} (sandbox)`),
      ),
    found: { 'Store owner': ['of the environment sandbox', 'Give the bot a new store'] },
    tries: ({ house }) => ({ DATA_DIR: join(house.folder, 'live') }),
  },
  'a store file that others may read': {
    async breaks(house) {
      await inStore(house, async () => undefined);
      chmodSync(join(house.dataDir, 'payops.sqlite'), 0o644);
    },
    found: { 'Store file': ['may be read by others (mode 0644)', 'chmod 600', 'warning'] },
    tries: ({ house }) => chmodSync(join(house.dataDir, 'payops.sqlite'), 0o600),
  },
  'a store file that is damaged': {
    async breaks(house) {
      await inStore(house, async () => undefined);
      const path = join(house.dataDir, 'payops.sqlite');
      copyFileSync(path, `${path}.whole`);
      for (const part of ['', '-wal', '-shm']) rmSync(path + part, { force: true });
      writeFileSync(path, 'no database at all, '.repeat(500));
    },
    found: { Store: ['damaged', 'copy DATA_DIR to a safe place before you change anything'] },
    tries({ house }) {
      const path = join(house.dataDir, 'payops.sqlite');
      renameSync(`${path}.whole`, path);
    },
  },
  'work that no bot does': {
    async breaks(house) {
      const path = join(house.dataDir, 'payops.sqlite');
      const store = openSqliteStore({ path, now: () => Date.now() - 900_000 });
      await store.create('alarm:ORDER-7', '0', { delayMs: 0 });
      await store.close();
    },
    found: { 'Due work': ['due for 15 minutes, and no bot does it', 'Start the bot'] },
    tries: (stage) =>
      whileRunning(stage, {}, () =>
        stage.house.until('it is done', async () => (await stage.house.workLeft()) === 0),
      ),
  },
  'metrics that anyone may read': {
    env: { HOST: '0.0.0.0' },
    found: { Metrics: ['/metrics and /readyz answer everybody', 'METRICS_TOKEN', 'warning'] },
    tries: () => ({ METRICS_TOKEN: 'metrics-token-canary-77' }),
  },
  'no channel for the people who run the bot': {
    policy: (policy) => policy.replace(/ {2}ops: .*\n/, ''),
    found: { Operators: ['told in the log alone', 'channels.ops', 'warning'] },
    tries: ({ house }) => rewrite(house, (policy) => policy.replace('  desk:', `  ops: C0OPS00001\n  desk:`)),
  },
  'a channel that another company reads': {
    breaks: ({ workspace }) => workspace.setChannel('C0DESK0001', { isShared: true }),
    found: { 'Channel C0DESK0001': ['another company', 'Set another channel', 'warning'] },
    tries: ({ house }) => rewrite(house, (policy) => policy.replaceAll('C0DESK0001', 'C0GENERAL1')),
  },
  'an approver who is the only one': {
    policy: (policy) => policy.replace(/( {2}pay-ops:\n {4}users: )\[.*\]/, '$1[U0LEAD0001]'),
    found: { Approvals: ['nobody can approve', 'permission approve', 'warning'] },
    tries: ({ house }) =>
      rewrite(house, (policy) =>
        policy.replace('[U0LEAD0001]\n    may: [alerts', '[U0LEAD0001, U0ONCALL01]\n    may: [alerts'),
      ),
  },
  'two approvers who are needed, one of whom has left': {
    policy: (policy) =>
      policy
        .replace(/( {2}pay-ops:\n {4}users: )\[.*\]/, '$1[U0LEAD0001, U0FORMER01]')
        .replace('amount_from: 100000.00', 'amount_from: 100000.00, needed: 2'),
    found: {
      Approvals: ['only 1 can', 'permission approve'],
      'Role pay-ops': ['U0FORMER01 (deactivated)', 'roles.pay-ops', 'warning'],
    },
    tries: ({ house }) => rewrite(house, (policy) => policy.replace('U0FORMER01', 'U0ONCALL01, U0AGENT01')),
  },
  ...(bySocket
    ? {}
    : {
        'a signing secret of another app': {
          async breaks(house) {
            const wrong = { SLACK_SIGNING_SECRET: 'ab'.repeat(16) };
            await whileRunning({ house }, wrong, async () => {
              await house.type('agent', '/pay help').catch(() => undefined);
              await house.until('it is on record', async () =>
                (await house.storeDump()).includes('slack-refused'),
              );
            });
            return wrong;
          },
          found: {
            'Slack requests': ['its signature is not by our signing secret', 'Set SLACK_SIGNING_SECRET'],
          },
          async tries({ house }: Stage) {
            const { signingSecret } = house.workspace.credentials;
            const right = { SLACK_SIGNING_SECRET: signingSecret };
            await whileRunning({ house }, right, async () => {
              await house.type('agent', '/pay help');
              await house.until(
                'it is forgotten',
                async () => (await house.storeKeys('slack-refused')).length === 0,
              );
            });
            return right;
          },
        } satisfies SetUp,
      }),
  'a web page in the place of Slack': {
    breaks: async (_house, test) => ({ SLACK_API_URL: `${await webPage(test, 200)}/api/` }),
    found: { 'Slack token': ['does not answer', 'SLACK_API_URL'] },
    tries: ({ house }) => ({ SLACK_API_URL: house.workspace.apiUrl }),
  },
  'a Slack with an unknown host name': {
    env: { SLACK_API_URL: 'http://slack.invalid/api/' },
    found: { 'Slack token': ['unreachable', 'SLACK_API_URL'] },
    tries: ({ house }) => ({ SLACK_API_URL: house.workspace.apiUrl }),
  },
  'a payments service whose paths begin elsewhere': {
    breaks: ({ payments }) => ({ PAYMENTS_BASE_URL: `${payments.url}/api` }),
    found: { 'Payments token': ['HTTP 404', 'PAYMENTS_BASE_URL'] },
    tries: ({ house }) => ({ PAYMENTS_BASE_URL: house.payments.url }),
  },
  'a gateway that knows no such path': {
    breaks: async (_house, test) => ({ PAYMENTS_BASE_URL: await webPage(test, 404) }),
    found: { 'Payments token': ['HTTP 404', 'PAYMENTS_BASE_URL'] },
    tries: ({ house }) => ({ PAYMENTS_BASE_URL: house.payments.url }),
  },
  'an access token that is looked for in the wrong place': {
    env: { PAYMENTS_ACCESS_TOKEN_POINTERS: '/token/value' },
    found: { 'Payments token': ['no usable access token at /token/value', 'PAYMENTS_ACCESS_TOKEN_POINTERS'] },
    tries: () => ({ PAYMENTS_ACCESS_TOKEN_POINTERS: '/data/accessToken,/data/access_token,/data/token' }),
  },
  'a token body with other names than the service’s': {
    env: { PAYMENTS_TOKEN_ISSUE_BODY: '{"client_id":"{{CLIENT_ID}}","client_secret":"{{CLIENT_SECRET}}"}' },
    found: { 'Payments token': ['refused to give an access token', 'PAYMENTS_TOKEN_ISSUE_BODY'] },
    tries: () => ({
      PAYMENTS_TOKEN_ISSUE_BODY: '{"clientId":"{{CLIENT_ID}}","clientSecret":"{{CLIENT_SECRET}}"}',
    }),
  },
  'a payments service with an unknown host name': {
    env: { PAYMENTS_BASE_URL: 'https://payments.invalid' },
    found: { 'Payments service': ['has no address', 'Check the host in PAYMENTS_BASE_URL'] },
    tries: ({ house }) => ({ PAYMENTS_BASE_URL: house.payments.url }),
  },
  'a port where no payments service listens': {
    breaks: async () => ({ PAYMENTS_BASE_URL: `http://127.0.0.1:${await freePort()}` }),
    found: { 'Payments service': ['nothing listens', 'PAYMENTS_BASE_URL'] },
    tries: ({ house }) => ({ PAYMENTS_BASE_URL: house.payments.url }),
  },
  'a port where no payments service listens, with a token that is given': {
    breaks: async () => ({
      PAYMENTS_BASE_URL: `http://127.0.0.1:${await freePort()}`,
      PAYMENTS_STATIC_TOKEN: 'static-token-canary',
    }),
    found: { 'Payments service': ['nothing listens', 'PAYMENTS_BASE_URL'] },
    tries: ({ house }) => ({ PAYMENTS_BASE_URL: house.payments.url, PAYMENTS_STATIC_TOKEN: '' }),
  },
  'a payments service without TLS whose address says so': {
    breaks: ({ payments }) => ({ PAYMENTS_BASE_URL: payments.url.replace('http:', 'https:') }),
    found: { 'Payments service': ['does not speak TLS', 'PAYMENTS_BASE_URL'] },
    tries: ({ house }) => ({ PAYMENTS_BASE_URL: house.payments.url }),
  },
  'a payments service whose certificate has an unknown authority': {
    async breaks(house, test) {
      const { port, cert } = await tlsService(house, test);
      return { PAYMENTS_BASE_URL: `https://127.0.0.1:${port}`, [certOf]: cert };
    },
    found: { 'Payments service': ['does not trust its certificate', 'NODE_EXTRA_CA_CERTS'] },
    tries: trusts,
  },
  'a payments service by a name that its certificate does not have': {
    async breaks(house, test) {
      const { port, cert } = await tlsService(house, test);
      return { PAYMENTS_BASE_URL: `https://localhost:${port}`, NODE_EXTRA_CA_CERTS: cert };
    },
    found: { 'Payments service': ['certificate', 'Use the name that the certificate has'] },
    tries: ({ settings }) => ({
      PAYMENTS_BASE_URL: (settings['PAYMENTS_BASE_URL'] ?? '').replace('localhost', '127.0.0.1'),
    }),
  },
  'a payments service that sends everybody elsewhere': {
    breaks: async ({ payments }, test) => ({
      PAYMENTS_BASE_URL: await webPage(test, 308, { location: `${payments.url}/` }),
    }),
    found: {
      'Payments service': ['sends the bot elsewhere', 'Put the address it leads to into PAYMENTS_BASE_URL'],
    },
    tries: ({ house }) => ({ PAYMENTS_BASE_URL: house.payments.url }),
  },
  'a payments service whose clock is ten minutes behind': {
    breaks: async (house, test) => ({ PAYMENTS_BASE_URL: await behind(house, test, { lateMs: 600_000 }) }),
    found: {
      'Payments clock': ['ahead of that of the payments service', 'tell the payments service', 'warning'],
    },
    tries: ({ house }) => ({ PAYMENTS_BASE_URL: house.payments.url }),
  },
  'events whose signature is looked for in another header': {
    breaks: (house) => refusesOne(house, { WEBHOOK_SIGNATURE_HEADER: 'x-other-signature' }),
    found: { 'Webhook deliveries': ['x-payments-signature', 'explain-delivery'] },
    tries: (stage) => takesOne(stage, { WEBHOOK_SIGNATURE_HEADER: 'x-payments-signature' }),
  },
  'events that are signed by another algorithm': {
    breaks: (house) => refusesOne(house, { WEBHOOK_SIGNATURE_ALGORITHM: 'sha256' }),
    found: { 'Webhook deliveries': ['not one of ours', 'explain-delivery'] },
    tries: (stage) => takesOne(stage, { WEBHOOK_SIGNATURE_ALGORITHM: 'sha512' }),
  },
  'events of a kind that the bot does not know': {
    breaks: (house) =>
      whileRunning({ house }, {}, async () => {
        expect(await house.sendEvent({ ...failure, event: 'charge.disputed' })).toBe(200);
        await house.until('it is on record', async () =>
          (await house.storeDump()).includes('webhook-unknown'),
        );
      }),
    found: { 'Webhook deliveries': ['“charge.disputed”', 'WEBHOOK_EVENT_POINTERS', 'warning'] },
    tries: (stage) => takesOne(stage, {}),
  },
};

let held: DatabaseSync | undefined;

/** Faults for which SQLite blocks the whole process while it waits for the file. */
const standstill: Record<string, SetUp> = {
  'a store file that another process holds': {
    async breaks(house) {
      await inStore(house, async () => undefined);
      held = new DatabaseSync(join(house.dataDir, 'payops.sqlite'));
      held.exec('pragma locking_mode = exclusive; begin exclusive');
    },
    found: { Store: ['another process holds the store file', 'Stop it, or let it end'] },
    tries: () => held?.close(),
  },
};

async function schemaOf(house: House, version: number): Promise<void> {
  const path = join(house.dataDir, 'payops.sqlite');
  if (version !== 3) await inStore(house, async () => undefined);
  const db = new DatabaseSync(path);
  db.exec(`pragma user_version = ${version}`);
  db.close();
}

const hasRedis = findProgram('redis-server') !== undefined;
const possible = { ...setUps, ...(hasRedis ? redisSetUps : {}) };
if (!hasRedis) console.warn('SKIPPED: fixes for a broken Redis, because redis-server is not installed.');

function isWrong({ part, state, says }: Finding): boolean {
  // A new set-up has had no event yet.
  if (part === 'Webhook deliveries' && says === 'None has come yet') return false;
  return state === 'problem' || state === 'warning';
}

/** The findings, and those left after the fix. */
async function examineTwice(setUp: SetUp, test: TestContext) {
  const stage = await openStage(test, setUp);
  const found = (await stage.examine()).findings.filter(isWrong);
  const tried = await setUp.tries(stage, test);
  const { findings, code } = await stage.examine(tried ?? {});
  return { found, left: findings.filter(isWrong), code };
}

function mended(setUp: SetUp) {
  const found = Object.entries(setUp.found).map(([part, [says, fix, state = 'problem']]) => ({
    part,
    state,
    says: expect.stringContaining(says),
    fix: expect.stringContaining(fix),
  }));
  return { found, left: [], code: 0 };
}

describe.concurrent('the doctor', () => {
  it.for(Object.entries(possible))('names %s, and is clean once its fix is done', async ([, setUp], test) => {
    expect(await examineTwice(setUp, test)).toEqual(mended(setUp));
  });
});

describe('the doctor of a store that blocks', () => {
  it.for(Object.entries(standstill))(
    'names %s, and is clean once its fix is done',
    async ([, setUp], test) => {
      expect(await examineTwice(setUp, test)).toEqual(mended(setUp));
    },
  );
});
