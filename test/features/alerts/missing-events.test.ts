import { describe, expect, it } from 'vitest';
import { alarmPrefix, createMissingEvents } from '../../../src/features/alerts/missing-events.ts';
import type { Notice } from '../../../src/messages/notices.ts';
import { openBody, readMessageRecord } from '../../../src/messages/message-record.ts';
import { workOnce } from '../../../src/records/worker.ts';
import type { Store } from '../../../src/store/store.ts';
import { defaultEventPointers, parseEvent } from '../../../src/webhooks/event.ts';
import { alertsHouse } from '../alerts-house.ts';
import { ops, sealer } from '../house.ts';

const minute = 60_000;
const hour = 60 * minute;

function eventOf(reference: string) {
  const body = { event_type: 'payment_success', data: { order: { orderReference: reference } } };
  const found = parseEvent(Buffer.from(JSON.stringify(body)), defaultEventPointers, { covers: 'body' });
  if (found.kind !== 'event') throw new Error(found.kind);
  return found;
}

/** One store, on the test's clock. `pass` moves the clock and does the due work. */
function openRoom({ readsReference = true, spoil = (store: Store) => store } = {}) {
  const { clock, store, receive } = alertsHouse();
  const operators = { store: spoil(store), sealer, opsChannel: ops, now: () => clock.nowMs };
  const missing = createMissingEvents({ ...operators, log: () => undefined }, 30 * minute, readsReference);
  const kinds = [
    { prefix: alarmPrefix, work: missing.work },
    { prefix: 'message:', work: () => Promise.resolve() },
    { prefix: 'event:', work: () => Promise.resolve() },
  ];
  async function pass(ms: number): Promise<void> {
    for (const endsAtMs = clock.nowMs + ms; clock.nowMs < endsAtMs;) {
      clock.nowMs += minute;
      while (await workOnce({ store, leaseMs: 45_000, kinds }).catch(() => false));
    }
  }
  /** All notices, in order. */
  async function told(): Promise<{ reference: string | undefined; isSilent: boolean }[]> {
    const keys = store.keys().filter((key) => key.startsWith('message:notice:'));
    const entries = await Promise.all(keys.map((key) => store.read(key)));
    return entries.flatMap((entry) => {
      if (!entry) return [];
      const body = openBody(sealer, entry.key, readMessageRecord(entry.value)) as Notice;
      return { reference: body.about[0], isSilent: JSON.stringify(body.lines).includes('at all since') };
    });
  }
  async function receives(reference: string): Promise<void> {
    const found = eventOf(reference);
    await receive(found.event, found.fingerprint);
  }
  return { clock, store, ...missing, pass, told, receives };
}

describe('the alarm of missing events', () => {
  it('sends at most one notice an hour, and leaves no record', async () => {
    const { approved, pass, told, store } = openRoom();
    for (let index = 0; index < 30; index += 1) {
      await approved(`pay-${index}`);
      await pass(5 * minute);
    }
    await pass(3 * hour);
    const all = await told();
    expect(all[0]).toMatchObject({ reference: 'pay-0', isSilent: true });
    expect(all.length).toBeGreaterThan(2);
    expect(all.length).toBeLessThan(5);
    expect(store.keys().filter((key) => key.startsWith(alarmPrefix))).toEqual([]);
  });

  it('does not name a charge whose event came in time', async () => {
    const { approved, pass, told, receives } = openRoom();
    await approved('pay-in-time');
    await approved('pay-a');
    await receives('pay-in-time');
    await pass(2 * hour);
    expect(await told()).toMatchObject([{ reference: 'pay-a' }]);
  });

  it('says that no webhook comes at all only if none came', async () => {
    const { approved, pass, told, receives } = openRoom();
    await approved('pay-a');
    await pass(minute);
    await receives('pay-other');
    await pass(hour);
    expect((await told())[0]?.isSilent).toBe(false);
  });

  it('counts any later event as the charge’s if the reference isn’t signed', async () => {
    const { approved, pass, told, receives } = openRoom({ readsReference: false });
    await approved('pay-a');
    await pass(minute);
    await receives('pay-other');
    await pass(hour);
    expect(await told()).toEqual([]);
    await approved('pay-b');
    await pass(hour);
    expect(await told()).toMatchObject([{ reference: 'pay-b', isSilent: true }]);
  });

  it('waits once more if no bot ran to receive events', async () => {
    const { clock, approved, pass, told, receives } = openRoom();
    await approved('pay-a');
    clock.nowMs += 5 * hour;
    await pass(2 * minute);
    expect(await told()).toEqual([]);
    await receives('pay-a');
    await pass(2 * hour);
    expect(await told()).toEqual([]);
  });

  it.each([0, 1])('sends one notice although the process dies at store call %i', async (deadly) => {
    let calls = 0;
    const dying = (store: Store): Store => ({
      ...store,
      write: async (...given) => {
        const written = await store.write(...given);
        calls += 1;
        if (calls - 1 === deadly) throw new Error('killed');
        return written;
      },
    });
    const { approved, pass, told } = openRoom({ spoil: dying });
    await approved('pay-a');
    await pass(4 * hour);
    expect(await told()).toMatchObject([{ reference: 'pay-a' }]);
  });
});
