import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { itInFull } from './support/counts.ts';

const run = promisify(execFile);
const root = resolve(import.meta.dirname, '..');
const copied = [
  'src',
  'test',
  'scripts',
  'openapi',
  'docs',
  'manifest.yml',
  'package.json',
  'vitest.config.ts',
];

/** The example's lines for an existing file go before the first line that begins so. */
const before: Readonly<Record<string, string>> = {
  'openapi/payments.yaml': '  /v1/accounts/sub-account-details:',
  'src/features/registry.ts': "  { verb: 'doctor'",
  'test/features/permissions.table.test.ts': "  'type lookup INV-2041':",
};

/** A program that runs the example's verb and prints its answer. The verb calls the service by a real HTTP request. */
const probe = `
import { createBalance } from './src/features/balance/balance.ts';
import { createPaymentsClient } from './src/payments/client.ts';
const now = () => 0;
const accessToken = { current: async () => 'token', replace: async () => 'token' };
const baseUrl = process.argv[2] ?? '';
const client = createPaymentsClient({ baseUrl, sandbox: true, timeoutMs: 5_000, accessToken, now });
const account = { payments: { ask: (read) => read(client, 'account-1') }, shownAccount: { environment: 'sandbox', account: 'Lagos' }, now };
const read = createBalance(account).verbs[0].prepare([]);
console.log(JSON.stringify(await read.value.run({})));
`;

describe('the worked example of CONTRIBUTING.md', () => {
  let copy: string;
  beforeAll(() => {
    copy = mkdtempSync(join(tmpdir(), 'payops-example-'));
    for (const name of copied) cpSync(join(root, name), join(copy, name), { recursive: true });
    symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
    for (const { file, text } of examples()) write(copy, file, text);
    writeFileSync(join(copy, 'probe.ts'), probe);
    const { compilerOptions } = JSON.parse(readFileSync(join(root, 'tsconfig.json'), 'utf8')) as {
      compilerOptions: object;
    };
    const options = { ...compilerOptions, tsBuildInfoFile: 'types.tsbuildinfo' };
    const files = ['src/features/registry.ts'];
    writeFileSync(join(copy, 'tsconfig.json'), JSON.stringify({ compilerOptions: options, files }));
  });
  afterAll(() => rmSync(copy, { recursive: true, force: true }));

  it('changes three files besides the OpenAPI, and makes a verb that answers', async () => {
    const touched = examples().map(({ file }) => file);
    expect(touched).toHaveLength(4);
    expect(touched).toContain('openapi/payments.yaml');

    const asked: string[] = [];
    const service = createServer((request, response) => {
      asked.push(`${request.method} ${request.url} ${String(request.headers['accountid'])}`);
      response.setHeader('content-type', 'application/json');
      response.end('{"code":"00","data":{"available":"12500.00","currency":"NGN"}}');
    });
    await new Promise<void>((done) => service.listen(0, '127.0.0.1', done));
    const { port } = service.address() as AddressInfo;
    const { stdout } = await inCopy('probe.ts', `http://127.0.0.1:${port}`);
    service.close();
    expect(asked).toEqual(['GET /v1/accounts/balance account-1']);
    expect(JSON.parse(stdout)).toMatchObject({ text: expect.stringContaining('NGN 12,500.00') });
  });

  itInFull('is right in the tables of permissions and of verbs', async () => {
    const tables = ['test/features/permissions.table.test.ts', 'test/features/registry.test.ts'];
    await inCopy('node_modules/vitest/vitest.mjs', 'run', '--project=parts', ...tables);
  });

  itInFull('compiles', async () => {
    await inCopy('scripts/generate.ts');
    expect(readFileSync(join(copy, 'src/payments/schema.d.ts'), 'utf8')).toContain('/v1/accounts/balance');
    await inCopy('node_modules/typescript/bin/tsc', '-p', '.');
  });

  function inCopy(...words: string[]): Promise<{ stdout: string }> {
    // No compile cache: the copy has another path each time.
    const env = { ...process.env, NODE_DISABLE_COMPILE_CACHE: '1' };
    return run(process.execPath, words, { cwd: copy, env });
  }
});

function examples(): { file: string; text: string }[] {
  const page = readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8');
  return [...page.matchAll(/^```\w+ (\S+)\n([^]*?)^```$/gm)].map(([, file = '', text = '']) => ({
    file,
    text,
  }));
}

function write(copy: string, file: string, text: string): void {
  const path = join(copy, file);
  const line = before[file];
  if (line === undefined) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    return;
  }
  const parts = readFileSync(path, 'utf8').split(`\n${line}`);
  expect(parts.length, `${file} has a line that begins: ${line}`).toBeGreaterThan(1);
  const [first = '', ...rest] = parts;
  const imports = file.endsWith('registry.ts')
    ? "import { createBalance } from './balance/balance.ts';\n"
    : '';
  writeFileSync(path, `${imports}${first}\n${text}${line}${rest.join(`\n${line}`)}`);
}
