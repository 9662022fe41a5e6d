import { describe, expect, it } from 'vitest';
import { everyPoint } from '../../support/every-point.ts';
import {
  type AlertsWorld,
  failed,
  openAlertsWorld,
  pressables,
  recordOf,
  startAlerts,
} from '../alerts-house.ts';

const ada = 'U0ADA00001';
const ageMs = 14 * 86_400_000;

/** The details of the alert, in all spellings that messages and records use. */
const details = ['jane@example.com', 'j***@', '1250000', '12,500.00', 'Insufficient funds', 'cust-7'];

function detailsIn(text: string): string[] {
  return details.filter((one) => text.includes(one));
}

function detailsWorld(channels?: readonly string[]): AlertsWorld {
  const world = openAlertsWorld(channels && { channels });
  world.settings.alertDetailsDays = 14;
  // A real date: Slack's `ts` is compared with it.
  world.clock.nowMs = Date.UTC(2026, 8, 14, 13, 37);
  world.records.set('ORDER-1', { ...recordOf('ORDER-1', 'FAILED'), gatewayMessage: 'Insufficient funds' });
  return world;
}

/** The stored values of these keys, decoded; this test's sealer is base64, nested at most twice. */
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
  it('loses its details if the process is killed at any point, and never shows its details again', async () => {
    const own = /^(message:alert:|event:)/;
    let kills = 0;
    for (let survived = false; !survived; kills += 1) {
      const world = detailsWorld(['C0ALERTS01', 'C0ALERTS02']);
      const house = startAlerts(world);
      await house.receive(failed);
      await house.drain();
      await house.alerts.lookUpNow(failed.key);
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
      // A person's look-up doesn't bring them back.
      await house.alerts.lookUpNow(failed.key);
      await house.drain(10_000);
      for (const { shown } of house.parents()) expect(detailsIn(JSON.stringify(shown))).toEqual([]);
      expect(detailsIn(await storedOpen(world, own))).toEqual([]);
      // It is still known as a repeat.
      expect(await house.receive(failed)).toBe('duplicate');
    }
    expect(kills).toBeGreaterThan(10);
  });
});

it('an alert without details can still be acknowledged and resolved', async () => {
  const house = startAlerts(detailsWorld());
  await house.receive(failed);
  await house.drain();
  house.clock.nowMs += ageMs;
  await house.drain(10_000);
  const [parent] = house.parents();
  expect(parent?.shown.text).toBe('❌ Declined by the bank · ORDER-1');
  expect(parent && pressables(parent)).toEqual(['Acknowledge', 'Look up', 'Resolve…']);
  await house.alerts.move(failed.key, { kind: 'acknowledge', by: ada });
  await house.drain(10_000);
  expect(parent && pressables(parent)).toEqual(['Look up', 'Resolve…', '⋯ Assign…', '⋯ Snooze…']);
  await house.alerts.move(failed.key, { kind: 'close', by: ada, reason: 'cash' });
  await house.drain(10_000);
  expect(parent && pressables(parent)).toEqual([]);
});

it('an alert whose event signs no order reference keeps its transaction, and is still found by its payment', async () => {
  const world = detailsWorld();
  const house = startAlerts(world);
  const { orderReference: _unsigned, ...signed } = failed;
  const ofTransaction = {
    key: 'payment_failed/transaction/T-1',
    transactionId: 'T-1',
    referenceHint: 'ORDER-1',
  };
  world.records.clear();
  await house.receive({ ...signed, ...ofTransaction });
  await house.drain();
  world.clock.nowMs += ageMs;
  await house.drain(10_000);
  const [parent] = house.parents();
  expect(parent?.shown.text).toBe('❔ Event says failed, not checked · transaction T-1');
  expect(parent && pressables(parent)).toContain('Look up');
  // By now the service says which order it was of, and that this is paid.
  world.records.set('ORDER-1', { ...recordOf('ORDER-1', 'SUCCESS'), id: 'T-1' });
  const money = { minor: 99, currency: 'NGN' };
  const proven = { reference: 'ORDER-1', money, customerEmail: 'other@example.com' };
  await house.recovery.addOwnPayment({ ...proven, atMs: world.clock.nowMs });
  await house.drain(20_000);
  expect(parent?.shown.text).toBe('✅ Resolved: paid · ORDER-1');
  const stored = await storedOpen(world, /^(message:alert:|event:payment_failed)/);
  expect(detailsIn(stored)).toEqual([]);
});

describe('many alerts that are old at once', () => {
  it('delay no new alert, and are edited one every three seconds', async () => {
    const house = startAlerts(detailsWorld());
    for (let number = 1; number <= 30; number += 1) {
      const orderReference = `OLD-${number}`;
      await house.receive({ ...failed, key: `payment_failed/order/${orderReference}`, orderReference });
    }
    await house.drain(60_000);
    const old = house.parents();
    expect(old).toHaveLength(30);
    // All are overdue: the bot was away.
    house.clock.nowMs += 2 * ageMs;
    await house.receive(failed);
    await house.drain(0);
    expect(house.parents()).toHaveLength(31);
    await house.drain(29_000);
    const edited = old.filter(({ editedAtMs }) => editedAtMs.length === 1).length;
    expect(edited).toBeGreaterThanOrEqual(9);
    expect(edited).toBeLessThanOrEqual(11);
    // A press isn't delayed either.
    const [last] = old.filter(({ editedAtMs }) => editedAtMs.length === 0).slice(-1);
    const reference = /OLD-\d+/.exec(last?.shown.text ?? '')?.[0] ?? '';
    await house.alerts.move(`payment_failed/order/${reference}`, { kind: 'acknowledge', by: ada });
    await house.drain(4_000);
    expect(last?.shown.text).toContain('👀 Acknowledged');
    expect(last && house.notes(last.ts)).toHaveLength(1);
    await house.drain(90_000);
    expect(old.filter(({ shown }) => detailsIn(JSON.stringify(shown)).length > 0)).toEqual([]);
  });
});
