import { html, nothing, type TemplateResult } from 'lit/html.js';
import { keyed } from 'lit/directives/keyed.js';
import type { PageView } from '../../simulators/protocol.ts';
import { botAvatar } from './bits.ts';
import { drawBlocks, readValues } from './blocks.ts';
import { asksForCode, drawPhones } from './panel.ts';
import { act, page, ui, update } from './state.ts';
import { drawMrkdwn, type Drawn } from './text.ts';

/**
 * The top view of the person's stack, and the confirm dialog above it. Both are the browser's own `<dialog>`:
 * it keeps the focus inside, hides the rest from readers and gives the focus back. Escape is ours, because the
 * workspace must hear that a view was closed.
 */
export function drawDialogs(): TemplateResult {
  const view = page.views.at(-1);
  const close = (): void => {
    if (view) void act({ kind: 'close_view', viewId: view.id });
  };
  return html`<dialog
      id="view-dialog"
      aria-labelledby="view-title"
      data-open=${view ? `${view.id} ${view.title}` : nothing}
      data-view=${view?.id ?? nothing}
      @keydown=${onEscape(close)}
      @cancel=${onCancel(close)}
    >
      ${view ? keyed(view.id, drawView(view, close)) : nothing}
    </dialog>
    <dialog
      id="confirm-dialog"
      role="alertdialog"
      aria-labelledby="confirm-title"
      aria-describedby="confirm-text"
      data-open=${ui.confirm ? 'confirm' : nothing}
      @keydown=${onEscape(refuse)}
      @cancel=${onCancel(refuse)}
    >
      ${drawConfirm()}
    </dialog>`;
}

function refuse(): void {
  update({ confirm: undefined });
}

/** Escape while nothing in the dialog has the focus reaches only the dialog itself. */
function onCancel(close: () => void) {
  return (event: Event): void => {
    if (event.target !== event.currentTarget) return;
    event.preventDefault();
    close();
  };
}

function onEscape(close: () => void) {
  return (event: KeyboardEvent): void => {
    if (event.key !== 'Escape' || event.defaultPrevented || (event.target as Element).closest('[popover]'))
      return;
    event.preventDefault();
    event.stopPropagation();
    close();
  };
}

function drawView(view: PageView, close: () => void): TemplateResult {
  return html`<form
      class="view"
      novalidate
      data-surface=${view.id}
      @submit=${(event: SubmitEvent) => {
        event.preventDefault();
        if (view.busy) return;
        const values = readValues(event.currentTarget as HTMLFormElement);
        void act({ kind: 'submit_view', viewId: view.id, values });
      }}
    >
      <header>
        ${
          page.views.length > 1
            ? html`<button type="button" class="tool" aria-label="Back" @click=${close}>←</button>`
            : botAvatar(28)
        }
        <h2 id="view-title" tabindex="-1">${view.title}</h2>
        <button type="button" class="tool" aria-label="Close" @click=${close}>×</button>
      </header>
      ${ui.problem === undefined ? nothing : html`<p class="error" role="alert">${ui.problem}</p>`}
      <div class="view-body">
        ${drawBlocks(view.blocks, { container: { type: 'view', viewId: view.id }, errors: view.errors })}
      </div>
      <footer>
        <button type="button" class="button" @click=${close}>${view.close ?? 'Close'}</button>
        ${
          view.submit === undefined
            ? nothing
            : html`<button
                class="button primary"
                aria-disabled=${String(view.busy)}
                aria-busy=${String(view.busy)}
              >
                ${view.submit}
              </button>`
        }
      </footer>
    </form>
    ${asksForCode() ? drawPhones() : nothing}`;
}

function drawConfirm(): Drawn {
  if (!ui.confirm) return nothing;
  const { dialog, go } = ui.confirm;
  const agree = (): void => {
    refuse();
    go();
  };
  return html`<div class="view">
    <header><h2 id="confirm-title">${dialog.title?.text ?? 'Are you sure?'}</h2></header>
    <div class="view-body" id="confirm-text">${drawMrkdwn(dialog.text.text)}</div>
    <footer>
      <button type="button" class="button" @click=${refuse}>${dialog.deny?.text ?? 'Cancel'}</button>
      <button type="button" class="button ${dialog.style ?? 'primary'}" @click=${agree}>
        ${dialog.confirm?.text ?? 'Yes'}
      </button>
    </footer>
  </div>`;
}

/** What a dialog showed when it was last drawn, and the field that wanted the focus. */
type Shown = { content?: string | undefined; view?: string | undefined; wanting?: string | undefined };
const shownIn = new WeakMap<HTMLDialogElement, Shown>();
const firstField = '.view-body :is(input, textarea, select):not([disabled])';

/**
 * After drawing: opens and closes the dialogs as the state says, and puts the focus where a person expects it.
 * `before` is what had the focus when drawing began.
 */
export function syncDialogs(before: Element | null): void {
  const isLost = before?.isConnected === false && document.activeElement === document.body;
  for (const dialog of document.querySelectorAll('dialog')) {
    if (dialog.dataset['open'] === undefined) {
      if (dialog.open) closeDialog(dialog);
      shownIn.delete(dialog);
    } else {
      if (!dialog.open) dialog.showModal();
      settleFocus(dialog, isLost);
    }
  }
}

/**
 * The browser gives the focus back to what had it before, while that is still inert: Chromium then shows it as focused
 * and takes nothing that is typed into it, until it is focused again.
 */
function closeDialog(dialog: HTMLDialogElement): void {
  dialog.close();
  const resumed = document.activeElement;
  if (!(resumed instanceof HTMLElement) || resumed === document.body) return;
  resumed.blur();
  resumed.focus({ preventScroll: true });
}

/**
 * A view that the bot exchanged for another counts as new by its title, a field that wants the focus by its id. A
 * question about money begins on "no", a view without fields on what it is for; a view that took another's place
 * begins on its title: Enter pressed twice must not agree to what was not read.
 */
function settleFocus(dialog: HTMLDialogElement, isLost: boolean): void {
  const earlier = shownIn.get(dialog) ?? {};
  const wanting = dialog.querySelector<HTMLElement>('[data-wants-focus]');
  const now: Shown = { content: dialog.dataset['open'], view: dialog.dataset['view'], wanting: wanting?.id };
  shownIn.set(dialog, now);
  const isNew = now.content !== earlier.content;
  if (isNew) dialog.querySelector('.view-body')?.scrollTo({ top: 0 });
  if (!isNew && !isLost && (wanting === null || now.wanting === earlier.wanting)) return;
  const isQuestion = dialog.id === 'confirm-dialog';
  const isOpening = isQuestion || now.view !== earlier.view;
  const button = isQuestion ? 'footer button' : 'footer button:last-child';
  const target =
    wanting ??
    dialog.querySelector<HTMLElement>(firstField) ??
    dialog.querySelector<HTMLElement>(isOpening ? button : '#view-title');
  target?.focus();
}
