import { describe, expect, it } from 'vitest';
import { showCharge } from '../../src/commands/charge/charge-views.ts';
import { ada, charge, openWorld, reference, startProcess, viewId } from '../operations/charge-house.ts';

describe('a press in a modal', () => {
  it('never puts the state it found over a newer one that came meanwhile', async () => {
    const world = openWorld('otp');
    const process = startProcess(world);
    await charge(process);
    const seen = (await process.desk.find(reference))!;
    const screen: string[] = [];
    process.deps.show = async ({ state }) => screen.push(state.kind) > 0;
    async function approveInTheBanksApp(): Promise<void> {
      world.bank.charges.get(reference)!.status = 'SUCCESS';
      await process.trigger({ kind: 'payment_success', key: 'event', orderReference: reference });
      await process.drained();
    }
    const desk = {
      ...process.desk,
      async find(wanted: string) {
        const found = await process.desk.find(wanted);
        await approveInTheBanksApp();
        return found;
      },
      async watch(...asked: Parameters<typeof process.desk.watch>) {
        await process.desk.watch(...asked);
        await approveInTheBanksApp();
      },
    };
    const pressed = {
      caller: { userId: ada },
      value: reference,
      view: { id: viewId, privateMetadata: '', values: {} },
      openModal: () => Promise.reject(new Error('nothing is opened')),
      reply: () => Promise.reject(new Error('nothing is said beside it')),
      updateModal: async () => void screen.push('as it was found'),
    };
    const deps = { desk, environment: 'live', account: 'Main shop', now: () => world.clock.nowMs } as const;
    await showCharge(deps, pressed, seen);
    expect(screen[0]).toBe('otp');
    expect(screen.at(-1)).toBe('approved');
  });
});
