import { describe, expect, it } from 'vitest';
import { chargeLists } from '../../../src/features/charge/charge-record.ts';
import { referenceOf } from '../../../src/records/reference-of.ts';
import { ada, charge, hourMs, loseKey, openWorld, reference, startProcess, submit } from '../charge-house.ts';

describe('the lists of charges, when the key of one charge is gone', () => {
  it('show an agent’s other charges all the same', async () => {
    const world = openWorld('approved');
    const process = startProcess(world);
    await charge(process, 'V1');
    await loseKey(world, referenceOf('V1'));
    world.clock.nowMs += hourMs;
    await charge(process, 'V2');
    expect(await process.desk.recent(ada, 5)).toHaveLength(1);
  });

  it('show all others, in doubt or waiting for a code', async () => {
    const world = openWorld('otp');
    const process = startProcess(world);
    await charge(process);
    await loseKey(world);
    process.account.fingerprint = () => Promise.resolve('a second card');
    await charge(process, 'V2');
    process.account.fingerprint = () => Promise.resolve('a third card');
    await submit(process, 'V3');
    expect(await process.desk.waitingFor(ada)).toMatchObject([{ reference: referenceOf('V2') }]);
    expect(await process.desk.inDoubt()).toMatchObject({
      charges: [{ reference: referenceOf('V3') }],
      unread: [reference],
    });
  });
});

describe('the list of open charges', () => {
  it('has nothing of what was refused and never became a charge, or is concluded', async () => {
    const world = openWorld('declined');
    const process = startProcess(world);
    await charge(process);
    for (let index = 0; index < 20; index += 1) {
      // oxlint-disable-next-line no-await-in-loop
      expect(await submit(process, `V${index}`)).toMatchObject({ kind: 'refused' });
    }
    expect((await world.store.list(chargeLists.open, { max: 9 })).entries).toEqual([]);
  });

  it('has a charge again that an event opened again', async () => {
    const world = openWorld('declined');
    const process = startProcess(world);
    await charge(process);
    process.account.payments.findTransaction = () => Promise.reject(new Error('away'));
    await process.trigger({ kind: 'payment_success', key: 'event', orderReference: reference });
    await process.drained();
    expect((await process.records.read(reference))?.intent.state.kind).toBe('confirming');
    const { entries } = await world.store.list(chargeLists.open, { max: 9 });
    expect(entries.map(({ key }) => key)).toEqual([`charge:${reference}`]);
  });
});
