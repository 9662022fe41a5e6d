import { html, nothing, type TemplateResult } from 'lit/html.js';
import { guard } from 'lit/directives/guard.js';
import { repeat } from 'lit/directives/repeat.js';
import type { PageChannel, PageMessage } from '../../simulators/protocol.ts';
import { drawBlocks } from './blocks.ts';
import { drawComposer } from './composer.ts';
import { dayName } from './dates.ts';
import { avatar, botAvatar, icon } from './icons.ts';
import type { Drawn } from './inline.ts';
import { drawMessage, sentAtMs } from './message.ts';
import { scopeOf, type Draw } from './model.ts';

const sameBreathMs = 5 * 60_000;

/** The middle of the page: a channel's messages, or the bot's Home, and the open thread beside it. */
export function drawConversation(draw: Draw): TemplateResult {
  const channel = draw.page.channels.find((candidate) => candidate.id === draw.ui.channel);
  if (!channel) return html`<main class="conversation"><p class="empty">Choose a channel.</p></main>`;
  const isHome = channel.kind === 'dm' && draw.ui.tab === 'home';
  return html`<main class="conversation" aria-label=${titleOf(channel)}>
    <section class="channel" aria-label="Messages">
      ${drawHead(channel, draw)} ${isHome ? drawHome(draw) : drawMessages(channel, draw)}
    </section>
    ${drawThread(draw)}
  </main>`;
}

function titleOf(channel: PageChannel): string {
  return channel.kind === 'dm' ? channel.name : `#${channel.name}`;
}

function drawHead(channel: PageChannel, draw: Draw): TemplateResult {
  return html`<header class="channel-head">
    <h1>
      ${channel.kind === 'dm' ? botAvatar(22) : icon('hash')} <span>${channel.name}</span>
      ${channel.kind === 'dm' ? html`<span class="badge">APP</span>` : nothing}
    </h1>
    ${channel.topic === '' ? nothing : html`<p class="topic">${channel.topic}</p>`}
    ${channel.kind === 'dm' ? drawTabs(draw) : drawMembership(channel)}
  </header>`;
}

function drawMembership(channel: PageChannel): Drawn {
  return channel.botIsMember ? nothing : html`<p class="topic">The bot is not in this channel</p>`;
}

function drawTabs(draw: Draw): TemplateResult {
  const tabs = [
    { tab: 'home', label: 'Home' },
    { tab: 'messages', label: 'Messages' },
  ] as const;
  return html`<div class="tabs" role="tablist" aria-label="Parts of the app">
    ${tabs.map(
      ({ tab, label }) =>
        html`<button
          type="button"
          role="tab"
          aria-selected=${draw.ui.tab === tab ? 'true' : 'false'}
          @click=${() => draw.dispatch({ kind: 'choose_tab', tab })}
        >
          ${label}
        </button>`,
    )}
  </div>`;
}

function drawHome(draw: Draw): TemplateResult {
  const { home } = draw.page;
  return html`<div class="home" tabindex="0" role="tabpanel" aria-label="Home">
    ${
      home
        ? drawBlocks(home.blocks, { container: { type: 'view', viewId: home.id }, errors: home.errors }, draw)
        : html`<p class="empty">The app has not published a Home for ${draw.page.user.realName} yet.</p>`
    }
  </div>`;
}

function drawMessages(channel: PageChannel, draw: Draw): TemplateResult {
  const all = draw.page.messages[channel.id] ?? [];
  const messages = all.filter(({ threadTs, ts }) => threadTs === undefined || threadTs === ts);
  return html`<div class="messages" role="log" aria-label="Messages in ${titleOf(channel)}" tabindex="0">
      <div class="messages-spacer"></div>
      ${drawWelcome(channel)} ${drawList(messages, draw)}
    </div>
    ${channel.readOnly ? drawReadOnly() : drawComposer({ channel, id: 'composer' }, draw)}`;
}

/** Slack's own words, and where to go instead. */
function drawReadOnly(): TemplateResult {
  return html`<p class="read-only">
    Sending messages to this app has been turned off. Type <code>/pay</code> in any channel.
  </p>`;
}

function drawWelcome(channel: PageChannel): TemplateResult {
  const text =
    channel.kind === 'dm'
      ? 'This is your direct line to the bot. What must reach only you arrives here.'
      : `This is the very beginning of #${channel.name}.`;
  return html`<p class="welcome">${text}</p>`;
}

function drawList(messages: PageMessage[], draw: Draw): Drawn {
  const rows = messages.map((message, index) => ({ message, before: messages[index - 1] }));
  return html`${repeat(
    rows,
    ({ message }) => message.ts,
    ({ message, before }) =>
      guard([message, before, ...lookDependsOn(message, draw)], () => {
        const newDay = !before || dayOf(before) !== dayOf(message);
        const compact = !newDay && sameBreath(before, message);
        return html`${newDay ? drawDay(message) : nothing}
        ${drawMessage({ message, compact, inThread: false }, draw)}`;
      }),
  )}`;
}

/** All that a message's look depends on besides itself: hundreds may stand there while a person types. */
function lookDependsOn({ channel, ts }: PageMessage, { page, ui }: Draw): unknown[] {
  const minute = Math.floor(Date.now() / 60_000);
  const typed = ui.typed[scopeOf({ type: 'message', channel, ts })];
  return [page.user, page.users, page.channels, page.messageShortcuts, typed, ui.suggestions, minute];
}

function dayOf(message: PageMessage): string {
  return new Date(sentAtMs(message)).toDateString();
}

function sameBreath(before: PageMessage, message: PageMessage): boolean {
  return (
    before.authorId === message.authorId &&
    !before.ephemeral &&
    !message.ephemeral &&
    !message.authorIsBot &&
    before.replyCount === 0 &&
    sentAtMs(message) - sentAtMs(before) < sameBreathMs
  );
}

function drawDay(message: PageMessage): TemplateResult {
  return html`<div class="day"><span>${dayName(sentAtMs(message), new Date())}</span></div>`;
}

function drawThread(draw: Draw): Drawn {
  const { thread } = draw.ui;
  const channel = draw.page.channels.find((candidate) => candidate.id === thread?.channel);
  const all = thread ? (draw.page.messages[thread.channel] ?? []) : [];
  const parent = all.find((message) => message.ts === thread?.ts);
  if (!thread || !channel || !parent) return nothing;
  const replies = all.filter(({ threadTs, ts }) => threadTs === parent.ts && ts !== parent.ts);
  const close = (): void => draw.dispatch({ kind: 'close_thread' });
  return html`<aside
    class="thread"
    aria-label="Thread"
    @keydown=${(event: KeyboardEvent) => {
      if (event.key === 'Escape' && !event.defaultPrevented) close();
    }}
  >
    <header class="channel-head">
      <h2>Thread <span class="topic">${titleOf(channel)}</span></h2>
      <button type="button" class="tool" aria-label="Close thread" @click=${close}>${icon('close')}</button>
    </header>
    <div class="messages" role="log" aria-label="Thread messages" tabindex="0">
      ${drawMessage({ message: parent, compact: false, inThread: true }, draw)}
      ${
        replies.length === 0
          ? nothing
          : html`<div class="day">
              <span>${replies.length} ${replies.length === 1 ? 'reply' : 'replies'}</span>
            </div>`
      }
      ${repeat(
        replies,
        ({ ts }) => ts,
        (message) => drawMessage({ message, compact: false, inThread: true }, draw),
      )}
    </div>
    ${drawComposer({ channel, threadTs: parent.ts, id: 'thread-composer' }, draw)}
  </aside>`;
}

/** The list of channels and the app, with what is new in them. */
export function drawSidebar(draw: Draw): TemplateResult {
  const { page } = draw;
  const group = (kind: PageChannel['kind']): PageChannel[] =>
    page.channels.filter((channel) => channel.kind === kind);
  return html`<nav class="sidebar" aria-label="Workspace">
    <div class="workspace-name">Lagos store <small>local Slack workspace</small></div>
    <h2 id="channels-heading">Channels</h2>
    <ul aria-labelledby="channels-heading">
      ${group('channel').map((channel) => drawEntry(channel, draw))}
    </ul>
    <h2 id="apps-heading">Apps</h2>
    <ul aria-labelledby="apps-heading">
      ${group('dm').map((channel) => drawEntry(channel, draw))}
    </ul>
    <div class="sidebar-me">
      ${avatar(page.user.realName, page.user.avatarColor, 30)}
      <span><b>${page.user.realName}</b><small>${page.user.role}</small></span>
    </div>
  </nav>`;
}

function drawEntry(channel: PageChannel, draw: Draw): TemplateResult {
  const { ui, page } = draw;
  const seen = Number(ui.seen[`${page.user.id}/${channel.id}`] ?? ui.openedTs);
  const fresh = (page.messages[channel.id] ?? []).filter(
    ({ ts, authorId }) => Number(ts) > seen && authorId !== page.user.id,
  ).length;
  const current = channel.id === ui.channel;
  return html`<li>
    <button
      type="button"
      class="entry ${fresh > 0 ? 'entry-fresh' : ''}"
      aria-current=${current ? 'page' : nothing}
      @click=${() => draw.dispatch({ kind: 'choose_channel', channel: channel.id })}
    >
      ${channel.kind === 'dm' ? botAvatar(18) : icon('hash', 14)}
      <span class="entry-name">${channel.name}</span>
      ${
        fresh > 0
          ? html`<span class="unread">${fresh}<span class="visually-hidden"> unread</span></span>`
          : nothing
      }
    </button>
  </li>`;
}
