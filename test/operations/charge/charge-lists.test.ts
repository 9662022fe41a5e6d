import { describe, expect, it } from 'vitest';
import { advanceCharge, readCharge } from '../../../src/operations/charge/advance-charge.ts';
import { openChargesPrefix } from '../../../src/operations/charge/charge-record.ts';
import { createOpenList } from '../../../src/operations/work/open-list.ts';
import { referenceOf } from '../../../src/operations/work/reference-of.ts';
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
    process.deps.fingerprint = () => Promise.resolve('a second card');
    await charge(process, 'V2');
    process.deps.fingerprint = () => Promise.resolve('a third card');
    await submit(process, 'V3');
    expect(await process.desk.waitingFor(ada)).toMatchObject([{ reference: referenceOf('V2') }]);
    expect(await process.desk.inDoubt()).toMatchObject({
      charges: [{ reference: referenceOf('V3') }],
      unread: [reference],
    });
  });

  it('keep it, and let its agent go on charging, however long the list grows', async () => {
    const world = openWorld('approved');
    const process = startProcess(world);
    await charge(process);
    await loseKey(world);
    const { agentCharges } = process.deps;
    // oxlint-disable-next-line no-await-in-loop -- each is newer than the one before
    for (let index = 0; index < 59; index += 1) await agentCharges.add(ada, `pay-${index}`);
    world.clock.nowMs += 2 * hourMs;
    expect(await submit(process, 'V2')).toMatchObject({ kind: 'begun' });
    const kept = await agentCharges.of(ada);
    expect(kept).toContain(reference);
    expect(kept.length).toBeLessThan(30);
  });
});

describe('the list of open charges', () => {
  it('has nothing of what was refused and never became a charge', async () => {
    const world = openWorld('declined');
    const process = startProcess(world);
    await charge(process);
    for (let index = 0; index < 20; index += 1) {
      // oxlint-disable-next-line no-await-in-loop
      expect(await submit(process, `V${index}`)).toMatchObject({ kind: 'refused' });
    }
    expect(await createOpenList({ store: world.store, prefix: openChargesPrefix }).all()).toEqual([]);
  });

  it('never lacks a charge that an event opens again while its conclusion is taken off', async () => {
    const world = openWorld('declined');
    const process = startProcess(world);
    const submitted = await submit(process);
    if (submitted.kind !== 'begun') throw new Error(submitted.kind);
    const { openCharges } = process.deps;
    let isFirst = true;
    process.deps.openCharges = {
      ...openCharges,
      // Between "declined" and its drop, another replica hears of a success.
      async drop(references) {
        if (isFirst) await advanceCharge(startProcess(world).deps, reference, { kind: 'payment_success' });
        isFirst = false;
        await openCharges.drop(references);
      },
    };
    await submitted.carryOn();
    expect((await readCharge(process.deps, reference))?.intent.state.kind).toBe('confirming');
    expect(await createOpenList({ store: world.store, prefix: openChargesPrefix }).all()).toContain(
      reference,
    );
  });

  it('never lacks one that is opened again just after it was looked at again and taken off', async () => {
    const world = openWorld('declined');
    const [concluding, reopening] = [startProcess(world), startProcess(world)];
    const submitted = await submit(concluding);
    if (submitted.kind !== 'begun') throw new Error(submitted.kind);
    const [isListed, mayWrite] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const { store, openCharges } = concluding.deps;
    const late = {
      ...reopening.deps,
      store: {
        ...store,
        async write(...given: Parameters<typeof store.write>) {
          isListed.resolve();
          await mayWrite.promise;
          return await store.write(...given);
        },
      },
    };
    let reopened: Promise<unknown> | undefined;
    concluding.deps.openCharges = {
      ...openCharges,
      async drop(references) {
        reopened = advanceCharge(late, reference, { kind: 'payment_success' });
        await isListed.promise;
        await openCharges.drop(references);
      },
    };
    concluding.deps.store = {
      ...store,
      async read(key) {
        const entry = await store.read(key);
        if (!reopened || key !== `charge:${reference}`) return entry;
        // Still "declined", as it was read: it is opened before anything comes of that.
        mayWrite.resolve();
        await reopened;
        return entry;
      },
    };
    await submitted.carryOn();
    expect((await readCharge(reopening.deps, reference))?.intent.state.kind).toBe('confirming');
    expect(await createOpenList({ store: world.store, prefix: openChargesPrefix }).all()).toContain(
      reference,
    );
  });
});

describe('the modals that watch a charge', () => {
  it('have the agent’s own among them however many colleagues look on, and the newest of those', async () => {
    const process = startProcess(openWorld('otp'));
    await charge(process);
    for (let index = 1; index <= 6; index += 1) {
      const view = { id: `VLOOK${index}`, userId: `U0LOOK${index}`, at: Infinity };
      // oxlint-disable-next-line no-await-in-loop
      await process.desk.watch(reference, view);
    }
    const views = (await readCharge(process.deps, reference))?.views.map(({ userId }) => userId);
    expect(views?.toSorted()).toEqual([ada, 'U0LOOK3', 'U0LOOK4', 'U0LOOK5', 'U0LOOK6'].toSorted());
  });
});
