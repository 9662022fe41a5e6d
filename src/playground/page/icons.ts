import { html, svg, type TemplateResult } from 'lit/html.js';

const paths = {
  hash: svg`<path d="M6.2 2.5 4.8 13.5M11.2 2.5 9.8 13.5M2.8 5.8h11M2.2 10.2h11" />`,
  lock: svg`<rect x="3.5" y="7" width="9" height="6.5" rx="1.5" /><path d="M5.5 7V5a2.5 2.5 0 0 1 5 0v2" />`,
  close: svg`<path d="m4 4 8 8M12 4l-8 8" />`,
  back: svg`<path d="M9.5 3.5 5 8l4.5 4.5" />`,
  send: svg`<path d="M2.5 13.5 14 8 2.5 2.5v4.4L9 8l-6.5 1.1z" fill="currentColor" stroke="none" />`,
  thread: svg`<path d="M2.5 3.5h11v7h-6l-3 2.5v-2.5h-2z" />`,
  more: svg`<g fill="currentColor" stroke="none"><circle cx="3.5" cy="8" r="1.3" /><circle cx="8" cy="8" r="1.3" /><circle cx="12.5" cy="8" r="1.3" /></g>`,
  bolt: svg`<path d="M9 1.8 3.5 9H8l-1 5.2L12.5 7H8z" />`,
  eye: svg`<path d="M1.5 8S4 3.8 8 3.8 14.5 8 14.5 8 12 12.2 8 12.2 1.5 8 1.5 8Z" /><circle cx="8" cy="8" r="1.9" />`,
  chevron: svg`<path d="m4 6 4 4 4-4" />`,
  check: svg`<path d="m3 8.5 3.2 3.2L13 5" />`,
  image: svg`<rect x="2" y="3" width="12" height="10" rx="1.5" /><circle cx="5.7" cy="6.4" r="1.1" /><path d="m2.5 11.5 3.2-3 2.3 2 3-3.2 2.8 3" />`,
  card: svg`<rect x="1.8" y="3.5" width="12.4" height="9" rx="1.5" /><path d="M1.8 6.5h12.4M4.2 10h3" />`,
  phone: svg`<rect x="4.5" y="1.8" width="7" height="12.4" rx="1.5" /><path d="M7 12h2" />`,
  copy: svg`<rect x="5.5" y="5.5" width="8" height="8" rx="1.5" /><path d="M10.5 5.500v-3h-8v8h3" />`,
  external: svg`<path d="M9 2.8h4.2V7M13 3 7.5 8.5M11.5 9.5v3.7h-8.7V4.5h3.7" />`,
  info: svg`<circle cx="8" cy="8" r="6" /><path d="M8 7.2v3.6M8 5v.4" />`,
  alert: svg`<path d="M8 2 14.3 13H1.7zM8 6.3v3.2M8 11.2v.3" />`,
};

export type IconName = keyof typeof paths;

/** A decorative line drawing; what it means is always said in words beside it or in a label. */
export function icon(name: IconName, size = 16): TemplateResult {
  return html`<svg
    class="icon"
    width=${size}
    height=${size}
    viewBox="0 0 16 16"
    fill="none"
    stroke="currentColor"
    stroke-width="1.5"
    stroke-linecap="round"
    stroke-linejoin="round"
    aria-hidden="true"
  >
    ${paths[name]}
  </svg>`;
}

/** A colour as the workspace gives it, or a quiet grey: it goes into a drawing, so only plain colours may. */
export function plainColor(color: string | undefined): string {
  const text = color ?? '';
  if (/^[0-9a-f]{6}$/i.test(text)) return `#${text}`;
  return /^#[0-9a-f]{3,8}$/i.test(text) ? text : (namedColors[text] ?? '#9aa0aa');
}

const namedColors: Record<string, string> = { good: '#2eb67d', warning: '#dea23a', danger: '#d0364b' };

/** A person's square with initials; colours are drawing attributes, so that no inline style is needed. */
export function avatar(name: string, color: string | undefined, size = 36): TemplateResult {
  const initials = name
    .split(/\s+/)
    .slice(0, 2)
    .map((word) => word.charAt(0).toUpperCase())
    .join('');
  return html`<svg class="avatar" width=${size} height=${size} viewBox="0 0 36 36" aria-hidden="true">
    <rect width="36" height="36" rx="8" fill=${plainColor(color)} />
    <text x="18" y="24" text-anchor="middle" font-size="16" font-weight="700" fill="#fff">${initials}</text>
  </svg>`;
}

/** The bot's own mark: a card with a tick. */
export function botAvatar(size = 36): TemplateResult {
  return html`<svg class="avatar" width=${size} height=${size} viewBox="0 0 36 36" aria-hidden="true">
    <rect width="36" height="36" rx="8" fill="#0f766e" />
    <rect x="7" y="10" width="22" height="16" rx="3" fill="#fff" />
    <path d="M7 14.5h22" stroke="#0f766e" stroke-width="3" />
    <path
      d="m15 20.5 2.6 2.6 5-5"
      fill="none"
      stroke="#0f766e"
      stroke-width="2.4"
      stroke-linecap="round"
      stroke-linejoin="round"
    />
  </svg>`;
}
