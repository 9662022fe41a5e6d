import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { alertCardPrefix } from '../../../src/operations/alert/alert-cards.ts';
import { alertKey, readOutboxRecord } from '../../../src/operations/outbox/outbox.ts';
import { detailsLane } from '../../../src/operations/outbox/alert-age.ts';
import {
  cardsHouse,
  failed,
  linesOf,
  paidBy,
  pressables,
  recordOf,
  type CardsHouse,
} from '../cards-house.ts';
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
  const house = cardsHouse(undefined, channels);
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

async function toldAlert(house: CardsHouse): Promise<void> {
  await house.receive(failed);
  await house.drain();
  expect(house.parents()).toHaveLength(1);
}

function only<T>(all: readonly T[]): T {
  const [one, ...more] = all;
  if (one === undefined || more.length > 0) throw new Error(`${all.length} and not one`);
  return one;
}

async function passAge({ clock, drain }: CardsHouse): Promise<void> {
  clock.nowMs += ageMs;
  await drain(10_000);
}

describe('an alert as old as ALERT_DETAILS_DAYS', () => {
  it('is edited once, down to outcome and reference, and loses its buttons', async () => {
    const house = detailsHouse();
    await toldAlert(house);
    const parent = only(house.parents());
    expect(linesOf(parent)).toContain('NGN 12,500.00');
    expect(pressables(parent)).not.toEqual([]);
    house.clock.nowMs += ageMs - 10_000;
    await house.drain(0);
    expect(detailsIn(JSON.stringify(parent.shown))).not.toEqual([]);

    house.clock.nowMs += 10_000;
    await house.drain(60_000);
    expect(parent.shown.text).toBe('❌ Declined by the bank · ORDER-1');
    expect(parent.shown.blocks).toHaveLength(2);
    expect(linesOf(parent)).toMatch(/LIVE · .*received/);
    expect(pressables(parent)).toEqual([]);
    expect(detailsIn(JSON.stringify(parent.shown))).toEqual([]);
    expect(parent.edits).toBe(1);
    await house.drain(ageMs / 1_000);
    expect(parent.edits).toBe(1);
    expect(house.parents()).toHaveLength(1);
  });

  it('goes on saying of a payment what its look-up proved', async () => {
    const house = detailsHouse();
    house.paidTo.push({ channel: 'C0PAID0001' });
    house.records.set('ORDER-2', recordOf('ORDER-2', 'SUCCESS'));
    await house.receive(paidBy('ORDER-2'));
    await house.drain();
    const parent = only(house.parents());
    expect(parent.shown.text).toMatch(/^✅ Paid \(confirmed\) · NGN 12,500\.00/);
    await passAge(house);
    expect(parent.shown.text).toBe('✅ Paid (confirmed) · ORDER-2');
    expect(detailsIn(JSON.stringify(parent.shown) + storedOpen(house, /^outbox:/))).toEqual([]);
  });

  it('leaves no customer, amount or reason in its records, of none of its channels', async () => {
    const house = detailsHouse(['C0ALERTS01', 'C0ALERTS02']);
    await house.receive(failed);
    await house.drain();
    expect(house.parents()).toHaveLength(2);
    await house.cards.lookUpNow(failed.key);
    await house.drain();
    const own = /^(outbox:alert:|alert:)/;
    expect(detailsIn(storedOpen(house, own))).toEqual(
      expect.arrayContaining(['jane@example.com', '1250000']),
    );
    await passAge(house);
    expect(detailsIn(storedOpen(house, own))).toEqual([]);
    expect(storedOpen(house, own)).toContain('ORDER-1');
    for (const parent of house.parents()) expect(detailsIn(JSON.stringify(parent.shown))).toEqual([]);
  });

  it('is known again when its event is sent once more', async () => {
    const house = detailsHouse();
    await toldAlert(house);
    await passAge(house);
    expect(await house.receive(failed)).toBe('duplicate');
    await house.drain();
    expect(house.parents()).toHaveLength(1);
    // As long as it is remembered, and not for ever.
    house.clock.nowMs += 31 * dayMs;
    expect(await house.receive(failed)).toBe('new');
  });

  it('goes on following its card: what was acknowledged, made good late or closed says so, and no more', async () => {
    const house = detailsHouse();
    await toldAlert(house);
    await house.cards.move(failed.key, { kind: 'acknowledge', by: ada });
    await passAge(house);
    const parent = only(house.parents());
    expect(parent.shown.text).toBe('👀 Acknowledged · ❌ Declined by the bank · ORDER-1');

    // A press on what a Slack client still shows.
    await house.cards.lookUpNow(failed.key);
    await house.drain();
    expect(detailsIn(storedOpen(house, /^(outbox:alert:|alert:)/))).toEqual([]);
    house.records.set('ORDER-1', recordOf('ORDER-1', 'SUCCESS'));
    await house.receive(paidBy('ORDER-1'));
    await house.drain(30_000);
    expect(parent.shown.text).toBe('✅ Resolved · Paid (confirmed) · ORDER-1');
    expect(detailsIn(JSON.stringify(parent.shown))).toEqual([]);
    expect(pressables(parent)).toEqual([]);
    const told = house.notes(parent.ts).map(({ shown }) => shown.text);
    expect(told.at(-1)).toBe('✅ Resolved · Paid (confirmed) · ORDER-1');
    expect(house.directs().at(-1)?.shown.text).toContain('Resolved');
  });

  it('is resolved by another order of the same amount all the same: the service is asked for it', async () => {
    const house = detailsHouse();
    await toldAlert(house);
    await passAge(house);
    house.records.set('ORDER-2', recordOf('ORDER-2', 'SUCCESS'));
    await house.receive(paidBy('ORDER-2'));
    await house.drain(30_000);
    expect(only(house.parents()).shown.text).toBe('✅ Resolved by another payment · ORDER-1');
  });

  it.each(['message_not_found', 'cant_update_message', 'edit_window_closed'])(
    'is not told anew when Slack answers %s',
    async (slackError) => {
      const house = detailsHouse();
      await toldAlert(house);
      const parent = only(house.parents());
      if (slackError === 'message_not_found') parent.isGone = true;
      else parent.closed = slackError;
      await passAge(house);
      await house.drain(600_000);
      expect(house.messages).toHaveLength(1);
      expect(detailsIn(storedOpen(house, /^outbox:alert:/))).toEqual([]);
      expect(await workIn(house)).toEqual([]);
    },
  );

  it('ends quietly in a channel that takes no edits: nobody is told, health stays well, nothing is tried again', async () => {
    const house = detailsHouse();
    await toldAlert(house);
    const reported: string[] = [];
    house.deliver.report = (_channel, { kind }) => reported.push(kind);
    const refused = { kind: 'refused', slackError: 'is_archived', fix: 'x', about: 'channel' } as const;
    house.editAnswers.push(refused);
    await passAge(house);
    await house.drain(600_000);
    expect(house.editAnswers).toEqual([]);
    expect(reported).toEqual([]);
    expect(house.messages).toHaveLength(1);
    expect(await workIn(house)).toEqual([]);
  });

  it('waits for a Slack that asks to wait, and is edited then', async () => {
    const house = detailsHouse();
    await toldAlert(house);
    house.editAnswers.push(
      { kind: 'rate_limited', retryAfterMs: 30_000 },
      { kind: 'unsure', cause: new Error() },
    );
    await passAge(house);
    await house.drain(120_000);
    expect(only(house.parents()).shown.text).toBe('❌ Declined by the bank · ORDER-1');
  });

  it('keeps its details where the setting is 0, and for longer where it was raised meanwhile', async () => {
    const house = detailsHouse();
    await toldAlert(house);
    house.deliver.detailsMs = 20 * dayMs;
    await passAge(house);
    expect(detailsIn(JSON.stringify(only(house.parents()).shown))).not.toEqual([]);
    delete house.deliver.detailsMs;
    house.clock.nowMs += 6 * dayMs;
    await house.drain(10_000);
    expect(detailsIn(JSON.stringify(only(house.parents()).shown))).not.toEqual([]);
    expect(only(house.parents()).edits).toBeUndefined();
    expect(await workIn(house)).toEqual([]);
  });

  it('is edited down wherever the process is killed, and never shows its details again', async () => {
    const kills = await killAtEachPoint(async (killAt) => {
      const house = detailsHouse();
      await toldAlert(house);
      house.clock.nowMs += ageMs;
      const survived = await drainKilled(house, killAt, 10_000);
      house.clock.nowMs += 60_000;
      await house.drain(60_000);
      expect(only(house.parents()).shown.text).toBe('❌ Declined by the bank · ORDER-1');
      expect(detailsIn(storedOpen(house, /^(outbox:alert:|alert:)/))).toEqual([]);
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
      // oxlint-disable-next-line no-await-in-loop
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

it('costs no write more than remembering it did', async () => {
  const counted = await Promise.all(
    [false, true].map(async (keepsDetails) => {
      const house = detailsHouse();
      if (keepsDetails) delete house.deliver.detailsMs;
      let calls = 0;
      house.watched.pass = () => {
        calls += 1;
      };
      await toldAlert(house);
      return calls;
    }),
  );
  expect(counted[1]).toBe(counted[0]);
});

it('an alert that waits for its age is out of its channel’s lane, and remembered', async () => {
  const house = detailsHouse();
  await toldAlert(house);
  const entry = await house.store.read(alertKey(failed.key));
  expect(entry?.lane).toBe(detailsLane);
  expect(readOutboxRecord(entry?.value ?? '')).toMatchObject({ progress: { kind: 'done' } });
  expect(await house.store.read(alertCardPrefix + failed.key)).toBeUndefined();
});

async function workIn({ path }: CardsHouse): Promise<string[]> {
  const db = new DatabaseSync(path, { readOnly: true });
  const rows = db.prepare("select key from entries where due_at is not null and key like 'outbox:%'").all();
  db.close();
  return rows.map(({ key }) => String(key));
}
