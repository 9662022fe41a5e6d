import { html, nothing, type TemplateResult } from 'lit/html.js';
import { live } from 'lit/directives/live.js';
import type { ExternalSelect } from '@slack/types';
import type { PageOption } from '../../simulators/protocol.ts';
import { icon } from './icons.ts';
import type { Drawn } from './inline.ts';
import { labelled, type Field } from './labelled.ts';
import { suggestionKey, type Draw, type Place, type Suggestions } from './model.ts';

/** A select whose options the bot gives while the person types: the combobox pattern of ARIA. */
export function drawExternalSelect(
  element: ExternalSelect,
  field: Field,
  place: Place,
  draw: Draw,
): TemplateResult {
  const key = suggestionKey(place);
  const open = draw.ui.suggestions[key];
  const chosen = chosenWords(field);
  const close = (): void => draw.dispatch({ kind: 'close_suggestions', key });
  const choose = (option: PageOption): void => {
    close();
    field.change({ type: element.type, selected_option: option });
  };
  const ask = (text: string): void => {
    if (text.length >= (element.min_query_length ?? 3)) draw.dispatch({ kind: 'suggest', place, text });
    else close();
  };
  // An open list begins with an empty question: what is chosen already would find itself alone.
  const begin = (): void => (open ? undefined : ask(''));
  const clear = (): void => field.change({ type: element.type, selected_option: null });
  const listId = `${field.id}-options`;
  return html`<div class="combobox">
    <input
      ${labelled(field)}
      type="text"
      role="combobox"
      autocomplete="off"
      aria-expanded=${open ? 'true' : 'false'}
      aria-controls=${listId}
      aria-activedescendant=${open ? `${listId}-${open.chosen}` : nothing}
      placeholder=${chosen ?? placeholderOf(element)}
      .value=${live(open ? open.text : (chosen ?? ''))}
      @input=${(event: Event) => ask((event.currentTarget as HTMLInputElement).value)}
      @click=${begin}
      @blur=${close}
      @keydown=${(event: KeyboardEvent) => {
        if (open) walk(event, { key, draw, choose, close });
        else if (event.key === 'ArrowDown') begin();
      }}
    />
    ${open ? drawOptions(open, listId, choose) : chosen === undefined ? nothing : drawClear(field, clear)}
  </div>`;
}

function chosenWords(field: Field): string | undefined {
  return (field.state['selected_option'] as PageOption | null | undefined)?.text.text;
}

function placeholderOf(element: ExternalSelect): string {
  return element.placeholder?.text ?? 'Type to search…';
}

/** As in Slack, only what need not be answered can be taken back. */
function drawClear(field: Field, clear: () => void): Drawn {
  if (!field.optional) return nothing;
  return html`<button
    type="button"
    class="tool combobox-clear"
    aria-label="Clear the choice"
    aria-describedby=${field.labelledBy ?? nothing}
    @click=${clear}
  >
    ${icon('close', 14)}
  </button>`;
}

function drawNone({ waiting, options }: Suggestions): Drawn {
  if (options.length > 0) return nothing;
  return html`<li class="no-options">${waiting ? 'Searching…' : 'Nothing found'}</li>`;
}

function drawOptions(
  open: Suggestions,
  listId: string,
  choose: (option: PageOption) => void,
): TemplateResult {
  return html`<ul id=${listId} role="listbox" class="options">
    ${open.options.map(
      (option, index) =>
        html`<li
          id="${listId}-${index}"
          role="option"
          aria-selected=${index === open.chosen ? 'true' : 'false'}
          @mousedown=${(event: Event) => {
            event.preventDefault();
            choose(option);
          }}
        >
          ${option.text.text}
        </li>`,
    )}
    ${drawNone(open)}
  </ul>`;
}

type Walk = { key: string; draw: Draw; choose: (option: PageOption) => void; close: () => void };

function walk(event: KeyboardEvent, { key, draw, choose, close }: Walk): void {
  const open = draw.ui.suggestions[key];
  if (!open) return;
  const count = Math.max(1, open.options.length);
  const mark = (chosen: number): void => draw.dispatch({ kind: 'mark_suggestion', key, chosen });
  const option = open.options[open.chosen];
  const keys: Record<string, () => void> = {
    ArrowDown: () => mark((open.chosen + 1) % count),
    ArrowUp: () => mark((open.chosen - 1 + count) % count),
    Enter: () => (option ? choose(option) : close()),
    Escape: close,
  };
  const act = keys[event.key];
  if (!act) return;
  event.preventDefault();
  event.stopPropagation();
  act();
}
