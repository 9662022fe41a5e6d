import nock from 'nock';
import { describe, expect, it } from 'vitest';
import { ServiceFailure, failureKinds } from '../../../src/domain/failure.ts';
import type { Transaction } from '../../../src/domain/transaction.ts';
import { mockTheOutside } from '../../support/mocks.ts';
import { answerAuthTest, type RunningBot } from '../../support/running-bot.ts';
import { runningBots } from '../../support/running-bots.ts';
import { eventBody, signSlack, slashBody } from '../../support/slack-requests.ts';

mockTheOutside();

const start = runningBots();

async function logs(bot: RunningBot, words: string): Promise<void> {
  // oxlint-disable-next-line no-await-in-loop -- one event after the other
  while (!bot.logged.some((line) => line.includes(words))) await bot.next();
}

const paid: Transaction = {
  status: 'SUCCESS',
  orderReference: 'INV-2041',
  amountMinor: 1_250_000,
  currency: 'NGN',
  orderAmountMinor: 1_250_000,
  orderCurrency: 'NGN',
};

function hangingService(): {
  findTransaction: () => Promise<Transaction>;
  answer: (found: Transaction) => void;
} {
  const { promise, resolve } = Promise.withResolvers<Transaction>();
  return { findTransaction: () => promise, answer: resolve };
}

describe('requests from Slack', () => {
  it('are refused with 401 when the signature is bad, and run nothing', async () => {
    const bot = await start();
    expect(await bot.send(signSlack(slashBody({ text: 'help' }), { secret: 'another secret' }))).toBe(401);
    await bot.slack.drained();
    expect(bot.told).toEqual([]);
  });

  it('are refused when they are older than five minutes', async () => {
    const bot = await start();
    const old = signSlack(slashBody({ text: 'help' }), { atMs: Date.now() - 301_000 });
    expect(await bot.send(old)).toBe(401);
  });

  it('are refused over 1 MB', async () => {
    const bot = await start();
    expect(await bot.send(signSlack('x'.repeat(1024 * 1024 + 1)))).toBe(413);
  });

  it('on another path get 404 instead of ending the process', async () => {
    const bot = await start();
    let status = 0;
    const response = { headersSent: false, writeHead: (code: number) => ({ end: () => (status = code) }) };
    bot.slack.httpListener?.({ url: '/elsewhere', method: 'GET' } as never, response as never);
    expect(status).toBe(404);
  });

  it('are acknowledged before the payments service has answered', async () => {
    const service = hangingService();
    const bot = await start({ findTransaction: service.findTransaction });
    expect(await bot.send(bot.typed('INV-2041'))).toBe(200);
    expect(bot.told).toEqual([]);
    service.answer(paid);
    await bot.slack.drained();
    expect(bot.toldText()).toContain('Paid (confirmed)');
  });

  it('are told what is happening while the payments service hangs, then the verdict', async () => {
    const service = hangingService();
    const bot = await start({ findTransaction: service.findTransaction, patienceMs: 0 });
    await Promise.all([bot.next(), bot.send(bot.typed('INV-2041'))]);
    // oxlint-disable-next-line no-await-in-loop
    while (bot.told.length === 0) await bot.next();
    expect(bot.toldText()).toContain('has not answered yet');
    service.answer(paid);
    await bot.slack.drained();
    expect(bot.told).toHaveLength(2);
    expect(bot.told[1]).toMatchObject({
      text: expect.stringContaining('Paid (confirmed)'),
      replace_original: true,
    });
  });

  it('show the App Home when it is opened', async () => {
    const bot = await start();
    let view = '';
    nock('https://slack.test')
      .post('/api/views.publish', (body: Record<string, string>) => {
        view = body['view'] ?? '';
        return body['user_id'] === 'U0AGENT';
      })
      .reply(200, { ok: true });
    const body = eventBody({
      type: 'app_home_opened',
      user: 'U0AGENT',
      channel: 'D1',
      tab: 'home',
      event_ts: '1.1',
    });
    expect(await bot.send(signSlack(body, { contentType: 'application/json' }))).toBe(200);
    await bot.slack.drained();
    expect(JSON.parse(view)).toMatchObject({ type: 'home' });
    expect(view).toContain('/pay lookup');
  });

  it('show it only in the place of the view that was opened, and let a newer one stand', async () => {
    const bot = await start();
    const hashes: unknown[] = [];
    nock('https://slack.test')
      .post('/api/views.publish', (body: Record<string, string>) => hashes.push(body['hash']) > 0)
      .reply(200, { ok: false, error: 'hash_conflict' });
    const view = { id: 'V1', type: 'home', hash: '17.abc' };
    const body = eventBody({ type: 'app_home_opened', user: 'U0AGENT', channel: 'D1', tab: 'home', view });
    expect(await bot.send(signSlack(body, { contentType: 'application/json' }))).toBe(200);
    await bot.slack.drained();
    expect(hashes).toEqual(['17.abc']);
    expect(bot.logged.join('')).not.toContain('could not be shown');
  });

  it('make it again after a press in it, and in its place alone', async () => {
    const bot = await start();
    const published: Record<string, string>[] = [];
    nock('https://slack.test')
      .post('/api/views.publish', (body: Record<string, string>) => published.push(body) > 0)
      .reply(200, { ok: true });
    await bot.press({ actionId: 'unknown', value: '', view: { id: 'V1', type: 'home', hash: '17.abc' } });
    await bot.press({ actionId: 'unknown', value: '', view: { id: 'V2' } });
    await bot.press({ actionId: 'unknown', value: '' });
    expect(published).toMatchObject([{ user_id: 'U0AGENT', hash: '17.abc' }]);
  });

  it('that Slack refuses is a line in the log and nothing else', async () => {
    const bot = await start();
    nock('https://slack.test').post('/api/views.publish').reply(200, { ok: false, error: 'not_enabled' });
    const body = eventBody({ type: 'app_home_opened', user: 'U0AGENT', channel: 'D1', tab: 'home' });
    expect(await bot.send(signSlack(body, { contentType: 'application/json' }))).toBe(200);
    await bot.slack.drained();
    expect(bot.logged.join('')).toContain('The App Home could not be shown');
  });
});

describe('failures', () => {
  it.each(failureKinds)(
    'of the payments service (%s) are told in words, and that no money moved',
    async (kind) => {
      const bot = await start({
        findTransaction: () => Promise.reject(new ServiceFailure(kind, 'details for the log')),
      });
      await bot.type('INV-2041');
      expect(bot.told).toHaveLength(1);
      expect(bot.toldText()).toContain('INV-2041');
      expect(bot.toldText()).toContain('none was moved');
      expect(bot.toldText()).not.toContain('details for the log');
      expect(bot.logged.join('')).toContain('details for the log');
    },
  );

  it('of our own show an id, and the same id is in the log with the cause', async () => {
    const bot = await start({ findTransaction: () => Promise.reject(new TypeError('x is not a function')) });
    await bot.type('INV-2041');
    const id = /error ([0-9A-F]{8})/.exec(bot.toldText())?.[1] ?? 'no id';
    expect(
      bot.logged.filter((line) => line.includes(id) && line.includes('x is not a function')),
    ).toHaveLength(1);
    expect(bot.toldText()).not.toContain('x is not a function');
  });

  it('of a dead response_url fall back to an ephemeral post', async () => {
    const bot = await start({ findTransaction: async () => paid });
    nock('https://dead.test').post('/1').reply(404, 'expired_url');
    let posted: Record<string, string> = {};
    nock('https://slack.test')
      .post('/api/chat.postEphemeral', (body: Record<string, string>) => {
        posted = body;
        return true;
      })
      .reply(200, { ok: true });
    await bot.type('INV-2041', { responseUrl: 'https://dead.test/1' });
    expect(posted).toMatchObject({ channel: 'C0SUPPORT', user: 'U0AGENT' });
    expect(posted['text']).toContain('Paid (confirmed)');
  });

  it('to answer in any way are logged with the fix', async () => {
    const bot = await start({ findTransaction: async () => paid });
    nock('https://dead.test').post('/1').twice().reply(404);
    const refused = { ok: false, error: 'invalid_auth' };
    nock('https://slack.test').post('/api/chat.postEphemeral').reply(200, refused);
    nock('https://slack.test').post('/api/chat.postMessage').reply(200, refused);
    await bot.type('INV-2041', { responseUrl: 'https://dead.test/1' });
    expect(bot.logged.join('')).toMatch(/"An answer could not be given".*invalid_auth.*SLACK_BOT_TOKEN/);
  });
});

describe('Slack itself', () => {
  it('is down with its reason while it is away and up when it is back; requests are answered meanwhile', async () => {
    const away = Object.assign(new Error('no'), { code: 'ECONNREFUSED' });
    nock('https://slack.test').post('/api/auth.test').replyWithError(away);
    const { promise: pause, resolve: goOn } = Promise.withResolvers<void>();
    const bot = await start({ slackIsUp: false, wait: () => pause });
    await logs(bot, 'Slack does not answer');
    expect(bot.slack.health()).toMatchObject({
      status: 'down',
      reason: 'Slack does not answer: unreachable',
    });

    await bot.type('INV-2041');
    expect(bot.toldText()).toContain('Not found');

    answerAuthTest();
    goOn();
    await logs(bot, 'Slack knows the bot');
    expect(bot.slack.health()).toEqual({ status: 'up' });
  });

  it.each(['invalid_auth', 'account_inactive', 'token_revoked'])(
    'says how to mend a token it refuses with %s, and keeps serving',
    async (slackError) => {
      nock('https://slack.test').post('/api/auth.test').reply(200, { ok: false, error: slackError });
      const bot = await start({ slackIsUp: false });
      await logs(bot, 'Slack refuses');
      expect(bot.slack.health()).toMatchObject({
        status: 'down',
        reason: expect.stringContaining(slackError),
        fix: expect.stringContaining('SLACK_BOT_TOKEN'),
      });
      expect(await bot.type('help')).toBe(200);
      expect(bot.told).toHaveLength(1);
    },
  );

  it('is asked who the bot is once, not for every request', async () => {
    let asked = 0;
    nock('https://slack.test')
      .post('/api/auth.test')
      .times(3)
      .optionally()
      .reply(200, () => {
        asked += 1;
        return { ok: true, team_id: 'T0TEAM', user_id: 'U0BOT', bot_id: 'B0BOT' };
      });
    const bot = await start({ slackIsUp: false });
    await logs(bot, 'Slack knows the bot');
    await bot.type('help');
    await bot.type('help', { triggerId: '2' });
    expect(bot.told).toHaveLength(2);
    expect(asked).toBe(1);
  });

  it('logs nothing of what was typed', async () => {
    const bot = await start();
    await bot.type('lookup "SECRET WORD" not-an-amount');
    expect(bot.toldText()).toContain('amount');
    expect(bot.logged.join('')).not.toContain('SECRET');
  });
});
