import { approvedWords, threeDSecure, type CardBehaviour } from './bank.ts';
import type { StoredCard } from './cards.ts';
import type { NewOrder } from './orders.ts';
import { sendEvent } from './payment-flow.ts';
import { accountWithOwnCard } from './accounts.ts';
import type { World } from './world.ts';
import { hourMs } from '../../domain/span.ts';

type SeedCard = Pick<StoredCard, 'tokenKey' | 'customerEmail' | 'label' | 'cardPan' | 'cardType'> & {
  behaviour: CardBehaviour;
};

/** One card for each behaviour of the bank. Token keys are words that newcomers can type. */
export const seedCards = {
  approves: {
    tokenKey: 'tok-ada-approves',
    customerEmail: 'ada.obi@example.com',
    label: 'Ada Obi: approves',
    cardType: 'Mastercard',
    cardPan: '539983******4081',
    behaviour: { kind: 'approve' },
  },
  requiresOtp: {
    tokenKey: 'tok-bola-otp',
    customerEmail: 'bola.ade@example.com',
    label: 'Bola Ade: asks for an OTP (123456)',
    cardType: 'Visa',
    cardPan: '418742******1127',
    behaviour: { kind: 'otp' },
  },
  declines: {
    tokenKey: 'tok-chidi-declines',
    customerEmail: 'chidi.eze@example.com',
    label: 'Chidi Eze: declines, insufficient funds',
    cardType: 'Verve',
    cardPan: '506105******6640',
    behaviour: { kind: 'decline', reason: 'Insufficient funds' },
  },
  threeDSecure: {
    tokenKey: 'tok-dayo-3ds',
    customerEmail: 'dayo.bello@example.com',
    label: 'Dayo Bello: asks for 3-D Secure, which fails',
    cardType: 'Visa',
    cardPan: '428852******9018',
    behaviour: threeDSecure,
  },
} as const satisfies Record<string, SeedCard>;

/** Saved by a sub account: charging it as the parent is rejected with "Invalid card token". */
export const foreignTokenKey = 'tok-of-another-account';

/** Examples that a newcomer can look up. The playground's tour and tests use their references. */
export function seedWorld(world: World): void {
  for (const card of Object.values(seedCards)) addCard(world, world.parentAccountId, card);
  const other = world.accounts.byRef(accountWithOwnCard);
  if (other) addCard(world, other.accountId, { ...seedCards.approves, tokenKey: foreignTokenKey });
  const { approves: ada, requiresOtp: bola, declines: chidi } = seedCards;
  addPaid(world, 52, { orderReference: 'ORDER-1004', amountMinor: 325_050, ...of(bola) });
  addPaid(world, 31, { orderReference: 'ORDER-1005', amountMinor: 9_600_000, ...of(chidi) });
  addPaid(world, 26, {
    orderReference: 'ORDER-1003',
    amountMinor: 1_500_000,
    takenMinor: 1_400_000,
    ...of(ada),
  });
  addPaid(world, 3, {
    orderReference: 'ORDER-1001',
    amountMinor: 1_250_000,
    customerId: 'CUST-17',
    ...of(ada),
  });
  world.orders.add({
    ...common(world, 1),
    ...of(bola),
    orderReference: 'ORDER-1002',
    amountMinor: 840_000,
    customerId: 'CUST-23',
    tokenizeCard: true,
  });
}

function of({ customerEmail }: SeedCard): { customerEmail: string } {
  return { customerEmail };
}

/** Each card was saved by a small payment months ago; its event is sent now. */
export function tellSavedCards(world: World): void {
  const cards = world.cards.all().filter(({ accountId }) => accountId === world.parentAccountId);
  for (const [index, card] of cards.entries()) {
    const order = world.orders.add({
      ...common(world, (cards.length - index) * 31 * 24),
      orderReference: `CARD-${card.cardPan.slice(-4)}`,
      amountMinor: 5_000,
      takenMinor: 5_000,
      customerEmail: card.customerEmail,
      tokenizeCard: true,
      state: 'paid',
      reason: approvedWords,
    });
    sendEvent(world, order, card);
  }
}

function addCard(world: World, accountId: string, card: SeedCard): void {
  world.cards.add({ ...card, accountId, tokenExpiryDate: '12/29' });
}

function addPaid(
  world: World,
  hoursAgo: number,
  order: Pick<NewOrder, 'orderReference' | 'amountMinor' | 'customerEmail'> & Partial<NewOrder>,
): void {
  world.orders.add({
    ...common(world, hoursAgo),
    state: 'paid',
    reason: approvedWords,
    takenMinor: order.amountMinor,
    ...order,
  });
}

function common(world: World, hoursAgo: number): { accountId: string; currency: string; at: number } {
  return { accountId: world.parentAccountId, currency: 'NGN', at: world.now() - hoursAgo * hourMs };
}
