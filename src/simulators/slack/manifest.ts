import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import { z } from 'zod';
import type { WorkspaceState } from '../protocol.ts';

/** What installing an app with this manifest would give it. */
export type InstalledApp = {
  scopes: ReadonlySet<string>;
  slashCommands: WorkspaceState['slashCommands'];
  shortcuts: readonly { kind: 'global' | 'message'; callbackId: string; name: string }[];
  botEvents: ReadonlySet<string>;
  homeTab: boolean;
  messagesTab: boolean;
  messagesReadOnly: boolean;
  interactivity: boolean;
};

const strings = z.array(z.string()).default([]);
const flag = z.boolean().optional();

const manifestShape = z.looseObject({
  features: z.looseObject({
    app_home: z
      .looseObject({
        home_tab_enabled: flag,
        messages_tab_enabled: flag,
        messages_tab_read_only_enabled: flag,
      })
      .optional(),
    slash_commands: z
      .array(
        z.looseObject({
          command: z.string().startsWith('/'),
          description: z.string(),
          usage_hint: z.string().default(''),
          /** Names are ids by the time the bot reads them. */
          should_escape: z.literal(true),
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
      event_subscriptions: z.looseObject({ bot_events: strings }).optional(),
      interactivity: z.looseObject({ is_enabled: z.boolean() }).optional(),
    })
    .default({}),
});

export type ManifestSource = { manifestPath: string } | { manifest: object };

/**
 * The app as installed: the required scopes, and of the optional ones those that the installer ticked.
 * Throws when the file cannot be read or is no manifest, as Slack refuses to create an app from it.
 */
export async function installApp(
  source: ManifestSource,
  grantedOptionalScopes: readonly string[] | 'all',
): Promise<InstalledApp> {
  const raw: unknown =
    'manifestPath' in source ? parse(await readFile(source.manifestPath, 'utf8')) : source.manifest;
  const manifest = manifestShape.parse(raw);
  const { bot, bot_optional: optional } = manifest.oauth_config.scopes;
  const home = manifest.features.app_home;
  return {
    scopes: new Set([
      ...bot.filter((scope) => !optional.includes(scope)),
      ...optional.filter((scope) => grantedOptionalScopes === 'all' || grantedOptionalScopes.includes(scope)),
    ]),
    slashCommands: manifest.features.slash_commands.map((entry) => ({
      command: entry.command,
      description: entry.description,
      usageHint: entry.usage_hint,
    })),
    shortcuts: manifest.features.shortcuts.map((entry) => ({
      kind: entry.type,
      callbackId: entry.callback_id,
      name: entry.name,
    })),
    botEvents: new Set(manifest.settings.event_subscriptions?.bot_events),
    homeTab: home?.home_tab_enabled === true,
    messagesTab: home?.messages_tab_enabled !== false,
    messagesReadOnly: home?.messages_tab_read_only_enabled === true,
    interactivity: manifest.settings.interactivity?.is_enabled === true,
  };
}
