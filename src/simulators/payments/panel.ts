import { parseAmount } from '../../domain/money.ts';
import { parseOrderReference } from '../../domain/order-reference.ts';
import { problem, type Parsed } from '../../domain/wording.ts';
import type { ActResult, PaymentsAction, PaymentsCard, PaymentsState } from '../protocol.ts';
import type { Faults } from '../faults.ts';
import { declineReasons, rightOtp, testCardNumbers, type CardBehaviour } from './bank.ts';
import type { StoredCard } from './cards.ts';
import { tryCard } from './checkout.ts';
import type { PaymentsFault } from './faults.ts';
import { panelOrder, type Order } from './orders.ts';
import { completePayment, declinePayment, giveBack, tryOtp } from './payment-flow.ts';
import { email } from './route.ts';
import type { World } from './world.ts';

export function panelState(world: World, faults: Faults<PaymentsFault>): PaymentsState {
  return {
    mode: modeOf(faults.all()),
    orders: world.orders.all().map((order) => panelOrder(order, world.baseUrl())),
    deliveries: world.webhooks.deliveries(),
    cards: world.cards
      .all()
      .filter((card) => card.accountId === world.parentAccountId)
      .map(panelCard),
    declineReasons: [...declineReasons],
    nextCharge: world.next.charge,
  };
}

/** The panel shows only faults that apply to every call. */
function modeOf(faults: readonly PaymentsFault[]): PaymentsState['mode'] {
  for (const { kind, operation } of faults) {
    if (operation !== undefined) continue;
    if (kind === 'hang' || kind === 'error_500' || kind === 'rate_limited' || kind === 'unauthorized')
      return kind;
  }
  return 'normal';
}

/** The token key is the simulator's own, for a newcomer to paste; the exchange log still masks it. */
function panelCard(card: StoredCard): PaymentsCard {
  const { label, tokenKey, customerEmail, cardPan, cardType, behaviour } = card;
  return { label, tokenKey, customerEmail, cardPan, cardType, does: inWords(behaviour) };
}

function inWords(behaviour: CardBehaviour): string {
  switch (behaviour.kind) {
    case 'approve':
      return 'Every charge is approved at once.';
    case 'otp':
      return `Every charge waits for a code: ${rightOtp} is right.`;
    case 'decline':
      return `Every charge is declined: ${behaviour.reason}.`;
    case 'undecided':
      return 'Every charge is decided late.';
  }
}

/** A person's action on the panel; problems are returned in words. Faults don't affect it. */
export function act(
  world: World,
  setFaults: (...faults: PaymentsFault[]) => void,
  action: PaymentsAction,
): ActResult {
  switch (action.kind) {
    case 'create_order':
      return createOrder(world, action);
    case 'pay_order':
      return payOrder(world, action.orderReference, action.outcome);
    case 'decline_saved_card_charge':
      return chargeAsMerchant(world, action, (order) =>
        declinePayment(world, order, action.reason.trim().slice(0, 200) || declineReasons[0]),
      );
    case 'approve_saved_card_charge':
      return chargeAsMerchant(world, action, (order) => completePayment(world, order));
    case 'give_back': {
      const order = world.orders.byReference(action.orderReference);
      if (order?.state !== 'paid') return problem('Only what is paid can be given back.');
      giveBack(world, order, action.sends);
      return { ok: true };
    }
    case 'send_failures':
      return sendFailures(world, action.count);
    case 'redeliver':
      return world.webhooks.redeliver(action.deliveryId, action.how)
        ? { ok: true }
        : problem('There is no delivery of that number.');
    case 'set_next_charge':
      world.next = {
        charge: action.next,
        ...(action.reason === undefined ? {} : { reason: action.reason }),
      };
      world.changed();
      return { ok: true };
    case 'set_mode':
      setFaults(...(action.mode === 'normal' ? [] : [{ kind: action.mode }]));
      return { ok: true };
  }
}

function createOrder(world: World, action: Extract<PaymentsAction, { kind: 'create_order' }>): ActResult {
  const terms = readTerms(action);
  if (!terms.ok) return terms;
  const reference = readReference(world, action.orderReference);
  if (!reference.ok) return reference;
  world.orders.add({
    ...terms.value,
    orderReference: reference.value,
    accountId: world.parentAccountId,
    currency: 'NGN',
    tokenizeCard: true,
  });
  world.changed();
  return { ok: true };
}

/** The customer pays on the checkout page, by the same card and OTP steps as over HTTP. */
function payOrder(world: World, reference: string, outcome: 'approved' | 'declined'): ActResult {
  const order = world.orders.byReference(reference);
  if (!order) return problem(`There is no order ${reference}.`);
  if (order.isSavedCardCharge) return decideCharge(world, order, outcome);
  const card = outcome === 'approved' ? testCardNumbers.otp : testCardNumbers.declined;
  const tried = tryCard(world, order, card);
  if (outcome === 'declined') return order.state === 'declined' ? { ok: true } : problem(`${tried.message}.`);
  if (!tried.status) return problem(`${tried.message}.`);
  const paid = tryOtp(world, order, rightOtp);
  return paid.status ? { ok: true } : problem(`${paid.message}.`);
}

/** A late decision, which may contradict earlier answers; a paid charge stays paid. */
function decideCharge(world: World, order: Order, outcome: 'approved' | 'declined'): ActResult {
  if (order.state === 'paid' || order.state === 'given_back') return problem('It is paid already.');
  if (outcome === 'approved') completePayment(world, order);
  else declinePayment(world, order, declineReasons[0]);
  return { ok: true };
}

function chargeAsMerchant(
  world: World,
  terms: { amount: string; customerEmail: string; customerId?: string },
  settle: (order: Order) => void,
): ActResult {
  const read = readTerms(terms);
  if (!read.ok) return read;
  const { customerId } = terms;
  settle(
    world.orders.add({
      ...read.value,
      ...(customerId === undefined ? {} : { customerId }),
      orderReference: world.orders.newReference('SUB'),
      accountId: world.parentAccountId,
      currency: 'NGN',
      isSavedCardCharge: true,
    }),
  );
  return { ok: true };
}

/** The prefix of these failures' customers, so a rule can match them. */
export const stormCustomers = 'STORM-';

/** Simulates a bank outage: many saved-card charges are declined in a row. */
function sendFailures(world: World, count: number): ActResult {
  const people = world.cards.all().filter((card) => card.accountId === world.parentAccountId);
  const reasons = [...declineReasons];
  for (let number = 0; number < count; number += 1) {
    const customerEmail = people[number % people.length]?.customerEmail;
    if (customerEmail === undefined) return problem('No card is saved yet.');
    const reason = reasons[number % 7 < 4 ? 0 : (number % (reasons.length - 1)) + 1] ?? declineReasons[0];
    const amount = `${1_000 + ((number * 730) % 24_000)}.00`;
    const customerId = `${stormCustomers}${number + 1}`;
    const charged = chargeAsMerchant(world, { amount, customerEmail, customerId }, (order) =>
      declinePayment(world, order, reason),
    );
    if (!charged.ok) return charged;
  }
  return { ok: true };
}

function readTerms(terms: {
  amount: string;
  customerEmail: string;
}): Parsed<{ amountMinor: number; customerEmail: string }> {
  const amount = parseAmount(terms.amount);
  if (!amount.ok) return amount;
  const customerEmail = email.safeParse(terms.customerEmail.trim());
  if (!customerEmail.success) return problem('That is not an e-mail address.');
  return { ok: true, value: { amountMinor: amount.value, customerEmail: customerEmail.data } };
}

function readReference(world: World, given: string | undefined): Parsed<string> {
  if (given === undefined || given.trim() === '')
    return { ok: true, value: world.orders.newReference('ORDER') };
  const reference = parseOrderReference(given);
  if (reference.ok && world.orders.has(reference.value))
    return problem(`${reference.value} is already used.`);
  return reference;
}
