import { describe, expect, it } from 'vitest';
import { StoreUnavailable } from '../../../src/domain/store-unavailable.ts';
import { createListsByPerson } from '../../../src/operations/work/lists-by-person.ts';
import { onBothStores } from '../two-stores.ts';
import { memoryStore } from '../memory-store.ts';

const hour = 3_600_000;

function desk() {
  const clock = { nowMs: 1_800_000_000_000 };
  const store = memoryStore(clock);
  const settled = new Set<string>();
  const asked: string[] = [];
  const charges = createListsByPerson({
    store,
    prefix: 'lists',
    isSettled: (reference) => {
      asked.push(reference);
      return Promise.resolve(settled.has(reference));
    },
    now: () => clock.nowMs,
  });
  return { clock, store, settled, asked, charges };
}

async function addMany(charges: ReturnType<typeof desk>['charges'], from: number, to: number): Promise<void> {
  // oxlint-disable-next-line no-await-in-loop -- the order is what is tested
  for (let index = from; index <= to; index += 1) await charges.add('U1', `pay-${index}`);
}

function references(from: number, to: number): string[] {
  return Array.from({ length: from - to + 1 }, (_, index) => `pay-${from - index}`);
}

describe('createListsByPerson', () => {
  it('gives an agent’s charges newest first, and no others', async () => {
    const { charges } = desk();
    await addMany(charges, 1, 3);
    await charges.add('U2', 'pay-9');
    expect(await charges.of('U1')).toEqual(['pay-3', 'pay-2', 'pay-1']);
    expect(await charges.of('U2')).toEqual(['pay-9']);
    expect(await charges.of('U3')).toEqual([]);
  });

  it('changes nothing when the same is added again', async () => {
    const { charges } = desk();
    await addMany(charges, 1, 3);
    await charges.add('U1', 'pay-1');
    expect(await charges.of('U1')).toEqual(['pay-3', 'pay-2', 'pay-1']);
  });

  it('lets settled charges beyond the newest twenty go once there are more than sixty', async () => {
    const { clock, settled, asked, charges } = desk();
    for (const reference of references(60, 1)) settled.add(reference);
    await addMany(charges, 1, 60);
    clock.nowMs += hour;
    expect(await charges.of('U1')).toHaveLength(60);
    expect(asked).toEqual([]);
    await addMany(charges, 61, 61);
    expect(await charges.of('U1')).toEqual(references(61, 42));
  });

  it('never lets an unsettled one go, however many', async () => {
    const { clock, settled, charges } = desk();
    await addMany(charges, 1, 60);
    clock.nowMs += hour;
    for (const reference of references(60, 1).filter((_, index) => index % 2 === 0)) settled.add(reference);
    await addMany(charges, 61, 300);
    const unsettled = references(300, 1).filter((reference) => !settled.has(reference));
    expect(await charges.of('U1')).toEqual(unsettled);
  });

  it('keeps one whose charge is only just being created, though none exists yet', async () => {
    const { clock, settled, charges } = desk();
    for (const reference of references(100, 1)) settled.add(reference);
    await addMany(charges, 1, 61);
    expect(await charges.of('U1')).toHaveLength(61);
    clock.nowMs += hour;
    await addMany(charges, 62, 102);
    expect(await charges.of('U1')).toEqual(references(102, 62));
  });

  it('does not ask for every charge at every add while many are unsettled', async () => {
    const { clock, asked, charges } = desk();
    await addMany(charges, 1, 60);
    clock.nowMs += hour;
    await addMany(charges, 61, 300);
    expect(asked.length).toBeLessThan(7 * 60);
  });

  it('fails all that wait when the store is away, instead of one after the other, and works again after', async () => {
    const { store } = desk();
    let calls = 0;
    let away = false;
    const charges = createListsByPerson({
      prefix: 'lists',
      store: {
        ...store,
        async read(key) {
          if (!away) return store.read(key);
          calls += 1;
          await new Promise((resolve) => setImmediate(resolve));
          throw new StoreUnavailable('away');
        },
      },
      isSettled: () => Promise.resolve(false),
      now: () => 0,
    });
    await charges.add('U1', 'pay-0');
    away = true;
    const adds = await Promise.allSettled(
      Array.from({ length: 20 }, (_, index) => charges.add('U1', `${index}`)),
    );
    expect(adds.every((add) => add.status === 'rejected' && add.reason instanceof StoreUnavailable)).toBe(
      true,
    );
    expect(calls).toBe(1);
    away = false;
    await charges.add('U1', 'pay-1');
    expect(await charges.of('U1')).toEqual(['pay-1', 'pay-0']);
  });

  onBothStores('the list of an agent’s charges', (open) => {
    it('loses none of 200 that two replicas add at once for one agent', async () => {
      const { one, two, close } = await open();
      const replicas = [one, two].map((store) =>
        createListsByPerson({
          store,
          prefix: 'lists',
          isSettled: () => Promise.resolve(false),
          now: () => Date.now(),
        }),
      );
      const wanted = Array.from({ length: 200 }, (_, index) => `pay-${index}`);
      const startedAt = performance.now();
      await Promise.all(wanted.map((reference, index) => replicas[index % 2]!.add('U1', reference)));
      const tookMs = Math.round(performance.now() - startedAt);
      console.info(`200 concurrent adds for one agent over two replicas took ${tookMs} ms`);
      expect((await replicas[0]!.of('U1')).toSorted()).toEqual(wanted.toSorted());
      await close();
    });
  });
});
