import { z } from 'zod';
import { enveloped, refusal, type Answer } from './answer.ts';
import { savedCardOf } from './cards.ts';
import { email, readBody } from './read-body.ts';
import type { Call, Route } from './route.ts';
import type { World } from './world.ts';

export const changeEmailBody = z.object({
  tokenKey: z.string().min(1),
  currentEmailAddress: email,
  newEmailAddress: email,
});

const cardPath = '/v1/checkout/tokenized-card-data';

/** Spec: change the email of a saved card; the shapes of listing and deleting are not shown, so they are the playground's. */
export function savedCardRoutes(world: World): Route[] {
  const shared = { path: cardPath, access: 'merchant', from: 'bot' } as const;
  return [
    {
      ...shared,
      method: 'POST',
      label: 'Change a saved card’s e-mail',
      answer: (call) => changeEmail(world, call),
    },
    { ...shared, method: 'GET', label: 'List saved cards', answer: (call) => list(world, call) },
    { ...shared, method: 'DELETE', label: 'Delete a saved card', answer: (call) => remove(world, call) },
  ];
}

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
  world.stats.add('emailChanges');
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

/** Body or query: which of the two is not shown. */
export function tokenKeyOf(call: Call): string | undefined {
  const body = z.object({ tokenKey: z.string().min(1) }).safeParse(call.body);
  return body.success ? body.data.tokenKey : (call.query.get('tokenKey') ?? undefined);
}
