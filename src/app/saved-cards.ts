import type { Config } from '../config/config.ts';
import { variableName } from '../config/settings.ts';
import {
  sandboxShape,
  specifiedPointers,
  type CardDeletionAnswer,
  type CardToDelete,
  type SavedCardsAnswer,
  type SavedCardShape,
} from '../domain/saved-card-list.ts';
import type { PaymentsClient } from '../payments/client.ts';
import { deleteSavedCard, listSavedCards } from '../payments/saved-cards.ts';

export type SavedCardCalls =
  | {
      kind: 'ready';
      list: (email: string) => Promise<SavedCardsAnswer>;
      remove: (card: CardToDelete) => Promise<CardDeletionAnswer>;
    }
  | { kind: 'missing'; settings: string[] };

/** What an environment's saved cards are asked for with; in live nothing of it has a default but the specified names. */
export function createSavedCardCalls(
  config: Config,
  client: PaymentsClient,
  accountId: string,
): SavedCardCalls {
  const read = readShape(config);
  if (read.kind === 'missing') return read;
  const of = { accountId, shape: read.shape };
  return {
    kind: 'ready',
    list: (email) => listSavedCards(client, of, email),
    remove: (card) => deleteSavedCard(client, of, card),
  };
}

const needed = [
  'savedCardsQuery',
  'savedCardsListPointers',
  'savedCardsHeaders',
  'savedCardsDeleteBody',
] as const satisfies (keyof Config)[];

type Shape = { kind: 'shape'; shape: SavedCardShape } | { kind: 'missing'; settings: string[] };

function readShape(config: Config): Shape {
  const missing = needed.filter((key) => config[key] === undefined);
  if (config.paymentsEnvironment === 'live' && missing.length > 0) {
    return { kind: 'missing', settings: missing.map(variableName) };
  }
  return {
    kind: 'shape',
    shape: {
      emailParameter: config.savedCardsQuery ?? sandboxShape.emailParameter,
      listPointers: config.savedCardsListPointers ?? sandboxShape.listPointers,
      cursorPointers: config.savedCardsCursorPointers,
      fieldPointers: config.savedCardsFieldPointers ?? specifiedPointers,
      headers: config.savedCardsHeaders ?? sandboxShape.headers,
      deleteBody: config.savedCardsDeleteBody ?? sandboxShape.deleteBody,
    },
  };
}
