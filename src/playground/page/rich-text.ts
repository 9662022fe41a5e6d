import { html, type TemplateResult } from 'lit/html.js';
import type { RichTextBlock, RichTextBlockElement, RichTextElement } from '@slack/types';
import { emojiCharacter } from './emoji.ts';
import { drawText } from './glyph.ts';
import { drawChannel, drawDate, drawLink, drawUser, type Drawn } from './inline.ts';
import { plainColor } from './icons.ts';
import type { Draw } from './model.ts';

/** A rich_text block: sections, lists, quotes and preformatted passages. */
export function drawRichText(block: RichTextBlock, draw: Draw): TemplateResult {
  return html`<div class="rich-text">${block.elements.map((element) => drawElement(element, draw))}</div>`;
}

function drawElement(element: RichTextBlockElement, draw: Draw): Drawn {
  switch (element.type) {
    case 'rich_text_section':
      return html`<div class="passage">${drawParts(element.elements, draw)}</div>`;
    case 'rich_text_quote':
      return html`<blockquote>${drawParts(element.elements, draw)}</blockquote>`;
    case 'rich_text_preformatted':
      return html`<pre>${drawParts(element.elements, draw)}</pre>`;
    case 'rich_text_list': {
      const items = element.elements.map((item) => html`<li>${drawParts(item.elements, draw)}</li>`);
      const indent = `indent-${Math.min(element.indent ?? 0, 4)}`;
      return element.style === 'ordered'
        ? html`<ol class=${indent}>
            ${items}
          </ol>`
        : html`<ul class=${indent}>
            ${items}
          </ul>`;
    }
  }
}

function drawParts(parts: RichTextElement[], draw: Draw): Drawn {
  return parts.map((part) => withStyle(part, drawPart(part, draw)));
}

function drawPart(part: RichTextElement, draw: Draw): Drawn {
  switch (part.type) {
    case 'text':
      return part.style?.code === true ? part.text : drawLines(part.text);
    case 'link':
      return drawLink(part.url, drawText(part.text ?? part.url));
    case 'user':
      return drawUser(part.user_id, draw);
    case 'channel':
      return drawChannel(part.channel_id, draw);
    case 'emoji':
      return drawText(emojiCharacter(part.name) ?? `:${part.name}:`);
    case 'date': {
      const { timestamp: seconds, format, url, fallback } = part;
      return drawDate({ seconds, format, url, fallback: fallback ?? format }, new Date());
    }
    default:
      return drawRarePart(part);
  }
}

function drawRarePart(
  part: Extract<RichTextElement, { type: 'broadcast' | 'usergroup' | 'team' | 'color' }>,
): Drawn {
  switch (part.type) {
    case 'broadcast':
      return html`<span class="mention">@${part.range}</span>`;
    case 'usergroup':
      return html`<span class="mention">@${part.usergroup_id}</span>`;
    case 'team':
      return html`<span class="mention">${part.team_id}</span>`;
    case 'color':
      return html`<svg width="12" height="12" aria-hidden="true">
          <rect width="12" height="12" rx="3" fill=${plainColor(part.value)} />
        </svg>
        ${part.value}`;
  }
}

function drawLines(text: string): Drawn {
  return text
    .split('\n')
    .map((line, index): Drawn => (index === 0 ? drawText(line) : [html`<br />`, drawText(line)]));
}

function withStyle(part: RichTextElement, content: Drawn): Drawn {
  const style = part.style ?? {};
  let drawn = content;
  if (style.code === true) drawn = html`<code>${drawn}</code>`;
  if (style.bold === true) drawn = html`<b>${drawn}</b>`;
  if (style.italic === true) drawn = html`<i>${drawn}</i>`;
  if (style.strike === true) drawn = html`<s>${drawn}</s>`;
  return drawn;
}
