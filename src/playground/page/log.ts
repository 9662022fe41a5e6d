import { html, nothing, type TemplateResult } from 'lit/html.js';
import { guard } from 'lit/directives/guard.js';
import { repeat } from 'lit/directives/repeat.js';
import type { Exchange } from '../../simulators/protocol.ts';
import { page, readExchange, ui, update } from './state.ts';
import { clockTime, type Drawn } from './text.ts';

const parties: Record<string, (exchange: Exchange) => boolean> = {
  All: () => true,
  'Bot and Slack': ({ from, to }) => from === 'slack' || to === 'slack',
  'Bot to payments': ({ to }) => to === 'payments',
  Webhooks: ({ from, to }) => from === 'payments' && to === 'bot',
};

/** The exchanges that pass the filter, oldest first. */
function filtered(): Exchange[] {
  const words = ui.log.text.toLowerCase().split(/\s+/).filter(Boolean);
  return page.log.filter((exchange) => {
    const { from, to, method, path, status, summary } = exchange;
    const line = `${from} ${to} ${method} ${path} ${status ?? ''} ${summary}`.toLowerCase();
    return parties[ui.log.party]?.(exchange) && words.every((word) => line.includes(word));
  });
}

/** Every HTTP exchange between bot, Slack, the payments service and the customer's browser, for who asks to see them. */
export function drawLog(): TemplateResult {
  const { isOpen, detail } = ui.log;
  return html`<section class="log ${isOpen ? 'log-open' : ''}" aria-label="HTTP exchanges">
    <header>
      <button
        type="button"
        class="link"
        aria-expanded=${String(isOpen)}
        @click=${() => update({ log: { ...ui.log, isOpen: !isOpen } })}
      >
        ${isOpen ? '▾' : '▸'} HTTP exchanges
      </button>
      ${isOpen ? drawFilter() : html`<span class="soft">${page.log.at(-1)?.summary}</span>`}
    </header>
    ${isOpen ? html`<div class="log-body">${drawRows()} ${detail ? drawDetail(detail) : nothing}</div>` : nothing}
  </section>`;
}

function drawFilter(): TemplateResult {
  return html`<div class="log-filter" role="group" aria-label="Filter">
    ${Object.keys(parties).map(
      (party) =>
        html`<button
          type="button"
          aria-pressed=${String(ui.log.party === party)}
          @click=${() => update({ log: { ...ui.log, party } })}
        >
          ${party}
        </button>`,
    )}
    <input
      type="search"
      aria-label="Filter by words"
      placeholder="Filter…"
      .value=${ui.log.text}
      @input=${(event: Event) =>
        update({ log: { ...ui.log, text: (event.currentTarget as HTMLInputElement).value } })}
    />
  </div>`;
}

function drawRows(): TemplateResult {
  const shown = filtered();
  return html`<div
    class="log-rows"
    role="log"
    aria-live="off"
    aria-label="Exchanges, newest last"
    tabindex="0"
  >
    ${shown.length === 0 ? html`<p class="soft">Nothing yet. Type a command and watch.</p>` : nothing}
    ${repeat(
      shown,
      ({ id }) => id,
      (exchange) =>
        guard([JSON.stringify(exchange), ui.log.detail?.id === exchange.id], () => drawRow(exchange)),
    )}
  </div>`;
}

/** Slack says no with a 200: the summary then ends with its word for why. */
function drawStatus({ status, summary }: Exchange): TemplateResult {
  const text = status === undefined ? '…' : status === 0 ? 'no answer' : String(status);
  const isRefused = / → [a-z_]+$/.test(summary) || (status !== undefined && status >= 400 && status < 500);
  const isBad = status === 0 || (status !== undefined && status >= 500);
  const tone = isBad ? 'bad' : isRefused ? 'warn' : status === undefined ? 'calm' : 'good';
  return html`<span class="state ${tone}">${text}</span>`;
}

function drawRow(exchange: Exchange): TemplateResult {
  const { id, at, from, to, method, path, durationMs, summary } = exchange;
  const isChosen = ui.log.detail?.id === id;
  return html`<button
    type="button"
    class="log-row"
    aria-pressed=${String(isChosen)}
    @click=${() => (isChosen ? update({ log: { ...ui.log, detail: undefined } }) : void readExchange(id))}
  >
    <span class="soft">${clockTime(at, 'time_secs')}</span>
    <span><b>${from}</b> → <b>${to}</b></span>
    ${drawStatus(exchange)}
    <span class="summary">${summary}</span>
    <code>${method} ${path}${durationMs === undefined ? '' : ` · ${durationMs} ms`}</code>
  </button>`;
}

function drawDetail(exchange: Exchange): Drawn {
  const { method, path, request = 'no body', response } = exchange;
  const answer = response ?? (exchange.status === undefined ? 'under way…' : 'no body');
  return html`<section class="log-detail" aria-label="Exchange">
    <header>
      ${drawStatus(exchange)} <code>${method} ${path}</code>
      <button
        type="button"
        class="tool"
        aria-label="Close exchange"
        @click=${() => update({ log: { ...ui.log, detail: undefined } })}
      >
        ×
      </button>
    </header>
    <div>
      <pre tabindex="0" aria-label="Request" role="group">${request}</pre>
      <pre tabindex="0" aria-label="Response" role="group">${answer}</pre>
    </div>
  </section>`;
}
