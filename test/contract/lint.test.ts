import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it, describe } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const redocly = fileURLToPath(new URL('../../node_modules/@redocly/cli/bin/cli.js', import.meta.url));

/** The address leads nowhere, so a lint that needed the network would fail or hang here. */
const offline = {
  REDOCLY_TELEMETRY: 'off',
  REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true',
  HTTP_PROXY: 'http://127.0.0.1:9',
  HTTPS_PROXY: 'http://127.0.0.1:9',
};

function lint(): Promise<{ exitCode: number; stdout: string; stderr: string }> {
  const options = { cwd: root, env: { ...process.env, ...offline }, timeout: 60_000 };
  return new Promise((settle) => {
    execFile(process.execPath, [redocly, 'lint', '--format=json'], options, (failure, stdout, stderr) => {
      settle({ exitCode: failure ? Number(failure.code ?? 1) : 0, stdout, stderr });
    });
  });
}

describe('openapi/payments.yaml', () => {
  it('has no error and no warning under the recommended rules, without a network', async () => {
    const { exitCode, stdout, stderr } = await lint();
    expect(stdout || stderr).toContain('"totals"');
    const { totals, problems } = JSON.parse(stdout) as {
      totals: { errors: number; warnings: number; ignored: number };
      problems: { ruleId: string; message: string }[];
    };
    expect(problems.map(({ ruleId, message }) => `${ruleId}: ${message}`)).toEqual([]);
    expect(totals).toMatchObject({ errors: 0, warnings: 0, ignored: 0 });
    expect(exitCode).toBe(0);
  });
});
