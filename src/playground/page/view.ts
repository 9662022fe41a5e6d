import { html, nothing, type TemplateResult } from 'lit/html.js';
import type { PageUser } from '../../simulators/protocol.ts';
import { drawConversation, drawSidebar } from './conversation.ts';
import { drawExchangeLog } from './exchange-log.ts';
import { drawGuide } from './guide.ts';
import { avatar, botAvatar, icon } from './icons.ts';
import type { Drawn } from './inline.ts';
import { drawDialogs } from './modal.ts';
import type { Connection, Dispatch, Draw, Model } from './model.ts';
import { drawPaymentsPanel } from './payments-panel.ts';

/** The whole page as a function of the state. */
export function drawPage(model: Model, dispatch: Dispatch): TemplateResult {
  const { page, ui } = model;
  if (!page) {
    return html`<p class="waiting" role="status">
      ${ui.connection === 'reconnecting' ? 'The playground does not answer. Trying again…' : 'Opening the playground…'}
    </p>`;
  }
  const draw: Draw = { page, ui, dispatch };
  return html`<div class="page ${ui.panelShown ? 'page-panel-shown' : ''} ${logClass(ui)}">
      ${drawTop(draw)} ${drawGuide(draw)} ${drawSidebar(draw)} ${drawConversation(draw)}
      ${drawPaymentsPanel(draw)} ${drawExchangeLog(draw)}
    </div>
    ${drawProblem(draw)} ${drawDialogs(draw)}`;
}

function logClass({ log }: Draw['ui']): string {
  if (!log.open) return 'page-log-closed';
  return log.chosen === undefined ? '' : 'page-log-detail';
}

const connectionWords: Record<Connection, string> = {
  connecting: 'connecting…',
  live: 'live',
  reconnecting: 'reconnecting…',
};

function drawTop(draw: Draw): TemplateResult {
  const { page, ui, dispatch } = draw;
  return html`<header class="top">
    <div class="brand">${botAvatar(24)} <b>Payops</b> <span class="brand-sub">playground</span></div>
    <p class="connection connection-${ui.connection}" role="status">
      <span class="dot" aria-hidden="true"></span> ${connectionWords[ui.connection]}
    </p>
    <p class="top-note">Everything here is simulated and stays on this machine</p>
    ${
      ui.guideHidden
        ? html`<button
            type="button"
            class="top-button"
            @click=${() => dispatch({ kind: 'hide_guide', hidden: false })}
          >
            Try this
          </button>`
        : nothing
    }
    <div
      class="users"
      role="radiogroup"
      aria-label="You are"
      @keydown=${(event: KeyboardEvent) => walkUsers(event, draw)}
    >
      ${page.users.map((user) => drawUserChoice(user, draw))}
    </div>
    <button
      type="button"
      class="top-button panel-toggle"
      aria-pressed=${ui.panelShown ? 'true' : 'false'}
      @click=${() => dispatch({ kind: 'show_panel', shown: !ui.panelShown })}
    >
      ${icon('card')} Payments
    </button>
  </header>`;
}

function drawUserChoice(user: PageUser, { page, dispatch }: Draw): TemplateResult {
  const current = user.id === page.user.id;
  return html`<button
    type="button"
    class="user"
    role="radio"
    data-user=${user.id}
    aria-checked=${current ? 'true' : 'false'}
    tabindex=${current ? 0 : -1}
    title="Be ${user.realName}, ${user.role}"
    @click=${() => dispatch({ kind: 'choose_user', userId: user.id })}
  >
    ${avatar(user.realName, user.avatarColor, 24)}
    <span><b>${user.realName}</b><small>${user.role}</small></span>
  </button>`;
}

function walkUsers(event: KeyboardEvent, { page, dispatch }: Draw): void {
  const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
  if (step === undefined) return;
  event.preventDefault();
  const at = page.users.findIndex(({ id }) => id === page.user.id);
  const next = page.users[(at + step + page.users.length) % page.users.length];
  if (!next) return;
  dispatch({ kind: 'choose_user', userId: next.id });
  document.querySelector<HTMLElement>(`[data-user="${CSS.escape(next.id)}"]`)?.focus();
}

/** What went wrong outside a dialog; a dialog shows it itself. */
function drawProblem({ page, ui, dispatch }: Draw): Drawn {
  if (ui.problem === undefined || page.views.length > 0) return nothing;
  return html`<div class="problem" role="alert">
    ${icon('alert')} <span>${ui.problem}</span>
    <button
      type="button"
      class="tool"
      aria-label="Dismiss"
      @click=${() => dispatch({ kind: 'problem', problem: undefined })}
    >
      ${icon('close', 14)}
    </button>
  </div>`;
}
