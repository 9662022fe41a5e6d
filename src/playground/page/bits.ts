import { html, type nothing, type TemplateResult } from 'lit/html.js';
import type { PageAction } from '../../simulators/protocol.ts';
import { act } from './state.ts';

export type Drawn = TemplateResult | string | typeof nothing | Drawn[];

/** A person's initial in a coloured square. The colour is an SVG attribute, because the page allows no inline style. */
export function avatar(name: string, color = '#6b7280', size = 36): TemplateResult {
  return html`<svg width=${size} height=${size} viewBox="0 0 36 36" aria-hidden="true">
    <rect width="36" height="36" rx="8" fill=${color} />
    <text x="18" y="24" text-anchor="middle" font-size="17" font-weight="700" fill="#fff">
      ${name.charAt(0)}
    </text>
  </svg>`;
}

export function botAvatar(size = 36): TemplateResult {
  return html`<img src="/page/icon.svg" width=${size} height=${size} alt="" />`;
}

type MenuItem = { label: string; choose: () => void };

/** A button that opens a list of buttons; the browser closes it on Escape or a click elsewhere. */
export function drawMenu(menu: {
  id: string;
  face: string;
  label: string;
  className?: string;
  items: MenuItem[];
}): TemplateResult {
  const { face, label, className = 'tool', items } = menu;
  const id = `menu-${menu.id.replaceAll(/[^\w-]/g, '-')}`;
  return html`<button type="button" class=${className} aria-label=${label} title=${label} popovertarget=${id}>
      ${face}
    </button>
    <div class="box menu" id=${id} popover>
      ${items.map(
        (item, index) =>
          html`<button
            type="button"
            popovertarget=${id}
            popovertargetaction="hide"
            ?autofocus=${index === 0}
            @click=${item.choose}
          >
            ${item.label}
          </button>`,
      )}
    </div>`;
}

export function actionButton(label: string, action: PageAction, tone = ''): TemplateResult {
  return html`<button type="button" class="button ${tone}" @click=${() => void act(action)}>
    ${label}
  </button>`;
}
