import type { Store } from '../../src/store/store.ts';
import { referenceOf } from '../../src/records/reference-of.ts';
import { chargeLists } from '../../src/features/charge/charge-record.ts';
import { check, clocked, counted, median, roundsEndAt, timed, type Figure, type Size } from './figures.ts';
import { money } from './plans.ts';
import { openStage, type Stage } from './stage.ts';
import { callsInAll, counting, type StoreKind } from './stores.ts';

const part = 'submit';

type Asked = { viewId: string; by: string };

/**
 * How long the person who clicked waits until the charge is stored, with all that goes before it: terms, the agent's
 * list, the card's claim. Of an agent with few charges, and of one who made a great many within the hour.
 */
export async function measureSubmit(kind: StoreKind, size: Size): Promise<Figure[]> {
  const { quick } = size;
  const opened = await kind.open();
  const { store, calls } = counting(opened.store);
  const stage = openStage(store);
  const rounds = quick ? 20 : 300;
  const busyCharges = quick ? 30 : 1_000;
  await makeBusy(store, busyCharges);
  const floorMs: number[] = [];
  const calmMs: number[] = [];
  const busyMs: number[] = [];
  let callsOfSubmit = 0;
  const endsAt = roundsEndAt(size, quick ? 2_000 : 8_000);
  for (let round = 0; round < rounds && (round < 20 || performance.now() < endsAt); round += 1) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other, as the floor beside it
    const [, writeMs] = await clocked(() => opened.store.create(`floor:${round}`, 'x'.repeat(1_500)));
    floorMs.push(writeMs);
    const calm = { viewId: `V-calm-${round}`, by: `U0CALM${String(round % 20).padStart(4, '0')}` };
    // oxlint-disable-next-line no-await-in-loop
    const draft = await keep(stage, calm);
    const before = callsInAll(calls);
    // oxlint-disable-next-line no-await-in-loop
    calmMs.push(await submit(stage, calm, draft));
    callsOfSubmit += callsInAll(calls) - before;
    const busy = { viewId: `V-busy-${round}`, by: busyAgent };
    // oxlint-disable-next-line no-await-in-loop
    busyMs.push(await submit(stage, busy, await keep(stage, busy)));
  }
  await checkStored(stage, calmMs.length);
  const about = { part, store: kind.name };
  const floor = { ms: median(floorMs), to: 'a bare write' };
  const calls1 = callsOfSubmit / calmMs.length;
  return [
    timed({ ...about, name: 'one bare write of 1.5 KB' }, floorMs),
    timed({ ...about, name: 'submit until stored' }, calmMs, floor),
    counted({ ...about, name: 'store calls of one submit' }, 'calls', calls1),
    timed({ ...about, name: `the same, agent with ${busyCharges} charges this hour` }, busyMs, {
      ms: median(calmMs),
      to: 'an agent with under 20',
    }),
  ];
}

const busyAgent = 'U0BUSY0001';

async function makeBusy(store: Pick<Store, 'create'>, charges: number): Promise<void> {
  const list = chargeLists.of(busyAgent);
  const made = Array.from({ length: charges }, (_, at) =>
    store.create(`charge:pay-busy-${at}`, '', { index: { [list]: at } }),
  );
  check((await Promise.all(made)).every(Boolean), 'a charge was there already');
}

function keep({ desk }: Stage, { viewId }: Asked): Promise<string> {
  const card = { cardType: 'Visa', lastFour: '4242' };
  const terms = { tokenKey: `token-${viewId}`, card, money, customerEmail: 'jane.doe@example.com' };
  return desk.keepDraft(viewId, terms);
}

async function submit({ desk }: Stage, { viewId, by }: Asked, draft: string): Promise<number> {
  const [result, ms] = await clocked(() => desk.submit({ viewId, draft, by }));
  check(result.kind === 'begun', `a submit was answered ${result.kind}`);
  return ms;
}

async function checkStored({ desk, lookedUp }: Stage, submitted: number): Promise<void> {
  for (let round = 0; round < submitted; round += 1) {
    const viewId = `V-calm-${round}`;
    // oxlint-disable-next-line no-await-in-loop -- checks are not timed
    const charge = await desk.find(referenceOf(viewId));
    check(charge?.state.kind === 'charging' && charge.sends === 1, 'a submitted charge is not stored so');
  }
  const by = 'U0CALM0000';
  const again = await desk.submit({ viewId: 'V-calm-0', draft: '', by });
  check(again.kind === 'known', `a double submit was answered ${again.kind}`);
  check(lookedUp.length === 0, 'something was sent before anybody carried on');
}
