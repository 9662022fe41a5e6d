import { describe, expect, it } from 'vitest';
import { StoreUnavailable } from '../../../src/domain/store-unavailable.ts';
import type { ProcessedCharge } from '../../../src/features/alerts/webhook-watch/webhook-watch.ts';
import { referenceOf } from '../../../src/records/reference-of.ts';
import { openWorld, startProcess, terms, type Plan, type Process } from '../charge-house.ts';

const viewId = 'V0CHARGE1';
const reference = referenceOf(viewId);

async function charge(process: Process): Promise<void> {
  const draft = await process.desk.keepDraft(viewId, terms);
  const submitted = await process.desk.submit({ viewId, draft, by: 'U0AGENT01' });
  if (submitted.kind === 'begun') await submitted.carryOn();
  await process.drained();
}

function watched(plan: Plan, answers: (() => Promise<void>)[] = []) {
  const world = openWorld(plan);
  const process = startProcess(world);
  const heard: ProcessedCharge[] = [];
  Object.assign(process.deps, {
    processed(charged: ProcessedCharge) {
      heard.push(charged);
      return answers.shift()?.() ?? Promise.resolve();
    },
  });
  return { world, process, heard };
}

const away = () => Promise.reject(new StoreUnavailable('away'));

describe('a charge that the service processed', () => {
  it('is handed to whoever waits for its event', async () => {
    const { process, heard } = watched('approved');
    await charge(process);
    expect(heard).toEqual([{ reference, outcome: 'approved', hasEvent: false }]);
  });

  it('is said to have had its event when that came first', async () => {
    const { world, process, heard } = watched('otp');
    await charge(process);
    const kept = world.bank.charges.get(reference);
    if (kept) kept.status = 'SUCCESS';
    await process.trigger({ kind: 'payment_success', key: 'any', orderReference: reference });
    await process.drained();
    expect(heard).toEqual([{ reference, outcome: 'approved', hasEvent: true }]);
  });

  it('is handed over again when that could not be stored, and told once', async () => {
    const { world, process, heard } = watched('approved', [away]);
    await charge(process);
    expect(heard).toHaveLength(2);
    expect([...world.notes.values()].filter(({ kind }) => kind === 'told')).toHaveLength(1);
  });

  it('is handed over declined too, for which the service has an event as well', async () => {
    const { process, heard } = watched('declined');
    await charge(process);
    expect(heard).toEqual([{ reference, outcome: 'declined', hasEvent: false }]);
  });

  it('is the only one: what the service never took up is not handed over', async () => {
    const { process, heard } = watched('rejected');
    await charge(process);
    expect(heard).toEqual([]);
  });
});
