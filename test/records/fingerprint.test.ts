import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { StoreUnavailable } from '../../src/domain/failure.ts';
import { openFingerprint } from '../../src/records/fingerprint.ts';
import { createSealer } from '../../src/store/sealed.ts';
import type { Store } from '../../src/store/store.ts';
import { onBothStores, type TwoReplicas } from '../features/two-stores.ts';

const oldKey = { id: 'old', key: randomBytes(32) };
const newKey = { id: 'new', key: randomBytes(32) };
const record = 'secret:fingerprint';

function opened(store: Store, keys = [oldKey]) {
  return openFingerprint(store, createSealer(keys), () => undefined);
}

onBothStores('openFingerprint', (open) => {
  let replicas: TwoReplicas;
  beforeEach(async () => {
    replicas = await open();
  });
  afterEach(() => replicas.close());

  async function sealedNow(): Promise<string> {
    return (await replicas.one.read(record))?.value ?? 'none';
  }

  it('gives a card the same name on replicas that start together, and after a restart', async () => {
    const all = [replicas.one, replicas.two, replicas.one, replicas.two].map((store) => opened(store));
    const names = await Promise.all(all.map((fingerprint) => fingerprint('token')));
    expect(new Set(names).size).toBe(1);
    expect(names[0]).toMatch(/^[\da-f]{32}$/);
    expect(await opened(replicas.two)('token')).toBe(names[0]);
    expect(await opened(replicas.two)('other')).not.toBe(names[0]);
  });

  it('survives a rotation of the sealing keys, and then needs only the new one', async () => {
    const name = await opened(replicas.one)('token');
    expect(await sealedNow()).toMatch(/^old\./);
    const rotated = [replicas.one, replicas.two].map((store) => opened(store, [newKey, oldKey]));
    expect(await Promise.all(rotated.map((fingerprint) => fingerprint('token')))).toEqual([name, name]);
    expect(await sealedNow()).toMatch(/^new\./);
    expect(await opened(replicas.one, [newKey])('token')).toBe(name);
  });

  it('says what is lost and how to fix it if its sealing key is gone, and makes no new one', async () => {
    const name = await opened(replicas.one)('token');
    const before = await sealedNow();
    const lost = opened(replicas.one, [newKey]);
    await expect(lost('token')).rejects.toThrow(/waits after declines.+Put the sealing key .+ back/);
    expect(await sealedNow()).toBe(before);
    expect(await opened(replicas.one, [newKey, oldKey])('token')).toBe(name);
  });

  it('reads its key once, and again if the store was away', async () => {
    let reads = 0;
    let away = true;
    const store: Store = {
      ...replicas.one,
      read(key) {
        reads += 1;
        return away ? Promise.reject(new StoreUnavailable('away')) : replicas.one.read(key);
      },
    };
    await opened(replicas.one)('token');
    const fingerprint = opened(store);
    expect(reads).toBe(0);
    await expect(fingerprint('token')).rejects.toThrow(StoreUnavailable);
    away = false;
    await Promise.all([fingerprint('token'), fingerprint('other')]);
    await fingerprint('token');
    expect(reads).toBe(2);
  });
});
