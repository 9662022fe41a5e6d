import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { readPolicy } from '../../src/config/read-policy.ts';

const folder = mkdtempSync(join(tmpdir(), 'payops-policy-'));
afterAll(() => rmSync(folder, { recursive: true }));

function problemsOf(content: string): string[] {
  const path = join(folder, 'payops.yml');
  writeFileSync(path, content);
  const read = readPolicy(path);
  return read.kind === 'refused' ? read.problems : [];
}

describe('the policy file', () => {
  it.each([
    [
      'a misspelt key',
      'channels:\n  alerst: C0ALERTS01\n',
      ['channels.alerts is missing', 'channels.alerst is not a setting. Did you mean alerts?'],
    ],
    [
      'a misspelt desk',
      'channels: { alerts: C0ALERTS01, dsek: C0DESK0001 }\n',
      ['channels.dsek is not a setting. Did you mean desk?'],
    ],
    [
      'a channel’s name in place of its id',
      'channels: { alerts: "#pay-alerts" }\n',
      ['channels.alerts must be a channel id like C0123ABCD'],
    ],
    ['an empty file', '', ['channels is missing']],
    ['a number for a channel', 'channels: { alerts: 5 }\n', ['channels.alerts must be a channel id']],
    [
      'text where a list is wanted',
      'channels: { alerts: C0ALERTS01 }\nroles: { agent: { users: U0AGENT01, may: lookup } }\n',
      ['roles.agent.users must be a list: [one, another]', 'roles.agent.may must be a list'],
    ],
    ['a list in place of the file', '- alerts\n', ['the file must be keys, each with a colon and its value']],
    [
      'a list where names are wanted',
      'channels: { alerts: C0ALERTS01 }\nroles: [{ may: [lookup] }]\n',
      ['roles must be names, each with a colon and what belongs to it'],
    ],
    [
      'a time that is a number',
      'channels: { alerts: C0ALERTS01 }\ndaily_summary: [{ channel: C0ALERTS01, at: 8, tz: UTC }]\n',
      ['daily_summary.0.at must be a time like "22:00", in quotes'],
    ],
    [
      'channels at the top of the file',
      'channels: { alerts: C0ALERTS01 }\ndesk: C0DESK0001\n',
      ['desk is not a setting. It belongs under channels.'],
    ],
    ['text that is not YAML', 'channels: [', ['line 1']],
    [
      'an asterisk without quotes',
      'channels: { alerts: C0ALERTS01 }\nroles: { lead: { may: [*] } }\n',
      ["at line 2, column 24. A bare * begins a YAML alias: write '*' in quotes."],
    ],
    [
      'an alias of nothing for a channel',
      'channels: { alerts: *oops }\n',
      ["oops. A bare * begins a YAML alias: write '*' in quotes."],
    ],
    [
      'an alias of nothing for a permission',
      'channels: { alerts: C0ALERTS01 }\nroles: { lead: { may: *lead } }\n',
      ["lead. A bare * begins a YAML alias: write '*' in quotes."],
    ],
    [
      'a role that may nothing',
      'channels: { alerts: C0ALERTS01 }\nroles: { agent: { may: [] } }\n',
      ['roles.agent.may must name at least one permission'],
    ],
  ])('names %s', (_what, content, words) => {
    const problems = problemsOf(content);
    for (const word of words) expect(problems.join('\n')).toContain(word);
    expect(problems).toHaveLength(words.length);
  });
});
