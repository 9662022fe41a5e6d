import { html, svg, type SVGTemplateResult, type TemplateResult } from 'lit/html.js';
import { withEmoji } from './emoji.ts';

function disc(color: string, mark: SVGTemplateResult): SVGTemplateResult {
  return svg`<circle cx="10" cy="10" r="9" fill=${color} /><g fill="none" stroke="#fff" stroke-width="2.2" stroke-linecap="round" stroke-linejoin="round">${mark}</g>`;
}

function tile(color: string, mark: SVGTemplateResult): SVGTemplateResult {
  return svg`<rect x="1" y="1" width="18" height="18" rx="4" fill=${color} /><g fill="none" stroke="#fff" stroke-width="2.4" stroke-linecap="round" stroke-linejoin="round">${mark}</g>`;
}

function square(color: string): SVGTemplateResult {
  return svg`<rect x="2" y="2" width="16" height="16" rx="2" fill=${color} />`;
}

function line(mark: SVGTemplateResult): SVGTemplateResult {
  return svg`<g fill="none" stroke="currentColor" stroke-width="2.2" stroke-linecap="round" stroke-linejoin="round">${mark}</g>`;
}

const tick = svg`<path d="m5.5 10.5 3 3 6-7" />`;
const cross = svg`<path d="m6 6 8 8M14 6l-8 8" />`;
const question = svg`<path d="M7.4 7.6c.2-3.3 5.4-3 5.2.2-.1 1.9-2.5 2-2.6 4M10 14.8v.1" />`;
const warning = svg`<path d="M10 1.8 19 18H1z" fill="#e8a317" stroke="#e8a317" stroke-width="1.6" stroke-linejoin="round" /><path d="M10 7v5M10 14.8v.2" stroke="#4a3200" stroke-width="2" stroke-linecap="round" />`;
const hourglass = svg`<path d="M5 2h10M5 18h10M6 2c0 5 3 5.5 3.4 8C9 12.5 6 13 6 18M14 2c0 5-3 5.5-3.4 8 .4 2.5 3.4 3 3.4 8" fill="none" stroke="#a66a1f" stroke-width="1.8" stroke-linecap="round" /><path d="M7.6 17.500c.6-2.5 4.2-2.5 4.8 0z" fill="#e8a317" />`;

/** The symbols a payments message lives by, drawn here so that they look alike on a machine without an emoji font. */
const glyphs: Record<string, SVGTemplateResult> = {
  '✅': tile('#1a8a5a', tick),
  // An outline, so that shape and not colour alone tells it from ✅.
  '☑': svg`<rect x="2" y="2" width="16" height="16" rx="3" fill="#fff" stroke="#2f6f8f" stroke-width="2" /><path d="m5.5 10.5 3 3 6-7" fill="none" stroke="#2f6f8f" stroke-width="2.400" stroke-linecap="round" stroke-linejoin="round" />`,
  '❌': line(svg`<path d="m4 4 12 12M16 4 4 16" stroke="#c92a3f" stroke-width="3.2" />`),
  '✖': line(cross),
  '✔': line(tick),
  '✓': line(tick),
  '✗': line(cross),
  '✕': line(cross),
  '❓': disc('#5b6472', question),
  '❔': disc('#8a93a0', question),
  '❗': disc('#c92a3f', svg`<path d="M10 5v6M10 14.500v.1" />`),
  '⛔': disc('#c92a3f', svg`<path d="M5.5 10h9" />`),
  '🚫': disc('#c92a3f', svg`<path d="m4.5 4.5 11 11" />`),
  '🛑': svg`<path d="M6.300 1h7.400L19 6.300v7.400L13.700 19H6.300L1 13.700V6.300z" fill="#c92a3f" /><path d="M5.500 10h9" stroke="#fff" stroke-width="2.400" stroke-linecap="round" />`,
  '↩': line(svg`<path d="M7 5 3 9l4 4M3 9h9a4 4 0 0 1 0 8h-2" />`),
  '⚠': warning,
  '⌛': hourglass,
  '⏳': hourglass,
  ℹ: disc('#2563a8', svg`<path d="M10 9v5.500M10 5.500v.1" />`),
  '🔴': svg`<circle cx="10" cy="10" r="8" fill="#d0364b" />`,
  '🟢': svg`<circle cx="10" cy="10" r="8" fill="#1f9d62" />`,
  '🟡': svg`<circle cx="10" cy="10" r="8" fill="#e3b21c" />`,
  '🟠': svg`<circle cx="10" cy="10" r="8" fill="#e07b1f" />`,
  '🔵': svg`<circle cx="10" cy="10" r="8" fill="#2f74c0" />`,
  '⚪': svg`<circle cx="10" cy="10" r="7.5" fill="#e6e8ec" stroke="#9aa0aa" />`,
  '⚫': svg`<circle cx="10" cy="10" r="8" fill="#3b3f46" />`,
  '🟦': square('#2f74c0'),
  '🟪': square('#7d4fc0'),
  '🟧': square('#e07b1f'),
  '🟨': square('#e3b21c'),
  '🟫': square('#8a5a2b'),
  '⬛': square('#3b3f46'),
  '⬜': square('#e6e8ec'),
  '📄': svg`<path d="M4 1.500h8l4 4v13H4z" fill="#fff" stroke="#5b6472" stroke-width="1.6" stroke-linejoin="round" /><path d="M6.500 9h7M6.500 12h7M6.500 15h5" stroke="#5b6472" stroke-width="1.4" />`,
  '📥': svg`<path d="M2 11v6.500h16V11h-4.500l-1.500 2.500H8L6.500 11z" fill="#fff" stroke="#5b6472" stroke-width="1.6" stroke-linejoin="round" /><path d="M10 1.500v7.500M6.500 6l3.500 3.500L13.500 6" fill="none" stroke="#2e8b57" stroke-width="2" stroke-linecap="round" stroke-linejoin="round" />`,
  '🚨': svg`<path d="M4.5 15v-4a5.5 5.5 0 0 1 11 0v4z" fill="#d0364b" /><rect x="3" y="15" width="14" height="3" rx="1" fill="#5b6472" /><path d="M10 1v2M3 4l1.5 1.500M17 4l-1.5 1.5" stroke="#d0364b" stroke-width="1.6" stroke-linecap="round" />`,
  '🔔': svg`<path d="M4 14.500c1.5-1.5 1-6 2-8a4.5 4.5 0 0 1 8 0c1 2 .5 6.5 2 8z" fill="#e3b21c" /><path d="M8 16.500a2 2 0 0 0 4 0z" fill="#a66a1f" />`,
  '📨': svg`<rect x="5" y="4.5" width="14" height="11" rx="1.5" fill="#fff" stroke="#5b6472" stroke-width="1.6" /><path d="m5.5 5.5 6.5 5.500 6.5-5.5" fill="none" stroke="#5b6472" stroke-width="1.6" stroke-linejoin="round" /><path d="M1 7.500h2.500M0.500 10.500h3M1 13.500h2.500" stroke="#2f74c0" stroke-width="1.6" stroke-linecap="round" />`,
  '🔕': svg`<path d="M4 14.500c1.5-1.5 1-6 2-8a4.5 4.5 0 0 1 8 0c1 2 .5 6.5 2 8z" fill="#b4bac3" /><path d="M8 16.500a2 2 0 0 0 4 0z" fill="#7a818c" /><path d="m3 2.500 14 15" stroke="#c92a3f" stroke-width="2.4" stroke-linecap="round" />`,
  '💤': svg`<g fill="none" stroke="#2f74c0" stroke-linecap="round" stroke-linejoin="round"><path d="M2 10.500h7L2 18.500h7" stroke-width="2.400" /><path d="M11 2h6.500L11 9h6.5" stroke-width="2" /></g>`,
  '👤': svg`<circle cx="10" cy="6.500" r="4.500" fill="#5b6472" /><path d="M1.500 19c0-8 17-8 17 0z" fill="#5b6472" />`,
  '⏰': svg`<path d="M1.500 6 5.500 2M18.500 6l-4-4M4.500 18.500l1.500-2M15.500 18.500l-1.5-2" stroke="#5b6472" stroke-width="2.200" stroke-linecap="round" /><circle cx="10" cy="10.500" r="7" fill="#fff" stroke="#d0364b" stroke-width="2" /><path d="M10 6.500v4l3 2" fill="none" stroke="#3b3f46" stroke-width="1.800" stroke-linecap="round" />`,
  '🔍': line(svg`<circle cx="8.5" cy="8.5" r="5.5" /><path d="m13 13 5 5" />`),
  '🔎': line(svg`<circle cx="11.5" cy="8.5" r="5.5" /><path d="m7 13-5 5" />`),
  '🔒': svg`<rect x="4" y="9" width="12" height="9" rx="2" fill="#e3b21c" /><path d="M6.5 9V6.500a3.5 3.5 0 0 1 7 0V9" fill="none" stroke="#7a818c" stroke-width="2" />`,
  '💳': svg`<rect x="1" y="4" width="18" height="12.5" rx="2" fill="#2f74c0" /><path d="M1 8h18" stroke="#123" stroke-width="3" /><path d="M4 13h5" stroke="#fff" stroke-width="1.6" />`,
  '🧪': svg`<path d="M7.5 2h5M8.5 2v12.500a2.5 2.5 0 0 0 5 0V2" transform="translate(-1 0)" fill="none" stroke="#7a818c" stroke-width="1.6" stroke-linecap="round" /><path d="M7.6 9h4.800v5.500a2.4 2.4 0 0 1-4.8 0z" fill="#1f9d62" />`,
  '👋': disc('#e3a62c', svg`<path d="M7 12V7.500M10 11V5.500M13 12V7.5" />`),
  '🔄': line(svg`<path d="M16 8a6.5 6.5 0 0 0-12-1M4 3v4h4M4 12a6.5 6.5 0 0 0 12 1M16 17v-4h-4" />`),
  '🔁': line(svg`<path d="M16 8a6.5 6.5 0 0 0-12-1M4 3v4h4M4 12a6.5 6.5 0 0 0 12 1M16 17v-4h-4" />`),
  '🔑': svg`<g fill="none" stroke="#c98a12" stroke-width="2.4" stroke-linecap="round" stroke-linejoin="round"><circle cx="6.5" cy="13.5" r="4" /><path d="m9.5 10.5 8-8M14 6l2.8 2.8" /></g>`,
  '🔗': line(
    svg`<path d="M8.5 11.500a3.5 3.5 0 0 0 5 0l3-3a3.5 3.5 0 0 0-5-5l-1 1M11.5 8.500a3.5 3.5 0 0 0-5 0l-3 3a3.5 3.5 0 0 0 5 5l1-1" />`,
  ),
  '🤝': line(
    svg`<path d="M1.5 6.5 5 5l5 2 5-2 3.5 1.500v7L16 14M1.5 13.5 4 14l5 4 7-4-5-5-3 2.5-2-1.5 4-3" stroke-width="1.7" />`,
  ),
  '📋': svg`<rect x="3" y="3" width="14" height="15" rx="2" fill="#a66a1f" /><rect x="5" y="5" width="10" height="11" fill="#fff" /><rect x="7" y="1.500" width="6" height="3.500" rx="1" fill="#7a818c" /><path d="M7 8.500h6M7 11h6M7 13.500h4" stroke="#5b6472" stroke-width="1.2" />`,
  '📭': svg`<path d="M2 16V9.500A4.5 4.5 0 0 1 6.5 5H14a4.5 4.5 0 0 1 4 4.500V16z" fill="#5b6472" /><path d="M2 16V9.500a4.5 4.5 0 0 1 9 0V16z" fill="#2b3038" /><path d="M14.5 16v3M14.5 9.500v3h3" fill="none" stroke="#d0364b" stroke-width="1.8" />`,
  '🕓': svg`<circle cx="10" cy="10" r="8" fill="#fff" stroke="#5b6472" stroke-width="2" /><path d="M10 5v5l3.5 2.5" fill="none" stroke="#3b3f46" stroke-width="1.8" stroke-linecap="round" />`,
  '⚡': svg`<path d="M11.5 1 3.5 11.500H9L8 19l8.5-10.500H11z" fill="#e3b21c" />`,
  '👀': svg`<ellipse cx="6" cy="10" rx="4" ry="6" fill="#fff" stroke="#5b6472" /><ellipse cx="14" cy="10" rx="4" ry="6" fill="#fff" stroke="#5b6472" /><circle cx="7" cy="11" r="2" /><circle cx="15" cy="11" r="2" />`,
};

const pattern = new RegExp(`(${Object.keys(glyphs).join('|')})\\uFE0F?`, 'gu');

/** The symbol as a drawing; the character itself stays for screen readers, copying and search. */
function glyph(character: string): TemplateResult {
  return html`<span class="emoji"
    ><span class="visually-hidden">${character}</span
    ><svg viewBox="0 0 20 20" width="17" height="17" aria-hidden="true">${glyphs[character]}</svg></span
  >`;
}

/** Text as text, with its `:names:` and symbols drawn. Whatever it holds, it can never become markup. */
export function drawText(text: string): (string | TemplateResult)[] {
  const pieces: (string | TemplateResult)[] = [];
  const whole = withEmoji(text);
  let at = 0;
  for (const match of whole.matchAll(pattern)) {
    if (match.index > at) pieces.push(whole.slice(at, match.index));
    pieces.push(glyph(match[1] ?? ''));
    at = match.index + match[0].length;
  }
  if (at < whole.length) pieces.push(whole.slice(at));
  return pieces;
}
