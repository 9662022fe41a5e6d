import { permissions } from '../features/registry.ts';
import type { Config } from '../config/config.ts';
import { permissionCheck } from '../config/policy-rules.ts';
import { readConfig, secretsOf } from '../config/read-config.ts';
import { createLog, type Log } from '../log.ts';
import { webhookChecks } from '../webhooks/webhook-settings.ts';

type Variables = Parameters<typeof readConfig>[0];

export type Settings =
  | { kind: 'read'; config: Config; warnings: readonly string[] }
  /** Every problem, as text for the person who starts the process. */
  | { kind: 'refused'; problems: readonly string[]; words: string };

/**
 * Reads the settings, for the bot and every command alike, so that both refuse the same. `lead`: the first sentence of
 * a refusal.
 */
export function readSettings(variables: Variables, lead = 'Payops cannot start.'): Settings {
  const result = readConfig(variables, [...webhookChecks, permissionCheck(permissions)]);
  if (result.kind === 'read') return result;
  const problems = [...result.problems, ...result.warnings].map((problem) => `  - ${problem}`).join('\n');
  return {
    kind: 'refused',
    problems: result.problems,
    words: `${lead} The settings have problems:\n${problems}\ndocs/settings.md explains each setting, docs/policy.md and payops.example.yml the policy file.`,
  };
}

/** A log that strikes out all secrets of these settings. */
export function openLog(config: Config, level: Config['logLevel'], write: (line: string) => void): Log {
  return createLog({ level, secrets: secretsOf(config), write, now: () => new Date() });
}
