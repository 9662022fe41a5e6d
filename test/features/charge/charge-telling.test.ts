import { describe, expect, it } from 'vitest';
import { showProgress } from '../../../src/features/charge/run-charge.ts';
import { bola, charge, openWorld, reference, startProcess } from '../charge-house.ts';

const success = { kind: 'payment_success', key: 'event', orderReference: reference } as const;

describe('what is on the screen', () => {
  it('is what is stored in the end, though another replica went on while Slack took its time', async () => {
    const world = openWorld('otp');
    const [slow, fast] = [startProcess(world), startProcess(world)];
    await charge(slow);
    const screen: string[] = [];
    slow.deps.show = async ({ state }) => {
      if (screen.length === 0) {
        world.bank.charges.get(reference)!.status = 'SUCCESS';
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
    const world = openWorld('otp');
    const process = startProcess(world);
    await charge(process);
    const seen = (await process.desk.find(reference))!;
    world.bank.charges.get(reference)!.status = 'SUCCESS';
    await process.trigger(success);
    await process.drained();
    process.shown.length = 0;
    await process.desk.watch(reference, { id: 'V2', userId: bola, at: seen.at });
    await process.desk.watch(reference, { id: 'V3', userId: bola, at: Infinity });
    expect(process.shown.map(({ state }) => state.kind)).toEqual(['approved']);
  });
});
