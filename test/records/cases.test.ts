import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type Cases, createCases } from '../../src/records/cases.ts';
import type { Store } from '../../src/store/store.ts';
import { aroundStore } from '../support/around-store.ts';
import { openWorld, type World } from './two-processes.ts';

const minuteMs = 60_000;

// The rules of a kind of case have a model test in its feature's folder, which drives two processes.

/** A case whose state is the last event, over `store`. */
function plainCases(
  { sealer, clock }: World,
  store: Store,
  effects: Parameters<typeof createCases<string, string>>[2],
) {
  const deps = {
    store,
    sealer,
    rememberMs: 24 * 60 * minuteMs,
    wait: () => Promise.resolve(),
    now: () => clock.nowMs,
    wake: () => undefined,
  };
  const rules = {
    prefix: 'case:',
    schema: z.string(),
    lists: () => ({}),
    step: (_: string, event: string) => event,
    dueInMs: (state: string) => (state === 'asked' ? 0 : undefined),
    auditEntries: () => [],
  };
  return createCases<string, string>(deps, rules, effects);
}

it('tells the new case although the one it replaced is settled late', async () => {
  const world = openWorld(1);
  const { store, clock } = world;
  const told: string[] = [];
  const cases = plainCases(world, store, {
    due: async () => undefined,
    tell: async (state) => void told.push(state),
  });
  await cases.begin('1', 'waiting');
  const refused = await cases.apply('1', 'refused');
  await cases.begin('1', 'waiting again', { mayReplace: () => true });
  await cases.apply('1', 'made');
  // The process that applied *made* dies here, and the one that settles *refused* is slow.
  if (refused) await cases.settle('1', refused);
  clock.nowMs += minuteMs;
  for (const entry of await store.take(45_000)) await cases.work(entry);
  expect(told).toEqual(['refused', 'made']);
});

/** A case that its worker answers, with something that happens just before that. */
function openCounted(during: (cases: Cases<string, string>) => Promise<unknown>) {
  const world = openWorld(1);
  const calls: string[] = [];
  const store = aroundStore(world.store, (call, name) => {
    calls.push(name.split(' ')[0] ?? '');
    return call();
  });
  const told: string[] = [];
  const cases: Cases<string, string> = plainCases(world, store, {
    async due(state) {
      if (state !== 'asked') return undefined;
      await during(cases);
      return { event: 'answered' };
    },
    tell: async (state) => void told.push(state),
  });
  async function work(): Promise<void> {
    for (const entry of await world.store.take(45_000)) await cases.work(entry);
  }
  return { cases, calls, told, work };
}

describe('a worker that took a case', () => {
  it('changes and settles the case without another read', async () => {
    const { cases, calls, told, work } = openCounted(async () => undefined);
    await cases.begin('1', 'asked');
    calls.length = 0;
    await work();
    expect({ calls, told }).toEqual({ calls: ['write', 'write'], told: ['answered'] });
  });

  it('reads the case again if it was changed meanwhile', async () => {
    const { cases, told, work } = openCounted((all) => all.apply('1', 'moved'));
    await cases.begin('1', 'asked');
    await work();
    expect({ told, now: await cases.find('1') }).toEqual({ told: ['answered'], now: 'answered' });
  });
});
