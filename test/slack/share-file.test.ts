import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { createShareFile } from '../../src/slack/share-file.ts';
import { createUploadFile, type UploadFile } from '../../src/slack/upload-file.ts';
import { clientOf, closeAll, openWorkspace } from '../simulators/slack/support.ts';

const manifestPath = fileURLToPath(new URL('../../manifest.yml', import.meta.url));
const file = { name: 'a.csv', title: 'CSV of 2 things', text: '\uFEFFid\r\n1\r\n2\r\n', comment: '2 things' };

afterEach(closeAll);

async function open(
  grantedOptionalScopes: readonly string[] | 'all' = ['files:write'],
  instead?: (real: UploadFile) => UploadFile,
) {
  const workspace = await openWorkspace({ manifestPath, grantedOptionalScopes });
  const client = clientOf(workspace);
  const upload = createUploadFile(client);
  const { channels, users } = workspace.ids;
  const share = createShareFile(client, instead?.(upload) ?? upload);
  const posts = (channel: string) => workspace.state(users.agent).messages[channel] ?? [];
  return { workspace, share, channels, users, posts };
}

describe('a file for a person', () => {
  it('stands where they asked for it', async () => {
    const { share, channels, users, posts } = await open();
    expect(await share({ userId: users.agent, channelId: channels.payDesk }, file)).toEqual({ kind: 'here' });
    const [message] = posts(channels.payDesk);
    expect(message).toMatchObject({ text: '2 things', files: [{ name: 'a.csv', text: file.text }] });
    expect(message?.threadTs).toBeUndefined();
    expect(posts(channels.agentDm)).toEqual([]);
  });

  it.each([
    ['a private channel without the bot', (channels: Record<string, string>) => channels['privateRoom']],
    ['a conversation the bot does not know', () => 'D0BETWEEN1'],
    ['nowhere, as in the App Home', () => undefined],
  ])('comes directly from %s, below a message that says what it is', async (_what, placeOf) => {
    const { share, channels, users, posts } = await open();
    const shared = await share({ userId: users.agent, channelId: placeOf(channels) }, file);
    expect(shared.kind).toBe('direct');
    const [ahead, below] = posts(channels.agentDm);
    expect(ahead?.text).toContain('CSV of 2 things · the file you asked for is in this thread');
    expect(below).toMatchObject({ threadTs: ahead?.ts, files: [{ text: file.text }] });
  });

  it('is not sent a second time when the bot lacks the scope, or nobody knows whether it arrived', async () => {
    const poor = await open([]);
    const here = { userId: poor.users.agent, channelId: poor.channels.payDesk };
    expect(await poor.share(here, file)).toMatchObject({
      kind: 'failed',
      fix: expect.stringContaining('files:write'),
    });
    expect(poor.posts(poor.channels.agentDm)).toEqual([]);
    const lossy = await open('all', (upload) => async (place, given) => {
      await upload(place, given);
      return { kind: 'failed', slackError: 'no_usable_answer', why: 'No answer.', fix: 'look' };
    });
    expect(await lossy.share({ userId: lossy.users.agent, channelId: lossy.channels.payDesk }, file)).toEqual(
      { kind: 'failed', why: 'No answer.', fix: 'look' },
    );
    expect(lossy.posts(lossy.channels.payDesk).length).toBe(1);
    expect(lossy.posts(lossy.channels.agentDm)).toEqual([]);
  });

  it('leaves no message that promises what did not come', async () => {
    const { share, channels, users, posts } = await open('all', () => async ({ threadTs }) => ({
      kind: 'failed',
      slackError: threadTs === undefined ? 'not_in_channel' : 'unreachable',
      why: 'Why.',
      fix: 'Fix.',
    }));
    expect(await share({ userId: users.agent, channelId: channels.payDesk }, file)).toEqual({
      kind: 'failed',
      why: 'Why.',
      fix: 'Fix.',
    });
    expect(posts(channels.agentDm).map(({ text }) => text)).toEqual([
      '⚠️ CSV of 2 things · the file could not be put here',
    ]);
  });
});
