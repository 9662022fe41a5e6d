import { html, nothing, type TemplateResult } from 'lit/html.js';
import { guard } from 'lit/directives/guard.js';
import { repeat } from 'lit/directives/repeat.js';
import type { Exchange } from '../../simulators/protocol.ts';
import { page, ui, update } from './state.ts';
import { clockTime } from './text.ts';

/**
 * All HTTP exchanges between bot, Slack, the payments service and the customer's browser; closed until it is opened.
 */
export function drawLog(): TemplateResult {
  return html`<section class="log column ${ui.isLogOpen ? 'open' : ''}" aria-label="HTTP exchanges">
    <header>
      <button
        type="button"
        class="link"
        aria-expanded=${String(ui.isLogOpen)}
        @click=${() => update({ isLogOpen: !ui.isLogOpen })}
      >
        ${ui.isLogOpen ? '▾' : '▸'} HTTP exchanges
      </button>
      ${ui.isLogOpen ? nothing : html`<small class="one-line">${page.log.at(-1)?.summary}</small>`}
    </header>
    ${ui.isLogOpen ? drawRows() : nothing}
  </section>`;
}

function drawRows(): TemplateResult {
  return html`<div class="scroll" role="log" aria-live="off" aria-label="Exchanges, newest last" tabindex="0">
    ${page.log.length === 0 ? html`<p class="soft">Nothing yet. Type a command and watch.</p>` : nothing}
    ${repeat(
      page.log,
      ({ id }) => id,
      (exchange) => guard([exchange.status, exchange.summary], () => drawRow(exchange)),
    )}
  </div>`;
}

/** Slack refuses with status 200; the summary then ends with Slack's error word. */
function drawStatus({ status, summary }: Exchange): TemplateResult {
  if (status === undefined) return html`<span class="tag">…</span>`;
  const isRefused = / → [a-z_]+$/.test(summary) || (status >= 400 && status < 500);
  const tone = status === 0 || status >= 500 ? 'bad' : isRefused ? 'warn' : 'good';
  return html`<span class="tag ${tone}">${status || 'no answer'}</span>`;
}

function drawRow(exchange: Exchange): TemplateResult {
  const { id, at, from, to, method, path, durationMs, summary } = exchange;
  return html`<details
    @toggle=${({ currentTarget }: Event) => void readBodies(id, currentTarget as HTMLDetailsElement)}
  >
    <summary>
      <small>${clockTime(at, 'time_secs')}</small>
      <span><b>${from}</b> → <b>${to}</b></span>
      ${drawStatus(exchange)}
      <span class="one-line">${summary}</span>
      <code class="one-line">${method} ${path}${durationMs === undefined ? '' : ` · ${durationMs} ms`}</code>
    </summary>
    <div>
      <pre tabindex="0" aria-label="Request" role="group"></pre>
      <pre tabindex="0" aria-label="Response" role="group"></pre>
    </div>
  </details>`;
}

/** Loads an exchange's bodies when its row is opened, if they are still kept. */
async function readBodies(id: number, row: HTMLDetailsElement): Promise<void> {
  if (!row.open) return;
  const answer = await fetch(`/exchange?id=${id}`).catch(() => undefined);
  if (!answer?.ok) return;
  const { request = 'no body', response, status } = (await answer.json()) as Exchange;
  const bodies = [request, response ?? (status === undefined ? 'under way…' : 'no body')];
  for (const [index, place] of row.querySelectorAll('pre').entries()) place.textContent = bodies[index] ?? '';
  row.scrollIntoView({ block: 'nearest' });
}
