import { expect, it } from 'vitest';
import { routesOf } from '../../../src/features/alerts/route-event.ts';
import { openMutes } from '../../../src/features/mute/mute.ts';
import { event, sealer } from '../house.ts';
import { memoryStore } from '../memory-store.ts';

function muteHouse() {
  const clock = { nowMs: 1_000_000 };
  const store = memoryStore(clock);
  const mutes = openMutes({
    store,
    sealer,
    wait: () => Promise.resolve(),
    rememberMs: 86_400_000,
    leaseMs: 45_000,
    now: () => clock.nowMs,
    wake: () => undefined,
  });
  async function work(): Promise<void> {
    for (;;) {
      const [entry] = await store.take(45_000);
      if (!entry) return;
      if (entry.key.startsWith('mute:')) await mutes.cases.work(entry);
      else await store.write(entry, entry.value);
    }
  }
  const isTold = () => store.keys().includes('message:mute:V1/over');
  return { clock, mutes, work, isTold };
}

const mute = {
  id: 'V1',
  channel: 'C0ALERTS01',
  match: {},
  why: 'Tests',
  by: 'U1',
  fromMs: 1_000_000,
  untilMs: 1_060_000,
  isOver: false,
};

it('reports a mute’s held-back events only after all events before its end are stored', async () => {
  const { clock, mutes, work, isTold } = muteHouse();
  await mutes.cases.begin('V1', mute, { untold: true });
  clock.nowMs = mute.untilMs;
  await work();
  // An event received just before the end may not be stored yet.
  expect(isTold()).toBe(false);
  clock.nowMs += 5_000;
  await work();
  expect(isTold()).toBe(true);
});

it('holds back no event after that report, even if a replica’s cache still has the mute', async () => {
  const { clock, mutes, work, isTold } = muteHouse();
  await mutes.cases.begin('V1', mute, { untold: true });
  const shownAccount = { environment: 'live', account: 'main account' } as const;
  const plan = { ...shownAccount, rules: [], failures: mute.channel, successes: undefined };
  const receivedAtMs = mute.untilMs - 1;
  const routed = async () => routesOf(await mutes.all(), { event, receivedAtMs, nowMs: clock.nowMs, plan });
  clock.nowMs = receivedAtMs;
  expect(await routed()).toEqual({ routed: [], keptBy: ['V1'] });
  // The event was looked up first, so it is routed late; the cache was filled just before the mute was over.
  clock.nowMs = mute.untilMs + 3_999;
  await mutes.all();
  clock.nowMs += 1;
  await work();
  expect(isTold()).toBe(true);
  expect(await routed()).toEqual({ routed: [{ channel: mute.channel }] });
});
