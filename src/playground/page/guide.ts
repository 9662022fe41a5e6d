import { html, type TemplateResult } from 'lit/html.js';
import type { PanelTab } from './panel.ts';
import { act, focusSoon, page, ui, update } from './state.ts';

type GuideStep = { say: string; button: string; press: () => void };

function type(say: string, command: string): GuideStep {
  const press = (): void => {
    update({ drafts: { ...ui.drafts, [ui.channel ?? '']: command } });
    focusSoon('#composer');
  };
  return { say: `${command}: ${say}`, button: 'Type it', press };
}

function show(say: string, tab: PanelTab): GuideStep {
  return { say, button: 'Show me', press: () => update({ panel: { tab, isShown: true } }) };
}

function openHome(): void {
  update({ channel: page.channels.find(({ kind }) => kind === 'dm')?.id, tab: 'home', thread: undefined });
  void act({ kind: 'open_home' });
}

/** What a newcomer may try, in any order. */
const steps: readonly GuideStep[] = [
  type('paid, with proof', '/pay ORDER-1001'),
  type('not confirmed, and why', '/pay ORDER-1002'),
  type('Bola’s card asks for the code on the customer’s phone', '/pay charge'),
  show('Let the bank decline a saved card: one alert', 'Saved cards'),
  show('Send its event again, then with a bad signature: still one alert', 'Events'),
  show('Send 60 failures: one message counts them', 'Saved cards'),
  type('needs a second person: be Lindiwe, approve it in #pay-ops', '/pay charge 100,000.00'),
  { say: 'Home: codes to enter, charges, what you may do', button: 'Open it', press: openHome },
  show('Faults: the service hangs, decline, Kill −9; it works, Start: one alert', 'Faults'),
];

export function drawGuide(): TemplateResult {
  return html`<section aria-label="Try this">
    <details class="guide" ?open=${innerWidth >= 640}>
      <summary>Try this, in any order</summary>
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
