import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import type { SavedCard } from '../../domain/card.ts';
import type { CardBehaviour } from './bank.ts';
import {
  email,
  enveloped,
  readBody,
  refusal,
  type Answer,
  type Call,
  type Route,
  merchant,
} from './route.ts';
import type { World } from './world.ts';

export type StoredCard = Required<SavedCard> & {
  label: string;
  /** The merchant account that saved it; no other may charge it. */
  accountId: string;
  behaviour: CardBehaviour;
};

export type Cards = ReturnType<typeof createCards>;

export function createCards() {
  const byTokenKey = new Map<string, StoredCard>();

  /** The card, if this account saved it and did not delete it. */
  function find(accountId: string, tokenKey: string): StoredCard | undefined {
    const card = byTokenKey.get(tokenKey);
    return card?.accountId === accountId ? card : undefined;
  }

  return {
    add: (card: StoredCard) => void byTokenKey.set(card.tokenKey, card),
    find,
    savedFor: (accountId: string, customerEmail: string) =>
      [...byTokenKey.values()].filter(
        (card) => card.accountId === accountId && card.customerEmail === customerEmail,
      ),
    remove: (accountId: string, tokenKey: string) =>
      find(accountId, tokenKey) !== undefined && byTokenKey.delete(tokenKey),
    all: () => [...byTokenKey.values()],
  };
}

export function newTokenKey(): string {
  return `tok-${randomBytes(12).toString('hex')}`;
}

/** The card on the wire, without the simulator's own data. Spec: Saved card. */
export function savedCardOf(card: StoredCard): Required<SavedCard> {
  const { tokenKey, cardType, tokenExpiryDate, cardPan, customerEmail } = card;
  return { tokenKey, cardType, tokenExpiryDate, cardPan, customerEmail };
}

const changeEmailBody = z.object({
  tokenKey: z.string().min(1),
  currentEmailAddress: email,
  newEmailAddress: email,
});

const cardPath = '/v1/checkout/tokenized-card-data';

/** Spec: change the email of a saved card; the shapes of listing and deleting are not shown, so they are the playground's. */
export const savedCardRoutes: readonly Route[] = [
  { ...merchant, path: cardPath, method: 'POST', label: 'Change a saved card’s e-mail', answer: changeEmail },
  { ...merchant, path: cardPath, method: 'GET', label: 'List saved cards', answer: list },
  { ...merchant, path: cardPath, method: 'DELETE', label: 'Delete a saved card', answer: remove },
];

function changeEmail(world: World, call: Call): Answer {
  const read = readBody(changeEmailBody, call);
  if (!read.ok) return read.answer;
  const { tokenKey, currentEmailAddress, newEmailAddress } = read.value;
  const card = world.cards.find(call.accountId, tokenKey);
  if (!card) return refusal(404, 'The card does not exist');
  if (card.customerEmail !== currentEmailAddress) {
    const message = 'The current email address is not the one linked to the card';
    return enveloped({ status: false, message }, message);
  }
  card.customerEmail = newEmailAddress;
  world.changed();
  const message = 'Email address updated';
  return enveloped({ status: true, message, tokenizedCardData: savedCardOf(card) }, message);
}

function list(world: World, call: Call): Answer {
  const customerEmail = call.query.get('customerEmail');
  if (customerEmail === null) return refusal(400, 'customerEmail is required');
  const cards = world.cards.savedFor(call.accountId, customerEmail);
  if (cards.length === 0) return refusal(404, 'No card is saved for this email');
  return enveloped({ tokenizedCardDataList: cards.map(savedCardOf) }, `${cards.length} cards`);
}

function remove(world: World, call: Call): Answer {
  const tokenKey = tokenKeyOf(call);
  if (tokenKey === undefined) return refusal(400, 'tokenKey is required');
  if (!world.cards.remove(call.accountId, tokenKey)) return refusal(404, 'The card does not exist');
  world.changed();
  return enveloped({ status: true, message: 'Card deleted' }, 'Card deleted');
}

/** In the body or the query: the spec does not show which. */
export function tokenKeyOf(call: Call): string | undefined {
  const body = z.object({ tokenKey: z.string().min(1) }).safeParse(call.body);
  return body.success ? body.data.tokenKey : (call.query.get('tokenKey') ?? undefined);
}
