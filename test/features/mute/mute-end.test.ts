import { expect, it } from 'vitest';
import { routesOf } from '../../../src/features/alerts/routing.ts';
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

it('says what a mute kept back once everything that came before its end is on record', async () => {
  const { clock, mutes, work, isTold } = muteHouse();
  await mutes.cases.begin('V1', mute, { untold: true });
  clock.nowMs = mute.untilMs;
  await work();
  // What came a moment ago may still be on its way to the store.
  expect(isTold()).toBe(false);
  clock.nowMs += 5_000;
  await work();
  expect(isTold()).toBe(true);
});

it('keeps nothing back once it may have said what it kept, whatever a replica remembers of it', async () => {
  const { clock, mutes, work, isTold } = muteHouse();
  await mutes.cases.begin('V1', mute, { untold: true });
  const place = { environment: 'live', account: 'main account' } as const;
  const plan = { ...place, rules: [], failures: mute.channel, successes: undefined };
  const receivedAtMs = mute.untilMs - 1;
  const routed = async () => routesOf(await mutes.all(), { event, receivedAtMs, nowMs: clock.nowMs, plan });
  clock.nowMs = receivedAtMs;
  expect(await routed()).toEqual({ routed: [], keptBy: ['V1'] });
  // Looked up for its rules, it is routed later, by what was read of the mute just before that was over.
  clock.nowMs = mute.untilMs + 3_999;
  await mutes.all();
  clock.nowMs += 1;
  await work();
  expect(isTold()).toBe(true);
  expect(await routed()).toEqual({ routed: [{ channel: mute.channel }] });
});
