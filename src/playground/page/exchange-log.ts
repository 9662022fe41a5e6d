import { html, nothing, type TemplateResult } from 'lit/html.js';
import { classMap } from 'lit/directives/class-map.js';
import { guard } from 'lit/directives/guard.js';
import { repeat } from 'lit/directives/repeat.js';
import type { Exchange } from '../../simulators/protocol.ts';
import { clockTimeWithSeconds } from './dates.ts';
import { icon } from './icons.ts';
import type { Drawn } from './inline.ts';
import { logParties, type Draw, type LogParty, type Ui } from './model.ts';

const partyNames: Record<LogParty, string> = {
  all: 'All',
  slack: 'Bot and Slack',
  payments: 'Bot to payments',
  webhooks: 'Webhooks',
};

const ofParty: Record<LogParty, (exchange: Exchange) => boolean> = {
  all: () => true,
  slack: ({ from, to }) => from === 'slack' || to === 'slack',
  payments: ({ to }) => to === 'payments',
  webhooks: ({ from, to }) => from === 'payments' && to === 'bot',
};

/** The exchanges that pass the filter, oldest first. */
function filteredLog(log: Exchange[], filter: Pick<Ui['log'], 'text' | 'party'>): Exchange[] {
  const words = filter.text.toLowerCase().split(/\s+/).filter(Boolean);
  return log.filter((exchange) => {
    if (!ofParty[filter.party](exchange)) return false;
    const { from, to, method, path, status, summary } = exchange;
    const line = `${from} ${to} ${method} ${path} ${status ?? ''} ${summary}`.toLowerCase();
    return words.every((word) => line.includes(word));
  });
}

/** Every HTTP exchange between bot, Slack, the payments service and the customer's browser, as it happens. */
export function drawExchangeLog(draw: Draw): TemplateResult {
  const { log } = draw.ui;
  const shown = filteredLog(draw.page.log, log);
  return html`<section class="log ${log.open ? '' : 'log-closed'}" aria-label="HTTP exchanges">
    <header class="log-head">
      <button
        type="button"
        class="log-toggle"
        aria-expanded=${log.open ? 'true' : 'false'}
        @click=${() => draw.dispatch({ kind: 'open_log', open: !log.open })}
      >
        ${icon('chevron', 14)}
        <h2>Every HTTP exchange</h2>
        <span class="row-sub"
          >${shown.length}${shown.length === draw.page.log.length ? '' : ` of ${draw.page.log.length}`}</span
        >
      </button>
      ${log.open ? drawFilter(draw) : nothing}
    </header>
    ${log.open ? drawBody(shown, draw) : nothing}
  </section>`;
}

function drawFilter(draw: Draw): TemplateResult {
  const { log } = draw.ui;
  return html`<div class="log-filter" role="group" aria-label="Filter">
    ${logParties.map(
      (party) =>
        html`<button
          type="button"
          class="pill"
          aria-pressed=${log.party === party ? 'true' : 'false'}
          @click=${() => draw.dispatch({ kind: 'filter_log', party })}
        >
          ${partyNames[party]}
        </button>`,
    )}
    <input
      type="search"
      aria-label="Filter by words"
      placeholder="Filter…"
      .value=${log.text}
      @input=${(event: Event) =>
        draw.dispatch({ kind: 'filter_log', text: (event.currentTarget as HTMLInputElement).value })}
    />
  </div>`;
}

function drawBody(shown: Exchange[], draw: Draw): TemplateResult {
  return html`<div class="log-body">
    <div class="log-rows" role="log" aria-live="off" aria-label="Exchanges, newest last" tabindex="0">
      ${shown.length === 0 ? html`<p class="empty">Nothing yet. Type a command and watch.</p>` : nothing}
      ${repeat(
        shown,
        ({ id }) => id,
        (exchange) => guard([exchange, draw.ui.log.chosen === exchange.id], () => drawRow(exchange, draw)),
      )}
    </div>
    ${drawDetail(shown, draw)}
  </div>`;
}

function tone(status: number | undefined): string {
  if (status === undefined) return 'calm';
  if (status === 0 || status >= 500) return 'bad';
  return status >= 400 ? 'warn' : 'good';
}

function drawStatus({ status }: Exchange): TemplateResult {
  const text = status === undefined ? '…' : status === 0 ? 'no answer' : String(status);
  return html`<span class="state state-${tone(status)}">${text}</span>`;
}

function drawRow(exchange: Exchange, draw: Draw): TemplateResult {
  const { id, at, from, to, method, path, durationMs, summary } = exchange;
  const chosen = draw.ui.log.chosen === id;
  return html`<button
    type="button"
    class=${classMap({ 'log-row': true, 'log-row-chosen': chosen })}
    aria-pressed=${chosen ? 'true' : 'false'}
    @click=${() => draw.dispatch({ kind: 'choose_exchange', id: chosen ? undefined : id })}
  >
    <span class="log-time">${clockTimeWithSeconds(at)}</span>
    <span class="log-parties">
      <span class="party party-${from}">${from}</span>
      <span class="arrow" aria-hidden="true">→</span><span class="visually-hidden">to</span>
      <span class="party party-${to}">${to}</span>
    </span>
    ${drawStatus(exchange)}
    <span class="log-ms">${durationMs === undefined ? '' : `${durationMs} ms`}</span>
    <span class="log-summary">${summary}</span>
    <span class="log-path"><b>${method}</b> ${path}</span>
  </button>`;
}

function drawDetail(shown: Exchange[], draw: Draw): Drawn {
  const { chosen, detail } = draw.ui.log;
  const exchange = shown.find(({ id }) => id === chosen);
  if (!exchange) return nothing;
  const whole = detail?.id === exchange.id ? detail : exchange;
  return html`<aside class="log-detail" aria-label="Exchange">
    <header>
      <b>${whole.method}</b> <span class="mono">${whole.path}</span> ${drawStatus(whole)}
      <button
        type="button"
        class="tool"
        aria-label="Close exchange"
        @click=${() => draw.dispatch({ kind: 'choose_exchange', id: undefined })}
      >
        ${icon('close')}
      </button>
    </header>
    <div class="log-bodies">
      <section>
        <h3>Request</h3>
        <pre tabindex="0">${whole.request ?? 'no body'}</pre>
      </section>
      <section>
        <h3>Response</h3>
        <pre tabindex="0">${whole.response ?? (whole.status === undefined ? 'under way…' : 'no body')}</pre>
      </section>
    </div>
  </aside>`;
}
