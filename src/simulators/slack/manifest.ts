import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import { z } from 'zod';
import type { WorkspaceState } from '../protocol.ts';

/** The kinds of request that Slack sends an app; each has its own address in the manifest. */
export type RequestKind = 'commands' | 'interactions' | 'options' | 'events';

export type InstalledApp = {
  scopes: ReadonlySet<string>;
  slashCommands: (WorkspaceState['slashCommands'][number] & { escapes: boolean })[];
  shortcuts: readonly { kind: 'global' | 'message'; callbackId: string; name: string }[];
  /** Over HTTP Slack sends only what the manifest has an address for; Socket Mode needs none. */
  addresses: Readonly<Record<RequestKind, boolean>>;
  /** Whether presses, forms, shortcuts and lists are sent, in either mode. */
  isInteractive: boolean;
  events: ReadonlySet<string>;
  hasHome: boolean;
  /** Direct messages with the app: none, read-only, or with answers. */
  messagesTab: 'off' | 'read_only' | 'on';
};

const strings = z.array(z.string()).default([]);
const isOn = z.boolean().default(false);
const address = z.url().optional();

/** Only the parts that switch something on. Absent ones are off. */
const manifestShape = z.looseObject({
  features: z.looseObject({
    app_home: z
      .looseObject({
        home_tab_enabled: isOn,
        messages_tab_enabled: isOn,
        messages_tab_read_only_enabled: isOn,
      })
      .prefault({}),
    slash_commands: z
      .array(
        z.looseObject({
          command: z.string().startsWith('/'),
          description: z.string(),
          usage_hint: z.string(),
          url: address,
          should_escape: isOn,
        }),
      )
      .default([]),
    shortcuts: z
      .array(
        z.looseObject({ type: z.enum(['global', 'message']), callback_id: z.string(), name: z.string() }),
      )
      .default([]),
  }),
  oauth_config: z.looseObject({ scopes: z.looseObject({ bot: strings, bot_optional: strings }) }),
  settings: z
    .looseObject({
      interactivity: z
        .looseObject({ is_enabled: isOn, request_url: address, message_menu_options_url: address })
        .prefault({}),
      event_subscriptions: z.looseObject({ request_url: address, bot_events: strings }).prefault({}),
    })
    .prefault({}),
});

/**
 * The app as installed: with the required scopes and the granted optional ones. Throws if the file is unreadable or no
 * manifest: Slack would not create an app from it.
 */
export async function installApp(
  manifestPath: string,
  grantedOptionalScopes: readonly string[] | 'all',
): Promise<InstalledApp> {
  const manifest = manifestShape.parse(parse(await readFile(manifestPath, 'utf8')));
  const { bot, bot_optional: optional } = manifest.oauth_config.scopes;
  const { interactivity, event_subscriptions: subscriptions } = manifest.settings;
  const { app_home: home, slash_commands: commands } = manifest.features;
  return {
    scopes: new Set([
      ...bot.filter((scope) => !optional.includes(scope)),
      ...optional.filter((scope) => grantedOptionalScopes === 'all' || grantedOptionalScopes.includes(scope)),
    ]),
    slashCommands: commands.map((entry) => ({
      command: entry.command,
      description: entry.description,
      usageHint: entry.usage_hint,
      escapes: entry.should_escape,
    })),
    shortcuts: manifest.features.shortcuts.map((entry) => ({
      kind: entry.type,
      callbackId: entry.callback_id,
      name: entry.name,
    })),
    addresses: {
      commands: commands.every(({ url }) => url !== undefined),
      interactions: interactivity.request_url !== undefined,
      options: interactivity.message_menu_options_url !== undefined,
      events: subscriptions.request_url !== undefined,
    },
    isInteractive: interactivity.is_enabled,
    events: new Set(subscriptions.bot_events),
    hasHome: home.home_tab_enabled,
    messagesTab: !home.messages_tab_enabled
      ? 'off'
      : home.messages_tab_read_only_enabled
        ? 'read_only'
        : 'on',
  };
}
