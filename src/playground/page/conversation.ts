import { html, nothing, type TemplateResult } from 'lit/html.js';
import { guard } from 'lit/directives/guard.js';
import { live } from 'lit/directives/live.js';
import { repeat } from 'lit/directives/repeat.js';
import type { PageChannel, PageMessage } from '../../simulators/protocol.ts';
import { avatar, botAvatar, drawMenu, type Drawn } from './bits.ts';
import { drawBlocks } from './blocks.ts';
import { act, focusSoon, page, ui, update, type Thread } from './state.ts';
import { clockTime, dayName, drawMrkdwn, drawTime } from './text.ts';

/** The middle of the page: a channel's messages or the bot's Home, and the open thread beside it. */
export function drawConversation(): TemplateResult {
  const channel = page.channels.find(({ id }) => id === ui.channel);
  if (!channel) return html`<main id="main"></main>`;
  const { kind, name, botIsMember, topic } = channel;
  const isDm = kind === 'dm';
  return html`<main id="main" tabindex="-1" aria-label=${nameOf(channel)}>
    <section class="channel column" aria-label="Messages">
      <header>
        <h2 class="row">${isDm ? botAvatar(22) : '#'} ${name}</h2>
        ${isDm ? drawTabs() : html`<small>${botIsMember ? topic : 'The bot is not in this channel: /invite @pay'}</small>`}
      </header>
      ${isDm && ui.tab === 'home' ? drawHome() : drawMessages(channel)}
    </section>
    ${drawThread()}
  </main>`;
}

function nameOf({ kind, name }: PageChannel): string {
  return kind === 'dm' ? name : `#${name}`;
}

function openTab(tab: typeof ui.tab): void {
  update({ tab });
  if (tab === 'home') void act({ kind: 'open_home' });
}

function drawTabs(): TemplateResult {
  return html`<div class="tabs" role="tablist" aria-label="Parts of the app">
    ${(['home', 'messages'] as const).map(
      (tab) =>
        html`<button
          type="button"
          role="tab"
          aria-selected=${String(ui.tab === tab)}
          @click=${() => openTab(tab)}
        >
          ${tab === 'home' ? 'Home' : 'Messages'}
        </button>`,
    )}
  </div>`;
}

function drawHome(): TemplateResult {
  const { home } = page;
  return html`<div
    class="home scroll"
    tabindex="0"
    role="tabpanel"
    aria-label="Home"
    data-surface=${home?.id ?? ''}
  >
    ${home ? drawBlocks(home.blocks, { container: { type: 'view', viewId: home.id } }) : nothing}
  </div>`;
}

function drawMessages(channel: PageChannel): TemplateResult {
  const all = page.messages[channel.id] ?? [];
  const messages = all.filter(({ threadTs, ts }) => threadTs === undefined || threadTs === ts);
  return html`<div
      class="messages column scroll"
      role="log"
      aria-label="Messages in ${nameOf(channel)}"
      tabindex="0"
    >
      ${repeat(
        messages,
        ({ ts }) => ts,
        (message, index) => drawInList(message, messages[index - 1]),
      )}
    </div>
    ${
      channel.readOnly
        ? html`<p class="composer soft">
            Sending messages to this app has been turned off. Type <code>/pay</code> in any channel.
          </p>`
        : drawComposer(channel)
    }`;
}

/** Draws an unchanged message only once, because there may be hundreds while a person types. */
function drawInList(message: PageMessage, before: PageMessage | undefined): Drawn {
  const day = dayName(sentMs(message));
  const isNewDay = !before || dayName(sentMs(before)) !== day;
  const last = lastReply(message)?.ts;
  return html`${guard([JSON.stringify(message), isNewDay, day, last, page.user.id], () => [
    isNewDay ? html`<p class="day soft">${day}</p>` : nothing,
    drawMessage(message, false),
  ])}`;
}

function sentMs({ ts }: PageMessage): number {
  return Number(ts) * 1000;
}

function lastReply({ channel, ts }: PageMessage): PageMessage | undefined {
  return page.messages[channel]?.findLast((reply) => reply.threadTs === ts && reply.ts !== ts);
}

/** One message: author, time, content, and marks like *edited*. */
function drawMessage(message: PageMessage, inThread: boolean): TemplateResult {
  const { authorId, authorName, authorIsBot, ephemeral, edited, files = [] } = message;
  const author = page.users.find(({ id }) => id === authorId);
  return html`<article
    class=${ephemeral ? 'ephemeral' : ''}
    aria-label="${authorName}, ${clockTime(sentMs(message))}"
    data-surface=${message.ts}
  >
    ${authorIsBot && authorId !== 'USLACKBOT' ? botAvatar() : avatar(authorName, author?.avatarColor)}
    <div>
      ${ephemeral ? html`<p class="soft">Only visible to you</p>` : nothing}
      <p>
        <b>${authorName}</b> ${authorIsBot ? html`<span class="tag">APP</span>` : nothing}
        <small>${drawTime(sentMs(message))}</small>
      </p>
      ${drawBody(message)} ${edited ? html`<small>(edited)</small>` : nothing}
      ${files.map(
        ({ name, title, text }) =>
          html`<details class="file">
            <summary><b>${title}</b> ${name}</summary>
            <pre tabindex="0">${text}</pre>
            <a download=${name} href="data:text/csv;charset=utf-8,${encodeURIComponent(text)}">Download</a>
          </details>`,
      )}
      ${inThread ? nothing : drawReplies(message)}
    </div>
    ${ephemeral ? nothing : drawTools(message, inThread)}
  </article>`;
}

function drawBody({ channel, ts, text, blocks }: PageMessage): Drawn {
  if (blocks.length === 0) return drawMrkdwn(text);
  return drawBlocks(blocks, { container: { type: 'message', channel, ts } });
}

function openThread({ channel, ts }: Thread): void {
  update({ thread: { channel, ts } });
  focusSoon('#thread-composer');
}

function drawReplies(message: PageMessage): Drawn {
  const { replyCount } = message;
  const last = lastReply(message);
  if (replyCount === 0) return nothing;
  return html`<button type="button" class="link" @click=${() => openThread(message)}>
    ${replyCount}
    ${replyCount === 1 ? 'reply' : 'replies'}${last ? `, the last at ${clockTime(sentMs(last))}` : ''}
  </button>`;
}

function drawTools(message: PageMessage, inThread: boolean): TemplateResult {
  const { channel, ts } = message;
  const reply = { label: 'Reply in thread', choose: () => openThread(message) };
  const shortcuts = page.messageShortcuts.map(({ callbackId, name }) => ({
    label: name,
    choose: () => void act({ kind: 'message_shortcut', callbackId, channel, ts }),
  }));
  return html`<div class="box message-tools">
    ${drawMenu({
      id: `shortcuts-${inThread ? 'thread-' : ''}${ts}`,
      face: '⋯',
      label: 'More actions',
      items: inThread ? shortcuts : [reply, ...shortcuts],
    })}
  </div>`;
}

function closeThread(): void {
  update({ thread: undefined });
  focusSoon('#composer');
}

function onThreadKey(event: KeyboardEvent): void {
  if (event.key === 'Escape' && !event.defaultPrevented) closeThread();
}

function drawThread(): Drawn {
  const { thread } = ui;
  const channel = page.channels.find(({ id }) => id === thread?.channel);
  const all = page.messages[thread?.channel ?? ''] ?? [];
  const messages = all.filter(({ ts, threadTs }) => thread && (ts === thread.ts || threadTs === thread.ts));
  if (!thread || !channel) return nothing;
  return html`<section class="thread column" aria-label="Thread" @keydown=${onThreadKey}>
    <header>
      <h2>Thread</h2>
      <small>${nameOf(channel)}</small>
      <button type="button" class="tool" aria-label="Close thread" @click=${closeThread}>×</button>
    </header>
    <div class="messages column scroll" role="log" aria-label="Thread messages" tabindex="0">
      ${repeat(
        messages,
        ({ ts }) => ts,
        (message) => drawMessage(message, true),
      )}
    </div>
    ${channel.readOnly ? nothing : drawComposer(channel, thread.ts)}
  </section>`;
}

/** The message field, with the description of a typed slash command. In threads Slack has no slash commands. */
function drawComposer(channel: PageChannel, threadTs?: string): TemplateResult {
  const id = threadTs === undefined ? 'composer' : 'thread-composer';
  const place = threadTs === undefined ? channel.id : `${channel.id}/${threadTs}`;
  const draft = ui.drafts[place] ?? '';
  const [typed = ''] = draft.split(' ');
  const commands = threadTs === undefined && typed.startsWith('/') ? page.slashCommands : [];
  const begun = commands.find(({ command }) => command.startsWith(typed));

  function write(text: string): void {
    update({ drafts: { ...ui.drafts, [place]: text } });
  }
  /** Sends the text. If that fails, the text returns to the field, unless the person has begun another. */
  async function send(event: Event): Promise<void> {
    event.preventDefault();
    const text = draft.trim();
    if (text === '') return;
    write('');
    const thread = threadTs === undefined ? {} : { threadTs };
    const result = await act({ kind: 'send_message', channel: channel.id, text, ...thread });
    if (!result.ok && !ui.drafts[place]) write(text);
  }
  function onKey(event: KeyboardEvent): void {
    if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) void send(event);
  }
  return html`<form class="composer row" @submit=${send}>
    ${begun ? html`<p class="box" id="usage"><b>${begun.command}</b> <code>${begun.usageHint}</code> <small>${begun.description}</small></p>` : nothing}
    <textarea
      id=${id}
      rows=${Math.min(6, draft.split('\n').length)}
      aria-label=${threadTs === undefined ? `Message ${nameOf(channel)}` : 'Reply in thread'}
      aria-describedby=${begun ? 'usage' : nothing}
      placeholder=${threadTs === undefined ? 'Type /pay, or a message' : 'Reply…'}
      spellcheck="false"
      .value=${live(draft)}
      @input=${(event: Event) => write((event.currentTarget as HTMLTextAreaElement).value)}
      @keydown=${onKey}
    ></textarea>
    ${drawMenu({
      id: `${id}-global`,
      face: '⚡',
      label: 'Shortcuts',
      items: page.globalShortcuts.map(({ callbackId, name }) => ({
        label: name,
        choose: () => void act({ kind: 'global_shortcut', callbackId }),
      })),
    })}
    <button class="button primary" aria-label="Send" ?disabled=${draft.trim() === ''}>➤</button>
  </form>`;
}
