import { html, nothing, type TemplateResult } from 'lit/html.js';
import type { PageChannel } from '../../simulators/protocol.ts';
import { avatar, botAvatar } from './bits.ts';
import { drawConversation } from './conversation.ts';
import { drawGuide } from './guide.ts';
import { drawLog } from './log.ts';
import { drawDialogs } from './modal.ts';
import { drawPanel } from './panel.ts';
import { be, openChannel, page, ui, unread, update } from './state.ts';
import type { Drawn } from './text.ts';

/** The whole page as it stands. */
export function drawFrame(): TemplateResult {
  return html`<a class="skip" href="#main">Skip to the conversation</a>
    <div class="page ${ui.panel.isShown ? 'panel-shown' : ''}">
      ${drawTop()} ${drawSidebar()} ${drawConversation()} ${drawPanel()} ${drawLog()}
    </div>
    ${drawProblem()} ${drawDialogs()}`;
}

function drawTop(): TemplateResult {
  const { isShown } = ui.panel;
  return html`<header class="top">
    <h1>${botAvatar(24)} <span>Payops playground</span></h1>
    <p role="status" class=${ui.connection}>${ui.connection === 'live' ? 'live' : 'reconnecting…'}</p>
    <p class="note">Everything here is simulated and stays on this machine</p>
    <div class="users" role="group" aria-label="You are">
      ${page.users.map(
        ({ id, realName, role, avatarColor }) =>
          html`<button
            type="button"
            aria-pressed=${String(id === page.user.id)}
            title="Be ${realName}, ${role}"
            @click=${() => be(id)}
          >
            ${avatar(realName, avatarColor, 24)} <span><b>${realName}</b> <small>${role}</small></span>
          </button>`,
      )}
    </div>
    <button
      type="button"
      class="panel-toggle"
      aria-label="Payments"
      aria-pressed=${String(isShown)}
      @click=${() => update({ panel: { ...ui.panel, isShown: !isShown } })}
    >
      <span aria-hidden="true">💳</span> <span class="words">Payments</span>
    </button>
  </header>`;
}

function drawSidebar(): TemplateResult {
  const inOrder = page.channels.toSorted((a, b) => a.kind.localeCompare(b.kind));
  return html`<nav aria-label="Workspace">
    <ul aria-label="Channels">
      ${inOrder.map(drawEntry)}
    </ul>
    ${drawGuide()}
  </nav>`;
}

function drawEntry({ id, kind, name }: PageChannel): TemplateResult {
  const fresh = unread(id);
  return html`<li>
    <button
      type="button"
      class="entry"
      aria-current=${id === ui.channel ? 'page' : nothing}
      @click=${() => openChannel(id)}
    >
      ${kind === 'dm' ? botAvatar(18) : html`<span aria-hidden="true">#</span>`} <span>${name}</span>
      ${fresh > 0 ? html`<b class="unread">${fresh}<span class="hidden"> unread</span></b>` : nothing}
    </button>
  </li>`;
}

/** What went wrong outside a dialog; a dialog shows it itself. */
function drawProblem(): Drawn {
  if (ui.problem === undefined || page.views.length > 0) return nothing;
  return html`<div class="problem" role="alert">
    <span>${ui.problem}</span>
    <button type="button" class="tool" aria-label="Dismiss" @click=${() => update({ problem: undefined })}>
      ×
    </button>
  </div>`;
}
