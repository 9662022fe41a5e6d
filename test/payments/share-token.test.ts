import { describe, expect, it } from 'vitest';
import { shareToken } from '../../src/payments/share-token.ts';
import { sealer } from '../features/house.ts';
import { memoryStore } from '../features/memory-store.ts';

const day = 86_400_000;

function replicas() {
  const clock = { nowMs: 1_000_000 };
  const store = memoryStore(clock);
  return {
    clock,
    store,
    first: shareToken(store, sealer, 'account'),
    second: shareToken(store, sealer, 'account'),
  };
}

describe('shareToken', () => {
  it('gives one replica’s token to the other, and nothing in the clear to the store', async () => {
    const { store, first, second } = replicas();
    await first.write({ accessToken: 'canary-access', refreshToken: 'canary-refresh' }, 30 * day);
    expect(await second.readFresh()).toMatchObject({ accessToken: 'canary-access' });
    const values = await Promise.all(store.keys().map(async (key) => (await store.read(key))?.value));
    expect(values.join()).not.toContain('canary');
  });

  it('gives the right to ask to one at a time, and back when it is done', async () => {
    const { first, second } = replicas();
    const unlock = await first.lock(10_000);
    expect(await second.lock(10_000)).toBeUndefined();
    await unlock?.();
    expect(await second.lock(10_000)).toBeDefined();
  });

  it('still knows a token that is used on its eighth day, so that it can be revoked', async () => {
    const { clock, first } = replicas();
    await first.write({ accessToken: 'a' }, 30 * day);
    clock.nowMs += 8 * day;
    expect(await first.readLast()).toMatchObject({ accessToken: 'a' });
  });
});
