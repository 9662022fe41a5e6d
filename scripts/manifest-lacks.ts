import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { join } from 'node:path';
import { z } from 'zod';
import { everyVerb } from './every-verb.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

/** The bot's source that calls Slack or listens to it. */
const source = ['slack', 'messages', 'features']
  .flatMap((room) =>
    readdirSync(join(root, 'src', room), { recursive: true, encoding: 'utf8' }).map((file) =>
      join(root, 'src', room, file),
    ),
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
  'conversations.members': ['channels:read', 'groups:read'],
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
export const shortcuts = verbs.flatMap((verb) => verb.shortcuts ?? []);
export const events = [...source.matchAll(/\bapp\.event\('(\w+)'/g)].map(([, event = '']) => event);
/** Methods of Slack's Web API that the bot calls. */
export const called = [
  ...source.matchAll(/\b(?:client|interactive|delivery)\.((?:[a-z]\w*\.)+[a-z]\w*)\(/g),
].map(([, method = '']) => method);
const methods = called.filter((method) => !method.startsWith('apps.'));

/** What the code needs of Slack although the manifest does not switch it on. */
export function lackedBy(given: unknown): string[] {
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
    ['the scope of mentions', !events.includes('app_mention') || scopes.includes('app_mentions:read')],
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

const url = z.url({ protocol: /^https$/ });

function isAddress(value: unknown): boolean {
  return url.safeParse(value).success;
}
