import { describe, expect, it } from 'vitest';
import { scopeStore } from '../../src/store/scoped-store.ts';
import { openModelStore } from './model-store.ts';

function openScopes() {
  const whole = openModelStore(() => 1_000);
  return { whole, lagos: scopeStore(whole, 'lagos'), abuja: scopeStore(whole, 'abuja') };
}

describe('a part of the store', () => {
  it('has its own records under the same keys as other parts and the whole store', async () => {
    const { whole, lagos, abuja } = openScopes();
    expect(await whole.create('charge:1', 'whole')).toBe(true);
    expect(await lagos.store.create('charge:1', 'lagos')).toBe(true);
    expect(await lagos.store.create('charge:1', 'again')).toBe(false);
    expect(await abuja.store.read('charge:1')).toBeUndefined();
    expect((await lagos.store.read('charge:1'))?.value).toBe('lagos');
    expect((await whole.read('charge:1'))?.value).toBe('whole');
    await whole.close();
  });

  it('reads and writes entries by its own keys, and overwrites no other part’s', async () => {
    const { whole, lagos, abuja } = openScopes();
    await lagos.store.create('a', '1');
    await abuja.store.create('a', '1');
    const entry = await lagos.store.read('a');
    if (!entry) throw new Error('it was created');
    expect(entry.key).toBe('a');
    // An entry of another part, passed off as one's own: its version differs.
    expect(await abuja.store.write(entry, 'stolen')).toBeUndefined();
    expect((await lagos.store.write(entry, '2'))?.key).toBe('a');
    expect(await lagos.store.write(entry, '3')).toBeUndefined();
    expect((await abuja.store.read('a'))?.value).toBe('1');
    await whole.close();
  });

  it('has its own lists under the same names as other parts', async () => {
    const { whole, lagos, abuja } = openScopes();
    await lagos.store.create('a', 'lagos', { index: { open: 1 } });
    await lagos.store.create('b', 'lagos', { index: { open: 2 } });
    await abuja.store.create('a', 'abuja', { index: { open: 1 } });
    await whole.create('a', 'whole', { index: { open: 1 } });
    const { entries, next } = await lagos.store.list('open', { max: 1 });
    const rest = await lagos.store.list('open', { max: 1, ...(next !== undefined && { after: next }) });
    expect([...entries, ...rest.entries].map(({ key, value }) => [key, value])).toEqual([
      ['a', 'lagos'],
      ['b', 'lagos'],
    ]);
    expect((await abuja.store.list('open', { max: 9 })).entries.map(({ value }) => value)).toEqual(['abuja']);
    expect((await whole.list('open', { max: 9 })).entries.map(({ value }) => value)).toEqual(['whole']);
    await whole.close();
  });

  it('shares the lanes, and gives out no work, which is taken from the whole store', async () => {
    const { whole, lagos, abuja } = openScopes();
    await lagos.store.create('message:1', 'one', { delayMs: 0, lane: 'C0CHANNEL' });
    await abuja.store.create('message:1', 'two', { delayMs: 0, lane: 'C0CHANNEL' });
    await expect(lagos.store.take(1_000)).rejects.toThrow('asked for work');
    const taken = await whole.take(1_000, 1);
    expect(await whole.take(1_000, 1)).toEqual([]);
    const [entry] = taken;
    if (!entry) throw new Error('one was due');
    const owners = [lagos, abuja].map((scope) => scope.entryOf(entry)?.key);
    expect(owners.filter((key) => key !== undefined)).toEqual(['message:1']);
    const owner = lagos.entryOf(entry) ? lagos : abuja;
    const own = owner.entryOf(entry);
    expect(own && (await owner.store.write(own, 'done'))).toBeDefined();
    expect((await whole.take(1_000, 1)).map(({ value }) => value)).toHaveLength(1);
    await whole.close();
  });
});
