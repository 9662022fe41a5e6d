import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openSqliteStore } from '../../src/store/sqlite-store.ts';
import { openHouse } from '../support/house.ts';

/** Some kinds of work, and one of no kind: each is told a second after the one before. */
const broken = ['outbox:alert:x', 'charge:pay-x', 'later:x'];

it('puts a record of any kind that nobody can read aside, tells the operators once of each, and goes on', async (test) => {
  const house = await openHouse(test, { clock: true });
  mkdirSync(house.dataDir, { recursive: true, mode: 0o700 });
  const store = openSqliteStore({ path: join(house.dataDir, 'payops.sqlite'), now: house.now });
  for (const key of broken) await store.create(key, 'k1.unreadable', { delayMs: 0, lane: 'one' });
  const bot = house.bot();
  await house.start(bot);
  const told = () => house.posts('payOps').map(({ text }) => text);
  const toldOf = (key: string) => told().filter((text) => text.endsWith(` ${key}`)).length;
  await house.until('all are told', () => broken.every((key) => toldOf(key) === 1));
  const reference = await house.decline();
  await house.until('the alert is told', () =>
    house.posts('payAlerts').some(({ text }) => text.includes(reference)),
  );
  for (const key of broken)
    expect(await store.read(key)).toMatchObject({ value: 'k1.unreadable', attempts: 1 });
  expect(told()).toHaveLength(broken.length);
  await store.close();
});
