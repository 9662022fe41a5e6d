import { html, nothing, type TemplateResult } from 'lit/html.js';
import type { PaymentsOrder } from '../../simulators/protocol.ts';
import { clockTime } from './dates.ts';
import { icon } from './icons.ts';
import type { Drawn } from './inline.ts';
import type { Draw } from './model.ts';

type Waiting = PaymentsOrder & { otp: NonNullable<PaymentsOrder['otp']> };

/** The customers' phones: each payment that waits for its code, newest first. Nothing while none waits. */
export function drawPhones(draw: Draw): Drawn {
  const waiting = draw.page.payments.orders
    .filter((order): order is Waiting => order.otp !== undefined)
    .toSorted((a, b) => b.at - a.at);
  if (waiting.length === 0) return nothing;
  return html`<section class="phones" aria-label="The customer’s phone">
    <h3>${icon('phone', 14)} The customer’s phone</h3>
    <ul class="rows" tabindex="0" aria-label="Codes from the bank">
      ${waiting.map((order) => drawPhone(order, draw))}
    </ul>
  </section>`;
}

function drawPhone(order: Waiting, draw: Draw): TemplateResult {
  const { orderReference, customerEmail, otp } = order;
  const { code, resends, triesLeft, until } = otp;
  const sent = resends === 0 ? '' : ` · sent ${resends + 1} times`;
  return html`<li class="row phone" data-phone=${orderReference}>
    <div class="row-main">
      <span
        >The bank sent <b class="mono phone-code">${code}</b> to
        <span class="phone-who">${customerEmail}</span></span
      >
      <span class="row-sub"
        ><span class="mono">${orderReference}</span> · until ${clockTime(until)} · ${triesLeft} of 3 tries
        left${sent}${triesLeft === 0 ? ' · the next one fails the charge' : ''}</span
      >
    </div>
    <div class="row-side">${drawCopy(`code/${orderReference}`, { text: code, what: 'the code' }, draw)}</div>
  </li>`;
}

/** A button that copies a text; it says so until something else is copied. */
export function drawCopy(key: string, copied: { text: string; what: string }, draw: Draw): TemplateResult {
  const done = draw.ui.copied === key;
  return html`<button
    type="button"
    class="small-button"
    aria-label="Copy ${copied.what}"
    @click=${() => draw.dispatch({ kind: 'copy', key, text: copied.text })}
  >
    ${done ? icon('check', 12) : icon('copy', 12)} <span role="status">${done ? 'Copied' : 'Copy'}</span>
  </button>`;
}
