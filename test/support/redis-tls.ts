import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findProgram } from './programs.ts';
import { freePort, startRedis } from './redis-server.ts';

export type TlsRedis = {
  /** The certificate names 127.0.0.1 alone, not localhost. */
  readonly port: number;
  /** The authority's certificate: as a file for NODE_EXTRA_CA_CERTS, and as text. */
  readonly authorityFile: string;
  readonly authority: string;
  stop(): Promise<void>;
};

/** A Redis that speaks TLS, with a certificate of an authority that nobody knows. */
export async function startTlsRedis(): Promise<TlsRedis> {
  const folder = mkdtempSync(join(tmpdir(), 'payops-tls-'));
  const at = (name: string) => join(folder, name);
  certify(at);
  const port = await freePort();
  // No power is cut here, so nothing need wait for the disk.
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
