import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, type TestContext } from 'vitest';
import { sitAt } from '../support/desk.ts';
import { openHouse } from '../support/house.ts';

/** A bot at work on the embedded store, and a file beside its folder for the backup. */
async function atWork(test: TestContext) {
  const house = await openHouse(test, { processes: true });
  const bot = house.bot();
  await house.start(bot);
  const desk = sitAt(house, bot);
  const store = join(house.dataDir, 'payops.sqlite');
  const copy = `${house.dataDir}-backup.sqlite`;
  test.onTestFinished(() => rmSync(copy, { force: true }));
  const alerts = async (reference: string) => {
    await desk.reads('onCall', reference, 'payAlerts');
    return desk.posts('onCall', 'payAlerts').filter(({ text }) => text.includes(reference));
  };
  return { house, bot, desk, store, copy, alerts };
}

describe('npm run backup and npm run restore', () => {
  it('copy the store of a bot at work, and bring back what was there then', async (test) => {
    const { house, bot, desk, store, copy, alerts } = await atWork(test);
    const told = await house.decline();
    await alerts(told);
    // Work under way at a backup may be posted again after a restore.
    await desk.settled();

    const events = Array.from({ length: 5 }, (_, at) => house.decline({ amount: `${6000 + at}.00` }));
    const backedUp = await desk.runs(['backup', copy]);
    expect(backedUp).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/: \d+ records, \d+ of them work, read back whole\./),
    });
    expect(backedUp.stdout).toContain('sealing.key');
    expect(statSync(copy).mode & 0o777).toBe(0o600);
    await Promise.all(events);
    expect(await desk.runs(['backup', copy])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('Name a new file'),
    });
    expect(await desk.runs(['backup', join(copy, 'none', 'b.sqlite')])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('There is no folder'),
    });
    const inUse = await desk.runs(['restore', copy]);
    expect(inUse).toMatchObject({
      code: 6,
      stderr: expect.stringContaining('another process holds the store file'),
    });

    const since = await house.decline({ amount: '7700.00' });
    await alerts(since);
    await bot.kill9();
    const restored = await desk.runs(['restore', copy]);
    expect(restored).toMatchObject({ code: 0, stdout: expect.stringContaining('Before you start it') });
    const files = readdirSync(house.dataDir);
    expect(files.filter((name) => name.startsWith('payops.sqlite.before-'))).toHaveLength(1);
    expect(files.filter((name) => name.includes('restoring'))).toEqual([]);
    expect(statSync(store).mode & 0o777).toBe(0o600);

    const next = house.bot();
    await house.start(next);
    // The restored bot knows the first event but not the later one: of both sent again, only that one is posted.
    for (const { id, orderReference } of house.payments.state().deliveries)
      if (orderReference === told || orderReference === since)
        await house.payments.act({ kind: 'redeliver', deliveryId: id, how: 'late' });
    await expect.poll(async () => (await alerts(since)).length).toBe(2);
    expect(await alerts(told)).toHaveLength(1);
    expect(await desk.runs(['audit', 'verify'])).toMatchObject({ code: 0 });
    const { stdout: entries } = await desk.runs(['audit', 'export']);
    expect(entries.split('\n').filter((line) => line.includes('"verb":"restore"'))).toHaveLength(1);
  });

  it('change nothing where the backup is damaged, is no store, or has other keys; a damaged store is replaced', async (test) => {
    const { house, bot, desk, store, copy } = await atWork(test);
    await desk.runs(['backup', copy]);
    await bot.stop();
    const whole = readFileSync(copy);
    const before = readFileSync(store);
    const key = readFileSync(join(house.dataDir, 'sealing.key'));

    writeFileSync(join(house.dataDir, 'sealing.key'), randomBytes(32));
    expect(await desk.runs(['restore', copy])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('The sealing keys do not open it'),
    });
    rmSync(join(house.dataDir, 'sealing.key'));
    expect(await desk.runs(['restore', copy])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("Put the backup's sealing.key"),
    });
    writeFileSync(join(house.dataDir, 'sealing.key'), key, { mode: 0o600 });
    truncateSync(copy, whole.length / 2);
    const damaged = await desk.runs(['restore', copy]);
    expect(damaged).toMatchObject({ code: 1, stderr: expect.stringContaining('is not a whole store') });
    writeFileSync(copy, 'not a store');
    const none = await desk.runs(['restore', copy]);
    expect(none).toMatchObject({ code: 1, stderr: expect.stringContaining('is not a whole store') });
    expect(readFileSync(store).equals(before)).toBe(true);

    writeFileSync(copy, whole);
    writeFileSync(store, 'damaged');
    expect(await desk.runs(['restore', copy])).toMatchObject({ code: 0 });
    await house.start(house.bot());
  });
});
