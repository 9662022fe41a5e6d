import { z } from 'zod';
import { endsCard, handOf, type AlertCard, type CardMove } from '../../domain/alert-card.ts';
import type { AlertCards, FoundAlert } from './alert-cards.ts';
import { createChangeRecord, type RecordStore } from '../work/change-record.ts';

/** Which alerts a person has in hand, since the store lists nothing. All of it throws StoreUnavailable. */
export type AlertsInHand = {
  /** The open ones that were assigned to them, or that they acknowledged and nobody else was given; newest first. */
  of(userId: string): Promise<readonly FoundAlert[]>;
};

export type AlertsInHandDeps = {
  store: RecordStore;
  rememberMs: number;
};

/** Who has more is shown the newest of them. */
const mostListed = 50;
const list = z.array(z.string());

/**
 * The cards, each move of which also keeps the lists. An alert is listed before it is anybody's, so that no list lacks
 * one; what a list has too much is left out when it is read.
 */
export function listInHand(deps: AlertsInHandDeps, cards: AlertCards): AlertCards & { inHand: AlertsInHand } {
  const { store, rememberMs: ttlMs } = deps;
  const changeRecord = createChangeRecord(store);

  function edit(userId: string, change: (ids: string[]) => string[]): Promise<void> {
    return changeRecord(keyOf(userId), (text) => {
      const before = text === undefined ? [] : list.parse(JSON.parse(text));
      const after = change(before).slice(0, mostListed);
      if (after.join('\n') === before.join('\n')) return { kind: 'keep', result: undefined };
      return { kind: 'write', value: JSON.stringify(after), ttlMs, result: undefined };
    });
  }

  return {
    ...cards,
    async move(id, move) {
      const next = nextInHand(move);
      if (next !== undefined) await edit(next, (ids) => (ids.includes(id) ? ids : [id, ...ids]));
      return await cards.move(id, move);
    },
    inHand: {
      async of(userId) {
        const entry = await store.read(keyOf(userId));
        const ids = entry ? list.parse(JSON.parse(entry.value)) : [];
        const found = await Promise.all(ids.map((id) => cards.find(id)));
        // Only what never comes back: a card may just be on its way into their hand again.
        const ended = ids.filter((_, index) => isOver(found[index]?.card));
        if (ended.length > 0) await edit(userId, (all) => all.filter((id) => !ended.includes(id)));
        return found.filter((alert) => alert !== undefined).filter(({ card }) => handOf(card) === userId);
      },
    },
  };
}

function keyOf(userId: string): string {
  return `alerts-of:${userId}`;
}

function nextInHand(move: CardMove): string | undefined {
  if (move.kind === 'assign') return move.to;
  return move.kind === 'acknowledge' ? move.by : undefined;
}

function isOver(card: AlertCard | undefined): boolean {
  return card === undefined || endsCard(card);
}
