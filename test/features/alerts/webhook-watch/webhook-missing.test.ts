import { describe, expect, it } from 'vitest';
import { successKey, webhooksKey } from '../../../../src/features/alerts/webhook-watch/webhook-watch.ts';
import { defaultEventPointers, parseEvent } from '../../../../src/webhooks/event.ts';
import { sealer } from '../../house.ts';
import { approve, hour, minute, openRoom } from '../../webhook-room.ts';

describe('the alarm of missing events', () => {
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
    const kept = sealer.open(webhooksKey, (await store.read(webhooksKey))?.value ?? '');
    expect(JSON.parse(kept)).toMatchObject({ state: { missing: [] } });
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
});
