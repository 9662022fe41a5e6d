import { afterEach, describe, expect, it } from 'vitest';
import type { SlackFault } from '../../../src/simulators/slack/faults.ts';
import type { Workspace, WorkspaceSettings } from '../../../src/simulators/slack/workspace.ts';
import { clientOf, closeAll, createClock, openWorkspace, refusal } from './support.ts';

afterEach(closeAll);

async function open(settings: WorkspaceSettings = {}): Promise<{
  workspace: Workspace;
  channel: string;
  post: (text?: string, channel?: string) => Promise<unknown>;
  texts: () => string[];
}> {
  const workspace = await openWorkspace({ postBurst: Infinity, ...settings });
  const bot = clientOf(workspace);
  const channel = workspace.ids.channels.payAlerts;
  return {
    workspace,
    channel,
    post: (text = 'x', where = channel) => bot.chat.postMessage({ channel: where, text }),
    texts: () => workspace.posts().map(({ text }) => text),
  };
}

const cut = { code: 'slack_webapi_request_error' };

describe('a fault of Slack', () => {
  it.each<[SlackFault, object, string[]]>([
    [{ kind: 'down' }, cut, []],
    [{ kind: 'answer_lost' }, cut, ['x']],
    [{ kind: 'error_500' }, { statusCode: 500 }, []],
    [{ kind: 'rate_limited' }, { retryAfter: 1 }, []],
    [{ kind: 'refused', error: 'restricted_action' }, { data: { error: 'restricted_action' } }, []],
  ])('%j', async (fault, error, posted) => {
    const { workspace, post, texts } = await open();
    workspace.setFaults(fault);
    await expect(post()).rejects.toMatchObject(error);
    expect(texts()).toEqual(posted);
    workspace.setFaults();
    expect(await post('y')).toMatchObject({ ok: true });
    expect(workspace.stats()).toMatchObject({
      calls: { 'chat.postMessage': 2 },
      posts: posted.length + 1,
      rateLimited: fault.kind === 'rate_limited' ? 1 : 0,
      faults: { [fault.kind]: 1 },
    });
  });

  it('hangs until the faults are set again', async () => {
    const begun = Promise.withResolvers<unknown>();
    const { workspace, post, texts } = await open({ onExchange: begun.resolve });
    workspace.setFaults({ kind: 'hang' });
    const settled = post().catch((error: unknown) => error);
    await begun.promise;
    workspace.setFaults();
    expect(await settled).toMatchObject(cut);
    expect(texts()).toEqual([]);
  });

  it('is for a method, for a channel, for so many calls, or for a share of them', async () => {
    const draws = [0.5, 0.009, 0.01];
    const { workspace, channel, post } = await open({ dice: () => draws.shift() ?? 1 });
    const { payDesk } = workspace.ids.channels;
    workspace.setFaults({ kind: 'error_500', method: 'chat.update' });
    expect(await post()).toMatchObject({ ok: true });
    workspace.setFaults({ kind: 'error_500', channel });
    await expect(post()).rejects.toMatchObject({ statusCode: 500 });
    await expect(post('x', '#pay-alerts')).rejects.toMatchObject({ statusCode: 500 });
    expect(await post('x', payDesk)).toMatchObject({ ok: true });
    workspace.setFaults({ kind: 'error_500', times: 1 });
    await expect(post()).rejects.toMatchObject({ statusCode: 500 });
    expect(await post()).toMatchObject({ ok: true });
    workspace.setFaults({ kind: 'error_500', share: 0.01 });
    expect(await post()).toMatchObject({ ok: true });
    await expect(post()).rejects.toMatchObject({ statusCode: 500 });
    expect(await post()).toMatchObject({ ok: true });
  });

  it('is an old workspace, which takes no newer blocks', async () => {
    const { workspace, channel } = await open();
    const bot = clientOf(workspace);
    workspace.setFaults({ kind: 'unknown_blocks', types: ['header'] });
    const blocks = [{ type: 'header', text: { type: 'plain_text' as const, text: 'New' } }];
    expect(await refusal(bot.chat.postMessage({ channel, text: 'x', blocks }))).toMatchObject({
      error: 'invalid_blocks',
      response_metadata: { messages: ['[ERROR] unsupported type: header'] },
    });
    expect(await bot.chat.postMessage({ channel, text: 'x', blocks: [{ type: 'divider' }] })).toMatchObject({
      ok: true,
    });
    const view = { type: 'home' as const, blocks };
    const { agent } = workspace.ids.users;
    expect(await refusal(bot.views.publish({ user_id: agent, view }))).toMatchObject({
      error: 'invalid_arguments',
    });
  });
});

describe('one message a second, where Slack lets no burst through', () => {
  it('is kept by the workspace’s clock, in each channel, and an attempt that failed counts', async () => {
    const clock = createClock();
    const { workspace, post } = await open({ now: clock.now, postBurst: 1 });
    workspace.setFaults({ kind: 'error_500', times: 1 });
    await expect(post()).rejects.toMatchObject({ statusCode: 500 });
    clock.advance(999);
    await expect(post()).rejects.toMatchObject({ retryAfter: 1 });
    expect(await post('x', workspace.ids.channels.payDesk)).toMatchObject({ ok: true });
    clock.advance(1);
    expect(await post()).toMatchObject({ ok: true });
    clock.advance(1_000);
    expect(await post()).toMatchObject({ ok: true });
    expect(workspace.stats()).toMatchObject({ closestPostsMs: 1, rateLimited: 1, posts: 3 });
  });
});
