import { describe, expect, it } from 'vitest';
import { everyPoint } from '../../support/every-point.ts';
import { type AlertsWorld, failed, openAlertsWorld, recordOf, startAlerts } from '../alerts-house.ts';

const ada = 'U0ADA00001';
const ageMs = 14 * 86_400_000;

/** What an alert tells of customer, money and reasons, as it could stand anywhere. */
const details = ['jane@example.com', 'j***@', '1250000', '12,500.00', 'Insufficient funds', 'cust-7'];

function detailsIn(text: string): string[] {
  return details.filter((one) => text.includes(one));
}

function detailsWorld(channels?: readonly string[]): AlertsWorld {
  const world = openAlertsWorld(channels && { channels });
  world.settings.alertDetailsDays = 14;
  // What a channel really gets: seconds of today.
  world.clock.nowMs = Date.UTC(2026, 8, 14, 13, 37);
  world.records.set('ORDER-1', { ...recordOf('ORDER-1', 'FAILED'), gatewayMessage: 'Insufficient funds' });
  return world;
}

/** All that the store holds under these keys, unsealed: base64 of JSON, at most once more inside. */
async function storedOpen({ store }: AlertsWorld, keys: RegExp): Promise<string> {
  const entries = await Promise.all(
    store
      .keys()
      .filter((key) => keys.test(key))
      .map((key) => store.read(key)),
  );
  return entries.map((entry) => opened(entry?.value ?? '')).join('\n');
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
    let kills = 0;
    for (let survived = false; !survived; kills += 1) {
      const world = detailsWorld(['C0ALERTS01', 'C0ALERTS02']);
      const house = startAlerts(world);
      await house.receive(failed);
      await house.drain();
      await house.cards.lookUpNow(failed.key);
      await house.drain();
      expect(detailsIn(await storedOpen(world, own))).not.toEqual([]);
      world.clock.nowMs += ageMs;
      const { pass, killed } = everyPoint(kills);
      const dying = startAlerts(world, pass);
      survived = await Promise.race([dying.drain(10_000).then(() => true), killed.then(() => false)]);
      world.clock.nowMs += 60_000;
      await house.drain(60_000);
      const text = '❌ Declined by the bank · ORDER-1';
      expect(house.parents().map(({ shown }) => shown.text)).toEqual([text, text]);
      // Looked up by a person it does not come back.
      await house.cards.lookUpNow(failed.key);
      await house.drain(10_000);
      for (const { shown } of house.parents()) expect(detailsIn(JSON.stringify(shown))).toEqual([]);
      expect(detailsIn(await storedOpen(world, own))).toEqual([]);
      // It is known all the same when its event is sent once more.
      expect(await house.receive(failed)).toBe('duplicate');
    }
    expect(kills).toBeGreaterThan(10);
  });
});

describe('many alerts that are old at once', () => {
  it('keep no new alert waiting, and are edited one in three seconds', async () => {
    const house = startAlerts(detailsWorld());
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
    const edited = old.filter(({ editedAtMs }) => editedAtMs.length === 1).length;
    expect(edited).toBeGreaterThanOrEqual(9);
    expect(edited).toBeLessThanOrEqual(11);
    // What is pressed meanwhile does not wait behind them either.
    const [last] = old.filter(({ editedAtMs }) => editedAtMs.length === 0).slice(-1);
    const reference = /OLD-\d+/.exec(last?.shown.text ?? '')?.[0] ?? '';
    await house.cards.move(`payment_failed/order/${reference}`, { kind: 'acknowledge', by: ada });
    await house.drain(4_000);
    expect(last?.shown.text).toContain('👀 Acknowledged');
    expect(last && house.notes(last.ts)).toHaveLength(1);
    await house.drain(90_000);
    expect(old.filter(({ shown }) => detailsIn(JSON.stringify(shown)).length > 0)).toEqual([]);
  });
});
