import { afterEach, describe, expect, it } from 'vitest';
import { lookAtChannel } from '../../../src/features/doctor/look-at-channel.ts';
import { readSlackError } from '../../../src/slack/slack-error.ts';
import { clientOf, closeAll, openWorkspace } from '../../simulators/slack/support.ts';

const reading = ['channels:read', 'groups:read'];

afterEach(closeAll);

async function openLook(grantedOptionalScopes: readonly string[] | 'all') {
  const workspace = await openWorkspace({ grantedOptionalScopes });
  const client = clientOf(workspace);
  return {
    workspace,
    client,
    channels: workspace.ids.channels,
    look: (id: string) => lookAtChannel(client, id),
  };
}

function unchecked(slackError: string) {
  return {
    kind: 'unchecked',
    slackError,
    fix: expect.stringContaining('grant the scopes channels:read and groups:read'),
  };
}

describe('lookAtChannel', () => {
  it('finds the bot in its channels, and says why it can’t post in others with the words of a failed post', async () => {
    const { workspace, client, channels, look } = await openLook(reading);
    expect(await look(channels.payAlerts)).toEqual({ kind: 'reachable' });
    workspace.setChannel(channels.payOps, { botIsMember: false });
    workspace.setChannel(channels.payDesk, { archived: true });
    const expected = {
      [channels.payOps]: ['not_in_channel', `Invite the bot: /invite @pay in ${channels.payOps}.`],
      [channels.payDesk]: ['is_archived', `Unarchive ${channels.payDesk}`],
      [channels.privateRoom]: ['channel_not_found', 'if the channel is private, invite the bot there'],
      C0NOWHERE1: ['channel_not_found', 'Check the channel id C0NOWHERE1 in payops.yml'],
    };
    for (const [channel, [slackError, fix]] of Object.entries(expected)) {
      expect(await look(channel)).toEqual({
        kind: 'unreachable',
        slackError,
        fix: expect.stringContaining(fix ?? ''),
      });
      await expect(client.chat.postMessage({ channel, text: 'x' })).rejects.toMatchObject({
        data: { error: slackError },
      });
    }
    workspace.setChannel(channels.privateRoom, { botIsMember: true });
    expect(await look(channels.privateRoom)).toEqual({ kind: 'reachable' });
  });

  it('with chat:write.public asks for an invitation to a public channel, though a post arrives there', async () => {
    const { workspace, channels, look } = await openLook('all');
    workspace.setChannel(channels.payOps, { botIsMember: false });
    expect(await look(channels.payOps)).toEqual({
      kind: 'outside',
      fix: `Invite the bot: /invite @pay in ${channels.payOps}.`,
    });
    expect(await look(channels.privateRoom)).toMatchObject({ kind: 'unreachable' });
  });

  it('without its scopes reports that a channel is unchecked, never that it is missing', async () => {
    const none = await openLook([]);
    expect(await none.look(none.channels.payAlerts)).toEqual(unchecked('missing_scope'));
    const half = await openLook(['channels:read']);
    expect(await half.look(half.channels.payAlerts)).toEqual({ kind: 'reachable' });
    expect(await half.look(half.channels.privateRoom)).toEqual(unchecked('missing_scope'));
    expect(await half.look('C0NOWHERE1')).toEqual(unchecked('channel_not_found'));
  });

  it('is to be asked again if Slack asks to wait, refuses the token or can’t be reached', async () => {
    const { workspace, channels, look } = await openLook(reading);
    const revoked = clientOf(workspace, 'xoxb-revoked');
    const away = { kind: 'away', slackError: 'invalid_auth' };
    expect(await lookAtChannel(revoked, channels.payAlerts)).toEqual(away);
    async function lookOften(): Promise<void> {
      for (let times = 0; times < 60; times += 1) await look(channels.payAlerts);
    }
    const refused = await lookOften().catch(readSlackError);
    expect(refused).toEqual({ kind: 'rate_limited', retryAfterMs: expect.any(Number) });
    await workspace.close();
    expect(await look(channels.payAlerts)).toEqual({ kind: 'away', slackError: expect.any(String) });
  });
});
