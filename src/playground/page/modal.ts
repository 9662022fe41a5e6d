import { html, nothing, type TemplateResult } from 'lit/html.js';
import { repeat } from 'lit/directives/repeat.js';
import type { PageView } from '../../simulators/protocol.ts';
import { botAvatar, type Drawn } from './bits.ts';
import { drawBlocks, readValues } from './blocks.ts';
import { asksForCode, drawPhones } from './panel.ts';
import { act, page, ui, update } from './state.ts';

/**
 * The person's stack of views, with what they typed, and the confirm dialog above. All are the browser's own
 * `<dialog>`, which keeps the focus inside, hides the rest from screen readers and returns the focus. Escape is handled
 * here, because the workspace must know that a view was closed.
 */
export function drawDialogs(): Drawn {
  return [
    html`${repeat(page.views, ({ id }) => id, drawView)}`,
    ui.confirm ? drawConfirm(ui.confirm) : nothing,
  ];
}

/** A listener that closes the dialog on Escape, wherever the focus is. */
function onEscape(close: () => void) {
  return (event: Event): void => {
    const isCancel = event.type === 'cancel' && event.target === event.currentTarget;
    const isKey = event instanceof KeyboardEvent && event.key === 'Escape' && !event.defaultPrevented;
    if (!isCancel && (!isKey || (event.target as Element).closest('[popover]'))) return;
    event.preventDefault();
    event.stopPropagation();
    close();
  };
}

function drawView(view: PageView, depth: number): TemplateResult {
  const { id, title, blocks, errors, busy, submit } = view;
  const close = (): void => void act({ kind: 'close_view', viewId: id });
  const send = (event: SubmitEvent): void => {
    event.preventDefault();
    if (busy) return;
    const values = readValues(event.currentTarget as HTMLFormElement);
    void act({ kind: 'submit_view', viewId: id, values });
  };
  return html`<dialog
    aria-labelledby="title-${id}"
    data-view=${id}
    @keydown=${onEscape(close)}
    @cancel=${onEscape(close)}
  >
    <form class="column" novalidate data-surface=${id} @submit=${send}>
      <header>
        ${
          depth === 0
            ? botAvatar(28)
            : html`<button type="button" class="tool" aria-label="Back" @click=${close}>←</button>`
        }
        <h2 id="title-${id}" tabindex="-1">${title}</h2>
        <button type="button" class="tool" aria-label="Close" @click=${close}>×</button>
      </header>
      ${ui.problem === undefined ? nothing : html`<p class="error" role="alert">${ui.problem}</p>`}
      <div class="scroll">${drawBlocks(blocks, { container: { type: 'view', viewId: id }, errors })}</div>
      <footer>
        <button type="button" class="button" @click=${close}>${view.close ?? 'Close'}</button>
        ${
          submit === undefined
            ? nothing
            : html`<button class="button primary" aria-disabled=${String(busy)} aria-busy=${String(busy)}>
                ${submit}
              </button>`
        }
      </footer>
    </form>
    ${asksForCode(view) ? drawPhones() : nothing}
  </dialog>`;
}

function closeConfirm(): void {
  update({ confirm: undefined });
}

function drawConfirm({ dialog, go }: NonNullable<typeof ui.confirm>): TemplateResult {
  const agree = (): void => {
    closeConfirm();
    go();
  };
  return html`<dialog
    role="alertdialog"
    aria-labelledby="confirm-title"
    aria-describedby="confirm-text"
    @keydown=${onEscape(closeConfirm)}
    @cancel=${onEscape(closeConfirm)}
  >
    <div class="column">
      <header><h2 id="confirm-title">${dialog.title?.text}</h2></header>
      <p class="scroll" id="confirm-text">${dialog.text.text}</p>
      <footer>
        <button type="button" class="button" @click=${closeConfirm}>${dialog.deny?.text}</button>
        <button type="button" class="button ${dialog.style ?? 'primary'}" @click=${agree}>
          ${dialog.confirm?.text}
        </button>
      </footer>
    </div>
  </dialog>`;
}

/**
 * Before drawing: closes dialogs that end, so that the browser returns the focus. The element that gets it is still
 * inert then: Chromium shows it as focused but ignores typing, until it is focused once more.
 */
export function closeDialogs(): void {
  for (const dialog of document.querySelectorAll('dialog')) {
    const { view } = dialog.dataset;
    if (view === undefined ? ui.confirm : page.views.some(({ id }) => id === view)) continue;
    dialog.close();
    const resumed = document.activeElement;
    if (!(resumed instanceof HTMLElement) || resumed === document.body) continue;
    resumed.blur();
    resumed.focus({ preventScroll: true });
  }
}

/** What a dialog showed when it was last drawn: its title, and the id of the field that asked for the focus. */
const shownIn = new WeakMap<Element, { title: string | null | undefined; wanting: string | undefined }>();

/**
 * After drawing: opens new dialogs and sets the focus. `before`: the focused element when drawing began. A view that
 * the bot replaced counts as new if its title changed; a field that asks for the focus, if its id changed. The focus
 * starts on *no* in a confirm dialog, on the last button of a view without fields, and on the title of a view that
 * replaced another: pressing Enter twice must not agree to something unread.
 */
export function settleDialogs(before: Element | null): void {
  const isLost = before?.isConnected === false && document.activeElement === document.body;
  for (const closed of document.querySelectorAll<HTMLDialogElement>('dialog:not([open])')) closed.showModal();
  const dialog = [...document.querySelectorAll('dialog')].at(-1);
  if (!dialog) return;
  const earlier = shownIn.get(dialog);
  const wanting = dialog.querySelector<HTMLElement>('[data-wants-focus]');
  const now = { title: dialog.querySelector('h2')?.textContent, wanting: wanting?.id };
  shownIn.set(dialog, now);
  const isNew = now.title !== earlier?.title;
  if (isNew) dialog.querySelector('.scroll')?.scrollTo({ top: 0 });
  if (!isNew && !isLost && (!wanting || now.wanting === earlier?.wanting)) return;
  const button = dialog.role === 'alertdialog' ? 'footer button' : 'footer button:last-child';
  const target =
    wanting ??
    dialog.querySelector<HTMLElement>('.scroll :is(input, select)') ??
    dialog.querySelector<HTMLElement>(earlier ? 'h2' : button);
  target?.focus();
}
