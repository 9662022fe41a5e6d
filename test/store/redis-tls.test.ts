import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findProgram } from '../support/programs.ts';
import { openForContract, tryRedis } from '../support/redis-store.ts';
import { startTlsRedis, type TlsRedis } from '../support/redis-tls.ts';
import { storeContract } from './contract.ts';

const missing = (['redis-server', 'openssl'] as const).filter((name) => findProgram(name) === undefined);
if (missing.length > 0) {
  console.warn(`SKIPPED: the store over TLS, because ${missing.join(' and ')} is not installed.`);
}
const run = promisify(execFile);
const program = fileURLToPath(new URL('ping-store.ts', import.meta.url));

describe.skipIf(missing.length > 0)('the store over TLS', () => {
  const usual = getCACertificates('default');
  let server: TlsRedis;
  beforeAll(async () => {
    server = await startTlsRedis();
  });
  afterAll(async () => {
    setDefaultCACertificates(usual);
    await server?.stop();
  });

  it('is not opened to a server whose authority is unknown, nor to one with another name', async () => {
    const unknown = await tryRedis({ url: `rediss://127.0.0.1:${server.port}` });
    await expect(unknown.store.create('a', '')).rejects.toMatchObject({ name: 'StoreUnavailable' });
    expect(unknown.lines).toMatchObject([{ level: 'error', text: expect.stringMatching(/CERT|SIGNATURE/) }]);
    unknown.close();
    setDefaultCACertificates([...usual, server.authority]);
    const misnamed = await tryRedis({ url: `rediss://localhost:${server.port}` });
    await expect(misnamed.store.create('a', '')).rejects.toMatchObject({ name: 'StoreUnavailable' });
    expect(misnamed.lines).toMatchObject([{ level: 'error', text: expect.stringContaining('ALTNAME') }]);
    misnamed.close();
  });

  it('trusts the authority that NODE_EXTRA_CA_CERTS names when the process starts', async () => {
    const url = `rediss://127.0.0.1:${server.port}`;
    const env = { PATH: process.env['PATH'], NODE_EXTRA_CA_CERTS: server.authorityFile };
    const { stdout } = await run(process.execPath, [program, url], { env });
    expect(stdout.trim()).toBe('pong');
  });

  describe('whose authority is trusted', () => {
    beforeAll(() => setDefaultCACertificates([...usual, server.authority]));
    storeContract('Redis over TLS', () => openForContract(`rediss://127.0.0.1:${server.port}`));
  });
});
