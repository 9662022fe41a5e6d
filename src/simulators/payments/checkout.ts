import { z } from 'zod';
import { formatMoney } from '../../domain/money.ts';
import { cardsNotEnabledWords, declineOfCard, rightOtp, testCardNumbers } from './bank.ts';
import { checkoutLink, type Order } from './orders.ts';
import { declinePayment, tryOtp } from './payment-flow.ts';
import {
  amount,
  checkoutEnveloped,
  currency,
  email,
  merchant,
  orderReference,
  readBody,
  refusal,
  type Answer,
  type Call,
  type Route,
} from './route.ts';
import type { World } from './world.ts';

/** Unknown fields are ignored, `tokenizeCard` inside `order` among them. Spec: create a checkout order. */
const orderBody = z.object({
  order: z.object({
    amount,
    currency,
    customerEmail: email,
    orderReference: orderReference.optional(),
    customerId: z.string().optional(),
    callbackUrl: z.url({ protocol: /^https?$/ }).optional(),
    allowedPaymentMethods: z.array(z.string()).optional(),
  }),
  tokenizeCard: z.boolean().optional(),
});

/** Spec: Online checkout. Where a card is typed is the customer’s page; no merchant calls checkout-card-detail. */
export const checkoutRoutes: readonly Route[] = [
  {
    ...merchant,
    method: 'POST',
    path: '/v1/checkout/order',
    label: 'Create a checkout order',
    answer: (world, call) => createOrder(world, call, false),
  },
];

export function createOrder(world: World, call: Call, sandbox: boolean): Answer {
  const read = readBody(orderBody, call);
  if (!read.ok) return read.answer;
  const { amount: amountMinor, allowedPaymentMethods, orderReference: given, ...fields } = read.value.order;
  const reference = given ?? world.orders.newReference('ORDER');
  if (world.orders.has(reference)) return refusal(400, 'An order already exists with this order reference');
  const order = world.orders.add({
    orderReference: reference,
    accountId: call.accountId,
    amountMinor,
    currency: fields.currency,
    customerEmail: fields.customerEmail,
    ...(fields.customerId === undefined ? {} : { customerId: fields.customerId }),
    cardAllowed: allowedPaymentMethods?.includes('Card') ?? true,
    tokenizeCard: read.value.tokenizeCard === true,
    sandbox,
  });
  world.changed();
  const data = {
    success: true,
    message: 'Order created',
    checkoutLink: checkoutLink(order, world.baseUrl()),
    orderReference: order.orderId,
  };
  return checkoutEnveloped(data, `${reference} created`);
}

/**
 * One attempt to pay an order by card, from the page or the API. A new attempt replaces one that waits for its OTP; a
 * finished payment can't be attempted again.
 */
export function tryCard(
  world: World,
  order: Order,
  cardNumber: string,
): { status: boolean; message: string } {
  if (['paid', 'failed', 'given_back'].includes(order.state) || order.isSavedCardCharge) {
    return notAccepted('This order cannot be paid any more');
  }
  if (!order.cardAllowed) return notAccepted(cardsNotEnabledWords);
  const declined = declineOfCard(cardNumber);
  if (declined !== undefined) {
    delete order.otp;
    declinePayment(world, order, declined);
    return notAccepted(declined);
  }
  const digits = cardNumber.replace(/\D/g, '');
  world.orders.awaitOtp(order, 'Waiting for the OTP', {
    cardType: digits.startsWith('4') ? 'Visa' : 'Mastercard',
    cardPan: `${digits.slice(0, 6)}******${digits.slice(-4)}`,
    tokenExpiryDate: '12/29',
  });
  world.changed();
  return { status: true, message: 'Enter the code your bank sent you' };
}

function notAccepted(message: string): { status: boolean; message: string } {
  return { status: false, message };
}

/** Outcomes instead of card fields, so nobody types a card number into a simulation. */
const cardChoices = [
  { value: 'otp', label: 'Pay with a test card', hint: 'The bank asks for a code.' },
  { value: 'declined', label: 'Pay with a card that is declined', hint: 'Insufficient funds.' },
] as const;

const form = z.union([
  z.object({ card: z.enum(['otp', 'declined']) }),
  z.object({ otp: z.string().min(1).max(12) }),
]);

/** The page of `checkoutLink`, where the customer pays. Spec: checkout order (checkoutLink). */
const page = { path: '/checkout/:orderId', access: 'open', from: 'customer' } as const;
export const checkoutPageRoutes: readonly Route[] = [
  { ...page, method: 'GET', label: 'Open the checkout page', answer: showPage },
  { ...page, method: 'POST', label: 'Pay on the checkout page', answer: pay },
];

function showPage(world: World, call: Call): Answer {
  const order = world.orders.byOrderId(call.params['orderId'] ?? '');
  if (!order || order.isSavedCardCharge) {
    const body = pageOf(
      'Order not found',
      '<h1>Order not found</h1><p>This checkout link leads to no order.</p>',
    );
    return { kind: 'answer', status: 404, headers: pageHeaders, body, outcome: 'no such order' };
  }
  const body = orderPage(order);
  return { kind: 'answer', status: 200, headers: pageHeaders, body, outcome: order.orderReference };
}

function pay(world: World, call: Call): Answer {
  const order = world.orders.byOrderId(call.params['orderId'] ?? '');
  if (!order || order.isSavedCardCharge) return showPage(world, call);
  const chosen = form.safeParse(call.body);
  const headers = { location: `/checkout/${order.orderId}` };
  const back = { kind: 'answer', status: 303, headers, body: '' } as const;
  if (!chosen.success) return { ...back, outcome: 'nothing was chosen' };
  const { message } =
    'otp' in chosen.data
      ? tryOtp(world, order, chosen.data.otp.trim())
      : tryCard(world, order, testCardNumbers[chosen.data.card]);
  return { ...back, outcome: `${order.orderReference}: ${message}` };
}

const pageHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'content-security-policy':
    "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'self' http://127.0.0.1:* http://localhost:*",
  'referrer-policy': 'no-referrer',
};

function orderPage(order: Order): string {
  const money = formatMoney({ minor: order.amountMinor, currency: order.currency });
  return pageOf(
    `Pay ${money}`,
    `<p class="what">Order ${escapeHtml(order.orderReference)} for ${escapeHtml(order.customerEmail)}</p>
<h1>${escapeHtml(money)}</h1>
${step(order)}`,
  );
}

function step(order: Order): string {
  switch (order.state) {
    case 'paid':
      return `<p class="good" role="status">✓ Paid. You can close this page.</p>`;
    case 'given_back':
      return `<p class="what" role="status">The money was given back.</p>`;
    case 'failed':
      return `<p class="bad" role="alert">✕ ${escapeHtml(order.reason ?? 'The payment failed')}. Ask the merchant for a new link.</p>`;
    case 'awaiting_otp':
      return otpForm(order);
    case 'declined':
      return `<p class="bad" role="alert">✕ Declined: ${escapeHtml(order.reason ?? '')}. Try another card.</p>${cardForm(order)}`;
    case 'created':
      return cardForm(order);
  }
}

function cardForm(order: Order): string {
  if (!order.cardAllowed) return '<p class="bad">Card payment is not supported for this order.</p>';
  const buttons = cardChoices.map(
    ({ value, label, hint }, index) =>
      `<button name="card" value="${value}" class="${index === 0 ? 'first' : ''}">${label}<small>${hint}</small></button>`,
  );
  const saved = order.tokenizeCard ? '<p class="what">The card will be saved for later charges.</p>' : '';
  return `<form method="post">${buttons.join('\n')}</form>${saved}`;
}

function otpForm(order: Order): string {
  const wrong =
    order.reason === 'Invalid OTP' ? '<p class="bad" role="alert">✕ Invalid OTP. Try again.</p>' : '';
  return `${wrong}<form method="post">
<label for="otp">Code from your bank</label>
<input id="otp" name="otp" inputmode="numeric" autocomplete="one-time-code" maxlength="12" required autofocus>
<p class="what">The simulated bank’s code is ${rightOtp}; any other is wrong. Three tries, 15 minutes.</p>
<button class="first">Confirm the payment</button>
</form>`;
}

function pageOf(title: string, main: string): string {
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)} · simulated checkout</title><style>${style}</style></head>
<body><div class="ribbon">Simulation: no real money, no real card</div><main>${main}</main></body></html>`;
}

const style = `
:root{color-scheme:light dark;--ink:#1b1f24;--soft:#5b6470;--line:#d5dae1;--paper:#fff;--ground:#f3f5f8;--accent:#0b5cad;--good:#0a7040;--bad:#b3261e}
@media(prefers-color-scheme:dark){:root{--ink:#eef1f5;--soft:#a9b2bf;--line:#39424e;--paper:#1c2128;--ground:#12161b;--accent:#2f81d6;--good:#4cc38a;--bad:#ff8a80}}
*{box-sizing:border-box}body{margin:0;font:16px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--ground)}
.ribbon{background:#7a4d00;color:#fff;text-align:center;padding:.4rem;font-size:.875rem}
main{max-width:26rem;margin:3rem auto;padding:2rem;background:var(--paper);border:1px solid var(--line);border-radius:12px}
h1{margin:.25rem 0 1.5rem;font-size:2rem;font-variant-numeric:tabular-nums}.what{margin:0 0 .75rem;color:var(--soft);font-size:.9rem;overflow-wrap:anywhere}
form{display:grid;gap:.75rem;margin-bottom:1rem}button{font:inherit;text-align:left;padding:.75rem 1rem;border:1px solid var(--line);border-radius:8px;background:none;color:inherit;cursor:pointer}
button small{display:block;color:var(--soft)}button.first{background:var(--accent);border-color:var(--accent);color:#fff}button.first small{color:#fff}
button:focus-visible,input:focus-visible,a:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
input{font:inherit;font-size:1.25rem;letter-spacing:.2em;padding:.6rem .75rem;border:1px solid var(--line);border-radius:8px;background:none;color:inherit}
.good{color:var(--good);font-weight:600}.bad{color:var(--bad);font-weight:600}a{color:var(--accent)}`;

function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}
