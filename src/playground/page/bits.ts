import { html, type TemplateResult } from 'lit/html.js';
import type { PageAction } from '../../simulators/protocol.ts';
import { act, ui, update } from './state.ts';
import type { Drawn } from './text.ts';

/** A person's square with an initial; its colour is a drawing's attribute, so that no inline style is needed. */
export function avatar(name: string, color: string | undefined, size = 36): TemplateResult {
  return html`<svg class="avatar" width=${size} height=${size} viewBox="0 0 36 36" aria-hidden="true">
    <rect width="36" height="36" rx="8" fill=${color ?? '#6b7280'} />
    <text x="18" y="24" text-anchor="middle" font-size="17" font-weight="700" fill="#fff">
      ${name.charAt(0)}
    </text>
  </svg>`;
}

export function botAvatar(size = 36): TemplateResult {
  return html`<img class="avatar" src="/page/icon.svg" width=${size} height=${size} alt="" />`;
}

export type MenuItem = { label: string; choose: () => void };

/** A button that opens a list of buttons; the browser itself closes it on Escape or a click elsewhere. */
export function drawMenu(menu: {
  id: string;
  face: Drawn;
  label: string;
  className?: string;
  items: MenuItem[];
}): TemplateResult {
  const id = `menu-${menu.id.replaceAll(/[^\w-]/g, '-')}`;
  return html`<button
      type="button"
      class=${menu.className ?? 'tool'}
      aria-label=${menu.label}
      title=${menu.label}
      popovertarget=${id}
    >
      ${menu.face}
    </button>
    <div class="menu" id=${id} popover @toggle=${placeMenu}>
      ${menu.items.map(
        ({ label, choose }) =>
          html`<button type="button" popovertarget=${id} popovertargetaction="hide" @click=${choose}>
            ${label}
          </button>`,
      )}
    </div>`;
}

/** Beside its button, inside the window. */
function placeMenu({ currentTarget: menu }: Event): void {
  if (!(menu instanceof HTMLElement) || !menu.matches(':popover-open')) return;
  const button = menu.previousElementSibling?.getBoundingClientRect() ?? new DOMRect();
  const isBelow = button.bottom + 4 + menu.offsetHeight <= innerHeight;
  menu.style.top = `${Math.max(8, isBelow ? button.bottom + 4 : button.top - 4 - menu.offsetHeight)}px`;
  menu.style.left = `${Math.max(8, Math.min(button.left, innerWidth - menu.offsetWidth - 8))}px`;
  menu.querySelector('button')?.focus();
}

/** A button that does one thing in the playground. */
export function doing(label: string, action: PageAction, className = ''): TemplateResult {
  return html`<button type="button" class="small ${className}" @click=${() => void act(action)}>
    ${label}
  </button>`;
}

/** A button that copies a text; it says so until something else is copied. */
export function drawCopy(text: string, what: string): TemplateResult {
  return html`<button type="button" class="small" aria-label="Copy ${what}" @click=${() => void copy(text)}>
    <span role="status">${ui.copied === text ? 'Copied' : 'Copy'}</span>
  </button>`;
}

/** A browser may refuse; the text stands on the page to be copied by hand. */
async function copy(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    update({ copied: text });
  } catch {
    update({ problem: 'This browser does not let the page copy. Mark the text instead.' });
  }
}
