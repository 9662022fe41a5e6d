import { describe, expect, it } from 'vitest';
import { StoreUnavailable } from '../../../src/domain/failure.ts';
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
  const heard: string[] = [];
  Object.assign(process.deps, {
    awaitEvent(charged: string) {
      heard.push(charged);
      return answers.shift()?.() ?? Promise.resolve();
    },
  });
  return { world, process, heard };
}

const away = () => Promise.reject(new StoreUnavailable('away'));

describe('an approved charge', () => {
  it('is handed to whoever waits for its event', async () => {
    const { process, heard } = watched('approved');
    await charge(process);
    expect(heard).toEqual([reference]);
  });

  it('is not, when its event came first', async () => {
    const { world, process, heard } = watched('otp');
    await charge(process);
    const kept = world.bank.charges.get(reference);
    if (kept) kept.status = 'SUCCESS';
    await process.trigger({ kind: 'payment_success', key: 'any', orderReference: reference });
    await process.drained();
    expect(heard).toEqual([]);
  });

  it('is handed over again when that could not be stored, and told once', async () => {
    const { world, process, heard } = watched('approved', [away]);
    await charge(process);
    expect(heard).toHaveLength(2);
    expect([...world.notes.values()].filter(({ kind }) => kind === 'told')).toHaveLength(1);
  });

  it.each(['declined', 'rejected'] as const)('is the only one: a %s one is not handed over', async (plan) => {
    const { process, heard } = watched(plan);
    await charge(process);
    expect(heard).toEqual([]);
  });
});
