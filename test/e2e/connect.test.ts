import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { describe, expect, it, type TestContext } from 'vitest';
import { stringify } from 'yaml';
import { connectService } from '../../src/cli/connect/connect-service.ts';
import { connectSlack } from '../../src/cli/connect/connect-slack.ts';
import { connectWebhook } from '../../src/cli/connect/connect-webhook.ts';
import { type Conversation, questions, skipWord } from '../../src/cli/connect/conversation.ts';
import { openDraft } from '../../src/cli/connect/draft.ts';
import { runHere } from '../support/desk.ts';
import { openHouse, type House } from '../support/house.ts';
import { serveOnLoopback } from '../support/loopback.ts';
import { openOtherService, otherSettings, signOtherwise } from '../support/other-service.ts';
import { freePort } from '../support/redis-server.ts';

type Env = Record<string, string>;
type Stage = { house: House; url: string; folder: string; port: number };

/** A service that differs from all defaults, in a workspace; and a folder without any settings. */
async function openStage(test: TestContext, grantedOptionalScopes: 'all' | [] = 'all'): Promise<Stage> {
  const house = await openHouse(test, {
    payments: { sign: signOtherwise },
    workspace: { grantedOptionalScopes },
  });
  const other = await openOtherService(house.payments.url);
  const folder = mkdtempSync(join(tmpdir(), 'payops-connect-'));
  test.onTestFinished(async () => {
    await other.close();
    rmSync(folder, { recursive: true });
  });
  return { house, url: other.url, folder, port: await freePort() };
}

function answersOf({ house, url, folder, port }: Stage): Env {
  const { credentials } = house.payments;
  const { users } = house.workspace.ids;
  return {
    environment: 'live',
    address: url,
    account: credentials.accountId,
    client_id: credentials.clientId,
    client_secret: credentials.clientSecret,
    token_request: `curl -X POST '${url}/v1/auth/token/issue' -H 'accountId: …' \\
  -d '{"grant_type":"client_credentials","app_key":"<your key>","app_secret":"<your secret>"}'`,
    paid_reference: 'ORDER-1001',
    paid_amount: '12,500.00',
    cards_of: 'ada.obi@example.com',
    webhook_secret: credentials.webhookSecret,
    delivery: 'wait',
    slack_mode: 'socket',
    slack_bot_token: house.workspace.credentials.botToken,
    slack_app_token: house.workspace.credentials.appToken,
    alerts_channel: '#pay-alerts',
    desk_channel: 'pay-desk',
    ops_channel: house.workspace.ids.channels.payOps,
    members: `${users.agent}, ${users.lead}`,
    SLACK_API_URL: house.workspace.apiUrl,
    HOST: '127.0.0.1',
    PORT: String(port),
    DATA_DIR: join(folder, 'data'),
    PAYOPS_FILE: join(folder, 'payops.yml'),
  };
}

async function connect({ folder }: Stage, answers: Env, env: Env = {}) {
  const file = join(folder, 'answers.yml');
  const settings = join(folder, '.env');
  writeFileSync(file, stringify(answers));
  const end = await runHere(['connect', '--answers', file, '--settings', settings], env);
  for (const name of [
    'client_secret',
    'webhook_secret',
    'slack_bot_token',
    'slack_app_token',
    'slack_signing_secret',
  ]) {
    const secret = answers[name];
    if (secret === undefined || secret === skipWord) continue;
    expect(end.stdout.includes(secret) || end.stderr.includes(secret)).toBe(false);
  }
  return { ...end, settings };
}

describe('npm run connect', () => {
  it('finds every setting of a service that differs from all defaults, and ends with a clean doctor', async (test) => {
    const stage = await openStage(test);
    const { house, port, folder } = stage;
    house.payments.sendWebhooksTo(`http://127.0.0.1:${port}/webhooks/payments`);
    const connected = connect(stage, answersOf(stage));
    await house.decline();
    const { code, stdout, settings } = await connected;
    expect(stdout).not.toMatch(/❌|⚠️ (?!Webhook deliveries)/);
    expect(code).toBe(0);
    const wrote = parseEnv(readFileSync(settings, 'utf8')) as Env;
    const { WEBHOOK_SIGNATURE_ALGORITHM: _default, ...found } = otherSettings;
    expect(wrote).toMatchObject(found);
    expect(statSync(settings).mode & 0o077).toBe(0);
    // The bot and its commands accept the written settings.
    const looked = await runHere(['lookup', 'ORDER-1001', '12,500.00'], wrote);
    expect(looked).toMatchObject({ code: 0, stdout: expect.stringContaining('12,500.00') });
    // A second run adds nothing.
    const { paid_reference = '', paid_amount = '', cards_of = '', ...places } = answersOf(stage);
    const { HOST, SLACK_API_URL } = places;
    const again = await connect(stage, { paid_reference, paid_amount, cards_of }, {
      ...wrote,
      HOST,
      SLACK_API_URL,
    } as Env);
    expect(again).toMatchObject({ code: 0, stdout: expect.stringContaining('Nothing was written.') });
    // A file that can't be written is no success, even if the doctor finds nothing wrong.
    const answers = join(folder, 'answers.yml');
    const nowhere = join(folder, 'missing', '.env');
    writeFileSync(answers, stringify({ LOG_LEVEL: 'warn' }));
    const words = ['connect', '--answers', answers, '--settings', nowhere];
    const unwritten = await runHere(words, { ...wrote, HOST, SLACK_API_URL } as Env);
    expect(unwritten.stdout).toContain(`❌ ${nowhere} cannot be written (ENOENT)`);
    expect(unwritten.code).toBe(1);
    house.payments.sendWebhooksTo(`${house.webhookGate.url}/webhooks/payments`);
    // The house's own settings are cleared.
    const bot = house.bot({
      WEBHOOK_SIGNATURE_ALGORITHM: '',
      ...wrote,
      DATA_DIR: join(folder, 'bot'),
      PORT: '0',
    });
    await house.start(bot);
    await house.decline();
    await house.until('its alert is told', () => house.posts('payAlerts').length > 0);
  });

  it('overwrites an existing file only after a question, and then keeps a copy', async (test) => {
    const stage = await openStage(test);
    const before = '# by hand\nPAYMENTS_PAID_STATUSES=OLD\nLOG_LEVEL=warn\n';
    const policy = 'channels: {}\n';
    writeFileSync(join(stage.folder, '.env'), before);
    writeFileSync(join(stage.folder, 'payops.yml'), policy);
    const { signingSecret } = stage.house.workspace.credentials;
    const http = { slack_mode: 'http', slack_signing_secret: signingSecret };
    const answers = { ...answersOf(stage), delivery: '-', cards_of: '-', ...http };
    const asIs = await connect(stage, answers, parseEnv(before) as Env);
    expect(asIs.stdout).toContain('Nothing was written.');
    expect(readFileSync(asIs.settings, 'utf8')).toBe(before);
    expect(readFileSync(join(stage.folder, 'payops.yml'), 'utf8')).toBe(policy);
    const yes = { ...answers, write_settings: 'yes', write_policy: 'yes' };
    const { settings, stdout } = await connect(stage, yes, parseEnv(before) as Env);
    expect(stdout).toContain('the one before is');
    const wrote = readFileSync(settings, 'utf8');
    expect(wrote).toMatch(/^# by hand\nLOG_LEVEL=warn\n\n# By npm run connect\n/);
    expect(wrote).toContain('\nPAYMENTS_PAID_STATUSES=SETTLED\n');
    expect(wrote).toContain(`\nSLACK_SIGNING_SECRET=${signingSecret}\n`);
    expect(readFileSync(`${settings}.before-connect`, 'utf8')).toBe(before);
    expect(readFileSync(join(stage.folder, 'payops.yml.before-connect'), 'utf8')).toBe(policy);
    // The webhook was skipped, and the doctor says so.
    expect(stdout).toContain('❌ Webhook settings');
  });

  it('lets every question be skipped, then writes nothing, and says what is missing', async (test) => {
    const stage = await openStage(test);
    const skipped = Object.fromEntries(Object.keys(questions).map((name) => [name, skipWord]));
    const { code, stdout } = await connect(stage, skipped);
    expect(code).toBe(5);
    expect(stdout).toContain('Nothing was written.');
    expect(stdout).toContain('Not yet enough to run the doctor.');
    expect(existsSync(join(stage.folder, '.env'))).toBe(false);
  });

  it('asks again for an invalid answer', async (test) => {
    const stage = await openStage(test);
    const answers = new Map<string, string[]>(
      Object.entries(answersOf(stage)).map(([name, answer]) => [name, [answer]]),
    );
    answers.set('address', [`${stage.url}/v1/`, stage.url]);
    answers.set('paid_reference', ['ORDER-1001', 'ORDER-1001']);
    answers.set('paid_amount', ['12,575.00', '12,500.00']);
    answers.set('cards_of', ['nobody@example.com', 'ada.obi@example.com']);
    const told: string[] = [];
    const talk: Conversation = {
      isPerson: true,
      ask: ({ name, proposal }) => Promise.resolve(answers.get(name)?.shift() ?? proposal),
      tell: (words) => void told.push(words),
      waitFor: () => Promise.resolve(undefined),
    };
    const file = join(stage.folder, 'delivery.http');
    const event =
      '{"event":"payment_failed","eventId":"evt-1","data":{"order":{"orderReference":"ORDER-9"}}}';
    const { webhookSecret } = stage.house.payments.credentials;
    const headers = Object.entries(signOtherwise(event, webhookSecret)).map(
      ([name, value]) => `${name}: ${value}`,
    );
    writeFileSync(file, `${headers.join('\n')}\n\n${event}`);
    answers.set('webhook_secret', ['another-secret-0001', webhookSecret]);
    answers.set('delivery', [file, file]);
    answers.set('slack_app_token', ['xapp-wrong', ...(answers.get('slack_app_token') ?? [])]);
    const draft = openDraft({ SLACK_API_URL: stage.house.workspace.apiUrl });
    const known = await connectService({ talk, draft, now: Date.now });
    expect(await connectWebhook({ talk, draft })).toMatchObject({ body: Buffer.from(event) });
    await connectSlack({ talk, draft, log: () => undefined }, true);
    expect(known).toMatchObject({ paid: { minor: 1_250_000 }, cardsOf: 'ada.obi@example.com' });
    expect(told.filter((words) => words.startsWith('❌'))).toEqual([
      expect.stringMatching(/Check PAYMENTS_BASE_URL, which must not end in \/v1/),
      expect.stringContaining('its order was for 12500.00'),
      expect.stringContaining('Does this customer have saved cards?'),
      expect.stringContaining('Check WEBHOOK_SECRETS'),
      expect.stringContaining('Slack refuses the app token: invalid_auth.'),
    ]);
    expect(told.at(-1)).toBe('✅ Slack gives a Socket Mode connection.');
  });

  it('says what it has written if it stops early', async (test) => {
    const stage = await openStage(test);
    const answers = { ...answersOf(stage), delivery: '-', cards_of: '-' };
    const early = await connect(stage, { ...answers, alerts_channel: 'nowhere' });
    expect(early).toMatchObject({ code: 2 });
    expect(`${early.stdout}${early.stderr}`).toMatch(
      /The answer alerts_channel must be .*\nNothing was written\./,
    );
    const late = await connect(stage, { ...answers, write_policy: 'maybe' });
    expect(`${late.stdout}${late.stderr}`).toMatch(
      /The answer write_policy must be yes or no\.\n✅ \S+\.env: \d+ settings/,
    );
  });

  it('says what a service and a Slack refuse, and continues', async (test) => {
    const stage = await openStage(test);
    const wrong = {
      client_secret: 'wrong-canary',
      slack_bot_token: 'xoxb-wrong',
      slack_app_token: 'xapp-wrong',
    };
    const { stdout } = await connect(stage, { ...answersOf(stage), delivery: '-', ...wrong });
    expect(stdout).toContain('❌ The payments service refused to give an access token (HTTP 401)');
    expect(stdout).toContain('❌ Slack refuses the bot token: invalid_auth.');
    expect(stdout).toContain('❌ Slack refuses the app token: invalid_auth.');
  });

  it('says if the port for a delivery is taken, or the file holds none', async (test) => {
    const stage = await openStage(test);
    const taken = await serveOnLoopback(() => undefined);
    test.onTestFinished(taken.close);
    const of = { webhook_secret: 'secret-0001', HOST: '127.0.0.1' };
    const { port } = new URL(taken.url);
    expect((await connect(stage, { ...of, PORT: port, delivery: 'wait' })).stdout).toContain(
      `Port ${port} is taken: stop the bot for it, or give a file.`,
    );
    expect((await connect(stage, { ...of, delivery: '/nowhere' })).stdout).toContain(
      'there is none of that name',
    );
  });

  it('takes channels by their ids if Slack does not list them', async (test) => {
    const stage = await openStage(test, []);
    const { payAlerts, payDesk } = stage.house.workspace.ids.channels;
    const ids = {
      alerts_channel: payAlerts,
      desk_channel: payDesk,
      ops_channel: '-',
      delivery: '-',
      cards_of: '-',
    };
    const { stdout } = await connect(stage, { ...answersOf(stage), ...ids });
    expect(stdout).toContain('Slack does not say which channels there are: give their ids');
    const policy = readFileSync(join(stage.folder, 'payops.yml'), 'utf8');
    expect(policy).toContain(`alerts: ${payAlerts}\n  desk: ${payDesk}\nroles:`);
  });
});
