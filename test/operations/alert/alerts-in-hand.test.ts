import { describe, expect, it } from 'vitest';
import { handlersOf, moveCard, type AlertCard, type CardMove } from '../../../src/domain/alert-card.ts';
import type { AlertCards } from '../../../src/operations/alert/alert-cards.ts';
import { listInHand } from '../../../src/operations/alert/alerts-in-hand.ts';
import { cardsHouse, failed, recordOf } from '../cards-house.ts';
import { memoryStore } from '../memory-store.ts';

/** Cards in memory: what `AlertCards` promises, without events. */
function stage() {
  const kept = new Map<string, AlertCard>();
  const changed: string[][] = [];
  const cards = {
    read: async (id: string) => ({ card: kept.get(id) ?? { kind: 'open' } }),
    async find(id: string) {
      const card = kept.get(id);
      return card && { event: { key: id }, receivedAtMs: 0, card };
    },
    async move(id: string, move: CardMove) {
      const result = moveCard(kept.get(id) ?? { kind: 'open' }, move, 1);
      if (result.kind === 'moved') kept.set(id, result.card);
      return { ...result, card: kept.get(id) ?? { kind: 'open' } };
    },
  } as unknown as AlertCards;
  const listed = listInHand(
    { store: memoryStore({ nowMs: 0 }), rememberMs: 1_000, changed: (who) => void changed.push([...who]) },
    cards,
  );
  const ofWhom = async (userId: string) => (await listed.inHand.of(userId)).map(({ event }) => event.key);
  const move = (id: string, made: CardMove) => listed.move(id, made);
  return { move, kept, changed, ofWhom };
}

describe('alerts in hand', () => {
  it('are whose they were given to, and else who acknowledged them', async () => {
    const { move, ofWhom, changed } = stage();
    await move('a', { kind: 'acknowledge', by: 'U1' });
    await move('b', { kind: 'acknowledge', by: 'U1' });
    expect(await ofWhom('U1')).toEqual(['b', 'a']);
    await move('a', { kind: 'assign', by: 'U1', to: 'U2' });
    expect(await ofWhom('U1')).toEqual(['b']);
    expect(await ofWhom('U2')).toEqual(['a']);
    await move('a', { kind: 'assign', by: 'U2', to: 'U1' });
    expect(await ofWhom('U1')).toEqual(['b', 'a']);
    expect(changed.at(-1)?.toSorted()).toEqual(['U1', 'U2']);
  });

  it('are nobody’s once they are over, and tell whose they were', async () => {
    const { move, ofWhom, changed } = stage();
    await move('a', { kind: 'acknowledge', by: 'U1' });
    await move('a', { kind: 'close', by: 'U3', reason: 'done' });
    expect(await ofWhom('U1')).toEqual([]);
    expect(changed.at(-1)).toEqual(['U1']);
  });

  it('tell whose they are when a snooze is over, which nobody’s click ends', async () => {
    const house = cardsHouse();
    house.records.set('ORDER-1', recordOf('ORDER-1', 'FAILED'));
    await house.receive(failed);
    await house.drain();
    const changed: (readonly string[])[] = [];
    const { store } = house;
    const listed = listInHand(
      { store, rememberMs: 86_400_000, changed: (who) => changed.push(who) },
      house.cards,
    );
    await listed.move(failed.key, { kind: 'acknowledge', by: 'U0ADA00001' });
    await listed.move(failed.key, { kind: 'snooze', by: 'U0ADA00001', forMs: 3_600_000 });
    await house.drain();
    changed.length = 0;
    house.clock.nowMs += 3_600_000;
    const [due, ...others] = await store.take(45_000);
    expect(others).toEqual([]);
    if (due) await listed.work(due);
    expect(changed).toEqual([['U0ADA00001']]);
    const place = { channel: 'C0ALERTS01', ts: expect.any(String) };
    expect(await listed.inHand.of('U0ADA00001')).toMatchObject([{ card: { kind: 'acknowledged' }, place }]);
  });

  it('are not the second’s who acknowledges', async () => {
    const { move, ofWhom, changed, kept } = stage();
    await move('a', { kind: 'acknowledge', by: 'U1' });
    expect((await move('a', { kind: 'acknowledge', by: 'U2' })).kind).toBe('refused');
    expect(await ofWhom('U2')).toEqual([]);
    expect(handlersOf(kept.get('a') ?? { kind: 'open' })).toEqual(['U1']);
    expect(changed).toHaveLength(1);
  });
});
