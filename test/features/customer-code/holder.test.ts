import { describe, expect, it } from 'vitest';
import {
  ada,
  bola,
  charge,
  minuteMs,
  notesIn,
  openWorld,
  reference,
  rightCode,
  startProcess,
} from '../charge-house.ts';
import { everyPoint } from '../../support/every-point.ts';

const [link, later] = ['hash-of-the-link', 'hash-of-a-later-link'];

async function asked() {
  const world = openWorld('otp');
  const process = startProcess(world);
  await charge(process);
  return { world, process, operations: process.operations };
}

async function types(
  process: ReturnType<typeof startProcess>,
  by: { by: string } | { link: string },
  code = '000000',
  triesLeft = 3,
) {
  const answered = await process.operations.submitCode({ reference, code, triesLeft, ...by });
  await answered?.carryOn?.();
  await process.drained();
  return answered?.carryOn !== undefined;
}

describe('who may type the code', () => {
  it('is only the customer while they have a link', async () => {
    const { process, operations, world } = await asked();
    expect(await operations.letCustomerType({ reference, by: ada, link })).toMatchObject({ isMade: true });
    expect(await types(process, { by: ada })).toBe(false);
    expect(world.bank.codes).toEqual([]);
    expect(await types(process, { link })).toBe(true);
    expect(await operations.find(reference)).toMatchObject({ otp: { triesLeft: 2, lastCode: 'refused' } });
    expect(await types(process, { link }, rightCode, 2)).toBe(true);
    expect((await operations.find(reference))?.state.kind).toBe('approved');
    const entered = [...world.audited.values()].filter(({ result }) => result === 'code_entered');
    expect(entered.map(({ who }) => who)).toEqual(['customer', 'customer']);
  });

  it('is the agent again after taking the link back; the old link stays dead', async () => {
    const { process, operations } = await asked();
    await operations.letCustomerType({ reference, by: ada, link });
    expect(await operations.takeBack({ reference, by: bola })).toMatchObject({ customer: { link } });
    expect((await operations.takeBack({ reference, by: ada }))?.customer).toBeUndefined();
    expect(await types(process, { link })).toBe(false);
    expect(await types(process, { by: ada })).toBe(true);
  });

  it('is only the person with the newest of two links', async () => {
    const { process, operations, world } = await asked();
    await operations.letCustomerType({ reference, by: ada, link });
    await operations.letCustomerType({ reference, by: ada, link: later });
    expect(await types(process, { link })).toBe(false);
    await operations.refuseByCustomer({ reference, link });
    expect([...world.told]).toEqual([]);
    expect(await types(process, { link: later })).toBe(true);
  });

  it('is one of them if agent and customer submit at once on two replicas', async () => {
    const { process, operations, world } = await asked();
    const other = startProcess(world);
    await operations.letCustomerType({ reference, by: ada, link });
    const sent = await Promise.all([
      types(process, { link }),
      types(other, { link }),
      types(other, { by: ada }),
    ]);
    expect(sent.filter(Boolean)).toHaveLength(1);
    expect(world.bank.codes).toHaveLength(1);
  });

  it('submits once if the link is taken back during the submit', async () => {
    const { process, operations, world } = await asked();
    await operations.letCustomerType({ reference, by: ada, link });
    await Promise.all([types(process, { link }, rightCode), operations.takeBack({ reference, by: ada })]);
    await types(process, { by: ada }, rightCode);
    expect(world.bank.codes).toHaveLength(1);
    expect((await operations.find(reference))?.state.kind).toBe('approved');
  });

  it('can be changed by a link that only the agent makes, and only while a code is accepted', async () => {
    const { process, operations } = await asked();
    expect(await operations.letCustomerType({ reference, by: bola, link })).toMatchObject({ isMade: false });
    await types(process, { by: ada }, rightCode);
    expect(await operations.letCustomerType({ reference, by: ada, link })).toMatchObject({ isMade: false });
  });

  it.each([
    { entry: 'agent', sends: { agent: true, customer: false, resend: true, link: false } },
    { entry: 'customer', sends: { agent: false, customer: true, resend: false, link: true } },
    { entry: 'both', sends: { agent: true, customer: true, resend: true, link: true } },
  ] as const)('follows OTP_ENTRY=$entry, on every way in', async ({ entry, sends }) => {
    const { world, process: before } = await asked();
    world.code.entry = entry;
    const { operations } = startProcess(world);
    const resent = await operations.resendCode({ reference, by: ada });
    expect(resent?.carryOn !== undefined).toBe(sends.resend);
    expect(await types(startProcess(world), { by: ada })).toBe(sends.agent);
    const [left, next] = sends.agent ? [2, 1] : [3, 2];
    // This link was made before the setting changed, which applies to it too.
    await before.operations.letCustomerType({ reference, by: ada, link });
    expect(await types(startProcess(world), { link }, '000000', left)).toBe(sends.customer);
    expect(await types(startProcess(world), { by: ada }, '000000', sends.customer ? next : left)).toBe(
      entry === 'agent',
    );
    const made = await startProcess(world).operations.letCustomerType({ reference, by: ada, link: later });
    expect(made.isMade).toBe(sends.link);
  });

  it('“I did not ask for this” is reported once, if killed at any await', async () => {
    for (let killAt = 0; ; killAt += 1) {
      const { world, operations } = await asked();
      await operations.letCustomerType({ reference, by: ada, link });
      const points = everyPoint(killAt);
      const refused = startProcess(world, points).operations.refuseByCustomer({ reference, link });
      const end = await Promise.race([refused.then(() => 'finished'), points.killed]);
      // The customer got no answer and presses again.
      const next = startProcess(world);
      await next.operations.refuseByCustomer({ reference, link });
      await next.drained();
      const said = (await notesIn(world)).filter(({ kind }) => kind === 'not_mine');
      expect([said.length, world.told.size], `killed at ${killAt}`).toEqual([2, 1]);
      expect((await operations.find(reference))?.customer).toBeUndefined();
      if (end === 'finished') break;
    }
  });

  it('a customer’s code reaches the bank once, and the charge ends as the bank says, if killed at any await', async () => {
    let kills = 0;
    for (let killAt = 0; ; killAt += 1) {
      const { world, operations } = await asked();
      await operations.letCustomerType({ reference, by: ada, link });
      const points = everyPoint(killAt);
      const dying = startProcess(world, points);
      const submitted = (async () => {
        const answered = await dying.operations.submitCode({
          reference,
          link,
          code: rightCode,
          triesLeft: 3,
        });
        await answered?.carryOn?.();
        await dying.drained();
        return 'finished' as const;
      })();
      const end = await Promise.race([submitted, points.killed.then(() => 'killed' as const)]);
      const next = startProcess(world);
      await next.work(world.clock.nowMs + 20 * minuteMs);
      expect(world.bank.codes.length).toBeLessThanOrEqual(1);
      const charged = await next.operations.find(reference);
      const isPaid = world.bank.charges.get(reference)?.status === 'SUCCESS';
      expect(charged?.state.kind === 'approved', `killed at ${killAt}`).toBe(isPaid);
      if (end === 'finished') break;
      kills += 1;
    }
    expect(kills).toBeGreaterThan(5);
    console.info(`killed at ${kills} awaits of a customer’s submit`);
  });
});
