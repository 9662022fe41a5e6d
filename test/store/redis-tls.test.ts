import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findProgram } from '../support/programs.ts';
import { openRedis, tryRedis } from '../support/redis-store.ts';
import { freePort, startRedis } from '../support/redis-server.ts';

const missing = (['redis-server', 'openssl'] as const).filter((name) => findProgram(name) === undefined);
if (missing.length > 0) {
  console.warn(`SKIPPED: the store over TLS, because ${missing.join(' and ')} is not installed.`);
}
const run = promisify(execFile);
const inSource = (path: string): string =>
  JSON.stringify(new URL(`../../src/store/${path}`, import.meta.url).href);
const askOnce = `
  const [{ connectRedis }, { openRedisStore }] = await Promise.all([import(${inSource('redis-client.ts')}), import(${inSource('redis-store.ts')})]);
  const connection = connectRedis({ url: process.argv[1], log: () => undefined });
  await connection.tried;
  await openRedisStore(connection.commands).ping();
  connection.close();
  console.log('pong');`;

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

  it('connects only to a server with a certificate of a trusted authority and with the right name', async () => {
    const unknown = await tryRedis({ url: `rediss://127.0.0.1:${server.port}` });
    await expect(unknown.store.create('a', '')).rejects.toMatchObject({ name: 'StoreUnavailable' });
    expect(unknown.lines).toMatchObject([{ level: 'error', text: expect.stringMatching(/CERT|SIGNATURE/) }]);
    unknown.close();
    setDefaultCACertificates([...usual, server.authority]);
    const misnamed = await tryRedis({ url: `rediss://localhost:${server.port}` });
    await expect(misnamed.store.create('a', '')).rejects.toMatchObject({ name: 'StoreUnavailable' });
    expect(misnamed.lines).toMatchObject([{ level: 'error', text: expect.stringContaining('ALTNAME') }]);
    misnamed.close();
    const trusted = await openRedis({ url: `rediss://127.0.0.1:${server.port}` });
    expect(await trusted.store.create('a', '')).toBe(true);
    expect(await trusted.store.read('a')).toMatchObject({ key: 'a' });
    trusted.close();
  });

  /** Node reads the variable only when a process starts. */
  it('trusts the authority that NODE_EXTRA_CA_CERTS names when the process starts', async () => {
    const url = `rediss://127.0.0.1:${server.port}`;
    const env = { PATH: process.env['PATH'], NODE_EXTRA_CA_CERTS: server.authorityFile };
    const { stdout } = await run(process.execPath, ['--input-type=module', '-e', askOnce, url], { env });
    expect(stdout.trim()).toBe('pong');
  });
});

type TlsRedis = {
  /** The certificate names only 127.0.0.1, not localhost. */
  readonly port: number;
  /** The authority's certificate: as a file for NODE_EXTRA_CA_CERTS, and as text. */
  readonly authorityFile: string;
  readonly authority: string;
  stop(): Promise<void>;
};

/** A Redis with TLS, and a certificate of an unknown authority. */
async function startTlsRedis(): Promise<TlsRedis> {
  const folder = mkdtempSync(join(tmpdir(), 'payops-tls-'));
  const at = (name: string) => join(folder, name);
  certify(at);
  const port = await freePort();
  // The test cuts no power, so nothing needs to wait for the disk.
  const settings = `--appendfsync no --tls-port ${port} --tls-auth-clients no --tls-cert-file ${at('redis.crt')} --tls-key-file ${at('redis.key')} --tls-ca-cert-file ${at('authority.crt')}`;
  const server = await startRedis({ args: settings.split(' ') });
  return {
    port,
    authorityFile: at('authority.crt'),
    authority: readFileSync(at('authority.crt'), 'utf8'),
    async stop() {
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function certify(at: (name: string) => string): void {
  const openssl = findProgram('openssl');
  if (openssl === undefined) throw new Error('openssl is not installed.');
  const make = (name: string, ...more: string[]) => {
    const fresh = 'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2'.split(' ');
    const files = ['-keyout', at(`${name}.key`), '-out', at(`${name}.crt`)];
    execFileSync(openssl, [...fresh, ...files, ...more], { stdio: 'pipe' });
  };
  make('authority', '-subj', '/CN=Authority of a test');
  const signed = ['-CA', at('authority.crt'), '-CAkey', at('authority.key')];
  const plain = ['-addext', 'basicConstraints=critical,CA:FALSE', '-addext', 'subjectAltName=IP:127.0.0.1'];
  make('redis', '-subj', '/CN=Redis of a test', ...signed, ...plain);
}
