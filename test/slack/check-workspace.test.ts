import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';
import { checkWorkspace } from '../../scripts/workspace-checks.ts';
import { readSettings } from '../../src/cli/read-settings.ts';
import { botSettings, payopsFile } from '../../src/playground/bot-settings.ts';
import type { SlackFault } from '../../src/simulators/slack/faults.ts';
import type { Workspace, WorkspaceSettings } from '../../src/simulators/slack/workspace.ts';
import { closeAll, openWorkspace } from '../simulators/slack/support.ts';

// Runs `npm run check:slack` against the simulated Slack, clean and with each fault; not against a real workspace.

afterEach(closeAll);

const manifest = parse(readFileSync('manifest.yml', 'utf8')) as {
  settings: { interactivity: Record<string, unknown> };
};

function settingsFor(workspace: Workspace): Record<string, string> {
  const folder = mkdtempSync(join(tmpdir(), 'payops-check-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'payops.yml');
  const { channels, users } = workspace.ids;
  writeFileSync(
    file,
    payopsFile({
      channels: { alerts: channels.payAlerts, ops: channels.payOps, desk: channels.payDesk },
      users,
    }),
  );
  return {
    ...botSettings({
      port: 0,
      dataDir: folder,
      payopsFile: file,
      slack: { ...workspace.credentials, apiUrl: workspace.apiUrl },
      payments: {
        accountId: '8b0e2f74-16c9-4d3a-b5a7-90c4d1e26f38',
        clientId: 'client',
        clientSecret: 'secret',
        webhookSecret: 'webhook-secret',
        url: 'http://127.0.0.1:1',
      },
    }),
    SLACK_MODE: 'socket',
    SLACK_APP_TOKEN: workspace.credentials.appToken,
    SLACK_SIGNING_SECRET: '',
  };
}

type Given = {
  workspace?: WorkspaceSettings;
  faults?: readonly SlackFault[];
  /** The bot is not a member of the channel. */
  isOutside?: boolean;
  isArchived?: boolean;
  env?: Record<string, string>;
  manifest?: unknown;
};

/** The report's rows by the part they check. Fails if the check leaves a post behind. */
async function rows(given: Given = {}): Promise<Record<string, string>> {
  const workspace = await openWorkspace({
    grantedOptionalScopes: 'all',
    postBurst: Infinity,
    ...given.workspace,
  });
  const { payDesk } = workspace.ids.channels;
  const { agent } = workspace.ids.users;
  workspace.setChannel(payDesk, {
    botIsMember: given.isOutside !== true,
    archived: given.isArchived === true,
  });
  const read = readSettings({ ...settingsFor(workspace), ...given.env });
  if (read.kind === 'refused') throw new Error(read.words);
  workspace.setFaults(...(given.faults ?? []));
  const found = await checkWorkspace({
    config: read.config,
    channel: payDesk,
    person: agent,
    manifest: given.manifest ?? manifest,
    log: () => undefined,
    now: () => Date.now(),
    paceMs: 0,
  });
  workspace.setFaults();
  const left = workspace.posts().filter(({ channel }) => channel === payDesk);
  const isGone = found.find(({ part }) => part === 'Clean-up')?.state !== 'warning';
  expect(isGone ? left : []).toEqual([]);
  return Object.fromEntries(found.map(({ part, state, says }) => [part, `${state}: ${says}`]));
}

describe('check:slack, against the simulated Slack', () => {
  it('reports a healthy workspace as working', async () => {
    const found = await rows();
    expect(Object.keys(found)).toEqual([
      'Manifest',
      'Slack token',
      'Slack scopes',
      'Slack app token',
      'Slack clock',
      'Channel C0DESK0001',
      'Post',
      'Edit',
      'Metadata',
      'Edit that takes the rich text away',
      'Note below a deleted message',
      'File',
      'Clean-up',
      'Direct message',
      'Home',
    ]);
    expect(Object.values(found).filter((one) => !one.startsWith('ok'))).toEqual([]);
    expect(found['Edit that takes the rich text away']).toContain('block_mismatch');
    expect(found['Note below a deleted message']).toBe('ok: Slack posts it into the channel');
    expect(found['Clean-up']).toBe('ok: Everything is gone: messages 3, files 1');
  });

  it('reports what Slack accepts in a channel that the bot is not in', async () => {
    expect(await rows({ isOutside: true })).toMatchObject({
      'Channel C0DESK0001': 'ok: The bot is not in it',
      Post: 'ok: Slack takes it, though the bot is not in the channel',
      Edit: 'ok: Slack takes it, though the bot is not in the channel',
      Metadata: expect.stringMatching(/^skipped:.*not_in_channel/),
      File: expect.stringContaining('the bot is not in the channel'),
    });
  });

  const without = structuredClone(manifest);
  delete without.settings.interactivity['message_menu_options_url'];

  it.each<[what: string, given: Given, rows: Record<string, RegExp>]>([
    [
      'edits that need membership',
      { isOutside: true, workspace: { quirks: { editsNeedMembership: true } } },
      { Post: /^ok/, Edit: /^warning: .*not in the channel: not_in_channel/ },
    ],
    [
      'a post that is refused outside',
      { isOutside: true, workspace: { grantedOptionalScopes: ['channels:read'] } },
      { Post: /^problem: .*not_in_channel/, Edit: /^skipped/, File: /^skipped/, 'Clean-up': /^ok/ },
    ],
    [
      'a manifest without the address of lists',
      { manifest: without },
      { Manifest: /^problem: .*address of lists/ },
    ],
    [
      'a bot token that is wrong',
      { env: { SLACK_BOT_TOKEN: 'xoxb-wrong' } },
      { 'Slack token': /^problem: .*invalid_auth/, 'Channel C0DESK0001': /^skipped/ },
    ],
    [
      'an app token that is wrong',
      { env: { SLACK_APP_TOKEN: 'xapp-wrong' } },
      { 'Slack app token': /^problem: .*invalid_auth/, Post: /^ok/ },
    ],
    [
      'scopes that were left out',
      { workspace: { grantedOptionalScopes: [] } },
      {
        'Slack scopes': /^ok: .*Left out/,
        'Channel C0DESK0001': /^skipped: .*missing_scope/,
        Metadata: /^skipped/,
        File: /^skipped/,
        Edit: /^ok/,
      },
    ],
    [
      'an archived channel',
      { isArchived: true },
      { 'Channel C0DESK0001': /^problem/, Post: /^problem: .*is_archived/ },
    ],
    [
      'histories that are read slowly',
      { faults: [{ kind: 'rate_limited', method: 'conversations.history' }] },
      { Metadata: /^warning: .*ratelimited/ },
    ],
    [
      'edits that Slack refuses',
      { faults: [{ kind: 'refused', method: 'chat.update', error: 'edit_window_closed' }] },
      { Edit: /^problem: .*edit_window_closed/, Metadata: /^ok/ },
    ],
    [
      'an answer that is lost, and the message that is found all the same',
      { faults: [{ kind: 'answer_lost', method: 'chat.postMessage', times: 1 }] },
      { Post: /^ok/, Edit: /^ok/, 'Clean-up': /^ok: .*messages 3/ },
    ],
    [
      'posts that Slack refuses',
      { faults: [{ kind: 'refused', method: 'chat.postMessage', error: 'restricted_action' }] },
      { Post: /^problem: .*restricted_action/, 'Direct message': /^problem/ },
    ],
    [
      'files that are forbidden',
      { faults: [{ kind: 'refused', method: 'files.getUploadURLExternal', error: 'file_uploads_disabled' }] },
      { File: /^problem: .*file_uploads_disabled/ },
    ],
    [
      'messages that may not be deleted',
      { faults: [{ kind: 'refused', method: 'chat.delete', error: 'compliance_exports_prevent_deletion' }] },
      { 'Clean-up': /^warning: .*compliance_exports_prevent_deletion/ },
    ],
    [
      'a Home that is turned off',
      { faults: [{ kind: 'refused', method: 'views.publish', error: 'not_enabled' }] },
      { Home: /^problem: .*not_enabled/ },
    ],
    [
      'posts that fail on Slack’s side',
      { faults: [{ kind: 'error_500', method: 'chat.postMessage' }] },
      { Post: /^problem: .*no usable answer/, Edit: /^skipped/, 'Clean-up': /^ok/ },
    ],
    [
      'blocks that an old workspace does not know',
      { faults: [{ kind: 'unknown_blocks', types: ['rich_text'] }] },
      { Post: /^ok/, Edit: /^ok/, Home: /^problem: .*invalid_arguments/ },
    ],
    [
      'a Home that hangs',
      { faults: [{ kind: 'hang', method: 'views.publish' }] },
      { 'Direct message': /^ok/, Home: /^problem: .*no_usable_answer/ },
    ],
    [
      'a Slack that is away',
      { faults: [{ kind: 'down' }] },
      { 'Slack token': /^problem: Slack does not answer/ },
    ],
  ])('reports %s', async (_what, given, expected) => {
    const found = await rows(given);
    for (const [part, says] of Object.entries(expected))
      expect([part, found[part]]).toEqual([part, expect.stringMatching(says)]);
  });

  it('prints a table without secrets; posts nowhere without a named channel', async () => {
    const workspace = await openWorkspace({ grantedOptionalScopes: 'all' });
    const { payDesk } = workspace.ids.channels;
    const run = async (...words: string[]) =>
      await promisify(execFile)(process.execPath, ['scripts/check-slack.ts', ...words], {
        env: settingsFor(workspace),
      }).catch((error: unknown) => error as { stdout: string; stderr: string; code: number });
    expect(await run()).toMatchObject({ code: 2, stderr: expect.stringContaining('Say where it may post') });
    expect(workspace.stats().calls).toEqual({});
    const { stdout } = await run('--channel', payDesk);
    expect(stdout).toMatch(/^Payops .*, Socket Mode, .*\n\n\| \| What \| Seen \| What to do \|\n/);
    expect(stdout).toContain('| ✅ | Clean-up | Everything is gone: messages 3, files 1 |');
    for (const secret of Object.values(workspace.credentials)) expect(stdout).not.toContain(secret);
    expect(workspace.posts()).toEqual([]);
  });
});
