import { html, nothing, type TemplateResult } from 'lit/html.js';
import type { PageAction, PaymentsCard, PaymentsOrder } from '../protocol.ts';
import { shortTime } from './dates.ts';
import { icon } from './icons.ts';
import type { Drawn } from './inline.ts';
import type { Draw } from './model.ts';
import { safeUrl } from './mrkdwn.ts';

const stateWords: Record<PaymentsOrder['state'], { word: string; tone: string }> = {
  created: { word: 'not paid', tone: 'calm' },
  awaiting_otp: { word: 'awaiting OTP', tone: 'warn' },
  paid: { word: 'paid', tone: 'good' },
  declined: { word: 'declined', tone: 'bad' },
  failed: { word: 'failed', tone: 'bad' },
};

function fieldText(form: HTMLFormElement, name: string): string {
  const text = new FormData(form).get(name);
  return typeof text === 'string' ? text.trim() : '';
}

/** What a form asks the service for, when it is sent; the form keeps its values for the next time. */
function onForm(draw: Draw, read: (form: HTMLFormElement, button: string) => PageAction) {
  return (event: SubmitEvent): void => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const button = event.submitter instanceof HTMLButtonElement ? event.submitter.value : '';
    draw.dispatch({ kind: 'act', action: read(form, button) });
  };
}

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
  return html`<details class="make">
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

export function drawCards(draw: Draw): TemplateResult {
  const { cards, declineReasons } = draw.page.payments;
  const charge = onForm(draw, (form, button) => {
    const terms = { amount: fieldText(form, 'amount'), customerEmail: fieldText(form, 'customerEmail') };
    return button === 'approve'
      ? { kind: 'approve_saved_card_charge', ...terms }
      : { kind: 'decline_saved_card_charge', ...terms, reason: fieldText(form, 'reason') };
  });
  return html`<p class="panel-intro">
      The merchant’s own system charges a saved card, outside Slack. A decline becomes one alert.
    </p>
    ${
      cards.length === 0
        ? html`<p class="empty">No card is saved yet.</p>`
        : html`<form class="make-form row" @submit=${charge}>
            <label class="wide"
              >Saved card of
              <select name="customerEmail">
                ${cards.map(({ customerEmail }) => html`<option>${customerEmail}</option>`)}
              </select></label
            >
            <label>Amount (NGN)<input name="amount" value="12500.00" inputmode="decimal" required /></label>
            <label
              >If declined, because
              <select name="reason">
                ${declineReasons.map((reason) => html`<option>${reason}</option>`)}
              </select></label
            >
            <div class="row-actions wide">
              <button class="small-button small-button-strong" value="decline">Charge, declined</button>
              <button class="small-button" value="approve">Charge, approved</button>
            </div>
          </form>`
    }
    <ul class="rows">
      ${cards.map(drawCard)}
    </ul>`;
}

function drawCard({ label, cardType, cardPan, customerEmail }: PaymentsCard): TemplateResult {
  return html`<li class="row" data-card=${label}>
    <div class="row-main">
      <b>${label}</b>
      <span class="row-sub">${cardType} ${cardPan} · ${customerEmail}</span>
    </div>
  </li>`;
}
