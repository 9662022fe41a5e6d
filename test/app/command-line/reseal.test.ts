import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { runCommand } from '../../../src/app/command-line/run-command.ts';
import { openKept, type Kept } from '../../../src/app/kept.ts';
import { readSignedText, signText } from '../../../src/operations/audit/signed-text.ts';
import { openFingerprint } from '../../../src/operations/work/fingerprint.ts';
import { findProgram } from '../../support/programs.ts';
import { startRedis, type RedisServer } from '../../support/redis-server.ts';
import { outsideOf } from '../outside-of.ts';

const [k1, k2] = ['k1', 'k2'].map((id) => `${id}:${randomBytes(32).toString('base64')}`);

type Settings = Record<string, string>;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'payops-reseal-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function outside(settings: Settings) {
  return outsideOf({ DATA_DIR: folder, ...settings });
}

async function withStore<T>(settings: Settings, use: (kept: Kept) => Promise<T>): Promise<T> {
  const kept = openKept(outside(settings));
  await kept.checked();
  try {
    return await use(kept);
  } finally {
    await kept.close();
  }
}

function reseal(settings: Settings) {
  return runCommand('reseal', [], outside(settings));
}

/** One of every way in which something sealed stands in a record. */
async function fill({ store, sealer }: Kept): Promise<void> {
  const charge = { otp: { sealedTransactionId: sealer.seal('charge:pay-1', 'tx-1') } };
  const records: Record<string, string> = {
    'charge:pay-1': sealer.seal('charge:pay-1', JSON.stringify(charge)),
    'outbox:alert:x': JSON.stringify({
      kind: 'alert',
      sealed: sealer.seal('outbox:alert:x', 'an event'),
      evidence: sealer.seal('outbox:alert:x#evidence', 'a look-up'),
    }),
    'audit-block:0': signText(sealer, 'audit-block:0', '{"seq":0,"note":"k1.nothing sealed"}'),
    '@lagos:ledger:card:1': sealer.seal('@lagos:ledger:card:1', 'a card'),
    'open-charges:1': '["pay-1"]',
  };
  for (const [key, value] of Object.entries(records)) await store.create(key, value, { delayMs: 3_600_000 });
  await openFingerprint({ store, sealer, log: () => undefined })('a card');
}

async function readsAll({ store, sealer }: Kept): Promise<void> {
  const valueOf = async (key: string) => (await store.read(key))?.value ?? '';
  const charge = JSON.parse(sealer.open('charge:pay-1', await valueOf('charge:pay-1')));
  expect(sealer.open('charge:pay-1', charge.otp.sealedTransactionId)).toBe('tx-1');
  const alert = JSON.parse(await valueOf('outbox:alert:x'));
  expect(sealer.open('outbox:alert:x', alert.sealed)).toBe('an event');
  expect(sealer.open('outbox:alert:x#evidence', alert.evidence)).toBe('a look-up');
  expect(readSignedText(sealer, 'audit-block:0', await valueOf('audit-block:0'))).not.toHaveProperty(
    'problem',
  );
  expect(sealer.open('@lagos:ledger:card:1', await valueOf('@lagos:ledger:card:1'))).toBe('a card');
  expect(await valueOf('open-charges:1')).toBe('["pay-1"]');
}

function promises(name: string, place: () => Settings): void {
  it(`on ${name}: makes everything new under the first key, says when the old one can go, and then it opens alone`, async () => {
    const [old, both, alone] = [k1, `${k2},${k1}`, k2].map((keys = '') => ({
      ...place(),
      SEALING_KEYS: keys,
    }));
    if (!old || !both || !alone) throw new Error('three settings');
    await withStore(old, fill);
    const end = await reseal(both);
    expect(end).toMatchObject({
      exitCode: 0,
      words: expect.stringMatching(/^\d+ records are sealed under k2 now/),
    });
    expect(end.words).toContain('Nothing is sealed with k1.');
    await withStore(alone, readsAll);
    expect((await reseal(both)).words).toMatch(/^0 records are/);
  });

  it(`on ${name}: leaves what a worker has, and says that it is not done`, async () => {
    const old = { ...place(), SEALING_KEYS: k1 ?? '' };
    const both = { ...place(), SEALING_KEYS: `${k2},${k1}` };
    await withStore(old, async ({ store, sealer }) => {
      await store.create('charge:busy', sealer.seal('charge:busy', '{}'), { delayMs: 0 });
      await expect.poll(() => store.take(60_000)).toMatchObject([{ key: 'charge:busy' }]);
    });
    const end = await reseal(both);
    expect(end).toMatchObject({
      exitCode: 1,
      words: expect.stringContaining('being worked on. Run this again'),
    });
    expect(end.words).not.toContain('Nothing is sealed with');
  });

  it(`on ${name}: says of what no key opens that its key is needed, and leaves it`, async () => {
    await withStore({ ...place(), SEALING_KEYS: k1 ?? '' }, fill);
    const end = await reseal({ ...place(), SEALING_KEYS: k2 ?? '' });
    expect(end).toMatchObject({
      exitCode: 1,
      words: expect.stringContaining('sealed with k1, which is not here'),
    });
    await withStore({ ...place(), SEALING_KEYS: k1 ?? '' }, readsAll);
  });
}

describe('reseal', () => {
  promises('SQLite', () => ({ DATA_DIR: join(folder, 'data') }));

  it('lets the key file of an embedded store go', async () => {
    await withStore({}, fill);
    const settings = { SEALING_KEYS: k1 ?? '' };
    await withStore(settings, readsAll);
    const end = await reseal(settings);
    expect(end.words).toContain('delete sealing.key in DATA_DIR');
    rmSync(join(folder, 'sealing.key'));
    await withStore(settings, readsAll);
    expect(existsSync(join(folder, 'sealing.key'))).toBe(false);
  });

  it('does nothing for words that it does not know', async () => {
    expect(await runCommand('reseal', ['now'], outside({}))).toMatchObject({ exitCode: 2 });
  });
});

describe.skipIf(findProgram('redis-server') === undefined)('reseal in Redis', () => {
  let server: RedisServer;
  let prefixes = 0;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server.stop());
  beforeEach(() => {
    prefixes += 1;
  });
  promises('Redis', () => ({ REDIS_URL: server.url, REDIS_PREFIX: `reseal-${prefixes}` }));
});
