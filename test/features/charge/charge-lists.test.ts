import { describe, expect, it } from 'vitest';
import { chargeFinder } from '../../../src/features/charge/found-charge.ts';
import { readDay } from '../../../src/features/day/day.ts';
import { derivedReference } from '../../../src/records/derived-reference.ts';
import {
  ada,
  charge,
  hourMs,
  loseKey,
  minuteMs,
  openWorld,
  reference,
  sealedWithALostKey,
  startProcess,
  submit,
  terms,
} from '../charge-house.ts';

it('a charge that is proven a day later is in that day’s file of finance, and only there', async () => {
  const world = openWorld('approved');
  const process = startProcess(world);
  const { findTransaction } = process.account.payments;
  process.account.payments.findTransaction = async () => undefined;
  await charge(process);
  const [fromMs, dayMs] = [world.clock.nowMs - hourMs, 24 * hourMs];
  const { store, account } = process;
  async function filesWithIt(): Promise<boolean[]> {
    const finders = [chargeFinder(account)];
    const days = [0, 1].map((number) => fromMs + number * dayMs);
    const rows = days.map(async (from) => {
      const span = { fromMs: from, untilMs: from + dayMs };
      return (await readDay({ store }, finders, { span, hasEvent: async () => true })).rows.length === 1;
    });
    return await Promise.all(rows);
  }
  expect(await filesWithIt()).toEqual([true, false]);
  await process.workFor(23 * hourMs + minuteMs);
  process.account.payments.findTransaction = findTransaction;
  await process.workFor(10 * minuteMs);
  expect((await process.operations.find(reference))?.state.kind).toBe('approved');
  expect(await filesWithIt()).toEqual([false, true]);
});

describe('the lists of charges, if the sealing key of one charge is gone', () => {
  it('still show an agent’s other charges', async () => {
    const world = openWorld('approved');
    const process = startProcess(world);
    await charge(process, 'V1');
    await loseKey(world, derivedReference('V1'));
    world.clock.nowMs += hourMs;
    await charge(process, 'V2');
    expect(await process.operations.recent(ada, 5)).toHaveLength(1);
  });

  it('still show a declined charge whose alert can’t be read', async () => {
    const world = openWorld('declined');
    const process = startProcess(world);
    const alert = 'payment_failed/order/ORDER-1';
    const draft = await process.operations.keepDraft('V1', { ...terms, alert });
    const submitted = await process.operations.submit({ viewId: 'V1', draft, by: ada });
    if (submitted.kind === 'begun') await submitted.carryOn();
    const claimed = await world.store.read(`event:${alert}`);
    if (!claimed) throw new Error('no claim on the alert');
    await world.store.write(claimed, sealedWithALostKey);
    expect(await process.operations.recent(ada, 5)).toMatchObject([{ state: { kind: 'declined' } }]);
  });

  it('still show and offer a card whose history can’t be read', async () => {
    const world = openWorld('declined');
    const process = startProcess(world);
    await charge(process);
    const card = await process.account.fingerprint(terms.tokenKey);
    const history = await world.store.read(`card:${card}`);
    if (!history) throw new Error('no history of the card');
    await world.store.write(history, sealedWithALostKey);
    expect(await process.operations.recent(ada, 5)).toMatchObject([{ state: { kind: 'declined' } }]);
    expect(await process.operations.holdOf({ card, by: ada, currency: 'NGN' })).toBeUndefined();
    await expect(submit(process, 'V2')).rejects.toThrow(SyntaxError);
  });

  it('still show all others in doubt or waiting for a code', async () => {
    const world = openWorld('otp');
    const process = startProcess(world);
    await charge(process);
    await loseKey(world);
    process.account.fingerprint = () => Promise.resolve('a second card');
    await charge(process, 'V2');
    process.account.fingerprint = () => Promise.resolve('a third card');
    await submit(process, 'V3');
    expect(await process.operations.waitingFor(ada)).toMatchObject([{ reference: derivedReference('V2') }]);
    expect(await process.operations.inDoubt()).toMatchObject({
      charges: [{ reference: derivedReference('V3') }],
      unread: [reference],
    });
  });
});
