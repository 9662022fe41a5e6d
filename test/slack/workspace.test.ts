import nock from 'nock';
import { describe, expect, it } from 'vitest';
import { createLog } from '../../src/log.ts';
import { backOffMs, createClients, startIdentityCheck, type SlackHealth } from '../../src/slack/workspace.ts';
import { mockTheOutside } from '../support/mocks.ts';

mockTheOutside();

const log = createLog({ level: 'error', secrets: [], write: () => {}, now: () => new Date(0) });

function clients(slackApiUrl = 'https://slack.test/api') {
  return createClients({ botToken: 'xoxb-1', slackApiUrl }, log);
}

describe('createClients', () => {
  it.each(['https://slack.test/proxy/api', 'https://slack.test/proxy/api/'])(
    'calls methods below the base URL %s',
    async (url) => {
      nock('https://slack.test').post('/proxy/api/auth.test').reply(200, { ok: true });
      expect(await clients(url).interactive.auth.test()).toMatchObject({ ok: true });
    },
  );

  it('fails at once on a 429 instead of retrying, and the other client goes on', async () => {
    const { interactive, delivery } = clients();
    nock('https://slack.test').post('/api/chat.postMessage').reply(429, '', { 'retry-after': '600' });
    nock('https://slack.test').post('/api/auth.test').reply(200, { ok: true });
    const post = delivery.chat.postMessage({ channel: 'C1', text: 'x' });
    await expect(post).rejects.toThrow('600 seconds');
    expect(await interactive.auth.test()).toMatchObject({ ok: true });
  });
});

function answerWith(answers: ((mock: nock.Interceptor) => void)[]): void {
  for (const answer of answers) answer(nock('https://slack.test').post('/api/auth.test'));
}

async function check(answers: ((mock: nock.Interceptor) => void)[], clock = { nowMs: 0 }) {
  answerWith(answers);
  const waits: number[] = [];
  const lines: string[] = [];
  const down: SlackHealth[] = [];
  let known = Promise.withResolvers<void>();
  const identity = startIdentityCheck(clients().interactive, {
    log(_, message) {
      lines.push(message);
      if (message === 'Slack knows the bot') known.resolve();
    },
    async wait(ms) {
      waits.push(ms);
      down.push(identity.health());
    },
    signal: new AbortController().signal,
    now: () => clock.nowMs,
  });
  await known.promise;
  /** Resolves when Slack knows the bot again. */
  function knownAgain(): Promise<void> {
    known = Promise.withResolvers<void>();
    return known.promise;
  }
  return { waits, identity, lines, down, knownAgain };
}

const works = (mock: nock.Interceptor) =>
  void mock.reply(200, { ok: true, team_id: 'T1', bot_id: 'B1', user_id: 'U1', enterprise_id: 'E1' });
const fails = (mock: nock.Interceptor) => void mock.reply(503);
const revoked = (mock: nock.Interceptor) => void mock.reply(200, { ok: false, error: 'token_revoked' });
const limited = (mock: nock.Interceptor) => void mock.reply(429, '', { 'retry-after': '90' });

describe('startIdentityCheck', () => {
  it('learns who the bot is', async () => {
    const { waits, identity } = await check([works]);
    expect(identity.identity()).toEqual({ teamId: 'T1', botId: 'B1', botUserId: 'U1', enterpriseId: 'E1' });
    expect(identity.health()).toEqual({ state: 'ok' });
    expect(waits).toEqual([]);
  });

  it('asks again when its health is read a minute later: the token may be revoked by then', async () => {
    const clock = { nowMs: 0 };
    const { identity, lines, down, knownAgain } = await check([works], clock);
    clock.nowMs = 59_999;
    expect(identity.health()).toEqual({ state: 'ok' });
    clock.nowMs = 60_000;
    answerWith([revoked, works]);
    const again = knownAgain();
    identity.health();
    identity.health();
    await again;
    const [knows, refuses] = ['Slack knows the bot', 'Slack refuses the bot token: token_revoked'];
    expect(lines).toEqual([knows, refuses, knows]);
    expect(down).toMatchObject([{ state: 'degraded', fix: expect.stringContaining('SLACK_BOT_TOKEN') }]);
    expect(identity.health()).toEqual({ state: 'ok' });
  });

  it.each([
    ['chat:write,commands', true],
    ['chat:write,commands,users:read', false],
  ])('warns that everybody is refused if the scopes %s lack users:read: %s', async (scopes, isSaid) => {
    const { lines } = await check([
      (mock) => void mock.reply(200, { ok: true }, { 'x-oauth-scopes': scopes }),
    ]);
    expect(lines.some((line) => line.startsWith('Nobody is let through'))).toBe(isSaid);
  });

  it('retries, doubling the wait each time', async () => {
    expect((await check([fails, fails, fails, works])).waits).toEqual([1000, 2000, 4000]);
  });

  it('waits as long as a 429 asks', async () => {
    expect((await check([limited, works])).waits).toEqual([90_000]);
  });

  it('waits at most a minute between tries', () => {
    expect(backOffMs(7)).toBe(60_000);
    expect(backOffMs(5000)).toBe(60_000);
  });
});
