import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The fewest settings with which a bot starts, besides its policy file. */
export const minimalSettings = {
  SLACK_BOT_TOKEN: 'xoxb-canary-token',
  SLACK_SIGNING_SECRET: 'ca4a2700ca4a2700ca4a2700ca4a2700',
  PAYMENTS_ENVIRONMENT: 'live',
  PAYMENTS_BASE_URL: 'https://payments.test/',
  PAYMENTS_ACCOUNT_ID: '8b0e2f74-16c9-4d3a-b5a7-90c4d1e26f38',
  PAYMENTS_STATIC_TOKEN: 'canary-static',
};

const folder = mkdtempSync(join(tmpdir(), 'payops-config-'));
// Only at the end of the process, because several test files share this module.
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));

let files = 0;

/** Writes the text to a new file, and returns its path. */
export function fileOf(content: string): string {
  files += 1;
  const path = join(folder, `${files}-payops.yml`);
  writeFileSync(path, content);
  return path;
}
