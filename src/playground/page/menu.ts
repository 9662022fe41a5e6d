import { html, type TemplateResult } from 'lit/html.js';
import type { Drawn } from './inline.ts';

export type MenuItem = { label: Drawn; choose: () => void };

function itemsOf(menu: HTMLElement): HTMLElement[] {
  return [...menu.querySelectorAll<HTMLElement>('[role=menuitem]')];
}

/**
 * Opens or closes it at once, so that the next key finds the focus inside. `popovertarget` stays on the button
 * although it is not followed: it tells the browser that a click on the button is no click elsewhere.
 */
function toggle(event: Event): void {
  const button = event.currentTarget;
  const menu = button instanceof HTMLElement ? button.nextElementSibling : null;
  if (!(button instanceof HTMLElement) || !(menu instanceof HTMLElement)) return;
  event.preventDefault();
  menu.togglePopover();
  if (menu.matches(':popover-open')) placeMenu(menu, button.getBoundingClientRect());
}

/** Beside its button, inside the window; the browser itself closes it on Escape or a click elsewhere. */
function placeMenu(menu: HTMLElement, button: DOMRect): void {
  const below = button.bottom + 4 + menu.offsetHeight <= window.innerHeight;
  menu.style.top = `${Math.max(8, below ? button.bottom + 4 : button.top - 4 - menu.offsetHeight)}px`;
  menu.style.left = `${Math.max(8, Math.min(button.left, window.innerWidth - menu.offsetWidth - 8))}px`;
  itemsOf(menu)[0]?.focus();
}

function walk(event: KeyboardEvent): void {
  const menu = event.currentTarget;
  if (!(menu instanceof HTMLElement)) return;
  const items = itemsOf(menu);
  const at = items.findIndex((item) => item === document.activeElement);
  const targets: Record<string, number> = {
    ArrowDown: (at + 1) % items.length,
    ArrowUp: (at - 1 + items.length) % items.length,
    Home: 0,
    End: items.length - 1,
  };
  const next = targets[event.key];
  if (event.key === 'Tab') menu.hidePopover();
  if (next === undefined) return;
  event.preventDefault();
  items[next]?.focus();
}

function choose(event: Event, item: MenuItem): void {
  const target = event.currentTarget;
  if (target instanceof HTMLElement) target.closest<HTMLElement>('[popover]')?.hidePopover();
  item.choose();
}

/** A button that opens a list of actions; arrows walk it, Escape closes it and gives the focus back. */
export function drawMenu(menu: {
  id: string;
  face: Drawn;
  label: string;
  className: string;
  items: MenuItem[];
}): TemplateResult {
  const id = `menu-${menu.id.replaceAll(/[^\w-]/g, '-')}`;
  return html`<button
      type="button"
      class=${menu.className}
      aria-haspopup="menu"
      aria-label=${menu.label}
      title=${menu.label}
      popovertarget=${id}
      @click=${toggle}
    >
      ${menu.face}
    </button>
    <div class="menu" role="menu" aria-label=${menu.label} id=${id} popover @keydown=${walk}>
      ${menu.items.map(
        (item) =>
          html`<button
            type="button"
            role="menuitem"
            tabindex="-1"
            @click=${(event: Event) => choose(event, item)}
          >
            ${item.label}
          </button>`,
      )}
    </div>`;
}
