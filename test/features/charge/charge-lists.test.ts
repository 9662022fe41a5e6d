import { describe, expect, it } from 'vitest';
import { referenceOf } from '../../../src/records/reference-of.ts';
import { ada, charge, hourMs, loseKey, openWorld, reference, startProcess, submit } from '../charge-house.ts';

describe('the lists of charges, if the sealing key of one charge is gone', () => {
  it('still show an agent’s other charges', async () => {
    const world = openWorld('approved');
    const process = startProcess(world);
    await charge(process, 'V1');
    await loseKey(world, referenceOf('V1'));
    world.clock.nowMs += hourMs;
    await charge(process, 'V2');
    expect(await process.operations.recent(ada, 5)).toHaveLength(1);
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
    expect(await process.operations.waitingFor(ada)).toMatchObject([{ reference: referenceOf('V2') }]);
    expect(await process.operations.inDoubt()).toMatchObject({
      charges: [{ reference: referenceOf('V3') }],
      unread: [reference],
    });
  });
});
