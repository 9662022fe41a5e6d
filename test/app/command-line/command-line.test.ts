import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runCommandLine } from '../../../src/app/command-line/command-line.ts';
import { operatorCommands } from '../../../src/app/command-line/run-command.ts';

type Stream = Parameters<typeof runCommandLine>[0]['stdout'];

/** Typed where no setting is, as on the machine of whoever tries a command for the first time. */
async function typed(...words: string[]) {
  const written = { stdout: '', stderr: '' };
  const stream = (name: 'stdout' | 'stderr'): Stream => ({
    write(text) {
      written[name] += text;
      return true;
    },
  });
  const code = await runCommandLine({
    words,
    variables: {},
    stdout: stream('stdout'),
    stderr: stream('stderr'),
    now: () => 0,
  });
  return { code, ...written };
}

describe('a command of operators, without settings', () => {
  it.each([...operatorCommands])('tells how %s is typed where it is mistyped', async (name) => {
    const end = await typed(name, '--playground');
    expect(end).toMatchObject({ code: 2, stdout: '' });
    expect(end.stderr).toContain(`npm run ${name} `);
    expect(end.stderr).not.toContain('The settings have problems');
  });

  it('is refused for the settings once it is understood, under whichever account', async () => {
    for (const words of [['redrive'], ['redrive', '--account', 'lagos', '--channel', 'C0123ABCD']]) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      const end = await typed(...words);
      expect(end).toMatchObject({ code: 5, stdout: '' });
      expect(end.stderr).toContain('Nothing was done. The settings have problems:');
    }
  });

  it('verifies an export of the audit trail, which whoever audits has without the bot', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'payops-audit-'));
    const path = join(folder, 'audit.jsonl');
    await writeFile(path, '');
    const end = await typed('audit', 'verify', '--file', path);
    await rm(folder, { recursive: true });
    expect(end).toMatchObject({ code: 3, stderr: 'The file holds no entry.\n' });
  });
});
