import { html, nothing, type TemplateResult } from 'lit/html.js';
import type { BotState } from '../../simulators/protocol.ts';
import { clockTimeWithSeconds } from './dates.ts';
import { icon } from './icons.ts';
import type { Draw } from './model.ts';

const words: Record<BotState['status'], { word: string; tone: string }> = {
  starting: { word: 'starting', tone: 'warn' },
  ready: { word: 'ready', tone: 'good' },
  down: { word: 'down', tone: 'bad' },
};

/** A line of the log for people: when, what, and its plain fields. Anything else stays as it was written. */
function readable(line: string): string {
  try {
    const { time, level, message, ...rest } = JSON.parse(line) as Record<string, unknown>;
    if (typeof time !== 'string' || typeof message !== 'string') return line;
    const fields = Object.entries(rest).filter(([, value]) => typeof value !== 'object');
    const words = fields.map(([name, value]) => `${name}=${String(value)}`);
    return [
      clockTimeWithSeconds(Date.parse(time)),
      ...(level === 'info' ? [] : [level]),
      message,
      ...words,
    ].join(' ');
  } catch {
    return line;
  }
}

/** Is the bot alive, and the two buttons that make Must show 3 a thing one can press. */
export function drawBot({ page, dispatch }: Draw): TemplateResult {
  const { status, starts, lastLines } = page.bot;
  const { word, tone } = words[status];
  const down = status === 'down';
  return html`<section class="bot" aria-label="The bot">
    <div class="bot-line">
      <h2>The bot</h2>
      <span class="state state-${tone}" role="status">${word}</span>
      <span class="row-sub">${starts} ${starts === 1 ? 'start' : 'starts'}</span>
      <a class="bot-log" href="/bot.log" target="_blank">Log ${icon('external', 12)}</a>
      ${
        down
          ? html`<button
              type="button"
              class="small-button small-button-strong"
              @click=${() => dispatch({ kind: 'act', action: { kind: 'bot_start' } })}
            >
              Start
            </button>`
          : html`<button
              type="button"
              class="small-button small-button-danger"
              title="Ends the process at once, as a power cut would"
              @click=${() => dispatch({ kind: 'act', action: { kind: 'bot_kill' } })}
            >
              Kill −9
            </button>`
      }
    </div>
    ${
      down && lastLines.length > 0
        ? html`<div class="bot-lines" tabindex="0" role="group" aria-label="The bot’s last words">
            <pre>${lastLines.map(readable).join('\n')}</pre>
          </div>`
        : nothing
    }
  </section>`;
}
