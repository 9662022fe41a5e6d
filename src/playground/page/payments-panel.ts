import { html, nothing, type TemplateResult } from 'lit/html.js';
import { live } from 'lit/directives/live.js';
import type { PageAction, PaymentsDelivery, PaymentsWeather } from '../../simulators/protocol.ts';
import { drawBot } from './bot-status.ts';
import { drawCards } from './cards-panel.ts';
import { icon } from './icons.ts';
import type { Drawn } from './inline.ts';
import { drawMenu } from './menu.ts';
import { panelTabs, type Draw, type PanelTab } from './model.ts';
import { drawOrders } from './orders-panel.ts';
import { drawPhones } from './phone.ts';

const tabNames: Record<PanelTab, string> = {
  orders: 'Orders',
  cards: 'Saved cards',
  events: 'Events',
  weather: 'Weather',
};

/** The right side: the simulated payments service and what a person can make happen there, and the bot's pulse. */
export function drawPaymentsPanel(draw: Draw): TemplateResult {
  const { panelTab } = draw.ui;
  const bodies: Record<PanelTab, () => Drawn> = {
    orders: () => drawOrders(draw),
    cards: () => drawCards(draw),
    events: () => drawEvents(draw),
    weather: () => drawWeather(draw),
  };
  const tab = (name: PanelTab): TemplateResult =>
    html`<button
      type="button"
      role="tab"
      id="tab-${name}"
      aria-selected=${panelTab === name ? 'true' : 'false'}
      aria-controls="panel-body"
      tabindex=${panelTab === name ? 0 : -1}
      @click=${() => draw.dispatch({ kind: 'choose_panel_tab', tab: name })}
    >
      ${tabNames[name]}
      ${
        name === 'weather' && draw.page.payments.weather !== 'normal'
          ? html`<span class="dot dot-warn"><span class="visually-hidden">not normal</span></span>`
          : nothing
      }
    </button>`;
  return html`<aside class="panel" aria-label="Payments service">
    <header class="panel-head">
      ${icon('card', 18)}
      <h2>Payments service</h2>
      <span class="simulated">simulated</span>
    </header>
    <div
      class="tabs"
      role="tablist"
      aria-label="Payments service"
      @keydown=${(event: KeyboardEvent) => walkTabs(event, draw)}
    >
      ${panelTabs.map(tab)}
    </div>
    <div class="panel-body" id="panel-body" role="tabpanel" aria-labelledby="tab-${panelTab}" tabindex="0">
      ${bodies[panelTab]()}
    </div>
    ${drawPhones(draw)} ${drawBot(draw)}
  </aside>`;
}

function walkTabs(event: KeyboardEvent, draw: Draw): void {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (step === undefined) return;
  event.preventDefault();
  const at = panelTabs.indexOf(draw.ui.panelTab);
  const tab = panelTabs[(at + step + panelTabs.length) % panelTabs.length] ?? 'orders';
  draw.dispatch({ kind: 'choose_panel_tab', tab });
  document.getElementById(`tab-${tab}`)?.focus();
}

const deliveryWords: Record<PaymentsDelivery['state'], { word: string; tone: string }> = {
  waiting: { word: 'waiting', tone: 'warn' },
  delivered: { word: 'delivered', tone: 'good' },
  gave_up: { word: 'given up', tone: 'bad' },
};

const ways = [
  { how: 'again', label: 'The same delivery again' },
  { how: 'new_id', label: 'Again, with a new event id' },
  { how: 'late', label: 'Again, three days late' },
  { how: 'bad_signature', label: 'With a bad signature' },
] as const;

function drawEvents(draw: Draw): TemplateResult {
  const deliveries = draw.page.payments.deliveries.toSorted((a, b) => b.id - a.id);
  return html`<p class="panel-intro">
      Webhooks sent to the bot. Send one once more: an event is told once, however often it arrives.
    </p>
    ${deliveries.length === 0 ? html`<p class="empty">No event yet. Pay or decline something first.</p>` : nothing}
    <ul class="rows">
      ${deliveries.map((delivery) => drawDelivery(delivery, draw))}
    </ul>`;
}

const howWords: Record<NonNullable<PaymentsDelivery['how']>, string> = {
  again: 'sent again',
  new_id: 'again, new event id',
  late: 'again, three days late',
  bad_signature: 'bad signature',
};

function drawDelivery(delivery: PaymentsDelivery, draw: Draw): TemplateResult {
  const { id, event, orderReference, state, attempts, lastStatus, how } = delivery;
  const { word, tone } = lastStatus === 401 ? { word: 'refused', tone: 'warn' } : deliveryWords[state];
  return html`<li class="row" data-delivery=${id}>
    <div class="row-main">
      <b class="mono">${event}</b>
      <span class="row-sub">${orderReference}${how === undefined ? '' : ` · ${howWords[how]}`}</span>
    </div>
    <div class="row-side">
      <span class="state state-${tone}">${word}</span>
      <span class="row-sub"
        >${attempts}
        ${attempts === 1 ? 'attempt' : 'attempts'}${
          lastStatus === undefined || lastStatus === 0 ? '' : `, last ${lastStatus}`
        }</span
      >
    </div>
    ${drawMenu({
      id: `redeliver-${id}`,
      face: html`Send again ${icon('chevron', 12)}`,
      label: `Send ${event} for ${orderReference} again`,
      className: 'small-button',
      items: ways.map(({ how, label }) => ({
        label,
        choose: () => draw.dispatch({ kind: 'act', action: { kind: 'redeliver', deliveryId: id, how } }),
      })),
    })}
  </li>`;
}

const weathers: { weather: PaymentsWeather; label: string; says: string }[] = [
  { weather: 'normal', label: 'Normal', says: 'Every call is answered as the specification says.' },
  {
    weather: 'hang',
    label: 'Hangs',
    says: 'Calls are taken and never answered. Slack still hears back at once.',
  },
  { weather: 'error_500', label: 'Answers 500', says: 'A downstream system failed.' },
  { weather: 'rate_limited', label: 'Rate limited', says: 'Every call is answered 429.' },
  { weather: 'unauthorized', label: 'Unauthorized', says: 'Every access token is refused with 401.' },
];

function drawWeather(draw: Draw): TemplateResult {
  const act = (action: PageAction): void => draw.dispatch({ kind: 'act', action });
  return html`<p class="panel-intro">
      How the service behaves from now on. Change it, then look something up.
    </p>
    <div class="choices" role="radiogroup" aria-label="Weather">
      ${weathers.map(
        ({ weather, label, says }) =>
          html`<label class="choice">
            <input
              type="radio"
              name="weather"
              value=${weather}
              .checked=${live(draw.page.payments.weather === weather)}
              @change=${() => act({ kind: 'set_weather', weather })}
            />
            <span><b>${label}</b><small>${says}</small></span>
          </label>`,
      )}
    </div>`;
}
