import { html, nothing, type TemplateResult } from 'lit/html.js';
import { live } from 'lit/directives/live.js';
import type {
  NextCharge,
  PageAction,
  PaymentsCard,
  PaymentsDelivery,
  PaymentsOrder,
  PaymentsWeather,
  WorkspaceFault,
} from '../../simulators/protocol.ts';
import { doing, drawCopy, drawMenu } from './bits.ts';
import { act, page, ui, update } from './state.ts';
import { clockTime, dayName, safeUrl, type Drawn } from './text.ts';

const tabs: Record<string, () => Drawn> = {
  Orders: drawOrders,
  'Saved cards': drawCards,
  Events: drawEvents,
  Faults: drawFaults,
};

export type PanelTab = 'Orders' | 'Saved cards' | 'Events' | 'Faults';

/** The right side: the simulated payments service and what a person can make happen there, and the bot's pulse. */
export function drawPanel(): TemplateResult {
  const isCalm = page.payments.weather === 'normal' && page.slackFaults.length === 0;
  return html`<aside class="panel" aria-label="Payments service">
    <div class="tabs" role="tablist" aria-label="Payments service">
      ${Object.keys(tabs).map(
        (name) =>
          html`<button
            type="button"
            role="tab"
            aria-selected=${String(ui.panel.tab === name)}
            @click=${() => update({ panel: { ...ui.panel, tab: name } })}
          >
            ${name}${name === 'Faults' && !isCalm ? html`<b class="unread" title="Not normal">!</b>` : nothing}
          </button>`,
      )}
    </div>
    <div class="panel-body" role="tabpanel" aria-label=${ui.panel.tab} tabindex="0">
      ${tabs[ui.panel.tab]?.()}
    </div>
    ${asksForCode() ? nothing : drawPhones()} ${drawBot()}
  </aside>`;
}

/** What a form asks the service for, when it is sent; the form keeps its values for the next time. */
function onForm(read: (field: (name: string) => string, button: string) => PageAction) {
  return (event: SubmitEvent): void => {
    event.preventDefault();
    const given = new FormData(event.currentTarget as HTMLFormElement);
    const field = (name: string): string => (given.get(name) as string | null)?.trim() ?? '';
    void act(read(field, (event.submitter as HTMLButtonElement | null)?.value ?? ''));
  };
}

function drawState(word: string, tone: string): TemplateResult {
  return html`<span class="state ${tone}">${word}</span>`;
}

const orderStates: Record<PaymentsOrder['state'], [word: string, tone: string]> = {
  created: ['not paid', 'calm'],
  awaiting_otp: ['awaiting OTP', 'warn'],
  paid: ['paid', 'good'],
  declined: ['declined', 'bad'],
  failed: ['failed', 'bad'],
};

function drawOrders(): TemplateResult {
  const orders = page.payments.orders.toSorted((a, b) => b.at - a.at);
  const create = onForm((field) => ({
    kind: 'create_order',
    amount: field('amount'),
    customerEmail: field('customerEmail'),
    ...(field('orderReference') === '' ? {} : { orderReference: field('orderReference') }),
  }));
  return html`<details>
      <summary>Create a checkout order</summary>
      <form @submit=${create}>
        <label>Amount (NGN) <input name="amount" value="12500.00" inputmode="decimal" required /></label>
        <label>Reference <input name="orderReference" placeholder="made for you" maxlength="50" /></label>
        <label
          >Customer e-mail <input name="customerEmail" type="email" value="customer@example.com" required
        /></label>
        <button class="small primary">Create order</button>
      </form>
    </details>
    <ul class="rows">
      ${orders.map(drawOrder)}
    </ul>`;
}

function drawOrder(order: PaymentsOrder): TemplateResult {
  const { orderReference, customerEmail, isSavedCardCharge, state, reason, at, currency } = order;
  const amount = order.amount.replaceAll(/\B(?=(\d{3})+\.)/g, ',');
  const isOpen = state !== 'paid' && state !== 'failed' && !isSavedCardCharge;
  const link = safeUrl(order.checkoutLink ?? '');
  const pay = { kind: 'pay_order', orderReference } as const;
  return html`<li data-order=${orderReference}>
    <p><code>${orderReference}</code> <b>${currency} ${amount}</b> ${drawState(...orderStates[state])}</p>
    <p class="soft">
      ${customerEmail} · ${isSavedCardCharge ? 'saved card' : 'checkout'} · ${dayName(at)} ${clockTime(at)}
      ${reason === undefined ? nothing : `· “${reason}”`}
    </p>
    ${
      isOpen
        ? html`<p class="row-actions">
            ${doing('Customer pays', { ...pay, outcome: 'approved' })}
            ${doing('Bank declines', { ...pay, outcome: 'declined' })}
            ${link === undefined ? nothing : html`<a class="small" href=${link} target="_blank" rel="noreferrer noopener">Checkout ↗</a>`}
          </p>`
        : nothing
    }
  </li>`;
}

const nextCharges: Record<NextCharge, string> = {
  as_usual: 'What its card and amount say',
  approve: 'Approved',
  otp: 'The bank asks for a code',
  decline: 'Declined: Insufficient funds',
  three_d_secure: '3-D Secure, which fails',
  lost_answer: 'Charged, but the answer is lost',
  lost_request: 'Hangs: not charged, no answer',
};

/** What the next charge from Slack meets, charges from outside Slack, and the saved cards with what their bank does. */
function drawCards(): TemplateResult {
  const { cards, declineReasons, magicAmounts, nextCharge } = page.payments;
  const charge = onForm((field, button) => {
    const terms = { amount: field('amount'), customerEmail: field('customerEmail') };
    return button === 'approve'
      ? { kind: 'approve_saved_card_charge', ...terms }
      : { kind: 'decline_saved_card_charge', ...terms, reason: field('reason') };
  });
  return html`<label
      >The next charge from Slack, once
      <select
        @change=${(event: Event) => void act({ kind: 'order_next_charge', next: (event.currentTarget as HTMLSelectElement).value as NextCharge })}
      >
        ${Object.entries(nextCharges).map(
          ([next, says]) =>
            html`<option value=${next} .selected=${live(next === nextCharge)}>${says}</option>`,
        )}
      </select>
    </label>
    <h2>A charge from outside Slack</h2>
    <p class="soft">The merchant’s own system charges a saved card. A decline becomes one alert.</p>
    <form @submit=${charge}>
      <label
        >Saved card of
        <select name="customerEmail">
          ${cards.map(({ customerEmail }) => html`<option>${customerEmail}</option>`)}
        </select>
      </label>
      <label>Amount (NGN) <input name="amount" value="12500.00" inputmode="decimal" required /></label>
      <label
        >If declined, because
        <select name="reason">
          ${declineReasons.map((reason) => html`<option>${reason}</option>`)}
        </select>
      </label>
      <p class="row-actions">
        <button class="small primary" value="decline">Charge, declined</button>
        <button class="small" value="approve">Charge, approved</button>
        ${doing('Send 60 failures', { kind: 'send_failures', count: 60 })}
      </p>
    </form>
    <h2>Cards the bot knows</h2>
    <ul class="rows">
      ${cards.map(drawCard)}
    </ul>
    <details>
      <summary>Amounts that decide by their last two digits</summary>
      <p class="soft">With any card, as in 5,000.06. Every other ending leaves it to the card.</p>
      <dl>
        ${magicAmounts.map(
          ({ ending, does }) =>
            html`<dt>${ending}</dt>
              <dd>${does}</dd>`,
        )}
      </dl>
    </details>`;
}

function drawCard({ label, tokenKey, cardType, cardPan, customerEmail, does }: PaymentsCard): TemplateResult {
  return html`<li>
    <p><b>${label}</b></p>
    <p class="soft">${cardType} ${cardPan} · ${customerEmail}. ${does}</p>
    <p class="row-actions"><code>${tokenKey}</code> ${drawCopy(tokenKey, `the token key of ${label}`)}</p>
  </li>`;
}

const deliveryStates: Record<PaymentsDelivery['state'], [word: string, tone: string]> = {
  waiting: ['waiting', 'warn'],
  delivered: ['delivered', 'good'],
  gave_up: ['given up', 'bad'],
};

const ways = {
  again: 'The same delivery again',
  new_id: 'Again, with a new event id',
  late: 'Again, three days late',
  bad_signature: 'With a bad signature',
};

function drawEvents(): TemplateResult {
  const deliveries = page.payments.deliveries.toSorted((a, b) => b.id - a.id);
  return html`<p class="soft">
      Webhooks sent to the bot. Send one again: it is told once, however often it arrives.
    </p>
    <ul class="rows">
      ${deliveries.map(drawDelivery)}
    </ul>`;
}

function drawDelivery({
  id,
  event,
  orderReference,
  state,
  attempts,
  lastStatus,
  how,
}: PaymentsDelivery): TemplateResult {
  const isRefused = lastStatus === 401;
  return html`<li>
    <p>
      <code>${event}</code> ${isRefused ? drawState('refused', 'warn') : drawState(...deliveryStates[state])}
    </p>
    <p class="soft">
      ${orderReference}${how === undefined ? '' : ` · ${ways[how].toLowerCase()}`} · ${attempts}
      ${attempts === 1 ? 'attempt' : 'attempts'}${lastStatus ? `, last ${lastStatus}` : ''}
    </p>
    <p>
      ${drawMenu({
        id: `redeliver-${id}`,
        face: 'Send again',
        label: `Send again: ${event} for ${orderReference}`,
        className: 'small',
        items: Object.entries(ways).map(([way, label]) => ({
          label,
          choose: () => void act({ kind: 'redeliver', deliveryId: id, how: way as keyof typeof ways }),
        })),
      })}
    </p>
  </li>`;
}

const weathers: Record<PaymentsWeather, string> = {
  normal: 'Works: answers as the specification says',
  hang: 'Hangs: calls are taken and never answered',
  error_500: 'Answers 500: a downstream system failed',
  rate_limited: 'Answers 429: every call is over the limit',
  unauthorized: 'Answers 401: every access token is refused',
};

function drawFaults(): TemplateResult {
  return html`<fieldset>
      <legend>The payments service</legend>
      ${Object.entries(weathers).map(
        ([weather, says]) =>
          html`<label class="tick">
            <input
              type="radio"
              name="weather"
              .checked=${live(page.payments.weather === weather)}
              @change=${() => void act({ kind: 'set_weather', weather: weather as PaymentsWeather })}
            />
            ${says}
          </label>`,
      )}
    </fieldset>
    <fieldset>
      <legend>Slack</legend>
      ${Object.entries(slackFaults).map(
        ([fault, says]) =>
          html`<label class="tick">
            <input
              type="checkbox"
              .checked=${live(page.slackFaults.includes(fault as WorkspaceFault))}
              @change=${(event: Event) =>
                void act({
                  kind: 'set_slack_fault',
                  fault: fault as WorkspaceFault,
                  isOn: (event.currentTarget as HTMLInputElement).checked,
                })}
            />
            ${says}
          </label>`,
      )}
    </fieldset>`;
}

const slackFaults: Record<WorkspaceFault, string> = {
  old_workspace: 'Old workspace: refuses blocks of rich text',
  not_in_channel: 'The bot is not in #pay-desk (until /invite @pay)',
};

/** Then the phone lies beside the form, because the panel cannot be reached. */
export function asksForCode(): boolean {
  const blocks = page.views.at(-1)?.blocks ?? [];
  return blocks.some(({ type, block_id: id = '' }) => type === 'input' && id.includes('otp'));
}

/** The customers' phones: each payment that waits for its code, newest first. Nothing while none waits. */
export function drawPhones(): Drawn {
  const waiting = page.payments.orders
    .flatMap((order) => (order.otp ? [{ ...order, ...order.otp }] : []))
    .toSorted((a, b) => b.at - a.at);
  if (waiting.length === 0) return nothing;
  return html`<section class="phones" aria-label="The customer’s phone" tabindex="0">
    <h2>📱 The customer’s phone</h2>
    ${waiting.map(
      ({ orderReference, customerEmail, code, resends, triesLeft, until }) =>
        html`<p data-phone=${orderReference}>
          The bank sent <b class="code">${code}</b> to ${customerEmail} ${drawCopy(code, 'the code')}
          <span class="soft"
            >until ${clockTime(until)} · ${triesLeft} of 3 tries
            left${resends === 0 ? '' : ` · sent ${resends + 1} times`}</span
          >
        </p>`,
    )}
  </section>`;
}

/** Is the bot alive, and the buttons that end and start it. */
function drawBot(): TemplateResult {
  const { status, starts, lastLines } = page.bot;
  const isDown = status === 'down';
  return html`<section class="bot" aria-label="The bot">
    <p>
      <b>The bot</b>
      <span role="status" class="state ${{ starting: 'warn', ready: 'good', down: 'bad' }[status]}"
        >${status}</span
      >
      <span class="soft"
        >${starts} ${starts === 1 ? 'start' : 'starts'} · <a href="/bot.log" target="_blank">log</a></span
      >
      ${isDown ? doing('Start', { kind: 'bot_start' }, 'primary') : doing('Kill −9', { kind: 'bot_kill' }, 'danger')}
    </p>
    ${isDown && lastLines.length > 0 ? html`<pre tabindex="0" role="group" aria-label="The bot’s last words">${lastLines.join('\n')}</pre>` : nothing}
  </section>`;
}
