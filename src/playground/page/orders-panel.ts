import { html, nothing, type TemplateResult } from 'lit/html.js';
import type { PaymentsOrder } from '../../simulators/protocol.ts';
import { shortTime } from './dates.ts';
import { icon } from './icons.ts';
import type { Drawn } from './inline.ts';
import type { Draw } from './model.ts';
import { safeUrl } from './mrkdwn.ts';
import { fieldText, onForm } from './panel-form.ts';

const stateWords: Record<PaymentsOrder['state'], { word: string; tone: string }> = {
  created: { word: 'not paid', tone: 'calm' },
  awaiting_otp: { word: 'awaiting OTP', tone: 'warn' },
  paid: { word: 'paid', tone: 'good' },
  declined: { word: 'declined', tone: 'bad' },
  failed: { word: 'failed', tone: 'bad' },
};

export function drawOrders(draw: Draw): TemplateResult {
  const orders = draw.page.payments.orders.toSorted((a, b) => b.at - a.at);
  const create = onForm(draw, (form) => {
    const orderReference = fieldText(form, 'orderReference');
    return {
      kind: 'create_order',
      amount: fieldText(form, 'amount'),
      customerEmail: fieldText(form, 'customerEmail'),
      ...(orderReference === '' ? {} : { orderReference }),
    };
  });
  return html`<p class="panel-intro">
      The service of openapi/specification.md: NGN, sandbox paths /sandbox/checkout/…
    </p>
    <details class="make">
      <summary>${icon('chevron', 12)} Create a checkout order</summary>
      <form class="make-form" @submit=${create}>
        <label>Amount (NGN)<input name="amount" value="12500.00" inputmode="decimal" required /></label>
        <label>Reference<input name="orderReference" placeholder="made for you" maxlength="50" /></label>
        <label class="wide"
          >Customer e-mail<input name="customerEmail" type="email" value="customer@example.com" required
        /></label>
        <button class="small-button small-button-strong">Create order</button>
      </form>
    </details>
    <ul class="rows">
      ${orders.map((order) => drawOrder(order, draw))}
    </ul>`;
}

function drawOrder(order: PaymentsOrder, draw: Draw): TemplateResult {
  const { word, tone } = stateWords[order.state];
  return html`<li class="row" data-order=${order.orderReference}>
    <div class="row-main">
      <b class="mono">${order.orderReference}</b>
      <span class="row-sub"
        >${order.customerEmail} · ${order.isSavedCardCharge ? 'saved card' : 'checkout'} ·
        ${shortTime(order.at, new Date())}</span
      >
      ${order.reason === undefined ? nothing : html`<span class="row-sub">“${order.reason}”</span>`}
    </div>
    <div class="row-side">
      <span class="amount">${order.currency} ${withThousands(order.amount)}</span>
      <span class="state state-${tone}">${word}</span>
    </div>
    ${drawOrderActions(order, draw)}
  </li>`;
}

function withThousands(amount: string): string {
  return amount.replace(/^\d+/, (digits) => digits.replaceAll(/\B(?=(\d{3})+$)/g, ','));
}

function drawOrderActions(order: PaymentsOrder, draw: Draw): Drawn {
  const open = order.state !== 'paid' && order.state !== 'failed' && !order.isSavedCardCharge;
  if (!open) return nothing;
  const pay = (outcome: 'approved' | 'declined') => (): void =>
    draw.dispatch({
      kind: 'act',
      action: { kind: 'pay_order', orderReference: order.orderReference, outcome },
    });
  const link = order.checkoutLink === undefined ? undefined : safeUrl(order.checkoutLink);
  return html`<div class="row-actions">
    <button type="button" class="small-button" @click=${pay('approved')}>Customer pays</button>
    <button type="button" class="small-button" @click=${pay('declined')}>Bank declines</button>
    ${
      link === undefined
        ? nothing
        : html`<a class="small-button" href=${link} target="_blank" rel="noreferrer noopener"
            >Checkout ${icon('external', 12)}</a
          >`
    }
  </div>`;
}
