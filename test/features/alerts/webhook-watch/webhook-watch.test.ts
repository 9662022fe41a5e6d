import { describe, expect, it } from 'vitest';
import { StoreUnavailable } from '../../../../src/domain/store-unavailable.ts';
import { accept, approve, decline, hour, minute, openRoom, refuse } from '../../webhook-room.ts';

describe('the alarm of silence', () => {
  it('tells once, by whichever replica, that charges were processed and no webhook came', async () => {
    const { clock, one, two, pass, told, lines } = await openRoom({ missingMs: 0 });
    const sinceMs = clock.nowMs;
    await approve(one, 'pay-1');
    await pass(20 * minute);
    await approve(two, 'pay-2');
    await pass(39 * minute);
    expect(await told()).toEqual([]);
    await pass(2 * minute);
    const notice = { kind: 'webhooks_silent', minutes: 60, approvals: 2, sinceMs };
    expect(await told()).toEqual([notice]);
    await approve(one, 'pay-3');
    await pass(5 * hour);
    expect(await told()).toEqual([notice]);
    expect(lines).toEqual(['warn: No webhook came for 60 minutes though 2 charges were processed']);
  });

  it('counts declined charges, which have an event too, and asks for none of a declined one', async () => {
    const { clock, one, two, pass, told } = await openRoom();
    const sinceMs = clock.nowMs;
    await decline(one, 'pay-1');
    await decline(two, 'pay-2');
    await decline(two, 'pay-3', true);
    await pass(3 * hour);
    expect(await told()).toEqual([{ kind: 'webhooks_silent', minutes: 60, approvals: 2, sinceMs }]);
  });

  it('says nothing while no charge was processed, or while webhooks come', async () => {
    const { one, two, pass, told } = await openRoom({ missingMs: 0 });
    await pass(3 * hour);
    for (let round = 0; round < 6; round += 1) {
      await approve(one, `pay-${round}`);
      await pass(30 * minute);
      two.accepted();
    }
    await pass(3 * hour);
    expect(await told()).toEqual([]);
  });

  it('does not count a charge whose event came first, or that follows a delivery at once', async () => {
    const { clock, one, two, pass, told } = await openRoom({ missingMs: 0 });
    await approve(one, 'pay-1', true);
    await pass(minute);
    one.accepted();
    clock.nowMs += 5_000;
    await approve(two, 'pay-2');
    await pass(3 * hour);
    expect(await told()).toEqual([]);
  });

  it('tells the next silence anew', async () => {
    const { one, two, pass, told } = await openRoom({ missingMs: 0 });
    await approve(one, 'pay-1');
    await pass(65 * minute);
    two.accepted();
    await pass(5 * minute);
    await approve(two, 'pay-2');
    await pass(65 * minute);
    expect((await told()).map((notice) => 'approvals' in notice && notice.approvals)).toEqual([1, 1]);
  });

  it('is off with 0', async () => {
    const { one, pass, told } = await openRoom({ silenceMs: 0, missingMs: 0 });
    await approve(one, 'pay-1');
    await pass(5 * hour);
    expect(await told()).toEqual([]);
  });
});

describe('the alarm of refusals', () => {
  it('tells once, with the cause of the last, when five come within ten minutes on any replica', async () => {
    const { clock, one, two, pass, told } = await openRoom();
    const sinceMs = clock.nowMs;
    refuse(one, 2, 'The first cause.');
    await pass(2 * minute);
    refuse(two, 2);
    await pass(2 * minute);
    expect(await told()).toEqual([]);
    refuse(one, 1, 'The last cause.');
    await pass(2 * minute);
    const notice = { kind: 'deliveries_refused', refusals: 5, sinceMs, cause: 'The last cause.' };
    expect(await told()).toEqual([notice]);
    for (let round = 0; round < 20; round += 1) {
      refuse(one, 3);
      refuse(two, 3);
      await pass(5 * minute);
    }
    expect(await told()).toEqual([notice]);
  });

  it('says nothing when they are few among those accepted in between, on whichever replica', async () => {
    const { clock, one, two, pass, told } = await openRoom();
    refuse(one, 4);
    clock.nowMs += 1_000;
    accept(two, 40);
    clock.nowMs += 1_000;
    refuse(one, 4);
    await pass(15 * minute);
    expect(await told()).toEqual([]);
  });

  it('says nothing of one scanner among a thousand good deliveries', async () => {
    const { clock, one, two, pass, told } = await openRoom();
    for (let round = 0; round < 60; round += 1) {
      accept(one, 50);
      refuse(round % 2 === 0 ? one : two, 4);
      clock.nowMs += 1_000;
      accept(two, 50);
      await pass(minute);
    }
    expect(await told()).toEqual([]);
  });

  it('tells, once an hour at most, of refused and accepted in turn, as when one of two senders has an old secret', async () => {
    const { clock, one, two, pass, told, lines } = await openRoom();
    const sinceMs = clock.nowMs;
    for (let round = 0; round < 24 * 60; round += 1) {
      for (let count = 0; count < 10; count += 1) {
        refuse(one, 1);
        clock.nowMs += 1;
        two.accepted();
      }
      await pass(minute);
    }
    const notices = await told();
    const cause = 'The secret is wrong.';
    expect(notices[0]).toEqual({ kind: 'deliveries_refused', refusals: 10, accepted: 10, sinceMs, cause });
    expect(notices[1]).toMatchObject({ refusals: 90, accepted: 90 });
    expect(notices).toHaveLength(24);
    expect(lines[1]).toBe('warn: 90 of 180 webhook deliveries were refused');
  });

  it('tells when every delivery of one kind is refused and those of the other are four times as many', async () => {
    const { one, pass, told } = await openRoom();
    for (let round = 0; round < 10; round += 1) {
      refuse(one, 1);
      accept(one, 4);
      await pass(minute);
    }
    expect(await told()).toMatchObject([{ refusals: 5, accepted: 20 }]);
  });

  it('counts the deliveries of a doubtful write once', async () => {
    let isLost = false;
    const { one, pass, told } = await openRoom({}, (store) => ({
      ...store,
      async write(entry, value, options) {
        const written = await store.write(entry, value, options);
        if (isLost) throw new StoreUnavailable('answer lost');
        return written;
      },
    }));
    refuse(one, 4);
    accept(one, 1);
    isLost = true;
    await one.flush();
    await one.flush();
    isLost = false;
    await pass(3 * minute);
    expect(await told()).toEqual([]);
    refuse(one, 1);
    await pass(3 * minute);
    expect(await told()).toMatchObject([{ refusals: 5, accepted: 1 }]);
  });

  it('says nothing when they are spread over more than ten minutes', async () => {
    const { one, pass, told } = await openRoom();
    for (let round = 0; round < 20; round += 1) {
      refuse(one, 1);
      await pass(3 * minute);
    }
    expect(await told()).toEqual([]);
  });

  it('tells anew when there was none for an hour', async () => {
    const { one, pass, told } = await openRoom();
    refuse(one, 5);
    await pass(70 * minute);
    refuse(one, 5);
    await pass(3 * minute);
    expect(await told()).toHaveLength(2);
  });

  it('tells once an hour at most, though good deliveries come between the bad ones of a stranger', async () => {
    const { clock, one, two, pass, told } = await openRoom();
    for (let round = 0; round < 90; round += 1) {
      two.accepted();
      clock.nowMs += 1_000;
      refuse(one, 10);
      await pass(minute);
    }
    expect(await told()).toHaveLength(2);
  });

  it('asks for the cause once a minute at most, however many are refused', async () => {
    const { one, pass } = await openRoom();
    let asked = 0;
    for (let count = 0; count < 10_000; count += 1) {
      one.refused(() => {
        asked += 1;
        return 'a cause';
      });
    }
    expect(asked).toBe(0);
    await pass(minute);
    expect(asked).toBe(1);
  });

  it('is told without a cause when that cannot be found, and off with 0', async () => {
    const { one, pass, told } = await openRoom();
    for (let count = 0; count < 5; count += 1) {
      one.refused(() => {
        throw new Error('a bug');
      });
    }
    await pass(3 * minute);
    expect(await told()).toMatchObject([{ cause: 'It could not be found out.' }]);
    const off = await openRoom({ refusals: 0 });
    refuse(off.one, 50);
    await off.pass(15 * minute);
    expect(await off.told()).toEqual([]);
  });
});

describe('watching over webhooks', () => {
  it('calls the store not at all on a delivery, and once a minute for all of them', async () => {
    const { one, calls } = await openRoom();
    const before = calls.length;
    for (let count = 0; count < 1_000; count += 1) {
      one.accepted();
      one.refused(() => 'a cause');
    }
    expect(calls.length).toBe(before);
    await one.flush();
    expect(calls.length).toBe(before + 1);
    await one.flush();
    expect(calls.length).toBe(before + 1);
  });

  it('keeps what it counted while the store is away, and counts a doubtful write once', async () => {
    let mode: 'works' | 'away' | 'answer lost' = 'works';
    const { one, pass, told } = await openRoom({ missingMs: 0 }, (store) => ({
      ...store,
      async write(entry, value, options) {
        if (mode === 'works') return await store.write(entry, value, options);
        if (mode === 'answer lost') await store.write(entry, value, options);
        throw new StoreUnavailable('away');
      },
    }));
    refuse(one, 2);
    mode = 'away';
    await one.flush();
    refuse(one, 2);
    mode = 'answer lost';
    await one.flush();
    mode = 'works';
    await pass(3 * minute);
    expect(await told()).toEqual([]);
    refuse(one, 1);
    await pass(3 * minute);
    expect(await told()).toMatchObject([{ kind: 'deliveries_refused', refusals: 5 }]);
  });

  it('tells once although a process dies after telling and before it has crossed that out', async () => {
    let crash: 'waits' | 'now' | 'over' = 'waits';
    const { one, pass, told } = await openRoom({ missingMs: 0 }, (store) => ({
      ...store,
      async create(key, value, options) {
        if (key.startsWith('outbox:notice:') && crash === 'waits') crash = 'now';
        return await store.create(key, value, options);
      },
      async write(entry, value, options) {
        if (crash === 'now') throw new StoreUnavailable('killed');
        return await store.write(entry, value, options);
      },
    }));
    refuse(one, 5);
    await expect(pass(3 * minute)).rejects.toThrow('killed');
    expect(crash).toBe('now');
    crash = 'over';
    await pass(20 * minute);
    expect(await told()).toHaveLength(1);
  });
});
