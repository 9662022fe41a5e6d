import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import { z } from 'zod';
import type { WorkspaceState } from '../protocol.ts';

/** What installing the app with its manifest would give it. */
export type InstalledApp = {
  scopes: ReadonlySet<string>;
  slashCommands: WorkspaceState['slashCommands'];
  shortcuts: readonly { kind: 'global' | 'message'; callbackId: string; name: string }[];
};

const strings = z.array(z.string()).default([]);

/** What every workspace has of it. The rest is as the bot needs it, which a test of the file holds. */
const manifestShape = z.looseObject({
  features: z.looseObject({
    slash_commands: z.array(
      z.looseObject({
        command: z.string().startsWith('/'),
        description: z.string(),
        usage_hint: z.string(),
      }),
    ),
    shortcuts: z.array(
      z.looseObject({ type: z.enum(['global', 'message']), callback_id: z.string(), name: z.string() }),
    ),
  }),
  oauth_config: z.looseObject({ scopes: z.looseObject({ bot: strings, bot_optional: strings }) }),
});

/**
 * The app as installed: the required scopes, and of the optional ones those that the installer ticked.
 * Throws when the file cannot be read or is no manifest, as Slack refuses to create an app from it.
 */
export async function installApp(
  manifestPath: string,
  grantedOptionalScopes: readonly string[] | 'all',
): Promise<InstalledApp> {
  const manifest = manifestShape.parse(parse(await readFile(manifestPath, 'utf8')));
  const { bot, bot_optional: optional } = manifest.oauth_config.scopes;
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
  };
}
