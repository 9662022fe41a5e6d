import { html, type nothing, type TemplateResult } from 'lit/html.js';
import type { RichTextBlock, RichTextElement } from '@slack/types';
import { openChannel, page } from './state.ts';

/** Slack's two kinds of marked text, mrkdwn and rich_text. Whatever a text holds, it is drawn as text. */

export type Drawn = TemplateResult | string | typeof nothing | Drawn[];

const clock: Intl.DateTimeFormatOptions = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' };
/** Making a format costs a thousand times what using it costs, and every message shows times. */
const formats = {
  time: new Intl.DateTimeFormat('en', clock),
  time_secs: new Intl.DateTimeFormat('en', { ...clock, second: '2-digit' }),
  date: new Intl.DateTimeFormat('en', { year: 'numeric', month: 'short', day: 'numeric' }),
  whole: new Intl.DateTimeFormat('en', { dateStyle: 'full', timeStyle: 'long' }),
};

/** `14:05`, the reader's time. */
export function clockTime(ms: number, format: 'time' | 'time_secs' = 'time'): string {
  return formats[format].format(ms);
}

/** `Today`, `Yesterday`, `Tomorrow` or the date. */
export function dayName(ms: number, nowMs = Date.now()): string {
  const days = (new Date(ms).setHours(0, 0, 0, 0) - new Date(nowMs).setHours(0, 0, 0, 0)) / 86_400_000;
  return { '-1': 'Yesterday', 0: 'Today', 1: 'Tomorrow' }[Math.round(days)] ?? formats.date.format(ms);
}

/** A Slack date format like `{date_short_pretty} at {time}` in the reader's own time zone; unknown tokens stay. */
export function dateWords(ms: number, format: string, nowMs = Date.now()): string {
  return format.replaceAll(/\{(\w+)\}/g, (whole, name: string, at: number) => {
    if (name === 'time' || name === 'time_secs') return clockTime(ms, name);
    if (!name.startsWith('date')) return whole;
    const day = dayName(ms, nowMs);
    return at === 0 || /\d/.test(day) ? day : day.toLowerCase();
  });
}

/** A moment; the whole of it on hover. */
export function drawTime(ms: number, words: string): TemplateResult {
  return html`<time datetime=${new Date(ms).toISOString()} title=${formats.whole.format(ms)}>${words}</time>`;
}

/** The address when a link may lead there: the web and mail, never script, data or files. */
export function safeUrl(url: string): string | undefined {
  return /^(https?:\/\/|mailto:)/i.test(url.trim()) ? url.trim() : undefined;
}

function drawUser(id: string): TemplateResult {
  const name = page.users.find((user) => user.id === id)?.realName ?? id;
  return html`<span class="mention ${id === page.user.id ? 'mention-me' : ''}">@${name}</span>`;
}

/** `#pay-alerts`, and a way there when the reader can see it. */
function drawChannel(id: string, label = 'private channel'): TemplateResult {
  const channel = page.channels.find((candidate) => candidate.id === id);
  if (!channel) return html`<span class="mention">#${label}</span>`;
  return html`<button type="button" class="mention" @click=${() => openChannel(id)}>
    #${channel.name}
  </button>`;
}

/** Slack's three escapes, and no others. */
function unescapeText(text: string): string {
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
}

const marks =
  /```([\s\S]+?)```|`([^`\n]+)`|<([^<>|\n]+)(?:\|([^<>\n]*))?>|(?:^|\n)&gt; ?([^\n]*)|(?<![\p{L}\p{N}])([*_~])(?=\S)([^\n]*?\S)\6(?![\p{L}\p{N}])/gu;

/** mrkdwn as Slack would draw it. Never fails: what it cannot read stays the text it is. */
export function drawMrkdwn(text: string): Drawn {
  const drawn: Drawn[] = [];
  let at = 0;
  for (const mark of text.matchAll(marks)) {
    drawn.push(unescapeText(text.slice(at, mark.index)), drawMark(mark));
    at = mark.index + mark[0].length;
  }
  return html`<span class="text">${[...drawn, unescapeText(text.slice(at))]}</span>`;
}

function drawMark([whole, lines, code, target, label, quote, style, styled = '']: RegExpMatchArray): Drawn {
  if (lines !== undefined) return html`<pre>${unescapeText(lines)}</pre>`;
  if (code !== undefined) return html`<code>${unescapeText(code)}</code>`;
  if (target !== undefined) return drawTarget(unescapeText(target), label) ?? unescapeText(whole);
  if (quote !== undefined) return html`<blockquote>${drawMrkdwn(quote)}</blockquote>`;
  const inner = drawMrkdwn(styled);
  return style === '*'
    ? html`<b>${inner}</b>`
    : style === '_'
      ? html`<i>${inner}</i>`
      : html`<s>${inner}</s>`;
}

function drawTarget(target: string, label: string | undefined): Drawn | undefined {
  const words = unescapeText(label ?? target);
  const [, kind, id = ''] = /^([@#])([A-Z0-9]+)$/.exec(target) ?? [];
  if (kind !== undefined) return kind === '@' ? drawUser(id) : drawChannel(id, label);
  const [, seconds, format = ''] = /^!date\^(\d+)\^([^^]+)/.exec(target) ?? [];
  if (seconds !== undefined)
    return drawTime(Number(seconds) * 1000, dateWords(Number(seconds) * 1000, format));
  if (/^!(here|channel|everyone)$/.test(target))
    return html`<span class="mention">@${target.slice(1)}</span>`;
  const address = safeUrl(target);
  return address && html`<a href=${address} target="_blank" rel="noreferrer noopener">${words}</a>`;
}

/** A rich_text block of the parts that the bot makes; any other says that it is not drawn. */
export function drawRichText(block: RichTextBlock): Drawn {
  return block.elements.map((element): Drawn => {
    if (element.type === 'rich_text_list') return drawAbsent(element.type);
    const parts = element.elements.map(drawPart);
    if (element.type === 'rich_text_quote') return html`<blockquote>${parts}</blockquote>`;
    if (element.type === 'rich_text_preformatted') return html`<pre>${parts}</pre>`;
    return html`<p class="text">${parts}</p>`;
  });
}

function drawPart(part: RichTextElement): Drawn {
  const { bold, italic, strike, code } = part.style ?? {};
  let drawn = drawPlainPart(part);
  if (code) drawn = html`<code>${drawn}</code>`;
  if (bold) drawn = html`<b>${drawn}</b>`;
  if (italic) drawn = html`<i>${drawn}</i>`;
  return strike ? html`<s>${drawn}</s>` : drawn;
}

function drawPlainPart(part: RichTextElement): Drawn {
  switch (part.type) {
    case 'text':
      return part.text;
    case 'user':
      return drawUser(part.user_id);
    case 'channel':
      return drawChannel(part.channel_id);
    case 'usergroup':
      return html`<span class="mention">@${part.usergroup_id}</span>`;
    case 'date':
      return drawTime(part.timestamp * 1000, dateWords(part.timestamp * 1000, part.format));
    default:
      return drawAbsent(part.type);
  }
}

/** What the bot does not use is not drawn; the stories in a browser fail where one stands. */
export function drawAbsent(type: string): TemplateResult {
  return html`<span class="undrawn">This playground has no ${type}.</span>`;
}
