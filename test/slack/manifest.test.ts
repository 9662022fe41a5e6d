import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { helpMessage } from '../../src/features/help/help.ts';
import { everyVerb } from '../../scripts/every-verb.ts';

const url = z.url({ protocol: /^https$/ });

/** Slack's manifest as far as this app uses it, with the lengths of its reference; an unknown field is an error there too. */
const manifestSchema = z.strictObject({
  _metadata: z.strictObject({ major_version: z.literal(2), minor_version: z.int() }),
  display_information: z.strictObject({
    name: z.string().max(35),
    description: z.string().max(140),
    background_color: z.string().regex(/^#[0-9a-f]{6}$/),
  }),
  features: z.strictObject({
    bot_user: z.strictObject({
      display_name: z.string().regex(/^[a-z0-9._-]{1,80}$/),
      always_online: z.boolean(),
    }),
    app_home: z.strictObject({
      home_tab_enabled: z.boolean(),
      messages_tab_enabled: z.boolean(),
      messages_tab_read_only_enabled: z.boolean(),
    }),
    shortcuts: z.array(
      z.strictObject({
        name: z.string().min(1).max(24),
        type: z.enum(['global', 'message']),
        callback_id: z.string().max(255),
        description: z.string().max(150),
      }),
    ),
    slash_commands: z.array(
      z.strictObject({
        command: z.string().regex(/^\/[a-z0-9_-]{1,31}$/),
        description: z.string().max(2000),
        usage_hint: z.string().max(1000),
        url,
        should_escape: z.boolean(),
      }),
    ),
  }),
  oauth_config: z.strictObject({
    scopes: z.strictObject({ bot: z.array(z.string()), bot_optional: z.array(z.string()) }),
  }),
  settings: z.strictObject({
    interactivity: z.strictObject({ is_enabled: z.literal(true), request_url: url }),
    event_subscriptions: z.strictObject({ request_url: url, bot_events: z.array(z.string()) }),
    org_deploy_enabled: z.boolean(),
    socket_mode_enabled: z.boolean(),
    token_rotation_enabled: z.literal(false),
  }),
});

const manifest = manifestSchema.parse(parse(readFileSync('manifest.yml', 'utf8')));
const { bot, bot_optional: optional } = manifest.oauth_config.scopes;
const source = readdirSync('src/slack', { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .map((file) => readFileSync(`src/slack/${file}`, 'utf8'))
  .join('\n');

/** What each method needs; for a history it depends on the kind of channel. */
const scopesOf: Record<string, string[]> = {
  'auth.test': [],
  'files.getUploadURLExternal': ['files:write'],
  'files.completeUploadExternal': ['files:write'],
  'chat.postMessage': ['chat:write'],
  'chat.postEphemeral': ['chat:write'],
  'chat.update': ['chat:write'],
  'conversations.info': ['channels:read', 'groups:read'],
  'conversations.history': ['channels:history', 'groups:history'],
  'conversations.replies': ['channels:history', 'groups:history'],
  'views.open': [],
  'views.push': [],
  'views.update': [],
  'usergroups.list': ['usergroups:read'],
  'usergroups.users.list': ['usergroups:read'],
  'views.publish': [],
  'users.info': ['users:read'],
};

describe('manifest.yml', () => {
  it('has the one slash command that help tells of, with mentions turned into ids', () => {
    const [slash, ...more] = manifest.features.slash_commands;
    expect(more).toEqual([]);
    expect(slash?.should_escape).toBe(true);
    expect(helpMessage([]).text).toContain(slash?.command);
  });

  it('has the scope of every method that the code calls', () => {
    const called = [...source.matchAll(/\b(?:client|interactive|delivery)\.((?:[a-z]\w*\.)+[a-z]\w*)\(/g)]
      .map(([, method = '']) => method)
      .filter((method) => !method.startsWith('apps.'));
    expect(called.length).toBeGreaterThan(5);
    for (const method of called) {
      expect(scopesOf).toHaveProperty([method]);
      expect(bot).toEqual(expect.arrayContaining(scopesOf[method] ?? []));
    }
  });

  it('needs nothing but commands, chat:write and users:read, the rest is optional', () => {
    expect(bot.filter((scope) => !optional.includes(scope))).toEqual([
      'commands',
      'chat:write',
      'users:read',
    ]);
    expect(optional.filter((scope) => !bot.includes(scope))).toEqual([]);
  });

  it('declares exactly the shortcuts of the verbs, under their names', () => {
    const declared = everyVerb().flatMap(({ shortcuts = [] }) => shortcuts);
    const told = manifest.features.shortcuts.map(({ name, type, callback_id: callbackId }) => ({
      name,
      kind: type,
      callbackId,
    }));
    expect(told).toEqual(
      expect.arrayContaining(declared.map(({ name, kind, callbackId }) => ({ name, kind, callbackId }))),
    );
    expect(told).toHaveLength(declared.length);
  });

  it('subscribes to the events that the code listens to, and no others', () => {
    const listened = [...source.matchAll(/\bevent\.type !== '(\w+)'/g)].map(([, event]) => event);
    expect(manifest.settings.event_subscriptions.bot_events).toEqual(listened);
  });

  it('sends everything to the one path that the bot serves', () => {
    const urls = [
      manifest.settings.interactivity.request_url,
      manifest.settings.event_subscriptions.request_url,
      ...manifest.features.slash_commands.map((command) => command.url),
    ];
    for (const address of urls) expect(new URL(address).pathname).toBe('/slack/events');
  });
});
