import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { StoreUnavailable } from '../../src/domain/failure.ts';
import { createRecords, type RecordChange } from '../../src/records/records.ts';
import type { Store } from '../../src/store/store.ts';
import { openWorld } from './two-processes.ts';

const list = 'counted';
const schema = z.object({ by: z.array(z.string()) });
type Counted = z.infer<typeof schema>;

function open(replaced: (store: Store) => Partial<Store> = () => ({})) {
  const { store, sealer } = openWorld(1);
  const deps = { store: { ...store, ...replaced(store) }, sealer, wait: () => Promise.resolve() };
  const replica = () =>
    createRecords<Counted>(deps, { prefix: 'count:', schema, lists: () => ({ [list]: 1 }) });
  const records = replica();
  /** The result depends on the value before, as when two people press the same button. */
  const add = (by: string, at = records) =>
    at.change('1', (before): RecordChange<Counted, 'first' | 'again'> =>
      before?.by.includes(by)
        ? { kind: 'keep', result: 'again' }
        : { kind: 'write', value: { by: [...(before?.by ?? []), by] }, result: 'first' },
    );
  return { store, records, replica, add };
}

describe('createRecords', () => {
  it('loses none of many changes that two replicas make at once', async () => {
    const { records, replica, add } = open();
    const people = Array.from({ length: 20 }, (_, index) => `person ${index}`);
    const other = replica();
    const added = people.map((by, index) => add(by, index % 2 === 0 ? records : other));
    expect(await Promise.all(added)).toEqual(people.map(() => 'first'));
    expect((await records.read('1'))?.by.toSorted()).toEqual(people.toSorted());
  });

  it('makes the changes of a process one by one; all that wait fail together if the store is away', async () => {
    const people = Array.from({ length: 20 }, (_, index) => `person ${index}`);
    let reads = 0;
    const counted = open((store) => ({ read: (key) => ((reads += 1), store.read(key)) }));
    await Promise.all(people.map((by) => counted.add(by)));
    expect(reads).toBe(20);
    const away = open(() => ({ read: () => ((reads += 1), Promise.reject(new StoreUnavailable('away'))) }));
    const ends = await Promise.allSettled(people.map((by) => away.add(by)));
    expect(new Set(ends.map(({ status }) => status))).toEqual(new Set(['rejected']));
    expect(reads).toBe(21);
  });

  it.each([
    ['the store made the change', true],
    ['the change never reached the store', false],
  ])('makes a change once if its answer was lost and %s', async (_what, isMade) => {
    let calls = 0;
    const lose = async <Result>(call: () => Promise<Result>): Promise<Result> => {
      calls += 1;
      if (calls > 1) return await call();
      if (isMade) await call();
      throw new StoreUnavailable('lost');
    };
    const { records, add } = open((store) => ({ create: (...args) => lose(() => store.create(...args)) }));
    expect(await add('ada')).toBe('first');
    expect(await add('ada')).toBe('again');
    expect(await records.read('1')).toEqual({ by: ['ada'] });
  });

  it('leaves unreadable records out of a list, but throws if one is read by itself', async () => {
    const { store, records, add } = open();
    await add('ada');
    await store.create('count:2', 'sealed with a key that is lost', { index: { [list]: 2 } });
    expect(await records.all(list)).toEqual([{ by: ['ada'] }]);
    expect(await records.list(list, { max: 5 })).toEqual([{ by: ['ada'] }]);
    await expect(records.read('2')).rejects.toThrow('key');
  });
});
