import nock from 'nock';
import { expect, it } from 'vitest';
import { createUploadFile, type UploadFile } from '../../../src/slack/kit/upload-file.ts';
import { createClients } from '../../../src/slack/workspace.ts';
import { mockTheOutside } from '../../support/mocks.ts';

mockTheOutside();

const ticket = { ok: true, upload_url: 'https://slack.test/upload/1', file_id: 'F1' };
const file = { name: 'a.csv', title: 'Alerts', text: 'a', comment: '' };
const slackApiUrl = 'https://slack.test/api/';

function upload(channel: string): ReturnType<UploadFile> {
  const { interactive } = createClients({ botToken: 'x', slackApiUrl }, () => undefined);
  return createUploadFile(interactive)({ channel }, file);
}

/** A Slack that takes the file's bytes once. */
const takesBytes = (): nock.Scope =>
  nock('https://slack.test')
    .post('/api/files.getUploadURLExternal')
    .reply(200, ticket)
    .post('/upload/1')
    .reply(200, 'OK');

it.each([
  ['not_in_channel', 'invite the bot with /invite @pay in C0ALERTS, and press again.'],
  ['posting_to_channel_denied', 'a rule of C0ALERTS takes no files of the bot: ask an admin.'],
  ['missing_scope', 'give the app the scope files:write'],
  ['storage_limit_reached', 'storage is full'],
  ['file_type_not_allowed', 'restricts which files may be uploaded'],
])('tells the person how to fix an upload that Slack refuses as %s', async (slackError, fix) => {
  takesBytes().post('/api/files.completeUploadExternal').reply(200, { ok: false, error: slackError });
  const outcome = await upload('C0ALERTS');
  expect(outcome).toMatchObject({ kind: 'failed', why: `Slack says “${slackError}”.` });
  if (outcome.kind !== 'failed') throw new Error('the upload succeeded');
  expect(outcome.fix).toContain(fix);
  // The scope for posts where the bot is no member doesn't cover files.
  expect(outcome.fix).not.toContain('chat:write.public');
});

it('corrects the message that it posts before a person’s file, if Slack then refuses the file', async () => {
  takesBytes()
    .post('/api/chat.postMessage')
    .reply(200, { ok: true, channel: 'D0AGENT', ts: '1.1' })
    .post('/api/files.completeUploadExternal')
    .reply(200, { ok: false, error: 'storage_limit_reached' })
    .post('/api/chat.update', /channel=D0AGENT.*ts=1\.1.*missing/)
    .reply(200, { ok: true });
  expect(await upload('U0AGENT')).toMatchObject({ kind: 'failed' });
});
