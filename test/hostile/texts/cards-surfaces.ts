// The saved cards of a customer: what the service lists and answers is outside words, and so is the typed e-mail.

import { ServiceFailure } from '../../../src/domain/failure.ts';
import {
  type CardsContext,
  cardsMessage,
  deletingMessage,
  deletionMessage,
  listingMessage,
  noCardsMessage,
  refusedCardsMessage,
} from '../../../src/features/cards/cards-message.ts';
import type { CardDeletion, ListedCard } from '../../../src/features/cards/saved-card-desk.ts';
import { placeOf } from './alert-surfaces.ts';
import { messageOf, type Outside, type Surface } from './surface.ts';

const list = 'f'.repeat(32);

export const cardsSurfaces: readonly Surface[] = [
  messageOf('saved cards', (outside) =>
    cardsMessage(
      { list, email: outside.text(), cards: Array.from({ length: 12 }, () => cardOf(outside)), total: 120 },
      contextOf(outside),
    ),
  ),
  messageOf('saved cards being listed', ({ text }) => listingMessage(text())),
  messageOf('no saved cards', (outside) => noCardsMessage(outside.text(), contextOf(outside))),
  messageOf('saved cards refused', (outside) =>
    refusedCardsMessage({ email: outside.text(), message: outside.text() }, contextOf(outside)),
  ),
  messageOf('a card being deleted', (outside) => deletingMessage(cardOf(outside), { list, index: 0 })),
  messageOf('a card deleted or not', (outside) =>
    deletionMessage(deletionOf(outside), { list, index: 0 }, contextOf(outside)),
  ),
];

function contextOf(outside: Outside): CardsContext {
  const chance = () => outside.random.chance(0.7);
  const may = { charge: chance(), changeEmail: chance(), remove: chance() };
  return { place: placeOf(outside), may, canOffer: chance(), nowMs: Date.UTC(2026, 8, 14, 13, 37) };
}

function cardOf({ random, text }: Outside): ListedCard {
  return {
    ...(random.chance(0.8) ? { fingerprint: 'e'.repeat(32) } : {}),
    face: random.chance(0.9) ? { cardType: text(), lastFour: text() } : {},
    expiry: text(),
    customerEmail: random.pick([text(), `${text()}@${text()}`]),
  };
}

function deletionOf(outside: Outside): CardDeletion {
  const { random, text } = outside;
  const told = { card: cardOf(outside) };
  return random.pick<() => CardDeletion>([
    () => ({ kind: 'deleted', ...told, records: random.pick(['forgotten', 'behind']) }),
    () => ({ kind: 'no_such_card', ...told, records: 'forgotten' }),
    () => ({ kind: 'refused', message: text(), ...told, records: 'kept' }),
    () => ({ kind: 'not_made', failure: 'invalid_request', message: text(), ...told, records: 'kept' }),
    () => ({ kind: 'unknown', cause: new ServiceFailure('timeout', text()), ...told, records: 'kept' }),
  ])();
}
