import { describe, expect, it } from 'vitest';
import { handlersOf, moveCard, type AlertCard, type CardMove } from '../../../src/domain/alert-card.ts';
import type { AlertCards } from '../../../src/operations/alert/alert-cards.ts';
import { listInHand } from '../../../src/operations/alert/alerts-in-hand.ts';
import { cardsHouse, failed, recordOf } from '../cards-house.ts';
import { memoryStore } from '../memory-store.ts';

/** Cards in memory: what `AlertCards` promises, without events. */
function stage() {
  const kept = new Map<string, AlertCard>();
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
  const listed = listInHand({ store: memoryStore({ nowMs: 0 }), rememberMs: 1_000 }, cards);
  const ofWhom = async (userId: string) => (await listed.inHand.of(userId)).map(({ event }) => event.key);
  const move = (id: string, made: CardMove) => listed.move(id, made);
  return { move, kept, ofWhom };
}

describe('alerts in hand', () => {
  it('are whose they were given to, and else who acknowledged them', async () => {
    const { move, ofWhom } = stage();
    await move('a', { kind: 'acknowledge', by: 'U1' });
    await move('b', { kind: 'acknowledge', by: 'U1' });
    expect(await ofWhom('U1')).toEqual(['b', 'a']);
    await move('a', { kind: 'assign', by: 'U1', to: 'U2' });
    expect(await ofWhom('U1')).toEqual(['b']);
    expect(await ofWhom('U2')).toEqual(['a']);
    await move('a', { kind: 'assign', by: 'U2', to: 'U1' });
    expect(await ofWhom('U1')).toEqual(['b', 'a']);
  });

  it('are nobody’s once they are over', async () => {
    const { move, ofWhom } = stage();
    await move('a', { kind: 'acknowledge', by: 'U1' });
    await move('a', { kind: 'close', by: 'U3', reason: 'done' });
    expect(await ofWhom('U1')).toEqual([]);
  });

  it('are theirs still when a snooze has expired', async () => {
    const house = cardsHouse();
    house.records.set('ORDER-1', recordOf('ORDER-1', 'FAILED'));
    await house.receive(failed);
    await house.drain();
    const { store } = house;
    const listed = listInHand({ store, rememberMs: 86_400_000 }, house.cards);
    await listed.move(failed.key, { kind: 'acknowledge', by: 'U0ADA00001' });
    await listed.move(failed.key, { kind: 'snooze', by: 'U0ADA00001', forMs: 3_600_000 });
    await house.drain();
    house.clock.nowMs += 3_600_000;
    const [due, ...others] = await store.take(45_000);
    expect(others).toEqual([]);
    if (due) await listed.work(due);
    const place = { channel: 'C0ALERTS01', ts: expect.any(String) };
    expect(await listed.inHand.of('U0ADA00001')).toMatchObject([{ card: { kind: 'acknowledged' }, place }]);
  });

  it('are not the second’s who acknowledges', async () => {
    const { move, ofWhom, kept } = stage();
    await move('a', { kind: 'acknowledge', by: 'U1' });
    expect((await move('a', { kind: 'acknowledge', by: 'U2' })).kind).toBe('refused');
    expect(await ofWhom('U2')).toEqual([]);
    expect(handlersOf(kept.get('a') ?? { kind: 'open' })).toEqual(['U1']);
  });
});
