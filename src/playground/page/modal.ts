import { html, nothing, type TemplateResult } from 'lit/html.js';
import { keyed } from 'lit/directives/keyed.js';
import type { PageView } from '../../simulators/protocol.ts';
import { drawBlocks } from './blocks.ts';
import { drawText } from './glyph.ts';
import { botAvatar, icon } from './icons.ts';
import { drawTextObject, type Drawn } from './inline.ts';
import type { Draw } from './model.ts';

/**
 * The top view of the person's stack, and the confirm dialog above it. Both are the browser's own `<dialog>`:
 * it keeps the focus inside, hides the rest from readers and gives the focus back; `syncDialogs` opens and
 * closes them. Escape is ours, because the workspace must hear that a view was closed.
 */
export function drawDialogs(draw: Draw): TemplateResult {
  const view = draw.page.views.at(-1);
  const { pending } = draw.ui;
  const closeTop = (): void => {
    if (view) draw.dispatch({ kind: 'close_view', viewId: view.id });
  };
  const refuse = (): void => draw.dispatch({ kind: 'confirm_answered', yes: false });
  return html`<dialog
      id="view-dialog"
      aria-labelledby="view-title"
      data-open=${view ? `${view.id} ${view.title}` : nothing}
      data-view=${view?.id ?? nothing}
      @keydown=${(event: KeyboardEvent) => onEscape(event, closeTop)}
      @cancel=${(event: Event) => onCancel(event, closeTop)}
    >
      ${view ? keyed(view.id, drawView(view, draw)) : nothing}
    </dialog>
    <dialog
      id="confirm-dialog"
      role="alertdialog"
      aria-labelledby="confirm-title"
      aria-describedby="confirm-text"
      data-open=${pending ? 'confirm' : nothing}
      @keydown=${(event: KeyboardEvent) => onEscape(event, refuse)}
      @cancel=${(event: Event) => onCancel(event, refuse)}
    >
      ${drawConfirm(draw)}
    </dialog>`;
}

/** Escape while nothing in the dialog has the focus reaches only the dialog itself. */
function onCancel(event: Event, close: () => void): void {
  if (event.target !== event.currentTarget) return;
  event.preventDefault();
  close();
}

function onEscape(event: KeyboardEvent, close: () => void): void {
  if (event.key !== 'Escape' || event.defaultPrevented) return;
  const inMenu = event.target instanceof HTMLElement && event.target.closest('[popover]') !== null;
  if (inMenu) return;
  event.preventDefault();
  event.stopPropagation();
  close();
}

function drawView(view: PageView, draw: Draw): TemplateResult {
  const close = (): void => draw.dispatch({ kind: 'close_view', viewId: view.id });
  const stacked = draw.page.views.length > 1;
  return html`<form
    class="view"
    novalidate
    @submit=${(event: Event) => {
      event.preventDefault();
      draw.dispatch({ kind: 'submit_view', viewId: view.id });
    }}
  >
    <header class="view-head">
      ${
        stacked
          ? html`<button type="button" class="tool" aria-label="Back" @click=${close}>
              ${icon('back')}
            </button>`
          : botAvatar(28)
      }
      <h2 id="view-title" tabindex="-1">${drawText(view.title)}</h2>
      <button type="button" class="tool" aria-label="Close" @click=${close}>${icon('close')}</button>
    </header>
    ${
      draw.ui.problem === undefined
        ? nothing
        : html`<p class="view-problem" role="alert">${icon('alert', 14)} ${draw.ui.problem}</p>`
    }
    <div class="view-body">
      ${drawBlocks(view.blocks, { container: { type: 'view', viewId: view.id }, errors: view.errors }, draw)}
    </div>
    <footer class="view-foot">
      <button type="button" class="block-button" @click=${close}>${view.close ?? 'Close'}</button>
      ${drawSubmit(view)}
    </footer>
  </form>`;
}

function drawSubmit(view: PageView): Drawn {
  if (view.submit === undefined) return nothing;
  return html`<button
    type="submit"
    class="block-button block-button-primary"
    aria-disabled=${view.busy ? 'true' : 'false'}
    aria-busy=${view.busy ? 'true' : 'false'}
  >
    ${view.busy ? html`<span class="spinner" aria-hidden="true"></span>` : nothing} ${view.submit}
  </button>`;
}

function drawConfirm(draw: Draw): Drawn {
  const confirm = draw.ui.pending?.confirm;
  if (!confirm) return nothing;
  const answer = (yes: boolean) => (): void => draw.dispatch({ kind: 'confirm_answered', yes });
  const style = confirm.style ?? 'primary';
  return html`<div class="view">
    <header class="view-head">
      <h2 id="confirm-title">${drawText(confirm.title?.text ?? 'Are you sure?')}</h2>
    </header>
    <div class="view-body" id="confirm-text">${drawTextObject(confirm.text, draw)}</div>
    <footer class="view-foot">
      <button type="button" class="block-button" @click=${answer(false)}>
        ${drawText(confirm.deny?.text ?? 'Cancel')}
      </button>
      <button type="button" class="block-button block-button-${style}" @click=${answer(true)}>
        ${drawText(confirm.confirm?.text ?? 'Yes')}
      </button>
    </footer>
  </div>`;
}
