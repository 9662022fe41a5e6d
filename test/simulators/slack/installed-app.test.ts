import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { channelIds, userIds } from '../../../src/simulators/slack/directory.ts';
import {
  clientOf,
  closeAll,
  modal,
  openRawBot,
  openWorkspace,
  payloadOf,
  refusal,
  section,
  type RawRequest,
} from './support.ts';

afterEach(closeAll);

const { agent } = userIds;
const list = modal('Card', {
  blocks: [
    {
      type: 'input',
      block_id: 'row',
      label: { type: 'plain_text', text: 'Card' },
      element: { type: 'external_select', action_id: 'card', min_query_length: 0 },
    },
  ],
});
const options = [{ text: { type: 'plain_text', text: 'Visa' }, value: 'visa' }];
const notSetUp = { ok: false, problem: 'This app is not configured to handle interactive responses.' };

/** A workspace whose app has the bot's manifest without these lines, and a bot that answers requests for options. */
async function open(lines: RegExp, answer: (request: RawRequest) => number = () => 200) {
  const folder = mkdtempSync(join(tmpdir(), 'payops-manifest-'));
  const manifestPath = join(folder, 'manifest.yml');
  const whole = readFileSync('manifest.yml', 'utf8');
  const without = whole.replace(lines, '');
  expect(without).not.toBe(whole);
  writeFileSync(manifestPath, without);
  const workspace = await openWorkspace({ manifestPath, ackTimeoutMs: 1000 });
  rmSync(folder, { recursive: true });
  const bot = await openRawBot(workspace, (request) => {
    const status = answer(request);
    return status === 0 ? undefined : { status, body: JSON.stringify({ options }) };
  });
  const client = clientOf(workspace);
  const shortcut = () => workspace.act(agent, { kind: 'global_shortcut', callbackId: 'charge' });
  return {
    workspace,
    bot,
    client,
    shortcut,
    suggest: async () => {
      await shortcut();
      const trigger_id = String(payloadOf(bot.requests.at(-1) ?? { headers: {}, body: '{}' })['trigger_id']);
      const shown = await client.apiCall('views.open', { trigger_id, view: JSON.stringify(list) });
      const viewId = (shown as { view?: { id: string } }).view?.id ?? '';
      return () =>
        workspace.act(agent, { kind: 'suggest', blockId: 'row', actionId: 'card', text: '', viewId });
    },
  };
}

const nothing = /^# .*\n/;

it('requests a list’s options only if the manifest has an address for them', async () => {
  const whole = await open(nothing);
  expect(await (await whole.suggest())()).toEqual({ ok: true, options });
  const { bot, suggest } = await open(/.*message_menu_options_url.*\n/);
  const ask = await suggest();
  const before = bot.requests.length;
  expect(await ask()).toEqual({ ok: true, options: [] });
  expect(bot.requests).toHaveLength(before);
});

it('stops requesting a list that the bot answered too late', async () => {
  let isLate = true;
  const { bot, suggest } = await open(nothing, ({ body }) =>
    body.includes('block_suggestion') && isLate ? 0 : 200,
  );
  const ask = await suggest();
  expect(await ask()).toEqual({ ok: true, options: [] });
  isLate = false;
  const before = bot.requests.length;
  expect(await ask()).toEqual({ ok: true, options: [] });
  expect(bot.requests).toHaveLength(before);
});

it('sends presses, forms and shortcuts only if interactivity is on and has an address', async () => {
  for (const line of [/is_enabled: true/, / {4}request_url.*\n(?= {4}#)/]) {
    const { bot, shortcut } = await open(line);
    expect(await shortcut()).toEqual(notSetUp);
    expect(bot.requests).toHaveLength(0);
  }
});

it('has a Home, events, direct messages and commands only if the manifest says so', async () => {
  const home = { kind: 'open_home' } as const;
  const without = await open(/.*home_tab_enabled.*\n/);
  expect(await without.workspace.act(agent, home)).toMatchObject({ ok: false });
  const publishing = without.client.views.publish({
    user_id: agent,
    view: { type: 'home', blocks: [section('x')] },
  });
  expect(await refusal(publishing)).toMatchObject({ error: 'not_enabled' });
  const deaf = await open(/ {4}bot_events:\n.*\n/);
  expect(await deaf.workspace.act(agent, home)).toEqual({ ok: true });
  expect(deaf.bot.requests).toHaveLength(0);
  const silent = await open(/.*messages_tab_enabled.*\n/);
  const telling = silent.client.chat.postMessage({ channel: agent, text: 'x' });
  expect(await refusal(telling)).toMatchObject({ error: 'messages_tab_disabled' });
  const typed = { kind: 'send_message', channel: channelIds.payDesk, text: '/pay to @ada' } as const;
  const plain = await open(/.*should_escape.*\n/);
  await plain.workspace.act(agent, typed);
  expect(new URLSearchParams(plain.bot.requests[0]?.body).get('text')).toBe('to @ada');
  const lost = await open(/ {6}url: .*\n/);
  await lost.workspace.act(agent, typed);
  expect(lost.bot.requests).toHaveLength(0);
});
