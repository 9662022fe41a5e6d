const firstField = '.view-body :is(input, textarea, select):not([disabled])';

/** What a dialog showed when it was last drawn. */
type Shown = { content: string; viewId: string; wanting: string };

const nothingShown: Shown = { content: '', viewId: '', wanting: '' };
const shownIn = new WeakMap<HTMLDialogElement, Shown>();

/**
 * After drawing: opens and closes the dialogs as the state says, and puts the focus where a person expects it.
 * `before` is what had the focus when drawing began.
 */
export function syncDialogs(root: ParentNode, before: Element | null): void {
  const isLost = before?.isConnected === false && document.activeElement === document.body;
  for (const dialog of root.querySelectorAll('dialog')) {
    if (dialog.dataset['open'] === undefined) {
      if (dialog.open) closeDialog(dialog);
      shownIn.delete(dialog);
      continue;
    }
    if (!dialog.open) dialog.showModal();
    settleFocus(dialog, isLost);
  }
}

/**
 * The browser gives the focus back to what had it before, while that is still inert: Chromium then shows it as focused
 * and takes nothing that is typed into it, until it is focused anew.
 */
function closeDialog(dialog: HTMLDialogElement): void {
  dialog.close();
  const resumed = document.activeElement;
  if (!(resumed instanceof HTMLElement) || resumed === document.body) return;
  resumed.blur();
  resumed.focus({ preventScroll: true });
}

/** A view that the bot exchanged for another counts as new by its title, a field that wants the focus by its id. */
function settleFocus(dialog: HTMLDialogElement, isLost: boolean): void {
  const earlier = shownIn.get(dialog) ?? nothingShown;
  const wanting = dialog.querySelector<HTMLElement>('[data-wants-focus]');
  const { open: content = '', view: viewId = '' } = dialog.dataset;
  const now: Shown = { content, viewId, wanting: wanting?.id ?? '' };
  shownIn.set(dialog, now);
  const isNew = now.content !== earlier.content;
  if (isNew) dialog.querySelector('.view-body')?.scrollTo({ top: 0 });
  const wantsNow = wanting !== null && now.wanting !== earlier.wanting;
  if (isNew || wantsNow || isLost) focusIn(dialog, wanting, now.viewId !== earlier.viewId);
}

/**
 * A question about money begins on "no", a view without fields on what it is for. A view that took another's
 * place begins on its title: Enter pressed twice must not agree to what was not read.
 */
function focusIn(dialog: HTMLDialogElement, wanting: HTMLElement | null, isOpening: boolean): void {
  const isQuestion = dialog.role === 'alertdialog';
  const button = isQuestion ? '.view-foot button' : '.view-foot button:last-child';
  const resting = isOpening || isQuestion ? button : '#view-title';
  const target =
    wanting ?? dialog.querySelector<HTMLElement>(firstField) ?? dialog.querySelector<HTMLElement>(resting);
  target?.focus();
}
