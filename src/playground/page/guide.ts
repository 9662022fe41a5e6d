import { html, nothing, type TemplateResult } from 'lit/html.js';
import { icon } from './icons.ts';
import type { Drawn } from './inline.ts';
import type { Draw } from './model.ts';
import type { ServedState } from './served.ts';

export type GuideStep = {
  done: boolean;
  say: Drawn;
  button?: { label: string; press: (draw: Draw) => void };
};

function lookedUp(page: ServedState, reference: string): boolean {
  return page.log.some(
    ({ from, to, path }) =>
      from === 'bot' && to === 'payments' && path.endsWith(`orderReference=${encodeURIComponent(reference)}`),
  );
}

function typing(command: string): NonNullable<GuideStep['button']> {
  return {
    label: 'Type it',
    press: ({ ui, dispatch }) => {
      if (ui.channel === undefined) return;
      dispatch({ kind: 'draft', place: ui.channel, text: command, focus: true });
    },
  };
}

/** Whether an event was sent once more and taken, and one with a bad signature refused. */
function sentAgain({ payments }: ServedState): boolean {
  const taken = payments.deliveries.some(
    ({ how, state }) => how !== undefined && how !== 'bad_signature' && state === 'delivered',
  );
  return (
    taken && payments.deliveries.some(({ how, lastStatus }) => how === 'bad_signature' && lastStatus === 401)
  );
}

/** By their references: the merchant's own system numbers its charges. */
function chargedFromSlack({ payments }: ServedState): boolean {
  return payments.orders.some(
    ({ isSavedCardCharge, state, orderReference }) =>
      isSavedCardCharge && state === 'paid' && orderReference.startsWith('pay-'),
  );
}

function showing(tab: 'cards' | 'events' | 'weather'): NonNullable<GuideStep['button']> {
  return {
    label: 'Show me',
    press: ({ dispatch }) => {
      dispatch({ kind: 'choose_panel_tab', tab });
      dispatch({ kind: 'show_panel', shown: true });
    },
  };
}

/** What a newcomer does first, each ticked off when it was seen to happen. */
export function guideSteps({ page }: Pick<Draw, 'page'>): GuideStep[] {
  const { orders } = page.payments;
  const paid = orders.find(({ orderReference }) => orderReference === 'ORDER-1001') ?? orders[0];
  // A card-saving link makes an order too, under a reference that nobody types.
  const unpaid = orders.find(
    ({ state, orderReference }) => state === 'created' && !orderReference.startsWith('pay-'),
  );
  const first = `/pay ${paid?.orderReference ?? 'ORDER-1001'}`;
  const second = `/pay ${unpaid?.orderReference ?? 'ORDER-1002'}`;
  const told = page.channels.some(
    ({ id, name }) =>
      name === 'pay-alerts' &&
      page.messages[id]?.some(({ authorIsBot, ephemeral }) => authorIsBot && !ephemeral),
  );
  return [
    {
      done: lookedUp(page, first.slice(5)),
      say: html`Type <code>${first}</code>: paid, with proof`,
      button: typing(first),
    },
    {
      done: lookedUp(page, second.slice(5)),
      say: html`Type <code>${second}</code>: not confirmed, and why`,
      button: typing(second),
    },
    {
      done: chargedFromSlack(page),
      say: html`Type <code>/pay charge</code>: Bola’s card asks for the code on the customer’s phone`,
      button: typing('/pay charge'),
    },
    {
      done: told,
      say: html`Let the bank decline a <b>saved card</b>: one alert in #pay-alerts`,
      button: showing('cards'),
    },
    {
      done: sentAgain(page),
      say: html`Under <b>Events</b>, send it again, then with a bad signature: still one alert`,
      button: showing('events'),
    },
    {
      done: page.bot.starts > 1,
      say: html`Weather <b>Hangs</b>, decline, <b>Kill −9</b>; weather Normal, <b>Start</b>: one alert`,
      button: showing('weather'),
    },
  ];
}

export function drawGuide(draw: Draw): Drawn {
  if (draw.ui.guideHidden) return nothing;
  return html`<section class="guide" aria-label="Try this">
    <header>
      <h2>Try this</h2>
      <button
        type="button"
        class="tool"
        aria-label="Hide the guide"
        @click=${() => draw.dispatch({ kind: 'hide_guide', hidden: true })}
      >
        ${icon('close', 14)}
      </button>
    </header>
    <ol>
      ${guideSteps(draw).map((step, index) => drawStep(step, index, draw))}
    </ol>
  </section>`;
}

function drawStep(step: GuideStep, index: number, draw: Draw): TemplateResult {
  const { done, say, button } = step;
  return html`<li class=${done ? 'guide-done' : ''}>
    <span class="guide-mark">${done ? icon('check', 12) : index + 1}</span>
    <span class="guide-say"
      >${say}${done ? html`<span class="visually-hidden"> (done)</span>` : nothing}</span
    >
    ${
      button && !done
        ? html`<button type="button" class="link-button" @click=${() => button.press(draw)}>
            ${button.label}
          </button>`
        : nothing
    }
  </li>`;
}
