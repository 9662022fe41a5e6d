import { describe, expect, it } from 'vitest';
import { ServiceFailure } from '../../../src/domain/failure.ts';
import { createPutAside } from '../../../src/records/put-aside.ts';
import { workOnce } from '../../../src/records/worker.ts';
import type { Entry } from '../../../src/store/store.ts';
import {
  ada,
  charge,
  hourMs,
  loseKey,
  minuteMs,
  notesIn,
  openWorld,
  reference,
  sealedWithALostKey,
  startProcess,
  submit,
  type Process,
  type World,
} from '../charge-house.ts';

const success = { kind: 'payment_success', key: 'event', orderReference: reference } as const;
const failureRestMs = 1_000;
const idleMs = 250;
const lanesAtOnce = 4;

/**
 * The worker's loops in one. A piece of work takes `pieceMs` of the world's clock; after an error one of the four loops
 * pauses for a second. `doCharge`: what to do with due charges.
 */
function slowWorker({ clock, store }: World, pieceMs: number, doCharge: (entry: Entry) => Promise<void>) {
  const alerts = { told: 0 };
  const kinds = [
    {
      prefix: 'message:',
      async work(entry: Entry) {
        alerts.told += 1;
        await store.write(entry, 'done', {});
      },
    },
    { prefix: 'charge:', work: doCharge },
  ];
  const { guard } = createPutAside({
    store,
    tell: () => Promise.resolve(),
    count: () => undefined,
    now: () => clock.nowMs,
    log: () => undefined,
  });
  async function piece(): Promise<void> {
    try {
      const worked = await workOnce({ store, leaseMs: 45_000, kinds: guard(kinds) });
      clock.nowMs += worked ? pieceMs : idleMs;
    } catch {
      clock.nowMs += failureRestMs / lanesAtOnce;
    }
  }
  return {
    async workFor(ms: number): Promise<void> {
      const untilMs = clock.nowMs + ms;
      while (clock.nowMs < untilMs) await piece();
    },
    /** How long a new alert waits. */
    async alertWaitMs(): Promise<number> {
      const sinceMs = clock.nowMs;
      const before = alerts.told;
      await store.create(`message:alert:${sinceMs}`, 'an alert', { delayMs: 0 });
      while (alerts.told === before && clock.nowMs - sinceMs < hourMs) await piece();
      return clock.nowMs - sinceMs;
    },
  };
}

async function keepDue({ store, clock }: World, howMany: number, value: string): Promise<void> {
  for (let index = 0; index < howMany; index += 1) {
    await store.create(`charge:pay-${index}`, value, { delayMs: 0 });
  }
  clock.nowMs += 1;
}

describe('alerts', () => {
  it('don’t wait for charges that can’t be opened, even if many are due', async () => {
    const world = openWorld('approved');
    const { charges } = startProcess(world);
    await keepDue(world, 300, sealedWithALostKey);
    const worker = slowWorker(world, 1, charges.cases[0]!.work);
    expect(await worker.alertWaitMs()).toBeLessThan(5_000);
  });

  it('don’t wait for surplus charges while the payments service hangs, and none of those is lost', async () => {
    const world = openWorld('approved');
    const process = startProcess(world);
    const charges = 500;
    const turns = new Map<string, number>();
    const hanging = Array.from({ length: 32 }, (_, index) => `V${index}`);
    for (const view of hanging) {
      process.account.fingerprint = () => Promise.resolve(`card of ${view}`);
      expect((await submit(process, view)).kind).toBe('begun');
    }
    process.account.payments.findTransaction = () => new Promise(() => undefined);
    world.clock.nowMs += minuteMs;
    // On a slow machine: ten seconds for all that are due at once.
    const worker = slowWorker(world, 20, (entry) => {
      turns.set(entry.key, (turns.get(entry.key) ?? 0) + 1);
      return process.charges.cases[0]!.work(entry);
    });
    await worker.workFor(1_000);
    await keepDue(world, charges, 'sealed');
    await worker.workFor(40_000);
    const waitsMs: number[] = [];
    for (let alert = 0; alert < 15; alert += 1) {
      waitsMs.push(await worker.alertWaitMs());
      await worker.workFor(2_000);
    }
    expect(Math.max(...waitsMs)).toBeLessThan(5_000);
    expect(turns.size).toBe(charges + hanging.length);
    expect(Math.min(...turns.values())).toBeGreaterThanOrEqual(2);
  });
});

describe('a charge whose sealing key is gone', () => {
  it('doesn’t make the bot refuse its signed event for ever', async () => {
    const world = openWorld('lost');
    const process = startProcess(world);
    await submit(process);
    await loseKey(world);
    await expect(process.trigger(success)).resolves.toBeUndefined();
  });

  it('blocks its card, as its outcome is unknown', async () => {
    const world = openWorld('lost');
    const process = startProcess(world);
    await submit(process);
    await loseKey(world);
    world.clock.nowMs += 10 * minuteMs;
    expect(await submit(process, 'V2')).toMatchObject({
      kind: 'refused',
      refusal: { kind: 'under_way', reference, by: ada },
    });
    await expect(submit(process)).rejects.toThrow(SyntaxError);
    expect(world.bank.posts).toEqual([]);
  });
});

async function historyOf({ records }: Process) {
  return (await records.read(reference))?.intent.history ?? [];
}

describe('a charge that can’t continue', () => {
  it('because its outcome can’t be stored as a message keeps a short history, and is told once it can be', async () => {
    const world = openWorld('declined');
    const process = startProcess(world);
    const whole = { ...process.store };
    process.store.create = (key, ...rest) =>
      key.startsWith('message:charge_note:')
        ? Promise.reject(new Error('an unreadable record'))
        : whole.create(key, ...rest);
    const submitted = await submit(process);
    if (submitted.kind !== 'begun') throw new Error(submitted.kind);
    await expect(submitted.carryOn()).rejects.toThrow('unreadable');
    await process.work(world.clock.nowMs + hourMs);
    expect((await historyOf(process)).length).toBeLessThan(20);
    expect(await notesIn(world)).toEqual([]);
    Object.assign(process.store, whole);
    await process.work(world.clock.nowMs + minuteMs);
    expect(await notesIn(world)).toMatchObject([{ kind: 'told', what: 'declined' }]);
  });

  it('because of a bug in its look-up goes to review after a week, and keeps a short history', async () => {
    const world = openWorld('lost');
    const process = startProcess(world);
    process.account.payments.findTransaction = () => Promise.reject(new RangeError('bug'));
    await charge(process);
    await process.work(world.clock.nowMs + 26 * hourMs);
    expect(await process.operations.find(reference)).toMatchObject({ state: { kind: 'confirming' } });
    world.clock.nowMs += 6 * 24 * hourMs;
    await process.workFor(hourMs);
    expect(await process.operations.find(reference)).toMatchObject({ state: { kind: 'review' } });
    expect((await historyOf(process)).length).toBeLessThan(50);
    expect((await notesIn(world)).map((note) => note.kind === 'told' && note.what)).toEqual(['review']);
  });
});

const away = () => Promise.reject(new ServiceFailure('timeout', 'no answer'));

describe('replicas whose clocks are an hour apart', () => {
  it('look a charge up as early as the replica with the right clock would', async () => {
    const world = openWorld('lost');
    const [ahead, right] = [startProcess(world), startProcess(world)];
    const { findTransaction } = right.account.payments;
    for (const replica of [ahead, right]) replica.account.payments.findTransaction = away;
    await submit(right);
    world.bank.charge(reference);
    ahead.account.now = () => world.clock.nowMs + hourMs;
    // One event at the fast replica is enough to write its time into the charge.
    await ahead.trigger(success);
    await ahead.drained();
    await right.work(world.clock.nowMs + 10_000);
    right.account.payments.findTransaction = findTransaction;
    await right.work(world.clock.nowMs + 2 * minuteMs);
    expect((await right.operations.find(reference))?.state.kind).toBe('approved');
  });
});

describe('a signed event whose reference is not signed', () => {
  it('leads to a look-up of a charge in doubt, which only a final status declines', async () => {
    const world = openWorld('lost');
    const process = startProcess(world);
    const { findTransaction } = process.account.payments;
    let looks = 0;
    process.account.payments.findTransaction = async () => {
      looks += 1;
      return { status: 'PENDING', orderReference: reference };
    };
    await charge(process);
    const before = looks;
    const { orderReference: _unsigned, ...bare } = success;
    const event = { ...bare, referenceHint: reference };
    await process.trigger(event);
    await process.drained();
    expect(looks).toBe(before + 1);
    expect(await process.operations.find(reference)).toMatchObject({
      state: { kind: 'confirming' },
      heard: ['exists'],
    });
    world.bank.charges.get(reference)!.status = 'FAILED';
    process.account.payments.findTransaction = findTransaction;
    await process.trigger({ ...event, kind: 'payment_failed', reason: 'Card blocked' });
    await process.drained();
    const ended = await process.operations.find(reference);
    expect([ended?.state.kind, ended?.bankWords]).toEqual(['declined', undefined]);
  });
});
