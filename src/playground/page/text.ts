import { html, type TemplateResult } from 'lit/html.js';
import type { RichTextBlock, RichTextElement } from '@slack/types';
import type { Drawn } from './bits.ts';
import { openChannel, page } from './state.ts';

/** Slack's two kinds of marked text, mrkdwn and rich_text. Nothing in a text becomes HTML. */

const clock: Intl.DateTimeFormatOptions = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' };
/** Made once: making a format costs a thousand times as much as using it, and every message shows times. */
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
export function dayName(ms: number): string {
  const days = (new Date(ms).setHours(0, 0, 0, 0) - new Date().setHours(0, 0, 0, 0)) / 86_400_000;
  return { '-1': 'Yesterday', 0: 'Today', 1: 'Tomorrow' }[Math.round(days)] ?? formats.date.format(ms);
}

/** A moment in a Slack date format like `{date_short_pretty} at {time}`, by the reader's clock; unknown tokens stay. */
export function drawTime(ms: number, format = '{time}'): TemplateResult {
  const words = format.replaceAll(/\{(\w+)\}/g, (whole, name: string, at: number) => {
    if (name === 'time' || name === 'time_secs') return clockTime(ms, name);
    if (!name.startsWith('date')) return whole;
    const day = dayName(ms);
    return at === 0 || /\d/.test(day) ? day : day.toLowerCase();
  });
  return html`<time datetime=${new Date(ms).toISOString()} title=${formats.whole.format(ms)}>${words}</time>`;
}

function drawUser(id: string): TemplateResult {
  const { app, users } = page;
  const name = id === app.userId ? app.name : (users.find((user) => user.id === id)?.realName ?? id);
  return html`<span class="mention">@${name}</span>`;
}

/** `#pay-alerts`, as a link if the reader can see the channel. */
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

/** mrkdwn, the parts that the bot uses: people, channels, dates and links. Unknown markup stays text. */
export function drawMrkdwn(text: string): Drawn {
  const drawn: Drawn[] = [];
  let at = 0;
  for (const mark of text.matchAll(/<([^<>|\n]+)(?:\|([^<>\n]*))?>/g)) {
    const [whole, target = '', label] = mark;
    const words = unescapeText(whole);
    drawn.push(unescapeText(text.slice(at, mark.index)), drawTarget(unescapeText(target), label) ?? words);
    at = mark.index + whole.length;
  }
  return html`<p class="text">${[...drawn, unescapeText(text.slice(at))]}</p>`;
}

/** Links only to the web and to mail, never to script, data or files. */
function drawTarget(target: string, label: string | undefined): Drawn | undefined {
  const [, kind, id = ''] = /^([@#])([A-Z0-9]+)$/.exec(target) ?? [];
  if (kind !== undefined) return kind === '@' ? drawUser(id) : drawChannel(id, label);
  const [, seconds, format = ''] = /^!date\^(\d+)\^([^^]+)/.exec(target) ?? [];
  if (seconds !== undefined) return drawTime(Number(seconds) * 1000, format);
  if (!/^(https?:\/\/|mailto:)/i.test(target)) return undefined;
  const words = unescapeText(label ?? target);
  return html`<a href=${target} target="_blank" rel="noreferrer noopener">${words}</a>`;
}

/** The parts of rich_text that the bot uses; others say that they are not drawn. */
export function drawRichText(block: RichTextBlock): Drawn {
  return block.elements.map((element): Drawn => {
    if (element.type === 'rich_text_list') return drawAbsent(element.type);
    const parts = element.elements.map(drawPart);
    if (element.type === 'rich_text_quote') return html`<blockquote>${parts}</blockquote>`;
    return element.type === 'rich_text_preformatted'
      ? html`<pre>${parts}</pre>`
      : html`<p class="text">${parts}</p>`;
  });
}

function drawPart(part: RichTextElement): Drawn {
  const { bold, code } = part.style ?? {};
  let drawn = drawPlainPart(part);
  if (code) drawn = html`<code>${drawn}</code>`;
  return bold ? html`<b>${drawn}</b>` : drawn;
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
      return drawTime(part.timestamp * 1000, part.format);
    default:
      return drawAbsent(part.type);
  }
}

/** Marks an element that the playground can't draw. A browser test fails if it finds such a mark. */
export function drawAbsent(type: string): TemplateResult {
  return html`<span class="undrawn">This playground has no ${type}.</span>`;
}
