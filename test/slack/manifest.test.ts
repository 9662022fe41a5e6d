import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { helpMessage } from '../../src/features/help/help.ts';
import { events, lackedBy, shortcuts } from '../../scripts/manifest-lacks.ts';

const url = z.url({ protocol: /^https$/ });

/** The parts of Slack's manifest that this app uses, with the documented lengths. Strict, as Slack refuses unknown fields. */
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
    interactivity: z.strictObject({
      is_enabled: z.literal(true),
      request_url: url,
      message_menu_options_url: url,
    }),
    event_subscriptions: z.strictObject({ request_url: url, bot_events: z.array(z.string()) }),
    org_deploy_enabled: z.boolean(),
    socket_mode_enabled: z.boolean(),
    token_rotation_enabled: z.literal(false),
  }),
});

const manifest = manifestSchema.parse(parse(readFileSync('manifest.yml', 'utf8')));
const { bot, bot_optional: optional } = manifest.oauth_config.scopes;
/** Every value of the manifest by its path. */
function linesIn(part: unknown, path: string[] = []): string[][] {
  if (typeof part !== 'object' || part === null) return [path];
  return Object.entries(part).flatMap(([name, inner]) => linesIn(inner, [...path, name]));
}

function without(line: readonly string[]): unknown {
  const copy: unknown = structuredClone(manifest);
  const last = line.at(-1) ?? '';
  const holder = line.slice(0, -1).reduce((part, name) => Reflect.get(part, name) as object, copy as object);
  Reflect.deleteProperty(holder, last);
  return copy;
}

describe('manifest.yml', () => {
  it('has one slash command, the one that help names, and turns mentions into ids', () => {
    const [slash, ...more] = manifest.features.slash_commands;
    expect(more).toEqual([]);
    expect(slash?.should_escape).toBe(true);
    expect(helpMessage([]).text).toContain(slash?.command);
  });

  it('switches on everything that the code expects from Slack', () => {
    expect(lackedBy(manifest)).toEqual([]);
  });

  it('needs every line except these', () => {
    const lines = linesIn(manifest);
    const unneeded = lines
      .filter((line) => lackedBy(without(line)).length === 0)
      .map((line) => line.join('.'));
    expect(lines.length - unneeded.length).toBeGreaterThan(20);
    expect(unneeded).toEqual([
      '_metadata.major_version',
      '_metadata.minor_version',
      'display_information.name',
      'display_information.description',
      'display_information.background_color',
      'features.bot_user.display_name',
      'features.bot_user.always_online',
      'features.app_home.messages_tab_read_only_enabled',
      'features.shortcuts.0.description',
      'features.shortcuts.1.description',
      'features.shortcuts.2.description',
      'features.slash_commands.0.description',
      'features.slash_commands.0.usage_hint',
      // The code posts the same way where the bot is not a member, so it can't lack this scope.
      `oauth_config.scopes.bot.${bot.indexOf('chat:write.public')}`,
      ...optional.map((_, index) => `oauth_config.scopes.bot_optional.${index}`),
      'settings.org_deploy_enabled',
      'settings.token_rotation_enabled',
    ]);
  });

  it('requires only commands, chat:write and users:read; other scopes are optional', () => {
    expect(bot.filter((scope) => !optional.includes(scope))).toEqual([
      'commands',
      'chat:write',
      'users:read',
    ]);
    expect(optional.filter((scope) => !bot.includes(scope))).toEqual([]);
  });

  it('declares only shortcuts and events that the code knows', () => {
    expect(manifest.features.shortcuts).toHaveLength(shortcuts.length);
    expect(manifest.settings.event_subscriptions.bot_events.toSorted()).toEqual(events.toSorted());
  });

  it('sends everything to the one path that the bot serves', () => {
    const urls = [
      manifest.settings.interactivity.request_url,
      manifest.settings.interactivity.message_menu_options_url,
      manifest.settings.event_subscriptions.request_url,
      ...manifest.features.slash_commands.map((command) => command.url),
    ];
    for (const address of urls) expect(new URL(address).pathname).toBe('/slack/events');
  });
});
