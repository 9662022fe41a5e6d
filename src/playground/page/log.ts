import { html, nothing, type TemplateResult } from 'lit/html.js';
import { guard } from 'lit/directives/guard.js';
import { repeat } from 'lit/directives/repeat.js';
import type { Exchange } from '../../simulators/protocol.ts';
import { page, readExchange, ui, update } from './state.ts';
import { clockTime } from './text.ts';

/** The exchanges that pass the filter, oldest first. */
function filtered(): Exchange[] {
  const words = ui.log.text.toLowerCase().split(/\s+/).filter(Boolean);
  return page.log.filter((exchange) => {
    const { from, to, method, path, status, summary } = exchange;
    const line = `${from} ${to} ${method} ${path} ${status ?? ''} ${summary}`.toLowerCase();
    return words.every((word) => line.includes(word));
  });
}

/** Every HTTP exchange between bot, Slack, the payments service and the customer's browser; closed until it is asked for. */
export function drawLog(): TemplateResult {
  const { isOpen } = ui.log;
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
    ${isOpen ? drawRows() : nothing}
  </section>`;
}

function drawFilter(): TemplateResult {
  return html`<input
    type="search"
    aria-label="Filter by words"
    placeholder="Filter: 401, webhook, chat.postMessage…"
    .value=${ui.log.text}
    @input=${(event: Event) =>
      update({ log: { ...ui.log, text: (event.currentTarget as HTMLInputElement).value } })}
  />`;
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
        guard([JSON.stringify(exchange), ui.log.detail?.id === exchange.id && ui.log.detail], () =>
          drawRow(exchange),
        ),
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

async function show(id: number): Promise<void> {
  await readExchange(id);
  setTimeout(() => document.querySelector('.log-detail')?.scrollIntoView({ block: 'nearest' }));
}

function drawRow(exchange: Exchange): TemplateResult {
  const { id, at, from, to, method, path, durationMs, summary } = exchange;
  const isChosen = ui.log.detail?.id === id;
  return html`<button
      type="button"
      class="log-row"
      aria-expanded=${String(isChosen)}
      @click=${() => (isChosen ? update({ log: { ...ui.log, detail: undefined } }) : void show(id))}
    >
      <span class="soft">${clockTime(at, 'time_secs')}</span>
      <span><b>${from}</b> → <b>${to}</b></span>
      ${drawStatus(exchange)}
      <span class="summary">${summary}</span>
      <code>${method} ${path}${durationMs === undefined ? '' : ` · ${durationMs} ms`}</code>
    </button>
    ${isChosen && ui.log.detail ? drawDetail(ui.log.detail) : nothing}`;
}

function drawDetail({ request = 'no body', response, status }: Exchange): TemplateResult {
  const answer = response ?? (status === undefined ? 'under way…' : 'no body');
  return html`<section class="log-detail" aria-label="Exchange">
    <pre tabindex="0" aria-label="Request" role="group">${request}</pre>
    <pre tabindex="0" aria-label="Response" role="group">${answer}</pre>
  </section>`;
}
