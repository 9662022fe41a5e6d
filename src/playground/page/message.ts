import { html, nothing, type TemplateResult } from 'lit/html.js';
import type { PageMessage } from '../../simulators/protocol.ts';
import { drawBlocks, type Surface } from './blocks.ts';
import { clockTime, exactTime } from './dates.ts';
import { avatar, botAvatar, icon, plainColor } from './icons.ts';
import { drawMrkdwn, type Drawn } from './inline.ts';
import { drawMenu } from './menu.ts';
import type { Draw } from './model.ts';

export function sentAtMs(message: PageMessage): number {
  return Number(message.ts) * 1000;
}

type Shown = { message: PageMessage; compact: boolean; inThread: boolean };

/** One message: who, when, and what, with its marks. `compact` leaves out what the message above already says. */
export function drawMessage({ message, compact, inThread }: Shown, draw: Draw): TemplateResult {
  const author = draw.page.users.find((user) => user.id === message.authorId);
  const at = new Date(sentAtMs(message));
  const time = html`<time datetime=${at.toISOString()} title=${exactTime(at.getTime())}
    >${clockTime(at.getTime())}</time
  >`;
  return html`<article
    class="message ${compact ? 'message-compact' : ''} ${message.ephemeral ? 'message-ephemeral' : ''}"
    aria-label="${message.authorName}, ${clockTime(at.getTime())}"
    data-ts=${message.ts}
  >
    <div class="message-gutter">
      ${compact ? time : isOurBot(message) ? botAvatar() : avatar(message.authorName, author?.avatarColor)}
    </div>
    <div class="message-main">
      ${message.ephemeral ? html`<p class="only-you">${icon('eye', 14)} Only visible to you</p>` : nothing}
      ${
        compact
          ? nothing
          : html`<header class="message-head">
              <b class="author">${message.authorName}</b>
              ${message.authorIsBot ? html`<span class="badge">APP</span>` : nothing} ${time}
            </header>`
      }
      <div class="message-body">${drawBody(message, draw)}</div>
      ${drawFiles(message)} ${message.edited ? html`<span class="edited">(edited)</span>` : nothing}
      ${inThread ? nothing : drawReplies(message, draw)}
    </div>
    ${message.ephemeral ? nothing : drawTools(message, inThread, draw)}
  </article>`;
}

/** Slack speaks as an app too, under an id that is the same in every workspace. */
function isOurBot({ authorIsBot, authorId }: PageMessage): boolean {
  return authorIsBot && authorId !== 'USLACKBOT';
}

function drawBody(message: PageMessage, draw: Draw): Drawn {
  const { channel, ts } = message;
  const surface: Surface = { container: { type: 'message', channel, ts }, errors: {} };
  const attachments = message.attachments.map(
    ({ color, blocks }) =>
      html`<div class="attachment">
        <svg class="attachment-bar" width="4" aria-hidden="true">
          <rect width="4" height="100%" rx="2" fill=${plainColor(color)} />
        </svg>
        <div>${drawBlocks(blocks, surface, draw)}</div>
      </div>`,
  );
  if (message.blocks.length > 0) return [drawBlocks(message.blocks, surface, draw), ...attachments];
  return attachments.length > 0 && message.text === ''
    ? attachments
    : [drawMrkdwn(message.text, draw), ...attachments];
}

/** A file can be read here, and kept. */
function drawFiles({ files = [] }: PageMessage): Drawn {
  if (files.length === 0) return nothing;
  return files.map(
    ({ name, title, text }) =>
      html`<details class="file">
        <summary>${icon('card', 14)} <b>${title}</b> ${name}</summary>
        <pre>${text}</pre>
        <a download=${name} href="data:text/csv;charset=utf-8,${encodeURIComponent(text)}">Download</a>
      </details>`,
  );
}

function drawReplies(message: PageMessage, draw: Draw): Drawn {
  if (message.replyCount === 0) return nothing;
  const { channel, ts, replyCount } = message;
  const last = draw.page.messages[channel]?.findLast((reply) => reply.threadTs === ts && reply.ts !== ts);
  return html`<button
    type="button"
    class="replies"
    @click=${() => draw.dispatch({ kind: 'open_thread', channel, ts })}
  >
    ${icon('thread', 14)} ${replyCount} ${replyCount === 1 ? 'reply' : 'replies'}
    <span class="replies-hint">${last ? `Last reply ${clockTime(sentAtMs(last))}` : 'View thread'}</span>
  </button>`;
}

function drawTools(message: PageMessage, inThread: boolean, draw: Draw): TemplateResult {
  const { channel, ts } = message;
  return html`<div class="message-tools">
    ${
      inThread
        ? nothing
        : html`<button
            type="button"
            class="tool"
            aria-label="Reply in thread"
            title="Reply in thread"
            @click=${() => draw.dispatch({ kind: 'open_thread', channel, ts })}
          >
            ${icon('thread')}
          </button>`
    }
    ${
      draw.page.messageShortcuts.length === 0
        ? nothing
        : drawMenu({
            id: `shortcuts-${inThread ? 'thread-' : ''}${channel}-${ts}`,
            face: icon('more'),
            label: 'More actions',
            className: 'tool',
            items: draw.page.messageShortcuts.map(({ callbackId, name }) => ({
              label: name,
              choose: () =>
                draw.dispatch({
                  kind: 'act',
                  action: { kind: 'message_shortcut', callbackId, channel, ts },
                }),
            })),
          })
    }
  </div>`;
}
