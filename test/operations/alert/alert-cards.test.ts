import { describe, expect, it } from 'vitest';
import {
  cardsHouse,
  failed,
  linesOf,
  mentionedIn,
  pressables,
  recordOf,
  type CardsHouse,
} from '../cards-house.ts';
import { onBothStores } from '../two-stores.ts';
import { createAlertCards } from '../../../src/operations/alert/alert-cards.ts';
import { alertKey, writeOutboxRecord } from '../../../src/operations/outbox/outbox.ts';
import { noStorms, sealer } from '../house.ts';

const ada = 'U0ADA00001';
const bola = 'U0BOLA0001';
const id = failed.key;

async function posted(house: CardsHouse): Promise<void> {
  house.records.set('ORDER-1', recordOf('ORDER-1', 'FAILED'));
  await house.receive(failed);
  await house.drain();
}

function onlyParent(house: CardsHouse): CardsHouse['messages'][number] {
  const [parent, ...others] = house.parents();
  if (!parent || others.length > 0) throw new Error(`${others.length + (parent ? 1 : 0)} parents stand`);
  return parent;
}

describe('the card of a failed charge', () => {
  it('is posted open, with three buttons, and pings nobody', async () => {
    const house = cardsHouse();
    await posted(house);
    const parent = onlyParent(house);
    expect(parent.shown.text).toBe('❌ Declined by the bank · NGN 12,500.00 · j***@example.com · ORDER-1');
    expect(pressables(parent)).toEqual(['Acknowledge', 'Look up', 'Close…']);
    expect(parent.pinged).toEqual([]);
  });

  it('shows who acknowledged it in the message, tells it in the thread, and pings neither in a post', async () => {
    const house = cardsHouse();
    await posted(house);
    expect(await house.cards.move(id, { kind: 'acknowledge', by: ada })).toMatchObject({ kind: 'moved' });
    await house.drain();
    const parent = onlyParent(house);
    expect(parent.shown.text).toMatch(/^👀 Acknowledged · ❌ Declined by the bank · /);
    expect(mentionedIn(parent)).toEqual([ada]);
    expect(pressables(parent)).toEqual(['Look up', 'Close…', '⋯ Assign…', '⋯ Snooze…', '⋯ Reveal e-mail']);
    const [note, ...others] = house.notes(parent.ts);
    expect(others).toEqual([]);
    expect(note?.shown.text).toContain('👀 Acknowledged');
    // Posted without the name, and edited to have it.
    expect(note?.pinged).toEqual([]);
    expect(note && mentionedIn(note)).toEqual([ada]);
    expect(house.service.asked).toBe(1);
  });

  it('tells the assignee, and not one who took it over alone', async () => {
    const house = cardsHouse();
    await posted(house);
    await house.cards.move(id, { kind: 'acknowledge', by: ada });
    await house.cards.move(id, { kind: 'assign', by: ada, to: ada });
    await house.drain();
    expect(house.directs()).toEqual([]);
    await house.cards.move(id, { kind: 'assign', by: ada, to: bola });
    await house.drain();
    expect(house.directs()).toMatchObject([
      { channel: bola, shown: { text: expect.stringContaining('Assigned') } },
    ]);
    expect(mentionedIn(onlyParent(house))).toEqual([ada, bola]);
  });

  it('says to whom it is given in which channel it is, and leads to its message', async () => {
    const house = cardsHouse();
    await posted(house);
    await house.cards.move(id, { kind: 'acknowledge', by: ada });
    await house.cards.move(id, { kind: 'assign', by: ada, to: bola });
    await house.drain();
    const { ts } = onlyParent(house);
    const [direct] = house.directs();
    const address = `https://slack.com/archives/C0ALERTS01/p${ts.replace('.', '')}`;
    expect(direct && linesOf(direct)).toContain(`In <#C0ALERTS01>: <${address}|the alert and its thread>`);
  });

  it('tells whoever had it in hand that somebody else has it now, unless they gave it away', async () => {
    const house = cardsHouse();
    await posted(house);
    await house.cards.move(id, { kind: 'acknowledge', by: ada });
    await house.cards.move(id, { kind: 'assign', by: bola, to: bola });
    await house.drain();
    expect(house.directs()).toMatchObject([
      { channel: ada, shown: { text: expect.stringMatching(/^👤 Assigned to somebody else · /) } },
    ]);
    await house.cards.move(id, { kind: 'assign', by: bola, to: ada });
    await house.drain();
    expect(house.directs().slice(1)).toMatchObject([
      { channel: ada, shown: { text: expect.stringMatching(/^👤 Assigned to you · /) } },
    ]);
  });

  it('tells whoever has it in hand that somebody else has closed it, and not one who did so', async () => {
    const house = cardsHouse();
    await posted(house);
    await house.cards.move(id, { kind: 'acknowledge', by: ada });
    await house.cards.move(id, { kind: 'assign', by: ada, to: bola });
    await house.drain();
    const before = house.directs().length;
    await house.cards.move(id, { kind: 'close', by: ada, reason: 'paid in cash' });
    await house.drain();
    const [direct, ...others] = house.directs().slice(before);
    expect(others).toEqual([]);
    expect(direct).toMatchObject({ channel: bola, shown: { text: expect.stringMatching(/^☑️ Closed · /) } });
    expect(direct && linesOf(direct)).toContain('paid in cash');

    const own = cardsHouse();
    await posted(own);
    await own.cards.move(id, { kind: 'acknowledge', by: ada });
    await own.cards.move(id, { kind: 'close', by: ada, reason: 'paid in cash' });
    await own.drain();
    expect(own.directs()).toEqual([]);
  });

  it('ends a snooze by itself and says so in the thread, once', async () => {
    const house = cardsHouse();
    await posted(house);
    await house.cards.move(id, { kind: 'acknowledge', by: ada });
    await house.cards.move(id, { kind: 'snooze', by: ada, forMs: 3_600_000 });
    await house.drain();
    expect(onlyParent(house).shown.text).toMatch(/^💤 Snoozed/);
    await house.drain(3_500_000);
    expect(onlyParent(house).shown.text).toMatch(/^💤 Snoozed/);
    await house.drain(200_000);
    const parent = onlyParent(house);
    expect(parent.shown.text).toMatch(/^👀 Acknowledged/);
    expect(house.notes(parent.ts).map(({ shown }) => shown.text.split(' · ')[0])).toEqual([
      '👀 Acknowledged',
      '💤 Snoozed',
      '⏰ The snooze is over',
    ]);
    await house.drain(7_200_000);
    expect(house.notes(parent.ts)).toHaveLength(3);
  });

  it('tells whoever has it in hand that its snooze is over: a thread calls nobody', async () => {
    const house = cardsHouse();
    await posted(house);
    await house.cards.move(id, { kind: 'acknowledge', by: ada });
    await house.cards.move(id, { kind: 'assign', by: bola, to: bola });
    await house.cards.move(id, { kind: 'snooze', by: ada, forMs: 3_600_000 });
    await house.drain();
    const before = house.directs().length;
    // Slack is away when it ends.
    const away = { kind: 'not_sent', cause: new Error('away') } as const;
    await house.drain(3_500_000);
    house.answers.push(...Array.from({ length: 12 }, () => away));
    await house.drain(3_600_000);
    expect(house.answers).toEqual([]);
    expect(house.directs().slice(before)).toMatchObject([
      {
        channel: bola,
        shown: { text: expect.stringMatching(/^⏰ The snooze is over · ❌ Declined by the bank · /) },
      },
    ]);
  });

  it('loses its details and buttons when it is closed, and names the reason', async () => {
    const house = cardsHouse();
    await posted(house);
    await house.cards.move(id, { kind: 'close', by: bola, reason: 'paid in cash <!channel>' });
    await house.drain();
    const parent = onlyParent(house);
    expect(parent.shown.text).toMatch(/^☑️ Closed · /);
    expect(linesOf(parent)).toContain('paid in cash <!channel>');
    expect(linesOf(parent)).not.toContain('Insufficient funds');
    expect(pressables(parent)).toEqual([]);
    expect(await house.cards.move(id, { kind: 'acknowledge', by: ada })).toMatchObject({ why: 'ended' });
  });

  it('is replaced by a new message that links back when Slack does not edit it any more', async () => {
    const house = cardsHouse();
    await posted(house);
    const first = onlyParent(house);
    first.isGone = true;
    await house.cards.move(id, { kind: 'acknowledge', by: ada });
    await house.drain(30_000);
    const parent = onlyParent(house);
    expect(parent.ts).not.toBe(first.ts);
    expect(linesOf(parent)).toContain(`/archives/${first.channel}/p${first.ts.replace('.', '')}`);
    // A new post would ping whoever clicked: the name comes with its edit.
    expect(parent.pinged).toEqual([]);
    expect(mentionedIn(parent)).toEqual([ada]);
    expect(house.notes(parent.ts)).toHaveLength(1);
  });

  it('does not tell a step again that somebody took out of the thread', async () => {
    const house = cardsHouse();
    await posted(house);
    await house.cards.move(id, { kind: 'acknowledge', by: ada });
    while (house.notes(onlyParent(house).ts).length === 0)
      await house.drain(0).then(() => (house.clock.nowMs += 500));
    for (const note of house.notes(onlyParent(house).ts)) note.isGone = true;
    await house.drain(60_000);
    expect(house.notes(onlyParent(house).ts)).toHaveLength(1);
  });

  it('shows a fresh look-up in place, and keeps what it knew when the service is away', async () => {
    const house = cardsHouse();
    await posted(house);
    house.records.set('ORDER-1', recordOf('ORDER-1', 'SUCCESS'));
    house.clock.nowMs += 60_000;
    await house.cards.lookUpNow(id);
    await house.drain();
    const paid = onlyParent(house);
    expect(paid.shown.text).toContain('Event says failed, look-up says Paid (confirmed)');
    expect(linesOf(paid)).toContain('looked up again');
    const before = paid.shown;
    house.service.isAway = true;
    expect(await house.cards.lookUpNow(id)).toMatchObject({ evidence: { lookup: { kind: 'unchecked' } } });
    await house.drain();
    expect(onlyParent(house).shown).toEqual(before);
  });

  it('tells what was decided after a restart in between', async () => {
    const before = cardsHouse();
    await posted(before);
    await before.cards.move(id, { kind: 'acknowledge', by: ada });
    await before.store.close();
    const after = cardsHouse(before.path);
    after.clock.nowMs = before.clock.nowMs;
    after.messages.push(...before.messages);
    await after.drain();
    expect(onlyParent(after).shown.text).toMatch(/^👀 Acknowledged/);
    expect(after.notes(onlyParent(after).ts)).toHaveLength(1);
  });

  it('says that an alert is not known any more instead of making a card of nothing', async () => {
    const { cards, store } = cardsHouse();
    expect(await cards.move('payment_failed/order/OLD', { kind: 'acknowledge', by: ada })).toEqual({
      kind: 'unknown_alert',
    });
    expect(await cards.lookUpNow('payment_failed/order/OLD')).toBeUndefined();
    expect(await store.read('alert:payment_failed/order/OLD')).toBeUndefined();
  });

  it('has one state in all the channels its alert goes to, and tells each step in each', async () => {
    const house = cardsHouse(undefined, ['C0ALERTS01', 'C0OTHERS01']);
    await posted(house);
    expect(
      house
        .parents()
        .map(({ channel }) => channel)
        .toSorted(),
    ).toEqual(['C0ALERTS01', 'C0OTHERS01']);
    await house.cards.move(id, { kind: 'acknowledge', by: ada });
    await house.drain();
    for (const parent of house.parents()) {
      expect(parent.shown.text).toMatch(/^👀 Acknowledged/);
      expect(house.notes(parent.ts)).toHaveLength(1);
    }
  });

  it('posts an alert of an older release, which has no progress, as it was to be posted', async () => {
    const house = cardsHouse();
    house.records.set('ORDER-1', recordOf('ORDER-1', 'FAILED'));
    const key = alertKey(id);
    const old = {
      kind: 'alert',
      channel: 'C0ALERTS01',
      fingerprint: 'f',
      receivedAtMs: house.clock.nowMs,
      sealed: sealer.seal(key, JSON.stringify(failed)),
      misses: 0,
    } as const;
    await house.store.create(key, writeOutboxRecord(old), { delayMs: 0, lane: 'C0ALERTS01' });
    await house.drain();
    expect(pressables(onlyParent(house))).toEqual(['Look up']);
  });
});

const hasEnded = () => Promise.resolve(undefined);

onBothStores('clicks at the same time on two replicas', (open) => {
  it('make one decision each of 200 times, and the other is told who was first', async () => {
    const { one, two, close } = await open();
    const shared = {
      sealer,
      storms: noStorms,
      lookUp: () => Promise.reject(new Error('nothing is looked up here')),
      hasEnded,
      rememberMs: 86_400_000,
      now: () => Date.now(),
      wake: () => undefined,
      log: () => undefined,
    };
    const [left, right] = [one, two].map((store) => createAlertCards({ ...shared, store })) as [
      ReturnType<typeof createAlertCards>,
      ReturnType<typeof createAlertCards>,
    ];
    const winners = new Set<string>();
    for (let round = 0; round < 200; round += 1) {
      const card = `payment_failed/order/R${round}`;
      await one.create(alertKey(card), 'an alert', {});
      const results = await Promise.all([
        left.move(card, { kind: 'acknowledge', by: ada }),
        right.move(card, { kind: 'acknowledge', by: bola }),
      ]);
      const moved = results.filter(({ kind }) => kind === 'moved');
      expect(moved).toHaveLength(1);
      const refused = results.find(({ kind }) => kind === 'refused');
      const first = results[0]?.kind === 'moved' ? ada : bola;
      expect(refused).toMatchObject({ why: 'taken', card: { kind: 'acknowledged', by: first } });
      expect((await left.read(card)).card).toMatchObject({ by: first });
      winners.add(first);
    }
    expect(winners.size).toBeGreaterThan(0);
    await close();
  });

  it('make one decision of 100 on each replica, and all the others are told who was first', async () => {
    const { one, two, close } = await open();
    const replicas = [one, two].map((store) =>
      createAlertCards({
        store,
        sealer,
        storms: noStorms,
        lookUp: () => Promise.reject(new Error('nothing is looked up here')),
        hasEnded,
        rememberMs: 86_400_000,
        now: () => Date.now(),
        wake: () => undefined,
        log: () => undefined,
      }),
    );
    await one.create(alertKey(id), 'an alert', {});
    const clicks = await Promise.all(
      replicas.flatMap((cards, replica) =>
        Array.from({ length: 100 }, async (_, nth) => {
          const by = `U${replica}${String(nth).padStart(3, '0')}`;
          return { by, result: await cards.move(id, { kind: 'acknowledge', by }) };
        }),
      ),
    );
    const winners = clicks.filter(({ result }) => result.kind === 'moved');
    expect(winners).toHaveLength(1);
    const [first] = winners;
    for (const { result } of clicks.filter(({ by }) => by !== first?.by)) {
      expect(result).toMatchObject({ kind: 'refused', why: 'taken', card: { by: first?.by } });
    }
    await close();
  });
});
