import { describe, expect, it } from 'vitest';
import type { AlertCard } from '../../../src/domain/alert-card.ts';
import { createAlertMarks } from '../../../src/operations/alert/alert-marks.ts';
import { outboxKey, writeOutboxRecord } from '../../../src/operations/outbox/outbox.ts';
import { cardsHouse, failed, paidBy, recordOf, type CardsHouse } from '../cards-house.ts';
import { memoryStore } from '../memory-store.ts';

const ada = 'U0ADA00001';
const id = failed.key;

async function posted(house: CardsHouse): Promise<void> {
  house.records.set('ORDER-1', recordOf('ORDER-1', 'FAILED'));
  await house.receive(failed);
  await house.drain();
}

async function acknowledged(house: CardsHouse): Promise<void> {
  await posted(house);
  await house.cards.move(id, { kind: 'acknowledge', by: ada });
}

function reactionsOf(house: CardsHouse): (string[] | undefined)[] {
  return house.parents().map(({ reactions }) => reactions);
}

describe('the reaction on a card', () => {
  it('says acknowledged, then recovered, and is one at a time', async () => {
    const house = cardsHouse();
    await posted(house);
    expect(reactionsOf(house)).toEqual([undefined]);
    await house.cards.move(id, { kind: 'acknowledge', by: ada });
    await house.drain(10_000);
    expect(reactionsOf(house)).toEqual([['eyes']]);
    house.records.set('ORDER-1', recordOf('ORDER-1', 'SUCCESS'));
    await house.receive(paidBy('ORDER-1'));
    await house.drain(20_000);
    expect(reactionsOf(house)).toEqual([['white_check_mark']]);
  });

  it('says closed, in every channel, and asks to take off nothing that was never put', async () => {
    const house = cardsHouse(undefined, ['C0ALERTS01', 'C0OTHERS01']);
    await posted(house);
    await house.cards.move(id, { kind: 'close', by: ada, reason: 'a test' });
    await house.drain(20_000);
    expect(reactionsOf(house)).toEqual([['ballot_box_with_check'], ['ballot_box_with_check']]);
    expect(house.reacting.calls).toBe(2);
  });

  it('is another one for what was closed than for what was paid, and the one before is taken off', async () => {
    const house = cardsHouse();
    await acknowledged(house);
    await house.drain(10_000);
    await house.cards.move(id, { kind: 'close', by: ada, reason: 'a test' });
    await house.drain(20_000);
    expect(reactionsOf(house)).toEqual([['ballot_box_with_check']]);
  });

  it('takes the place of the one that an earlier release put on what was closed', async () => {
    const house = cardsHouse();
    await posted(house);
    await house.cards.move(id, { kind: 'close', by: ada, reason: 'a test' });
    await house.drain(20_000);
    const [parent] = house.parents();
    const message = outboxKey('alert', id);
    const mark = await house.store.read(`alert-mark:${message}`);
    if (!parent || !mark) throw new Error('nothing was put');
    const set = { ts: parent.ts, mark: 'white_check_mark' };
    await house.store.write(mark, JSON.stringify({ id, tries: 1, set }), { ttlMs: 86_400_000 });
    parent.reactions = ['white_check_mark'];
    await house.deliver.cards.mark(id, message, parent.ts);
    await house.drain(20_000);
    expect(reactionsOf(house)).toEqual([['ballot_box_with_check']]);
  });

  it('is not put again by what changes nothing of it', async () => {
    const house = cardsHouse();
    await acknowledged(house);
    await house.drain(10_000);
    await house.cards.move(id, { kind: 'assign', by: ada, to: 'U0BOLA0001' });
    await house.cards.move(id, { kind: 'snooze', by: ada, forMs: 3_600_000 });
    await house.drain(20_000);
    expect(house.reacting.calls).toBe(1);
  });

  it('is put when Slack takes it again, and given up when it does not for long, while all else is told', async () => {
    const house = cardsHouse();
    await acknowledged(house);
    house.reacting.answers.push({ kind: 'later', retryAfterMs: 30_000 }, { kind: 'later' });
    await house.drain(10_000);
    expect(house.parents()[0]?.shown.text).toMatch(/^👀 Acknowledged/);
    expect(house.notes(house.parents()[0]?.ts ?? '')).toHaveLength(1);
    expect(reactionsOf(house)).toEqual([undefined]);
    await house.drain(60_000);
    expect(reactionsOf(house)).toEqual([['eyes']]);

    house.reacting.answers.push(...Array.from({ length: 100 }, () => ({ kind: 'later' }) as const));
    await house.cards.move(id, { kind: 'close', by: ada, reason: 'a test' });
    await house.drain(3_600_000);
    expect(house.reacting.answers).toHaveLength(80);
  });

  it('goes to the message that takes the place of the one that is gone', async () => {
    const house = cardsHouse();
    await posted(house);
    const [first] = house.parents();
    if (first) first.isGone = true;
    await house.cards.move(id, { kind: 'acknowledge', by: ada });
    await house.drain(60_000);
    expect(reactionsOf(house)).toEqual([['eyes']]);
  });

  it('is that of the end, though whoever put the one before was faster to write so', async () => {
    const clock = { nowMs: 1_000_000 };
    const store = memoryStore(clock);
    const message = outboxKey('alert', 'a');
    const posted = { channel: 'C0ALERTS01', ts: '1.1' };
    const stands = {
      kind: 'alert',
      channel: posted.channel,
      fingerprint: '',
      sealed: '',
      misses: 0,
    } as const;
    await store.create(message, writeOutboxRecord({ ...stands, receivedAtMs: 0, posted }));
    const acknowledgement = { kind: 'acknowledged', by: ada, at: 1 } as const;
    let card: AlertCard = acknowledgement;
    let rival: (() => Promise<void>) | undefined;
    const asked = Promise.withResolvers<void>();
    const putting = Promise.withResolvers<void>();
    const reactions: string[] = [];
    const marks = createAlertMarks({
      store: {
        ...store,
        async write(...args) {
          const before = rival;
          rival = undefined;
          await before?.();
          return await store.write(...args);
        },
      },
      readCard: () => Promise.resolve(card),
      async add(_, mark) {
        asked.resolve();
        await putting.promise;
        reactions.push(mark);
        return { kind: 'done' };
      },
      remove(_, mark) {
        reactions.splice(reactions.indexOf(mark), 1);
        return Promise.resolve({ kind: 'done' });
      },
      rememberMs: 30 * 86_400_000,
    });
    const work = async () => {
      clock.nowMs += 10_000;
      for (const entry of await store.take(45_000)) await marks.work(entry);
    };
    await marks.ask(id, message, posted.ts);
    const first = work();
    await asked.promise;
    rival = () => {
      putting.resolve();
      return first;
    };
    card = { kind: 'closed', by: ada, at: 2, reason: 'a test', acknowledged: acknowledgement };
    await marks.ask(id, message, posted.ts);
    expect(reactions).toEqual(['eyes']);
    await work();
    expect(reactions).toEqual(['ballot_box_with_check']);
  });

  it('is put by whoever goes on after a crash', async () => {
    const house = cardsHouse();
    await acknowledged(house);
    await house.drain(0);
    await house.store.close();
    const after = cardsHouse(house.path, undefined, house);
    await after.drain(60_000);
    expect(reactionsOf(after)).toEqual([['eyes']]);
  });
});
