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
/** All of the bot, as far as it can call Slack or hear from it. */
const source = ['slack', 'messages', 'features']
  .flatMap((room) =>
    readdirSync(`src/${room}`, { recursive: true, encoding: 'utf8' }).map((file) => `src/${room}/${file}`),
  )
  .filter((file) => file.endsWith('.ts'))
  .map((file) => readFileSync(file, 'utf8'))
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

const verbs = everyVerb();
const shortcuts = verbs.flatMap((verb) => verb.shortcuts ?? []);
const events = [...source.matchAll(/\bevent\.type !== '(\w+)'/g)].map(([, event = '']) => event);
const methods = [...source.matchAll(/\b(?:client|interactive|delivery)\.((?:[a-z]\w*\.)+[a-z]\w*)\(/g)]
  .map(([, method = '']) => method)
  .filter((method) => !method.startsWith('apps.'));

/** What the code takes from Slack or asks of it, and where the manifest has to switch it on for that. */
function lackedBy(given: unknown): string[] {
  const shown = z.looseObject({}).catch({});
  const at = (...path: (string | number)[]): unknown =>
    path.reduce<unknown>(
      (part, name) => (Array.isArray(part) ? part[Number(name)] : shown.parse(part)[name]),
      given,
    );
  const list = (...path: string[]): unknown[] =>
    z
      .array(z.unknown())
      .catch([])
      .parse(at(...path));
  const has = (all: unknown[], wanted: object): boolean =>
    all.some((one) => Object.entries(wanted).every(([name, value]) => shown.parse(one)[name] === value));
  const scopes = list('oauth_config', 'scopes', 'bot');
  const interactivity = (name: string): unknown => at('settings', 'interactivity', name);
  const isPressed = verbs.some(({ presses = [], modals = [] }) => presses.length + modals.length > 0);
  const isSearched = verbs.some(({ suggestions = [] }) => suggestions.length > 0);
  const needed: [what: string, isThere: boolean][] = [
    ['the command', has(list('features', 'slash_commands'), { command: '/pay', should_escape: true })],
    ['the command’s address', isAddress(at('features', 'slash_commands', 0, 'url'))],
    ['presses and forms', !isPressed || interactivity('is_enabled') === true],
    ['their address', !isPressed || isAddress(interactivity('request_url'))],
    ['the address of lists', !isSearched || isAddress(interactivity('message_menu_options_url'))],
    ...shortcuts.map(({ name, kind: type, callbackId }): [string, boolean] => [
      `the shortcut ${name}`,
      has(list('features', 'shortcuts'), { name, type, callback_id: callbackId }),
    ]),
    ...events.map((event): [string, boolean] => [
      `the event ${event}`,
      list('settings', 'event_subscriptions', 'bot_events').includes(event),
    ]),
    ['the address of events', isAddress(at('settings', 'event_subscriptions', 'request_url'))],
    [
      'the Home',
      !methods.includes('views.publish') || at('features', 'app_home', 'home_tab_enabled') === true,
    ],
    [
      'direct messages',
      !methods.includes('chat.postMessage') || at('features', 'app_home', 'messages_tab_enabled') === true,
    ],
    // Whoever takes Socket Mode turns it on here.
    ['the switch of Socket Mode', typeof at('settings', 'socket_mode_enabled') === 'boolean'],
    ['the scope commands', scopes.includes('commands')],
    ...methods.flatMap((method) =>
      (scopesOf[method] ?? ['an unknown one']).map((scope): [string, boolean] => [
        `${scope} for ${method}`,
        scopes.includes(scope),
      ]),
    ),
  ];
  return needed.filter(([, isThere]) => !isThere).map(([what]) => what);
}

function isAddress(value: unknown): boolean {
  return url.safeParse(value).success;
}

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
  it('has the one slash command that help tells of, with mentions turned into ids', () => {
    const [slash, ...more] = manifest.features.slash_commands;
    expect(more).toEqual([]);
    expect(slash?.should_escape).toBe(true);
    expect(helpMessage([]).text).toContain(slash?.command);
  });

  it('lacks nothing of what the code waits for from Slack', () => {
    expect(lackedBy(manifest)).toEqual([]);
  });

  it('lacks something without any line but these', () => {
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
      // Posting where the bot is not in is no method of its own.
      `oauth_config.scopes.bot.${bot.indexOf('chat:write.public')}`,
      ...optional.map((_, index) => `oauth_config.scopes.bot_optional.${index}`),
      'settings.org_deploy_enabled',
      'settings.token_rotation_enabled',
    ]);
  });

  it('needs nothing but commands, chat:write and users:read, the rest is optional', () => {
    expect(bot.filter((scope) => !optional.includes(scope))).toEqual([
      'commands',
      'chat:write',
      'users:read',
    ]);
    expect(optional.filter((scope) => !bot.includes(scope))).toEqual([]);
  });

  it('declares no shortcut and no event that the code does not know', () => {
    expect(manifest.features.shortcuts).toHaveLength(shortcuts.length);
    expect(manifest.settings.event_subscriptions.bot_events).toEqual(events);
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
