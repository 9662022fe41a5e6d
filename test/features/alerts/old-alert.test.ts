import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { cardsHouse, failed, recordOf, type CardsHouse } from '../cards-house.ts';
import { drainKilled, killAtEachPoint } from '../killed-house.ts';

const ada = 'U0ADA00001';
const dayMs = 86_400_000;
const ageMs = 14 * dayMs;

/** What an alert tells of customer, money and reasons, as it could stand anywhere. */
const details = ['jane@example.com', 'j***@', '1250000', '12,500.00', 'Insufficient funds', 'cust-7'];

function detailsIn(text: string): string[] {
  return details.filter((one) => text.includes(one));
}

function detailsHouse(channels?: readonly string[]): CardsHouse {
  const house = cardsHouse(channels && { channels });
  house.deliver.detailsMs = ageMs;
  // What a channel really gets: seconds of today.
  house.clock.nowMs = Date.UTC(2026, 8, 14, 13, 37);
  house.records.set('ORDER-1', { ...recordOf('ORDER-1', 'FAILED'), gatewayMessage: 'Insufficient funds' });
  return house;
}

/** All that the store holds under these keys, unsealed: base64 of JSON, at most once more inside. */
function storedOpen({ path }: CardsHouse, keys: RegExp): string {
  const db = new DatabaseSync(path, { readOnly: true });
  const rows = db.prepare('select key, value from entries').all();
  db.close();
  return rows
    .filter(({ key }) => keys.test(String(key)))
    .map(({ value }) => opened(String(value)))
    .join('\n');
}

function opened(text: string): string {
  const inner = [...text.matchAll(/[A-Za-z0-9+/]{24,}={0,2}/g)].map(([one]) =>
    Buffer.from(one, 'base64').toString(),
  );
  return [text, ...inner].join('\n');
}

describe('an alert as old as ALERT_DETAILS_DAYS', () => {
  it('is edited down wherever the process is killed, and never shows its details again', async () => {
    const own = /^(message:alert:|event:)/;
    const kills = await killAtEachPoint(async (killAt) => {
      const house = detailsHouse(['C0ALERTS01', 'C0ALERTS02']);
      await house.receive(failed);
      await house.drain();
      await house.cards.lookUpNow(failed.key);
      await house.drain();
      expect(detailsIn(storedOpen(house, own))).not.toEqual([]);
      house.clock.nowMs += ageMs;
      const survived = await drainKilled(house, killAt, 10_000);
      house.clock.nowMs += 60_000;
      await house.drain(60_000);
      const text = '❌ Declined by the bank · ORDER-1';
      expect(house.parents().map(({ shown }) => shown.text)).toEqual([text, text]);
      // Looked up by a person it does not come back.
      await house.cards.lookUpNow(failed.key);
      await house.drain(10_000);
      for (const { shown } of house.parents()) expect(detailsIn(JSON.stringify(shown))).toEqual([]);
      expect(detailsIn(storedOpen(house, own))).toEqual([]);
      // It is known all the same when its event is sent once more.
      expect(await house.receive(failed)).toBe('duplicate');
      await house.store.close();
      return survived;
    });
    expect(kills).toBeGreaterThan(10);
  });
});

describe('many alerts that are old at once', () => {
  it('keep no new alert waiting, and are edited one in three seconds', async () => {
    const house = detailsHouse();
    for (let number = 1; number <= 30; number += 1) {
      const orderReference = `OLD-${number}`;
      await house.receive({ ...failed, key: `payment_failed/order/${orderReference}`, orderReference });
    }
    await house.drain(60_000);
    const old = house.parents();
    expect(old).toHaveLength(30);
    // All of them long ago: the bot was away.
    house.clock.nowMs += 2 * ageMs;
    await house.receive(failed);
    await house.drain(0);
    expect(house.parents()).toHaveLength(31);
    await house.drain(29_000);
    const edited = old.filter(({ edits }) => edits === 1).length;
    expect(edited).toBeGreaterThanOrEqual(9);
    expect(edited).toBeLessThanOrEqual(11);
    // What is pressed meanwhile does not wait behind them either.
    const [last] = old.filter(({ edits }) => edits === undefined).slice(-1);
    const reference = /OLD-\d+/.exec(last?.shown.text ?? '')?.[0] ?? '';
    await house.cards.move(`payment_failed/order/${reference}`, { kind: 'acknowledge', by: ada });
    await house.drain(4_000);
    expect(last?.shown.text).toContain('👀 Acknowledged');
    expect(last && house.notes(last.ts)).toHaveLength(1);
    await house.drain(90_000);
    expect(old.filter(({ shown }) => detailsIn(JSON.stringify(shown)).length > 0)).toEqual([]);
  });
});
