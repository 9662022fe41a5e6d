import { describe, expect, it } from 'vitest';
import type { ChargeIntent } from '../../../src/domain/charge-state.ts';
import { readCharge } from '../../../src/operations/charge/advance-charge.ts';
import { seenOf } from '../../../src/operations/charge/charge-record.ts';
import { showProgress } from '../../../src/operations/charge/run-charge.ts';
import {
  ada,
  bola,
  charge,
  openWorld,
  reference,
  startProcess,
  submit,
  type Process,
  type World,
} from '../charge-house.ts';

const success = { kind: 'payment_success', key: 'event', orderReference: reference } as const;

/** Charged, but not as agreed, and the modal is closed. */
async function underReview(): Promise<{ world: World; process: Process }> {
  const world = openWorld('approved');
  const process = startProcess(world, undefined, false);
  const { findTransaction } = process.deps;
  process.deps.findTransaction = async (wanted) => {
    const found = await findTransaction(wanted);
    return found && { ...found, amountMinor: 1 };
  };
  await charge(process);
  expect((await process.desk.find(reference))?.state.kind).toBe('review');
  return { world, process };
}

describe('a charge under review', () => {
  it('is told to its agent once, also when an event has it looked up again', async () => {
    const { world, process } = await underReview();
    await process.trigger(success);
    await process.drained();
    expect((await process.desk.find(reference))?.state.kind).toBe('review');
    expect([...world.directs.values()]).toEqual([{ userId: ada, what: 'review' }]);
  });

  it('is what whoever charges the same again is asked about', async () => {
    const { process } = await underReview();
    expect(await submit(process, 'V2', bola)).toMatchObject({
      kind: 'twin',
      twin: { reference, by: ada, outcome: 'review' },
    });
  });
});

describe('a correction', () => {
  it.each([
    [['abandoned', 'otp'], 'abandoned'],
    [['otp', 'expired'], 'expired'],
    [['otp'], undefined],
    [['otp', 'approved'], undefined],
  ] as const)('after %s names the verdict that no longer holds: %s', async (told, corrects) => {
    const process = startProcess(openWorld('approved'));
    await submit(process);
    const record = (await readCharge(process.deps, reference))!;
    const intent: ChargeIntent = { ...record.intent, told, state: { kind: 'approved', concludedAt: 1 } };
    expect(seenOf({ ...record, intent }).corrects).toBe(corrects);
  });
});

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
    await showProgress(slow.deps, (await readCharge(slow.deps, reference))!);
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

describe('a hand-over', () => {
  it('catches the message of the one who lost it up, too', async () => {
    const process = startProcess(openWorld('otp'));
    await charge(process);
    const refreshed: (readonly string[])[] = [];
    process.deps.tell = {
      ...process.deps.tell,
      refresh: async (_, agents) => void refreshed.push(agents.toSorted()),
    };
    await process.desk.takeOver({ reference, by: bola });
    expect(refreshed).toEqual([[ada, bola]]);
  });
});

describe('who watches over webhooks', () => {
  it.each([
    ['approved', 'approved'],
    ['declined', 'declined'],
    ['rejected', undefined],
    ['otp', undefined],
  ] as const)('hears of a charge the service surely processed: %s as %s', async (plan, outcome) => {
    const process = startProcess(openWorld(plan));
    const heard: unknown[] = [];
    process.deps.processed = async (seen) => void heard.push(seen);
    await charge(process);
    expect(heard).toEqual(outcome === undefined ? [] : [{ reference, outcome, hasEvent: false }]);
  });

  it.each([
    ['approved', 'payment_success'],
    ['declined', 'payment_failed'],
  ] as const)('hears that the event of a charge that was %s came first', async (plan, kind) => {
    const process = startProcess(openWorld(plan));
    const heard: unknown[] = [];
    process.deps.processed = async (seen) => void heard.push(seen);
    const { chargeSavedCard } = process.deps;
    process.deps.chargeSavedCard = async (sent, leave) => {
      const answer = await chargeSavedCard(sent, leave);
      await process.trigger({ ...success, kind });
      return answer;
    };
    await charge(process);
    expect(heard).toEqual([{ reference, outcome: plan, hasEvent: true }]);
  });
});
