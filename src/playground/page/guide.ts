import { html, type TemplateResult } from 'lit/html.js';
import type { PageState } from '../../simulators/protocol.ts';
import type { PanelTab } from './panel.ts';
import { act, focusSoon, page, ui, update } from './state.ts';

type GuideStep = { isDone: boolean; say: string; button?: string; press?: () => void };

function type(command: string): Pick<GuideStep, 'button' | 'press'> {
  return {
    button: 'Type it',
    press: () => {
      update({ drafts: { ...ui.drafts, [ui.channel ?? '']: command } });
      focusSoon('#composer');
    },
  };
}

function show(tab: PanelTab): Pick<GuideStep, 'button' | 'press'> {
  return { button: 'Show me', press: () => update({ panel: { tab, isShown: true } }) };
}

function openHome(): void {
  update({ channel: page.channels.find(({ kind }) => kind === 'dm')?.id, tab: 'home', thread: undefined });
  void act({ kind: 'open_home' });
}

/** What a newcomer may try, in any order, each ticked off when it was seen to happen. */
function guideSteps(state: PageState): GuideStep[] {
  const { payments, channels, messages, home, log, bot, openedAt = Infinity } = state;
  const lookedUp = (reference: string): boolean =>
    log.some(
      ({ from, to, path, at }) =>
        from === 'bot' && to === 'payments' && at > openedAt && path.endsWith(`orderReference=${reference}`),
    );
  const said = (channel: string, words: RegExp): boolean =>
    channels.some(
      ({ id, name }) =>
        name === channel && messages[id]?.some(({ authorIsBot, text }) => authorIsBot && words.test(text)),
    );
  const since = payments.orders.filter((order) => order.at > openedAt);
  const paid = since.filter((order) => order.orderReference.startsWith('pay-') && order.state === 'paid');
  const taken = payments.deliveries.some(
    ({ how, state }) => how !== undefined && how !== 'bad_signature' && state === 'delivered',
  );
  const refused = payments.deliveries.some(
    ({ how, lastStatus }) => how === 'bad_signature' && lastStatus === 401,
  );
  return [
    { isDone: lookedUp('ORDER-1001'), say: '/pay ORDER-1001: paid, with proof', ...type('/pay ORDER-1001') },
    {
      isDone: lookedUp('ORDER-1002'),
      say: '/pay ORDER-1002: not confirmed, and why',
      ...type('/pay ORDER-1002'),
    },
    {
      isDone: paid.some(({ amount }) => Number(amount) < 100_000),
      say: '/pay charge: Bola’s card asks for the code on the customer’s phone',
      ...type('/pay charge'),
    },
    {
      isDone: since.some(
        ({ orderReference, state }) => !orderReference.startsWith('pay-') && state === 'declined',
      ),
      say: 'Let the bank decline a saved card: one alert',
      ...show('Saved cards'),
    },
    {
      isDone: taken && refused,
      say: 'Send its event again, then with a bad signature: still one alert',
      ...show('Events'),
    },
    {
      isDone: said('pay-desk', /storm/i),
      say: 'Send 60 failures: one message counts them',
      ...show('Saved cards'),
    },
    {
      isDone: paid.some(({ amount }) => Number(amount) >= 100_000),
      say: '/pay charge 100,000.00 needs a second person: be Lindiwe, approve it in #pay-ops',
      ...type('/pay charge 100,000.00'),
    },
    {
      isDone: home !== undefined,
      say: 'Home: codes to enter, charges, what you may do',
      button: 'Open it',
      press: openHome,
    },
    {
      isDone: bot.starts > 1,
      say: 'Faults: the service hangs, decline, Kill −9; it works, Start: one alert',
      ...show('Faults'),
    },
  ];
}

/** What was tried stays ticked off, also when the page no longer knows of it. */
const tried = new Set<string>();

function remembered({ isDone, say }: GuideStep): boolean {
  if (isDone) tried.add(say);
  return tried.has(say);
}

export function drawGuide(): TemplateResult {
  const steps = guideSteps(page).map((step) => ({ ...step, isDone: remembered(step) }));
  const done = steps.filter(({ isDone }) => isDone).length;
  return html`<section aria-label="Try this">
    <details class="guide" ?open=${innerWidth >= 640}>
      <summary>Try this, in any order <span>${done} of ${steps.length}</span></summary>
      <ol>
        ${steps.map(
          ({ isDone, say, button, press }) =>
            html`<li class=${isDone ? 'done' : ''}>
              ${say}${isDone ? html`<span class="hidden"> (done)</span>` : html` <button type="button" class="link" @click=${press}>${button}</button>`}
            </li>`,
        )}
      </ol>
      <p>What next: connect your own Slack and payments service, by <code>docs/set-up.md</code>.</p>
    </details>
  </section>`;
}
