import { html, nothing, render, type TemplateResult } from 'lit/html.js';
import type { PageChannel } from '../../simulators/protocol.ts';
import { avatar, botAvatar, type Drawn } from './bits.ts';
import { drawConversation } from './conversation.ts';
import { drawLog } from './log.ts';
import { closeDialogs, drawDialogs, settleDialogs } from './modal.ts';
import { drawPanel } from './panel.ts';
import { act, drawWith, focusSoon, followAs, openChannel, page, ui, unread, update } from './state.ts';

const nearEndPx = 60;
let isFirst = true;

function drawPage(): TemplateResult {
  return html`<a class="skip box" href="#main">Skip to the conversation</a> ${drawTop()} ${drawSidebar()}
    ${drawConversation()} ${drawPanel()} ${drawLog()} ${drawProblem()} ${drawDialogs()}`;
}

function drawTop(): TemplateResult {
  const { connection, isPanelShown } = ui;
  return html`<header class="top">
    <h1 class="row">${botAvatar(24)} <span>Payops playground</span></h1>
    <p role="status" class=${connection === 'live' ? '' : 'tag unread'}>
      ${connection === 'live' ? 'live' : 'reconnecting…'}
    </p>
    <p class="note one-line">Everything here is simulated and stays on this machine</p>
    <div class="row" role="group" aria-label="You are">
      ${page.users.map(
        ({ id, realName, role, avatarColor }) =>
          html`<button
            type="button"
            class="row"
            aria-pressed=${String(id === page.user.id)}
            title="Be ${realName}, ${role}"
            @click=${() => followAs(id)}
          >
            ${avatar(realName, avatarColor, 24)} <span><b>${realName}</b> <small>${role}</small></span>
          </button>`,
      )}
    </div>
    <button
      type="button"
      class="panel-toggle row"
      aria-pressed=${String(isPanelShown)}
      @click=${() => update({ isPanelShown: !isPanelShown })}
    >
      <span aria-hidden="true">💳</span> <span>Payments</span>
    </button>
  </header>`;
}

function drawSidebar(): TemplateResult {
  const inOrder = page.channels.toSorted((a, b) => a.kind.localeCompare(b.kind));
  return html`<nav class="column" aria-label="Workspace">
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
      class="entry row"
      aria-current=${id === ui.channel ? 'page' : nothing}
      @click=${() => openChannel(id)}
    >
      ${kind === 'dm' ? botAvatar(18) : html`<span aria-hidden="true">#</span>`} ${name}
      ${fresh > 0 ? html`<b class="tag unread">${fresh}<span class="hidden"> unread</span></b>` : nothing}
    </button>
  </li>`;
}

type GuideStep = { say: string; button: string; press: () => void };

function type(say: string, command: string): GuideStep {
  const press = (): void => {
    const desk = page.channels.find(({ name }) => name === 'pay-desk')?.id ?? '';
    update({ drafts: { ...ui.drafts, [desk]: command } });
    openChannel(desk);
  };
  return { say: `${command}: ${say}`, button: 'Type it', press };
}

function show(say: string, panelTab: typeof ui.panelTab): GuideStep {
  return { say, button: 'Show me', press: () => update({ panelTab, isPanelShown: true }) };
}

function openHome(): void {
  update({ channel: page.channels.find(({ kind }) => kind === 'dm')?.id, tab: 'home', thread: undefined });
  void act({ kind: 'open_home' });
}

/** What a newcomer may try, in any order. */
const steps: readonly GuideStep[] = [
  type('paid, with proof', '/pay ORDER-1001'),
  type('not confirmed, and why', '/pay ORDER-1002'),
  type('Bola’s card (1127) asks for the code on the customer’s phone', '/pay charge'),
  type('Bola’s card (1127): the customer types the code on their own page', '/pay charge'),
  show('Let the bank decline a saved card: one alert', 'Saved cards'),
  show('Send the event of an alert again, then with a bad signature: still one alert', 'Events'),
  show('Send 60 failures: #pay-alerts gets one count, not 60 messages', 'Saved cards'),
  type('needs a second person: be Lindiwe, approve it in #pay-ops', '/pay charge 100,000.00'),
  { say: 'Home: your charges, codes to enter, alerts assigned to you', button: 'Open it', press: openHome },
  show('Faults: the service hangs, decline, Kill −9; it works, Start: one alert', 'Faults'),
];

function drawGuide(): TemplateResult {
  return html`<section class="guide" aria-label="Try this">
    <details ?open=${innerWidth >= 1000}>
      <summary><b>Try this, in any order</b></summary>
      <ol>
        ${steps.map(
          ({ say, button, press }) =>
            html`<li>${say} <button type="button" class="link" @click=${press}>${button}</button></li>`,
        )}
      </ol>
      <p>What next: connect your own Slack and payments service, by <code>docs/set-up.md</code>.</p>
    </details>
  </section>`;
}

/** The last problem, unless a dialog is open, which shows it itself. */
function drawProblem(): Drawn {
  if (ui.problem === undefined || page.views.length > 0) return nothing;
  return html`<div class="problem box row" role="alert">
    ${ui.problem}
    <button type="button" class="tool" aria-label="Dismiss" @click=${() => update({ problem: undefined })}>
      ×
    </button>
  </div>`;
}

/**
 * Keeps lists at their end: those that were at their end before drawing, and those that now show another conversation.
 * A list that a person scrolled up stays.
 */
function keepAtEnd(): () => void {
  const before = new Map<Element, string | null>();
  for (const list of document.querySelectorAll('[role=log]')) {
    const isAtEnd = list.scrollHeight - list.scrollTop - list.clientHeight < nearEndPx;
    if (!isAtEnd) before.set(list, list.ariaLabel);
  }
  return () => {
    for (const list of document.querySelectorAll('[role=log]'))
      if (before.get(list) !== list.ariaLabel) list.scrollTop = list.scrollHeight;
  };
}

drawWith(() => {
  const settle = keepAtEnd();
  const focused = document.activeElement;
  closeDialogs();
  if (isFirst) document.body.replaceChildren();
  render(drawPage(), document.body);
  settleDialogs(focused);
  settle();
  if (isFirst) focusSoon('#composer');
  isFirst = false;
});
// Closes the guide when the window becomes too small for it.
addEventListener('resize', () => update());
followAs(new URL(location.href).searchParams.get('user') ?? undefined);
