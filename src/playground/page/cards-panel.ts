import { html, type TemplateResult } from 'lit/html.js';
import { live } from 'lit/directives/live.js';
import type { NextCharge, PaymentsCard } from '../../simulators/protocol.ts';
import { icon } from './icons.ts';
import type { Drawn } from './inline.ts';
import type { Draw } from './model.ts';
import { fieldText, onForm } from './panel-form.ts';
import { drawCopy } from './phone.ts';

/** What the next charge from Slack meets, charges from outside Slack, and the saved cards with what their bank does. */
export function drawCards(draw: Draw): Drawn {
  const { cards } = draw.page.payments;
  return html`${drawNext(draw)} ${drawMagic(draw)} ${cards.length === 0 ? '' : drawOutside(draw)}
    <h3 class="panel-part">Cards the bot knows</h3>
    <p class="panel-intro">
      <code>/pay charge</code> offers them. A token key is for pasting; the log strikes it out.
    </p>
    ${cards.length === 0 ? html`<p class="empty">No card is saved yet.</p>` : ''}
    <ul class="rows">
      ${cards.map((card) => drawCard(card, draw))}
    </ul>`;
}

const nextCharges: { next: NextCharge; says: string }[] = [
  { next: 'as_usual', says: 'What its card and amount say' },
  { next: 'approve', says: 'Approved' },
  { next: 'otp', says: 'The bank asks for a code' },
  { next: 'decline', says: 'Declined: Insufficient funds' },
  { next: 'three_d_secure', says: '3-D Secure, which fails' },
  { next: 'lost_answer', says: 'Charged, but the answer is lost' },
  { next: 'lost_request', says: 'Hangs: not charged, no answer' },
];

function drawNext(draw: Draw): TemplateResult {
  const { nextCharge } = draw.page.payments;
  return html`<label class="make-form row next-charge ${nextCharge === 'as_usual' ? '' : 'next-ordered'}">
    <span>The next charge from Slack</span>
    <select
      name="nextCharge"
      @change=${(event: Event) => {
        const value = (event.currentTarget as HTMLSelectElement).value;
        const ordered = nextCharges.find(({ next }) => next === value);
        if (ordered)
          draw.dispatch({ kind: 'act', action: { kind: 'order_next_charge', next: ordered.next } });
      }}
    >
      ${nextCharges.map(
        ({ next, says }) =>
          html`<option value=${next} .selected=${live(next === nextCharge)}>${says}</option>`,
      )}
    </select>
    <small>Once; then as usual again.</small>
  </label>`;
}

function drawMagic(draw: Draw): TemplateResult {
  return html`<details class="make">
    <summary>${icon('chevron', 12)} Amounts that decide by their last two digits</summary>
    <p class="panel-intro">With any card, as in 5,000.06. Every other ending leaves it to the card.</p>
    <dl class="magic">
      ${draw.page.payments.magicAmounts.map(
        ({ ending, does }) =>
          html`<dt class="mono">${ending}</dt>
            <dd>${does}</dd>`,
      )}
    </dl>
  </details>`;
}

function drawCard(card: PaymentsCard, draw: Draw): TemplateResult {
  const { label, tokenKey, cardType, cardPan, customerEmail, does } = card;
  return html`<li class="row" data-card=${label}>
    <div class="row-main">
      <b>${label}</b>
      <span class="row-sub">${cardType} ${cardPan} · ${customerEmail}</span>
      <span class="row-sub">${does}</span>
    </div>
    <div class="row-token">
      <code class="token">${tokenKey}</code>
      ${drawCopy(`token/${tokenKey}`, { text: tokenKey, what: `the token key of ${label}` }, draw)}
    </div>
  </li>`;
}

function drawOutside(draw: Draw): TemplateResult {
  const { cards, declineReasons } = draw.page.payments;
  const charge = onForm(draw, (form, button) => {
    const terms = { amount: fieldText(form, 'amount'), customerEmail: fieldText(form, 'customerEmail') };
    return button === 'approve'
      ? { kind: 'approve_saved_card_charge', ...terms }
      : { kind: 'decline_saved_card_charge', ...terms, reason: fieldText(form, 'reason') };
  });
  return html`<h3 class="panel-part">A charge from outside Slack</h3>
    <p class="panel-intro">The merchant’s own system charges a saved card. A decline becomes one alert.</p>
    <form class="make-form row" @submit=${charge}>
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
        <button
          type="button"
          class="small-button"
          @click=${() => draw.dispatch({ kind: 'act', action: { kind: 'send_failures', count: 60 } })}
        >
          Send 60 failures
        </button>
      </div>
    </form>`;
}
