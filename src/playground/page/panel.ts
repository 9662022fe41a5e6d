import { html, nothing, type TemplateResult } from 'lit/html.js';
import { live } from 'lit/directives/live.js';
import type {
  NextCharge,
  PageView,
  PaymentsDelivery,
  PaymentsOrder,
  PaymentsMode,
  Redelivery,
  WorkspaceFault,
} from '../../simulators/protocol.ts';
import { actionButton, drawMenu, type Drawn } from './bits.ts';
import { act, page, ui, update } from './state.ts';
import { clockTime, drawTime } from './text.ts';

const tabs = { Orders: drawOrders, 'Saved cards': drawCards, Events: drawEvents, Faults: drawFaults };

/** The right side: the simulated payments service, what a person can make happen there, and the bot's state. */
export function drawPanel(): TemplateResult {
  const isCalm = page.payments.mode === 'normal' && page.slackFaults.length === 0;
  const names = Object.keys(tabs) as (keyof typeof tabs)[];
  return html`<aside class="column ${ui.isPanelShown ? 'shown' : ''}" aria-label="Payments service">
    <div class="tabs" role="tablist" aria-label="Payments service">
      ${names.map(
        (name) =>
          html`<button
            type="button"
            role="tab"
            aria-selected=${String(ui.panelTab === name)}
            @click=${() => update({ panelTab: name })}
          >
            ${name}${name === 'Faults' && !isCalm ? html`<b class="tag unread" title="Not normal">!</b>` : nothing}
          </button>`,
      )}
    </div>
    <div class="column scroll" role="tabpanel" aria-label=${ui.panelTab} tabindex="0">
      ${tabs[ui.panelTab]()}
    </div>
    ${page.views.some(asksForCode) ? nothing : drawPhones()} ${drawBot()}
  </aside>`;
}

type Tone = readonly [word: string, tone: string];

function drawTag([word, tone]: Tone): TemplateResult {
  return html`<span class="tag ${tone}">${word}</span>`;
}

const orderStates: Record<PaymentsOrder['state'], Tone> = {
  created: ['not paid', ''],
  awaiting_otp: ['awaiting OTP', 'warn'],
  paid: ['paid', 'good'],
  declined: ['declined', 'bad'],
  failed: ['failed', 'bad'],
  given_back: ['given back', 'warn'],
};

function drawOrders(): TemplateResult {
  const orders = page.payments.orders.toSorted((a, b) => b.at - a.at);
  return html`<ul>
    ${orders.map(drawOrder)}
  </ul>`;
}

function drawOrder(order: PaymentsOrder): TemplateResult {
  const { orderReference, customerEmail, isSavedCardCharge, state, reason, at, currency } = order;
  const amount = order.amount.replaceAll(/\B(?=(\d{3})+\.)/g, ',');
  const isOpen = (state === 'created' || state === 'declined') && !isSavedCardCharge;
  const pay = { kind: 'pay_order', orderReference } as const;
  return html`<li class="box" data-order=${orderReference}>
    <p class="row"><b>${currency} ${amount}</b> ${drawTag(orderStates[state])}</p>
    <small>
      <code>${orderReference}</code> · ${customerEmail} · ${isSavedCardCharge ? 'saved card' : 'checkout'} ·
      ${drawTime(at, '{date} {time}')}${reason === undefined ? '' : ` · “${reason}”`}
    </small>
    ${
      isOpen
        ? html`<p class="row">
            ${actionButton('Customer pays', { ...pay, outcome: 'approved' })}
            ${actionButton('Bank declines', { ...pay, outcome: 'declined' })}
          </p>`
        : state === 'paid'
          ? html`<p class="row">
              ${actionButton('Give back', { kind: 'give_back', orderReference, sends: true })}
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

function setNextCharge({ currentTarget }: Event): void {
  const next = (currentTarget as HTMLSelectElement).value as NextCharge;
  void act({ kind: 'set_next_charge', next });
}

/** Charges with the form's values, which stay in the form for the next charge. */
function submitCharge(event: SubmitEvent): void {
  event.preventDefault();
  const given = new FormData(event.currentTarget as HTMLFormElement, event.submitter);
  const terms = Object.fromEntries(given) as Record<string, string>;
  const { outcome, amount = '', customerEmail = '', reason = '' } = terms;
  if (outcome === 'approved') void act({ kind: 'approve_saved_card_charge', amount, customerEmail });
  else void act({ kind: 'decline_saved_card_charge', amount, customerEmail, reason });
}

/** The next charge's outcome, charges from outside Slack, and the saved cards with their bank's behaviour. */
function drawCards(): TemplateResult {
  const { cards, declineReasons, nextCharge } = page.payments;
  return html`<label
      >The next charge from Slack, once
      <select @change=${setNextCharge}>
        ${Object.entries(nextCharges).map(
          ([next, says]) =>
            html`<option value=${next} .selected=${live(next === nextCharge)}>${says}</option>`,
        )}
      </select>
    </label>
    <h2>A charge from outside Slack</h2>
    <p class="soft">The merchant’s own system charges a saved card. A decline becomes one alert.</p>
    <form class="column" @submit=${submitCharge}>
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
      <p class="row">
        <button class="button primary" name="outcome" value="declined">Charge, declined</button>
        <button class="button" name="outcome" value="approved">Charge, approved</button>
        ${actionButton('Send 60 failures', { kind: 'send_failures', count: 60 })}
      </p>
    </form>
    <h2>Cards the bot knows</h2>
    <ul>
      ${cards.map(
        ({ label, cardType, cardPan, customerEmail, does }) =>
          html`<li class="box">
            <p><b>${label}</b></p>
            <small>${cardType} ${cardPan} · ${customerEmail}. ${does}</small>
          </li>`,
      )}
    </ul>`;
}

const deliveryStates: Record<PaymentsDelivery['state'], Tone> = {
  waiting: ['waiting', 'warn'],
  delivered: ['delivered', 'good'],
  gave_up: ['given up', 'bad'],
};

const redeliveries: Record<Redelivery, string> = {
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
    <ul>
      ${deliveries.map(drawDelivery)}
    </ul>`;
}

function drawDelivery(delivery: PaymentsDelivery): TemplateResult {
  const { id, event, orderReference, state, attempts, lastStatus, how } = delivery;
  const sendAgain = {
    id: `redeliver-${id}`,
    face: 'Send again',
    label: `Send again: ${event} for ${orderReference}`,
    className: 'button',
    items: Object.entries(redeliveries).map(([way, label]) => ({
      label,
      choose: () => void act({ kind: 'redeliver', deliveryId: id, how: way as Redelivery }),
    })),
  };
  return html`<li class="box">
    <p class="row">
      <code>${event}</code> ${drawTag(lastStatus === 401 ? ['refused', 'warn'] : deliveryStates[state])}
    </p>
    <small>
      ${orderReference}${how === undefined ? '' : ` · ${redeliveries[how].toLowerCase()}`} · ${attempts}
      ${attempts === 1 ? 'attempt' : 'attempts'}${lastStatus ? `, last ${lastStatus}` : ''}
    </small>
    <p>${drawMenu(sendAgain)}</p>
  </li>`;
}

const modes: Record<PaymentsMode, string> = {
  normal: 'Works: answers as the specification says',
  hang: 'Hangs: calls are taken and never answered',
  error_500: 'Answers 500: a downstream system failed',
  rate_limited: 'Answers 429: every call is over the limit',
  unauthorized: 'Answers 401: every access token is refused',
};

const slackFaults: Record<WorkspaceFault, string> = {
  old_workspace: 'Old workspace: refuses blocks of rich text',
  not_in_channel: 'The bot is not in #pay-desk (until /invite @pay)',
};

function drawFaults(): TemplateResult {
  return html`<fieldset class="box">
      <legend>The payments service</legend>
      ${Object.entries(modes).map(([mode, says]) =>
        drawTick(says, 'radio', page.payments.mode === mode, () => {
          void act({ kind: 'set_mode', mode: mode as PaymentsMode });
        }),
      )}
    </fieldset>
    <fieldset class="box">
      <legend>Slack</legend>
      ${Object.entries(slackFaults).map(([name, says]) => {
        const fault = name as WorkspaceFault;
        const isOn = page.slackFaults.includes(fault);
        return drawTick(says, 'checkbox', isOn, () => {
          void act({ kind: 'set_slack_fault', fault, isOn: !isOn });
        });
      })}
    </fieldset>`;
}

function drawTick(
  says: string,
  type: 'radio' | 'checkbox',
  isOn: boolean,
  choose: () => void,
): TemplateResult {
  return html`<label class="tick">
    <input type=${type} name="fault" .checked=${live(isOn)} @change=${choose} /> ${says}
  </label>`;
}

/**
 * Whether this view needs the customer's phone: then the phone is shown beside it, because the modal covers the panel.
 */
export function asksForCode({ blocks, callbackId }: PageView): boolean {
  if (callbackId === 'customer_link') return true;
  return blocks.some(({ type, block_id: id = '' }) => type === 'input' && id.includes('otp'));
}

/** The link that an agent copies and sends in a real workspace: it opens the bot's own page. */
function drawSentLink(): Drawn {
  const [link] = /http:\/\/127\.0\.0\.1:\d+\/c\/[\w-]{22}/.exec(JSON.stringify(page.views)) ?? [];
  if (link === undefined) return nothing;
  return html`<p><a href=${link} target="customer" rel="noreferrer">Open the link, as the customer</a></p>`;
}

/** The customers' phones: each payment that waits for a code, newest first. Draws nothing if none waits. */
export function drawPhones(): Drawn {
  const waiting = page.payments.orders
    .flatMap((order) => (order.otp ? [{ ...order, ...order.otp }] : []))
    // A used-up or expired code disappears from the phone.
    .filter(({ triesLeft, until }) => triesLeft > 0 && until > Date.now())
    .toSorted((a, b) => b.at - a.at);
  if (waiting.length === 0) return nothing;
  return html`<section class="phones" aria-label="The customer’s phone" tabindex="0">
    <h2>📱 The customer’s phone</h2>
    ${waiting.map(
      ({ customerEmail, code, resends, triesLeft, until }) =>
        html`<p>
          The bank sent <b class="code">${code}</b> to ${customerEmail}
          <small
            >until ${clockTime(until)} · ${triesLeft} of 3 tries
            left${resends === 0 ? '' : ` · sent ${resends + 1} times`}</small
          >
        </p>`,
    )}
    ${drawSentLink()}
  </section>`;
}

/** The bot's state, and buttons to end and start it. */
function drawBot(): TemplateResult {
  const { status, starts, lastLines } = page.bot;
  const isDown = status === 'down';
  return html`<section class="bot" aria-label="The bot">
    <p class="row">
      <b>The bot</b>
      <span role="status" class="tag ${{ starting: 'warn', ready: 'good', down: 'bad' }[status]}"
        >${status}</span
      >
      <small
        >${starts} ${starts === 1 ? 'start' : 'starts'} · <a href="/bot.log" target="_blank">log</a></small
      >
      ${isDown ? actionButton('Start', { kind: 'bot_start' }, 'primary') : actionButton('Kill −9', { kind: 'bot_kill' }, 'danger')}
    </p>
    ${isDown && lastLines.length > 0 ? html`<pre tabindex="0" role="group" aria-label="The bot’s last words">${lastLines.join('\n')}</pre>` : nothing}
  </section>`;
}
