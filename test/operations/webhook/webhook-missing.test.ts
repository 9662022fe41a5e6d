import { describe, expect, it } from 'vitest';
import { readState } from '../../../src/operations/webhook/webhook-state.ts';
import { successKey } from '../../../src/operations/webhook/webhook-watch.ts';
import type { Store } from '../../../src/store/store.ts';
import { defaultEventPointers, parseEvent } from '../../../src/webhooks/event.ts';
import { approve, hour, minute, openRoom } from '../webhook-room.ts';

describe('the alarm of missing events', () => {
  it('tells of an approved charge whose event did not come within half an hour', async () => {
    const { one, pass, told, receiveSuccess } = await openRoom({ silenceMs: 0 });
    await approve(one, 'pay-told');
    await approve(one, 'pay-first', true);
    await approve(one, 'pay-lost');
    await pass(29 * minute);
    await receiveSuccess('pay-told');
    expect(await told()).toEqual([]);
    await pass(3 * minute);
    expect(await told()).toEqual([
      { kind: 'events_missing', references: ['pay-lost'], more: 0, minutes: 30 },
    ]);
  });

  it('tells once an hour at most, all of that hour together, ten by name', async () => {
    const { one, two, pass, told } = await openRoom({ silenceMs: 0 });
    for (let index = 0; index < 30; index += 1) {
      await approve(index % 2 === 0 ? one : two, `pay-${index}`);
      await pass(5 * minute);
    }
    await pass(3 * hour);
    const notices = await told();
    const all = notices.flatMap((notice) => (notice.kind === 'events_missing' ? [notice] : []));
    expect(all.map(({ references, more }) => references.length + more)).toEqual([1, 12, 12, 5]);
    expect(all[1]?.references).toHaveLength(10);
    expect(all[0]?.references).toEqual(['pay-0']);
  });

  it('does not name a charge whose event came while the hour between two notices passed', async () => {
    const { store, one, pass, told, receiveSuccess } = await openRoom({ silenceMs: 0 });
    await approve(one, 'pay-a');
    await pass(5 * minute);
    await approve(one, 'pay-b');
    await approve(one, 'pay-c');
    await pass(35 * minute);
    expect(await told()).toMatchObject([{ references: ['pay-a'] }]);
    await receiveSuccess('pay-b');
    await pass(2 * hour);
    expect(await told()).toMatchObject([{ references: ['pay-a'] }, { references: ['pay-c'], more: 0 }]);
    expect(readState((await store.read('webhook-watch'))?.value ?? '').missing).toEqual([]);
  });

  it('tells nothing at the hour when all of them came, and the next one without waiting another', async () => {
    const { one, pass, told, receiveSuccess } = await openRoom({ silenceMs: 0 });
    await approve(one, 'pay-a');
    await pass(5 * minute);
    await approve(one, 'pay-b');
    await pass(35 * minute);
    await receiveSuccess('pay-b');
    await pass(hour);
    expect(await told()).toHaveLength(1);
    await approve(one, 'pay-c');
    await pass(33 * minute);
    expect(await told()).toMatchObject([{}, { references: ['pay-c'] }]);
  });

  it('looks for the events of waiting charges once an hour, when it would name them', async () => {
    let reads = 0;
    const { one, pass } = await openRoom({ silenceMs: 0 }, (store) => ({
      ...store,
      read: countedRead(store),
    }));
    function countedRead(store: Store): Store['read'] {
      return (key) => {
        if (key === successKey('pay-b')) reads += 1;
        return store.read(key);
      };
    }
    await approve(one, 'pay-a');
    await pass(5 * minute);
    await approve(one, 'pay-b');
    await pass(3 * hour);
    // Once when it was due, and once before it was told.
    expect(reads).toBe(2);
  });

  it('finds an event by the very key it is stored under', () => {
    const body = '{"event_type":"payment_success","data":{"order":{"orderReference":"pay-1"}}}';
    const found = parseEvent(Buffer.from(body), defaultEventPointers, { covers: 'body' });
    if (found.kind !== 'event') throw new Error(found.kind);
    expect(successKey('pay-1')).toBe(`outbox:alert:${found.event.key}`);
  });

  it('loses no charge in a crash of the process that charged it', async () => {
    const { two, work, clock, told, one } = await openRoom({ silenceMs: 0 });
    await approve(one, 'pay-1');
    // The first replica never flushes again.
    clock.nowMs += 31 * minute;
    await two.flush();
    await work();
    clock.nowMs += 2 * minute;
    await work();
    expect(await told()).toMatchObject([{ references: ['pay-1'] }]);
  });

  it('counts a charge that is told twice once', async () => {
    const { one, two, pass, told } = await openRoom({ silenceMs: 0 });
    await approve(one, 'pay-1');
    await approve(two, 'pay-1');
    await pass(2 * hour);
    expect(await told()).toMatchObject([{ references: ['pay-1'], more: 0 }]);
  });
});
