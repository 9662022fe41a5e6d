import { describe, expect, it } from 'vitest';
import type { ChargeEvent } from '../../src/features/charge/charge-intent.ts';
import type { OrderReference } from '../../src/domain/order-reference.ts';
import { createModelService } from './model-service.ts';
import { createModelStore } from './model-store.ts';
import { handle, submit, work, type Flow, type ReplicaDeps } from './replica.ts';
import { createWatch } from './watch.ts';

const submitted: Extract<ChargeEvent, { kind: 'submitted' }> = {
  kind: 'submitted',
  reference: 'pay-writeahead' as OrderReference,
  money: { minor: 500_000, currency: 'NGN' },
  by: 'U1',
};

function createHouse(asksForOtp: boolean) {
  const clock = { time: 1_800_000_000_000 };
  const store = createModelStore(clock);
  const service = createModelService({ draw: () => 0, clock, neverDecides: false, asksForOtp });
  const deps: ReplicaDeps = {
    store,
    now: () => clock.time,
    watch: createWatch(clock, submitted),
    record: (reference) => service.records.get(reference),
    finalStatuses: [],
    countStep: () => {},
  };
  return { clock, store, service, deps };
}

type House = ReturnType<typeof createHouse>;
type Crash = { atAwait: number; requestArrived: boolean };

/** Runs a flow until it ends or its process dies at that await, with its request arrived or not. */
function run(house: House, flow: Flow, crash?: Crash): { crashed: boolean; awaits: number } {
  let result = flow.next();
  let awaits = 0;
  for (; !result.done; awaits++) {
    const { value } = result;
    if (value.kind === 'call') value.onLeave();
    const arrives = value.kind === 'call' && (awaits !== crash?.atAwait || crash.requestArrived);
    const answer = arrives ? house.service.answer(value.call) : undefined;
    if (awaits === crash?.atAwait) return { crashed: true, awaits };
    if (value.kind === 'call') value.onAnswer();
    result = flow.next(answer);
  }
  return { crashed: false, awaits };
}

function recover(house: House, until: (house: House) => boolean = () => false): void {
  for (let turn = 0; turn < 100 && !until(house); turn++) {
    const nextDue = house.store.nextDue();
    if (nextDue === undefined) return;
    house.clock.time = Math.max(nextDue, house.clock.time);
    house.service.tick();
    run(house, work(house.deps));
  }
}

function stateOf(house: House): string | undefined {
  return house.store.read()?.intent.state.kind;
}

function end(house: House): void {
  house.deps.watch.ends(house.store.read()?.intent, house.service.records, false);
}

describe('the write-ahead intent', () => {
  it('is stored, with a timer, before the charge is sent', () => {
    const house = createHouse(false);
    const flow = submit(house.deps, submitted);
    let result = flow.next();
    while (!result.done && result.value.kind !== 'call') result = flow.next();
    expect(house.store.read()?.intent).toMatchObject({
      state: { kind: 'charging' },
      sends: [house.clock.time],
    });
    expect(house.store.nextDue()).toBe(house.clock.time + 30_000);
  });

  for (const requestArrived of [false, true]) {
    it(`makes one charge after a crash at any await, the request ${requestArrived ? 'arrived' : 'lost'}`, () => {
      const uninterrupted = createHouse(false);
      const whole = run(uninterrupted, submit(uninterrupted.deps, submitted)).awaits;
      expect(whole).toBeGreaterThan(8);
      for (let atAwait = 0; atAwait < whole; atAwait++) {
        const house = createHouse(false);
        const { crashed } = run(house, submit(house.deps, submitted), { atAwait, requestArrived });
        const wasStored = house.store.read() !== undefined;
        recover(house);
        expect(crashed).toBe(true);
        expect(stateOf(house), `await ${atAwait}`).toBe(wasStored ? 'approved' : undefined);
        expect(house.service.records.size, `await ${atAwait}`).toBe(wasStored ? 1 : 0);
        end(house);
      }
    });
  }

  it('counts an OTP before it is sent: a crash at any await costs only that try', () => {
    for (let atAwait = 0; atAwait < 6; atAwait++) {
      const house = createHouse(true);
      run(house, submit(house.deps, submitted));
      const typed = handle(house.deps, { kind: 'otp_submitted', by: 'U1' }, false);
      run(house, typed, { atAwait, requestArrived: true });
      const submissions = house.service.records.get(submitted.reference)?.submissions ?? 0;
      expect(house.store.read()?.intent.otp?.tries, `await ${atAwait}`).toBeGreaterThanOrEqual(submissions);
      recover(house, () => stateOf(house) === 'otp');
      expect(stateOf(house)).toBe('otp');
      run(house, handle(house.deps, { kind: 'otp_submitted', by: 'U2' }, true));
      recover(house);
      expect(stateOf(house)).toBe('approved');
      end(house);
    }
  });
});
