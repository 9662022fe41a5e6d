import { describe, expect, it } from 'vitest';
import { ada, charge, openWorld, reference, startProcess } from '../charge-house.ts';
import { openLinks, proven, unheard } from '../links-house.ts';

/** A declined charge, and the links of a bot beside it. */
async function openStage() {
  const process = startProcess(openWorld('declined'));
  await charge(process);
  const house = openLinks();
  const bot = house.start();
  process.deps.links = bot.links;
  return { house, bot, press: () => process.desk.makeSavingLink({ reference, by: ada }) };
}

describe('makeSavingLink', () => {
  it('makes a payment link like any other, which is told when it is paid, though its event is lost', async () => {
    const { house, bot, press } = await openStage();
    const link = { kind: 'created', link: 'https://pay.example/1' };
    expect(await press()).toMatchObject(link);
    expect(await press()).toMatchObject(link);
    expect(house.service.made).toHaveLength(1);
    expect(house.service.made).not.toContain(reference);
    expect((await bot.links.openOf(ada)).map(({ state }) => state.kind)).toEqual(['open']);
    house.service.lookups = [proven];
    await bot.drain(60_000);
    expect(house.notes()).toEqual(['paid']);
    expect(await bot.links.openOf(ada)).toEqual([]);
  });

  it('makes another link when the answer with the first was lost', async () => {
    const { house, bot, press } = await openStage();
    house.service.answers = [unheard];
    const waiting = { kind: 'not_created', why: expect.stringContaining('It is asked again') };
    expect(await press()).toMatchObject(waiting);
    expect(await press()).toMatchObject(waiting);
    await bot.drain(120_000);
    expect(await press()).toMatchObject({ kind: 'created' });
    expect(new Set(house.service.made).size).toBe(2);
  });

  it('gives up after three whose answers were lost, and says so', async () => {
    const { house, bot, press } = await openStage();
    for (let attempt = 0; attempt < 3; attempt += 1) {
      house.service.answers = [unheard];
      // oxlint-disable-next-line no-await-in-loop -- one press after the other
      await press();
      // oxlint-disable-next-line no-await-in-loop
      await bot.drain(120_000);
    }
    expect(await press()).toMatchObject({
      kind: 'not_created',
      why: expect.stringContaining('every answer was lost'),
    });
    expect(house.service.made).toHaveLength(3);
  });
});
