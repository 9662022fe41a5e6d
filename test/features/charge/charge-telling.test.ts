import { describe, expect, it } from 'vitest';
import { showProgress } from '../../../src/features/charge/run-charge.ts';
import { StoreUnavailable } from '../../../src/domain/failure.ts';
import { bola, charge, openWorld, reference, startProcess, type World } from '../charge-house.ts';

const success = { kind: 'payment_success', key: 'event', orderReference: reference } as const;

function openOtp() {
  const world = openWorld('otp');
  return { world, process: startProcess(world) };
}

function pays({ bank }: World): void {
  bank.charges.get(reference)!.status = 'SUCCESS';
}

describe('what is on the screen', () => {
  it('is what is stored in the end, though another replica went on while Slack took its time', async () => {
    const { world, process: slow } = openOtp();
    const fast = startProcess(world);
    await charge(slow);
    const screen: string[] = [];
    slow.deps.show = async ({ state }) => {
      if (screen.length === 0) {
        pays(world);
        await fast.trigger(success);
        await fast.drained();
      }
      screen.push(state.kind);
      return true;
    };
    await showProgress(slow.deps, (await slow.deps.charges.read(reference))!);
    await slow.drained();
    expect(screen).toEqual(['otp', 'approved']);
  });

  it('is never older than what is stored when a modal begins to watch', async () => {
    const { world, process } = openOtp();
    await charge(process);
    const seen = (await process.desk.find(reference))!;
    pays(world);
    await process.trigger(success);
    await process.drained();
    process.shown.length = 0;
    await process.desk.watch(reference, { id: 'V2', userId: bola, at: seen.at });
    await process.desk.watch(reference, { id: 'V3', userId: bola, at: Infinity });
    expect(process.shown.map(({ state }) => state.kind)).toEqual(['approved']);
  });
});

describe('an approved charge', () => {
  it.each([
    ['approved', false, 1],
    ['approved', true, 2],
    ['declined', false, 0],
    ['rejected', false, 0],
  ] as const)('alone waits for its event (%s, the store away once: %s)', async (plan, isAway, times) => {
    const world = openWorld(plan);
    const process = startProcess(world);
    const heard: string[] = [];
    process.deps.awaitEvent = async (one) => {
      heard.push(one);
      if (isAway && heard.length === 1) throw new StoreUnavailable('away');
    };
    await charge(process);
    expect(heard).toEqual(Array<string>(times).fill(reference));
    expect([...world.notes.values()].filter(({ kind }) => kind === 'told')).toHaveLength(1);
  });

  it('waits for none that came first', async () => {
    const { world, process } = openOtp();
    const heard: string[] = [];
    process.deps.awaitEvent = async (one) => void heard.push(one);
    await charge(process);
    pays(world);
    await process.trigger(success);
    await process.drained();
    expect(heard).toEqual([]);
  });
});
