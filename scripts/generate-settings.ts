/**
 * Writes what follows from the settings' schema: docs/settings.md, docs/payops.schema.json and .env.example.
 * With --check it writes nothing and fails when one of them is stale.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { z } from 'zod';
import { policySchema } from '../src/config/policy.ts';
import { merchantSecrets, merchantVariable } from '../src/config/read-merchants.ts';
import type { Setting } from '../src/config/setting.ts';
import { settings, variableName } from '../src/config/settings.ts';

const groups = Map.groupBy(Object.entries<Setting>(settings), ([, setting]) => setting.group);

function settingsPage(): string {
  const parts = [
    '# Settings',
    'Made from `src/config/settings.ts` by `npm run generate`; do not edit. Every setting is an environment variable. A secret may also be read from a file: set `NAME_FILE` to its path instead of `NAME`. All problems are told at once, before a port opens. What the payments service’s specification does not show is a setting here, never a guess.',
  ];
  for (const [group, entries] of groups) {
    parts.push(`## ${group}`, tableOf(entries));
  }
  parts.push(
    '## Several merchant accounts',
    `With \`accounts\` in the policy file each account has secrets of its own, under the setting's name, two underscores and the account's name in capitals (dashes become underscores): ${merchantSecrets.map((key) => `\`${merchantVariable(key, 'lagos')}\``).join(', ')}; each also from a file (\`…_FILE\`). The first account may have them under the plain names too. See [accounts.md](accounts.md).`,
    '## The policy file',
    'Channels, accounts, routes, approvals and roles stand in `payops.yml` (see `payops.example.yml`). `docs/payops.schema.json` is its JSON Schema: editors with YAML support check and complete the file with `# yaml-language-server: $schema=docs/payops.schema.json` as its first line.',
  );
  return `${parts.join('\n\n')}\n`;
}

function tableOf(entries: [string, Setting][]): string {
  const rows = entries.map(([key, setting]) => {
    const fallback = setting.fallback === undefined ? '–' : `\`${setting.fallback}\``;
    const words = setting.secret
      ? `${setting.says} **Secret**; also \`${variableName(key)}_FILE\`.`
      : setting.says;
    return `| \`${variableName(key)}\` | ${fallback} | ${words.replaceAll('|', '\\|')} |`;
  });
  return ['| Setting | Default | What |', '|---|---|---|', ...rows].join('\n');
}

function environmentExample(): string {
  const lines = [
    '# Made from src/config/settings.ts by `npm run generate`; copy to .env and fill in.',
    '# Lines that are commented out show the default, or are optional. docs/settings.md explains each.',
  ];
  for (const [group, entries] of groups) {
    lines.push('', `# ${group}`);
    for (const [key, setting] of entries) {
      lines.push(`# ${setting.says}`, `#${variableName(key)}=${setting.fallback ?? ''}`);
    }
  }
  return `${lines.join('\n')}\n`;
}

const files = {
  'docs/settings.md': settingsPage(),
  'docs/payops.schema.json': `${JSON.stringify(z.toJSONSchema(policySchema, { io: 'input' }), undefined, 2)}\n`,
  '.env.example': environmentExample(),
};

const check = process.argv.includes('--check');
for (const [path, content] of Object.entries(files)) {
  if (!check) writeFileSync(path, content);
  else if (readFileSync(path, 'utf8') !== content) {
    console.error(`${path} is stale: run npm run generate and commit what it writes.`);
    process.exitCode = 1;
  }
}
