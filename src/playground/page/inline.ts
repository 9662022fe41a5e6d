import { html, nothing, type TemplateResult } from 'lit/html.js';
import type { MrkdwnElement, PlainTextElement, RawTextElement } from '@slack/types';
import { exactTime, formatDateToken } from './dates.ts';
import { drawText } from './glyph.ts';
import type { Draw } from './model.ts';
import { parseMrkdwn, safeUrl, type Inline, type Passage } from './mrkdwn.ts';

export type Drawn = TemplateResult | string | typeof nothing | Drawn[];

/** A link that leads only to the web or to mail; any other address is shown and leads nowhere. */
export function drawLink(url: string, content: Drawn): Drawn {
  const address = safeUrl(url);
  if (address === undefined) return html`<span class="dead-link">${content}</span>`;
  return html`<a href=${address} target="_blank" rel="noreferrer noopener">${content}</a>`;
}

/** `@Ada`, or the id when nobody has it. */
export function drawUser(id: string, draw: Draw, label?: string): Drawn {
  const name = draw.page.users.find((user) => user.id === id)?.realName ?? label ?? id;
  const isReader = id === draw.page.user.id;
  return html`<span class="mention ${isReader ? 'mention-me' : ''}">@${name}</span>`;
}

/** `#pay-alerts`, and a way there when the reader can see it. */
export function drawChannel(id: string, draw: Draw, label?: string): Drawn {
  const channel = draw.page.channels.find((candidate) => candidate.id === id);
  if (!channel) return html`<span class="mention">#${label ?? 'private channel'}</span>`;
  return html`<button
    type="button"
    class="mention mention-link"
    @click=${() => draw.dispatch({ kind: 'choose_channel', channel: id })}
  >
    #${channel.name}
  </button>`;
}

/** A moment in the reader's own time; the whole of it on hover. */
export function drawDate(
  date: { seconds: number; format: string; fallback: string; url?: string | undefined },
  now: Date,
): Drawn {
  const at = new Date(date.seconds * 1000);
  if (Number.isNaN(at.getTime())) return date.fallback;
  const text = formatDateToken(date.seconds, date.format, now);
  const time = html`<time datetime=${at.toISOString()} title=${exactTime(at.getTime())}>${text}</time>`;
  return date.url === undefined ? time : drawLink(date.url, time);
}

/** Draws one parsed line. */
function drawInline(nodes: Inline[], draw: Draw): Drawn {
  return nodes.map((node): Drawn => {
    switch (node.kind) {
      case 'text':
        return drawText(node.text);
      case 'emoji':
        return drawText(node.character);
      case 'bold':
        return html`<b>${drawInline(node.children, draw)}</b>`;
      case 'italic':
        return html`<i>${drawInline(node.children, draw)}</i>`;
      case 'strike':
        return html`<s>${drawInline(node.children, draw)}</s>`;
      case 'code':
        return html`<code>${node.text}</code>`;
      case 'link':
        return drawLink(node.url, drawText(node.text));
      case 'break':
        return html`<br />`;
      case 'date':
        return drawDate(node, new Date());
      default:
        return drawMention(node, draw);
    }
  });
}

function drawMention(
  node: Extract<Inline, { kind: 'user' | 'channel' | 'usergroup' | 'broadcast' }>,
  draw: Draw,
): Drawn {
  if (node.kind === 'broadcast') return html`<span class="mention">@${node.range}</span>`;
  if (node.kind === 'user') return drawUser(node.id, draw, node.label);
  if (node.kind === 'channel') return drawChannel(node.id, draw, node.label);
  return html`<span class="mention">${node.label ?? `@${node.id}`}</span>`;
}

function drawPassages(passages: Passage[], draw: Draw): Drawn {
  return passages.map((passage): Drawn => {
    switch (passage.kind) {
      case 'lines':
        return html`<div class="passage">${drawInline(passage.children, draw)}</div>`;
      case 'quote':
        return html`<blockquote>${drawInline(passage.children, draw)}</blockquote>`;
      case 'preformatted':
        return html`<pre>${passage.text}</pre>`;
    }
  });
}

export function drawMrkdwn(text: string, draw: Draw): Drawn {
  return drawPassages(parseMrkdwn(text), draw);
}

/** Any of Block Kit's text objects. */
export function drawTextObject(
  text: MrkdwnElement | PlainTextElement | RawTextElement | undefined,
  draw: Draw,
): Drawn {
  if (!text) return nothing;
  if (text.type === 'mrkdwn') return drawMrkdwn(text.text, draw);
  return html`<span class="plain">${drawText(text.text)}</span>`;
}
