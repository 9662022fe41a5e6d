import nock from 'nock';
import { describe, expect, it } from 'vitest';
import { createLog } from '../../src/log.ts';
import { createDelivery, messageDigest, type Doubt } from '../../src/messages/delivery.ts';
import type { SlackMessage } from '../../src/slack/kit/message.ts';
import { createClients } from '../../src/slack/workspace.ts';
import { mockTheOutside } from '../support/mocks.ts';

mockTheOutside();

const message: SlackMessage = {
  text: 'A charge failed',
  blocks: [{ type: 'divider' }],
  metadata: { event_type: 'payops_alert', event_payload: { key: 'k1' } },
};
const log = createLog({ level: 'error', secrets: [], write: () => {}, now: () => new Date(0) });

function delivery() {
  const clients = createClients({ botToken: 'xoxb-1', slackApiUrl: 'https://slack.test/api/' }, log);
  return createDelivery(clients.delivery);
}

function post() {
  return delivery().post('C0ALERTS', message);
}

function slack() {
  return nock('https://slack.test').post('/api/chat.postMessage');
}

describe('post', () => {
  it('returns the ts; sends the key, and neither pings nor previews', async () => {
    let sent: Record<string, string> = {};
    nock('https://slack.test', { reqheaders: { authorization: 'Bearer xoxb-1' } })
      .post('/api/chat.postMessage', (body: Record<string, string>) => {
        sent = body;
        return true;
      })
      .reply(200, { ok: true, ts: '1700000000.000100', channel: 'C0ALERTS' });
    expect(await post()).toEqual({
      kind: 'posted',
      channel: 'C0ALERTS',
      ts: '1700000000.000100',
    });
    expect(sent).toMatchObject({ unfurl_links: 'false', unfurl_media: 'false', link_names: 'false' });
    expect(JSON.parse(sent['metadata'] ?? '')).toEqual(message.metadata);
  });

  it.each<[string, () => nock.Scope, object]>([
    [
      '429',
      () => slack().reply(429, '', { 'retry-after': '7' }),
      { kind: 'rate_limited', retryAfterMs: 7000 },
    ],
    ['429 that names no time', () => slack().reply(429, ''), { kind: 'rate_limited', retryAfterMs: 30_000 }],
    [
      'ratelimited',
      () => slack().reply(200, { ok: false, error: 'ratelimited' }, { 'retry-after': '3' }),
      { kind: 'rate_limited', retryAfterMs: 3000 },
    ],
    ['a proxy’s 4xx', () => slack().reply(403, 'who are you'), { kind: 'refused', slackError: 'http_403' }],
    [
      'words that are not taken either',
      () => slack().twice().reply(200, { ok: false, error: 'msg_too_long' }),
      { kind: 'refused', about: 'message', fix: expect.stringContaining('bug') },
    ],
    ...['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT', 'CERT_HAS_EXPIRED'].map(
      (code): [string, () => nock.Scope, object] => [
        code,
        () => slack().replyWithError(Object.assign(new Error('failed'), { code })),
        { kind: 'not_sent' },
      ],
    ),
    [
      'ECONNRESET',
      () => slack().replyWithError(Object.assign(new Error('reset'), { code: 'ECONNRESET' })),
      { kind: 'unsure' },
    ],
    ...[500, 503, 408].map((status): [string, () => nock.Scope, object] => [
      String(status),
      () => slack().reply(status, 'oops'),
      { kind: 'unsure' },
    ]),
    ...['internal_error', 'fatal_error', 'service_unavailable'].map(
      (error): [string, () => nock.Scope, object] => [
        error,
        () => slack().reply(200, { ok: false, error }),
        { kind: 'unsure' },
      ],
    ),
  ])('returns the outcome of a post that meets %s', async (_what, answers, outcome) => {
    answers();
    expect(await post()).toMatchObject(outcome);
  });

  it.each([
    ['not_in_channel', '/invite @pay in C0ALERTS'],
    ['channel_not_found', 'C0ALERTS'],
    ['is_archived', 'Unarchive'],
    ['restricted_action', 'admin'],
    ['invalid_auth', 'SLACK_BOT_TOKEN'],
    ['token_revoked', 'SLACK_BOT_TOKEN'],
    ['account_inactive', 'SLACK_BOT_TOKEN'],
    ['missing_scope', 'reinstall'],
    ['never_heard_of', 'never_heard_of'],
  ])('calls %s refused, and says what to do', async (slackError, fix) => {
    slack().reply(200, { ok: false, error: slackError });
    expect(await post()).toEqual({
      kind: 'refused',
      slackError,
      fix: expect.stringContaining(fix),
      about: expect.stringMatching(/^(channel|bot|unclear)$/),
    });
  });

  it.each(['msg_too_long', 'invalid_blocks', 'msg_blocks_too_long'])(
    'posts the text alone if Slack refuses the blocks (%s)',
    async (slackError) => {
      slack().reply(200, { ok: false, error: slackError });
      nock('https://slack.test')
        .post('/api/chat.postMessage', (body: Record<string, string>) => {
          return body['blocks'] === undefined && body['text'] === message.text && 'metadata' in body;
        })
        .reply(200, { ok: true, ts: '1.2' });
      expect(await post()).toEqual({ kind: 'posted', channel: 'C0ALERTS', ts: '1.2' });
    },
  );

  it('reports an unreadable answer as unsure, without its content', async () => {
    slack().reply(200, '<html>secret page</html>');
    const outcome = await post();
    expect(outcome).toMatchObject({ kind: 'unsure' });
    expect(String(outcome.kind === 'unsure' && outcome.cause)).not.toContain('secret page');
  });

  it('never retries a call', async () => {
    let calls = 0;
    slack()
      .times(3)
      .optionally()
      .reply(() => {
        calls += 1;
        return [500, 'oops'];
      });
    await post();
    expect(calls).toBe(1);
  });
});

function reply() {
  return delivery().post('C0ALERTS', message, '1.1');
}

describe('post in a thread', () => {
  it('names the thread, and returns the channel that Slack answered with', async () => {
    nock('https://slack.test')
      .post('/api/chat.postMessage', (body: Record<string, string>) => body['thread_ts'] === '1.1')
      .reply(200, { ok: true, ts: '1.2', channel: 'D0ALERTS' });
    expect(await reply()).toEqual({ kind: 'posted', channel: 'D0ALERTS', ts: '1.2' });
  });

  it('reports `unthreaded` if Slack posted it into the channel because the thread is gone', async () => {
    slack().reply(200, { ok: true, ts: '1.2', channel: 'C0ALERTS', message: { ts: '1.2' } });
    expect(await reply()).toEqual({ kind: 'posted', channel: 'C0ALERTS', ts: '1.2', unthreaded: true });
  });

  it('does not report `unthreaded` for a reply in its thread', async () => {
    slack().reply(200, {
      ok: true,
      ts: '1.2',
      channel: 'C0ALERTS',
      message: { ts: '1.2', thread_ts: '1.1' },
    });
    expect(await reply()).toEqual({ kind: 'posted', channel: 'C0ALERTS', ts: '1.2' });
  });

  it.each([
    'thread_not_found',
    'message_not_found',
    'cannot_reply_to_message',
    'thread_locked',
    'restricted_action_thread_locked',
    'restricted_action_non_threadable_channel',
  ])('calls the thread gone for %s, so that no other message of the channel waits', async (slackError) => {
    slack().reply(200, { ok: false, error: slackError });
    expect(await reply()).toEqual({ kind: 'gone', slackError });
  });

  it('never reports `gone` for a post outside a thread', async () => {
    slack().reply(200, { ok: false, error: 'thread_not_found' });
    expect(await post()).toMatchObject({ kind: 'refused' });
  });
});

function edit() {
  return delivery().edit({ channel: 'D0ADA', ts: '1.1' }, message);
}

function update(match: (body: Record<string, string>) => boolean = () => true) {
  return nock('https://slack.test').post('/api/chat.update', match);
}

describe('edit', () => {
  it('replaces the message, and keeps its key', async () => {
    update(
      (body) =>
        body['channel'] === 'D0ADA' &&
        body['ts'] === '1.1' &&
        body['text'] === message.text &&
        body['blocks'] === JSON.stringify(message.blocks) &&
        body['metadata'] === JSON.stringify(message.metadata),
    ).reply(200, { ok: true, ts: '1.1', channel: 'D0ADA' });
    expect(await edit()).toEqual({ kind: 'posted', channel: 'D0ADA', ts: '1.1' });
  });

  it.each(['message_not_found', 'cant_update_message', 'edit_window_closed', 'block_mismatch'])(
    'reports the message as gone for %s',
    async (slackError) => {
      update().reply(200, { ok: false, error: slackError });
      expect(await edit()).toEqual({ kind: 'gone', slackError });
    },
  );

  it('reports an archived channel as refused, not gone: the message can be edited once it is unarchived', async () => {
    update().reply(200, { ok: false, error: 'is_inactive' });
    expect(await delivery().edit({ channel: 'C0ALERTS', ts: '1.1' }, message)).toMatchObject({
      kind: 'refused',
      slackError: 'is_inactive',
      about: 'channel',
      fix: 'Unarchive C0ALERTS, or set another channel in payops.yml for new alerts.',
    });
    update().reply(200, { ok: false, error: 'is_inactive' });
    expect(await edit()).toMatchObject({
      kind: 'refused',
      about: 'channel',
      fix: expect.stringContaining('has left the workspace'),
    });
  });

  it('edits to the text alone if Slack refuses the blocks', async () => {
    update((body) => body['blocks'] === JSON.stringify(message.blocks)).reply(200, {
      ok: false,
      error: 'invalid_blocks',
    });
    // Slack refuses to replace rich text by anything else (`block_mismatch`).
    update((body) => body['blocks']?.startsWith('[{"type":"rich_text"') === true).reply(200, { ok: true });
    expect(await edit()).toMatchObject({ kind: 'posted' });
    // Rich text is not markup, so the text must not be escaped there.
    update().reply(200, { ok: false, error: 'invalid_blocks' });
    update((body) => body['blocks']?.includes('"text":"Refund & close"') === true).reply(200, { ok: true });
    const escaped = { ...message, text: 'Refund &amp; close' };
    expect(await delivery().edit({ channel: 'D0ADA', ts: '1.1' }, escaped)).toMatchObject({ kind: 'posted' });
  });

  it('reports a rate limit, a refusal and a lost answer', async () => {
    update().reply(429, '', { 'retry-after': '7' });
    expect(await edit()).toEqual({ kind: 'rate_limited', retryAfterMs: 7_000 });
    update().reply(200, { ok: false, error: 'invalid_auth' });
    expect(await edit()).toMatchObject({ kind: 'refused', about: 'bot' });
    update().reply(500, 'oops');
    expect(await edit()).toMatchObject({ kind: 'unsure' });
    update().replyWithError(Object.assign(new Error('failed'), { code: 'ECONNREFUSED' }));
    expect(await edit()).toMatchObject({ kind: 'not_sent' });
  });
});

describe('messageDigest', () => {
  it('is equal for equal messages only', () => {
    expect(messageDigest({ ...message })).toBe(messageDigest(message));
    expect(messageDigest({ ...message, blocks: [] })).not.toBe(messageDigest(message));
    expect(messageDigest({ ...message, text: 'A charge' })).not.toBe(messageDigest(message));
  });
});

function history(match: (body: Record<string, string>) => boolean) {
  return nock('https://slack.test').post('/api/conversations.history', match);
}

const doubt = { channel: 'C0ALERTS', sinceMs: 1_700_000_100_000 };

function find(more: Partial<Doubt> = {}) {
  return delivery().findByKey({ ...doubt, ...more }, 'k1');
}

describe('findByKey', () => {
  const other = { ts: '1', metadata: { event_type: 'payops_alert', event_payload: { key: 'k2' } } };
  const own = { ts: '2', metadata: { event_type: 'payops_alert', event_payload: { key: 'k1' } } };

  it('finds the message by its key, in a span that allows for differing clocks', async () => {
    history((body) => body['oldest'] === '1699999200' && body['include_all_metadata'] === 'true').reply(200, {
      ok: true,
      messages: [{ ts: '3', text: 'k1' }, other, own],
    });
    expect(await find()).toEqual({ kind: 'found', ts: '2' });
  });

  it('reports absent only after the last page', async () => {
    history((body) => body['cursor'] === undefined).reply(200, {
      ok: true,
      messages: [other],
      response_metadata: { next_cursor: 'next' },
    });
    history((body) => body['cursor'] === 'next').reply(200, {
      ok: true,
      messages: [],
      response_metadata: { next_cursor: '' },
    });
    expect(await find()).toEqual({ kind: 'absent' });
  });

  it('continues at the last search’s cursor, and reads only the minutes around the doubt', async () => {
    const window = { oldest: '1699999200', latest: '1700001000' };
    history((body) => body['cursor'] === undefined && body['latest'] === window.latest).reply(200, {
      ok: true,
      messages: [other],
      response_metadata: { next_cursor: 'next' },
    });
    history((body) => body['cursor'] === 'next').reply(429, '', { 'retry-after': '60' });
    expect(await find()).toEqual({
      kind: 'unknown',
      slackError: 'ratelimited',
      retryAfterMs: 60_000,
      cursor: 'next',
    });
    history((body) => body['cursor'] === 'next' && body['oldest'] === window.oldest).reply(200, {
      ok: true,
      messages: [own],
    });
    expect(await find({ cursor: 'next' })).toEqual({ kind: 'found', ts: '2' });
  });

  it('reads until after the last of several posts, and drops an expired cursor', async () => {
    history((body) => body['latest'] === '1700004600').reply(200, { ok: false, error: 'invalid_cursor' });
    const answer = await find({ untilMs: doubt.sinceMs + 3_600_000, cursor: 'old' });
    expect(answer).toEqual({ kind: 'unknown', slackError: 'invalid_cursor' });
  });

  it('reports how long Slack’s rate limit lasts', async () => {
    history(() => true).reply(429, '', { 'retry-after': '9' });
    expect(await find()).toEqual({ kind: 'unknown', slackError: 'ratelimited', retryAfterMs: 9_000 });
  });

  it('reports unknown after one deadline for all pages', async () => {
    history(() => true)
      .delay(200)
      .reply(200, { ok: true, messages: [] });
    const clients = createClients({ botToken: 'xoxb-1', slackApiUrl: 'https://slack.test/api/' }, log);
    const answer = await createDelivery(clients.delivery, 20).findByKey(doubt, 'k1');
    expect(answer).toEqual({ kind: 'unknown', slackError: 'no_usable_answer' });
  });

  it('searches the thread instead of the channel if the doubt names one', async () => {
    nock('https://slack.test')
      .post(
        '/api/conversations.replies',
        (body: Record<string, string>) =>
          body['ts'] === '1.1' && body['channel'] === 'C0ALERTS' && body['include_all_metadata'] === 'true',
      )
      .reply(200, { ok: true, messages: [{ ts: '1.1' }, other, own] });
    const answer = await delivery().findByKey({ ...doubt, threadTs: '1.1' }, 'k1');
    expect(answer).toEqual({ kind: 'found', ts: '2' });
  });

  it.each([
    ['C0ALERTS', 'missing_scope'],
    ['C0ALERTS', 'not_in_channel'],
    ['C0ALERTS', 'no_permission'],
    // A user id has no history of its own.
    ['U0ADA', 'channel_not_found'],
    ['C0ALERTS', 'thread_not_found', '1.1'],
    ['C0ALERTS', 'not_allowed_token_type', '1.1'],
    ['C0ALERTS', 'channel_is_limited_access'],
    ['C0ALERTS', 'never_heard_of'],
  ])('reports unreadable for %s with %s', async (channel, error, threadTs?: string) => {
    const method = threadTs === undefined ? 'history' : 'replies';
    nock('https://slack.test').post(`/api/conversations.${method}`).reply(200, { ok: false, error });
    const answer = await delivery().findByKey({ ...doubt, channel, threadTs }, 'k1');
    expect(answer).toEqual({ kind: 'unreadable', slackError: error });
  });
});
