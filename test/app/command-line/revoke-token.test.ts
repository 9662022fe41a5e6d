import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import nock from 'nock';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openKept } from '../../../src/app/kept.ts';
import type { Outside } from '../../../src/app/outside.ts';
import { runCommand } from '../../../src/app/command-line/run-command.ts';
import { tokenMemory } from '../../../src/app/payments.ts';
import type { TokenMemory } from '../../../src/operations/service/share-token.ts';
import { mockTheOutside } from '../../support/mocks.ts';
import { accountId, outsideOf } from '../outside-of.ts';

const token = { accessToken: 'canary-access', refreshToken: 'canary-refresh' };
const revokeBody = '{"accessToken":"{{ACCESS_TOKEN}}","refreshToken":"{{REFRESH_TOKEN}}"}';

mockTheOutside();

let dataDir: string;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'revoke-token-'));
});
afterEach(() => rm(dataDir, { recursive: true }));

function outside(more: Record<string, string> = {}): Outside {
  return outsideOf({ PAYMENTS_TOKEN_REVOKE_BODY: revokeBody, DATA_DIR: dataDir, ...more });
}

async function withMemory<T>(use: (memory: TokenMemory) => Promise<T>): Promise<T> {
  const kept = openKept(outside());
  try {
    return await use(tokenMemory(outside().config, kept));
  } finally {
    await kept.close();
  }
}

function share(freshForMs = 60_000): Promise<void> {
  return withMemory((memory) => memory.write(token, freshForMs));
}

function shared(): Promise<unknown[]> {
  return withMemory(async (memory) => [await memory.readFresh(), await memory.readLast()]);
}

function revocation() {
  return nock('https://payments.test', { badheaders: ['authorization', 'accountid'] }).post(
    '/v1/auth/token/revoke',
    { accessToken: 'canary-access', refreshToken: 'canary-refresh' },
  );
}

describe('revoke-token', () => {
  it.each([60_000, 0])(
    'revokes the shared token and forgets it, fresh for %i ms more',
    async (freshForMs) => {
      await share(freshForMs);
      revocation().reply(200, { code: '00', data: null });
      const { exitCode, words } = await runCommand('revoke-token', [], outside());
      expect(words).toBe(
        'The shared access token is revoked at the payments service and forgotten here. A running bot asks for a new one with its next call, half a minute after its last at the soonest.',
      );
      expect(exitCode).toBe(0);
      expect(await shared()).toEqual([undefined, undefined]);
    },
  );

  it.each([
    [400, { description: 'canary-access' }, 'Nothing was revoked. The payments service refused'],
    [401, {}, 'check PAYMENTS_TOKEN_REVOKE_BODY'],
    [200, { code: '99' }, 'check PAYMENTS_TOKEN_REVOKE_BODY'],
    [403, {}, 'Nothing was revoked. This client may not'],
    [500, {}, 'Whether the access token was revoked is not known'],
    [200, '<html>', 'Whether the access token was revoked is not known'],
  ])('keeps the token and says so when the service answers %i %j', async (status, body, told) => {
    await share();
    revocation().reply(status, body as nock.Body);
    const { exitCode, words } = await runCommand('revoke-token', [], outside());
    expect(words).toContain(told);
    expect(words).not.toContain('canary');
    expect(exitCode).toBe(1);
    expect(await shared()).toEqual([token, token]);
  });

  it('refuses in words, and calls nobody, when no body is configured', async () => {
    await share();
    const end = await runCommand('revoke-token', [], outside({ PAYMENTS_TOKEN_REVOKE_BODY: '' }));
    expect(end).toMatchObject({
      exitCode: 1,
      words: expect.stringContaining('PAYMENTS_TOKEN_REVOKE_BODY is not set'),
    });
    expect(await shared()).toEqual([token, token]);
  });

  it('refuses in words, and calls nobody, when no token is shared', async () => {
    const end = await runCommand('revoke-token', [], outside());
    expect(end).toMatchObject({
      exitCode: 1,
      words: expect.stringContaining(`The store holds no access token of the account ${accountId}`),
    });
  });

  it('refuses in words, and calls nobody, while a bot asks for a new token', async () => {
    await share();
    await withMemory((memory) => memory.lock(60_000));
    const end = await runCommand('revoke-token', [], outside());
    expect(end).toMatchObject({ exitCode: 1, words: expect.stringContaining('Try again in a few seconds') });
  });

  it('refuses in words when the store cannot be opened, read or reached', async () => {
    const noFolder = await runCommand('revoke-token', [], outside({ DATA_DIR: '/dev/null/none' }));
    expect(noFolder).toMatchObject({ exitCode: 1, words: expect.stringContaining('DATA_DIR') });
    await share();
    const otherKey = `k1:${randomBytes(32).toString('base64')}`;
    const sealed = await runCommand(
      'revoke-token',
      [],
      outside({ SEALING_KEYS: otherKey.replace('k1:', 'file:') }),
    );
    expect(sealed).toMatchObject({
      exitCode: 1,
      words: expect.stringContaining('sealed with another key'),
    });
    const away = outside({ REDIS_URL: 'redis://127.0.0.1:1', SEALING_KEYS: otherKey });
    expect(await runCommand('revoke-token', [], away)).toMatchObject({
      exitCode: 1,
      words: expect.stringContaining('The store does not answer'),
    });
  });
});
