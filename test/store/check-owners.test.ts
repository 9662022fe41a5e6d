import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openStorage } from '../../src/store/storage.ts';
import { merchantScopes } from '../../src/merchants.ts';
import { checkOwners } from '../../src/store/check-owners.ts';
import type { Runtime } from '../../src/config/config.ts';
import { readConfig } from '../../src/config/read-config.ts';
import type { Sealer } from '../../src/store/store.ts';
import { openModelStore } from './model-store.ts';

const ids = { main: '8b0e2f74-16c9-4d3a-b5a7-90c4d1e26f38', lagos: '1c6f6a0e-5d0b-4c3e-9d55-0a7c1f0b7e21' };

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'merchants-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** The accounts as "name id environment", in the file's order; none: only the account of the settings. */
function runtime(...accounts: readonly string[]): Runtime {
  const path = join(folder, 'payops.yml');
  const lines = accounts.map((written) => {
    const [name = '', id = '', environment = 'live'] = written.split(' ');
    return `  - { name: ${name}, account_id: ${id}, environment: ${environment} }\n`;
  });
  const head = 'channels: { alerts: C0ALERTS01 }\n';
  writeFileSync(path, lines.length === 0 ? head : `${head}accounts:\n${lines.join('')}`);
  const tokens = accounts.map((written) => [
    `PAYMENTS_STATIC_TOKEN__${written.split(' ', 1)[0]?.toUpperCase()}`,
    'ready',
  ]);
  const result = readConfig({
    SLACK_BOT_TOKEN: 'xoxb-token',
    SLACK_SIGNING_SECRET: 'ca4a2700ca4a2700ca4a2700ca4a2700',
    PAYMENTS_ENVIRONMENT: 'live',
    PAYMENTS_BASE_URL: 'https://payments.test',
    PAYMENTS_SANDBOX_URL: 'https://sandbox.payments.test',
    PAYMENTS_TOKEN_REVOKE_BODY: '{}',
    ...(accounts.length === 0 ? { PAYMENTS_ACCOUNT_ID: ids.main, PAYMENTS_STATIC_TOKEN: 'ready' } : {}),
    ...(Object.fromEntries(tokens) as Record<string, string>),
    PAYOPS_FILE: path,
    DATA_DIR: folder,
  });
  if (result.kind === 'refused') throw new Error(result.problems.join('\n'));
  return { config: result.config, log: () => undefined, now: () => Date.now() };
}

async function start(store: ReturnType<typeof openModelStore>, ...accounts: string[]): Promise<string> {
  try {
    await checkOwners(store, runtime(...accounts).config);
    return 'started';
  } catch (error) {
    return error instanceof Error ? error.message : '';
  }
}

describe('the owner of the store’s records', () => {
  it('is known when a bot with one account gets more accounts', async () => {
    const store = openModelStore(() => 0);
    expect(await start(store)).toBe('started');
    expect(await start(store, `main ${ids.main}`, `lagos ${ids.lagos}`)).toBe('started');
    expect(await start(store, `main ${ids.main}`, `lagos ${ids.lagos}`)).toBe('started');
  });

  it('keeps the bot from starting if another account is put first, and says what to do', async () => {
    const store = openModelStore(() => 0);
    await start(store);
    const told = await start(store, `lagos ${ids.lagos}`, `main ${ids.main}`);
    expect(told).toContain(`belongs to the account ${ids.main} (live)`);
    expect(told).toMatch(
      /Put the account 8b0e\S+ \(live\) first in \S+payops.yml, or give the bot a new store/,
    );
  });

  it('keeps the bot from starting if a name now means another account or environment', async () => {
    const store = openModelStore(() => 0);
    await start(store, `main ${ids.main}`, `lagos ${ids.lagos} sandbox`);
    const live = await start(store, `main ${ids.main}`, `lagos ${ids.lagos} live`);
    expect(live).toContain(`belongs to the account ${ids.lagos} (sandbox)`);
    expect(live).toContain('a name of its own');
    expect(await start(store, `main ${ids.main}`, `lagos ${ids.lagos} sandbox`)).toBe('started');
  });

  it('may change for a bot with one account, within an environment', async () => {
    const store = openModelStore(() => 0);
    await start(store, `lagos ${ids.lagos}`);
    expect(await start(store)).toBe('started');
    expect(await start(store, `lagos ${ids.lagos}`)).toContain('belongs to');
  });

  it('keeps a bot with one account from going live on the store of its tests', async () => {
    const store = openModelStore(() => 0);
    const { config } = runtime();
    await checkOwners(store, { ...config, paymentsEnvironment: 'sandbox' });
    await expect(checkOwners(store, config)).rejects.toThrow(
      'The store is of the environment sandbox, and PAYMENTS_ENVIRONMENT is live: a real payment with the reference of a test would be taken for its repeat. Give the bot a new store (DATA_DIR, REDIS_PREFIX), or set PAYMENTS_ENVIRONMENT back.',
    );
    await checkOwners(store, { ...config, paymentsEnvironment: 'sandbox' });
  });
});

describe('a text sealed by one account', () => {
  it('opens for no other account, even under the same key', async () => {
    const given = runtime(
      `main ${ids.main}`,
      `lagos ${ids.lagos}`,
      'abuja 5d1c7b92-7a0e-4a51-8f2c-3f9f7f6f0d11',
    );
    const storage = await openStorage(given);
    const sealers = merchantScopes(given, storage).map((scope) => scope.storage.sealer);
    const sealed = sealers.map((sealer) => sealer.seal('charge:1', 'secret'));
    const opened = sealers.map((sealer) => sealed.map((text) => openedBy(sealer, text)));
    expect(opened).toEqual([
      ['secret', undefined, undefined],
      [undefined, 'secret', undefined],
      [undefined, undefined, 'secret'],
    ]);
    return storage.close();
  });
});

function openedBy(sealer: Sealer, sealed: string): string | undefined {
  try {
    return sealer.open('charge:1', sealed);
  } catch {
    return undefined;
  }
}
