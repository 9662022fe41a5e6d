import { html, nothing, type TemplateResult } from 'lit/html.js';
import { repeat } from 'lit/directives/repeat.js';
import type { ActionsBlockElement, ConfirmationDialog, InputBlock, KnownBlock } from '@slack/types';
import type { PageBlock, PageOption, WorkspaceAction } from '../../simulators/protocol.ts';
import { drawMenu, type Drawn } from './bits.ts';
import { act, page, ui, update } from './state.ts';
import { drawAbsent, drawMrkdwn, drawRichText } from './text.ts';

/**
 * Draws the parts of Block Kit that the bot uses. Typed and chosen values stay in the page's fields until they are
 * sent.
 */

type Container = Extract<WorkspaceAction, { kind: 'block_action' }>['container'];
type State = { type: string; [field: string]: unknown };
type Values = Record<string, Record<string, State>>;
type Surface = { container: Container; errors?: Record<string, string> };
type Element = ActionsBlockElement | InputBlock['element'];
type Of<Type extends Element['type']> = Extract<Element, { type: Type }>;
/** Where an element is. `error`: the problem with its value. */
type Spot = { surface: Surface; blockId: string; id: string; error?: string | undefined };

/** By element type: the field in which Slack sends its value; `initialOf` derives the name of its initial value. */
const valueFields: Record<string, string> = {
  plain_text_input: 'value',
  static_select: 'selected_option',
  external_select: 'selected_option',
  users_select: 'selected_user',
};

/** The blocks in order. A block that can't be drawn says so; the others are still drawn. */
export function drawBlocks(blocks: PageBlock[], surface: Surface): Drawn {
  return html`${repeat(
    blocks,
    (block, index) => block.block_id ?? index,
    (block) =>
      html`<div class="block block-${block.type}" data-block=${block.block_id ?? ''}>
        ${drawBlock(block as KnownBlock, surface)}
      </div>`,
  )}`;
}

function drawBlock(block: KnownBlock, surface: Surface): Drawn {
  switch (block.type) {
    case 'header':
      return html`<h3>${block.text.text}</h3>`;
    case 'divider':
      return html`<hr />`;
    case 'rich_text':
      return drawRichText(block);
    case 'context':
      return block.elements.map((element) => {
        if (element.type === 'image') return drawAbsent(element.type);
        return element.type === 'mrkdwn' ? drawMrkdwn(element.text) : html`<p>${element.text}</p>`;
      });
    case 'actions':
      return block.elements.map((element) => drawElement(element, spotOf(block, element, surface)));
    case 'input':
      return drawInput(block, surface);
    default:
      return drawAbsent(block.type);
  }
}

function actionIdOf(element: Element): string {
  return 'action_id' in element ? (element.action_id ?? '') : '';
}

function spotOf({ block_id: blockId = '' }: KnownBlock, element: Element, surface: Surface): Spot {
  const { container, errors } = surface;
  const scope = container.type === 'view' ? container.viewId : container.ts;
  const id = `field-${scope}-${blockId}-${actionIdOf(element)}`.replaceAll(/[^\w-]/g, '-');
  return { surface, blockId, id, error: errors?.[blockId] };
}

function drawInput(block: InputBlock, surface: Surface): TemplateResult {
  const spot = spotOf(block, block.element, surface);
  const { id, error } = spot;
  return html`<label id="${id}-label" for=${id}
      >${block.label.text} ${block.optional ? html`<small>(optional)</small>` : nothing}</label
    >
    ${drawElement(block.element, spot)}
    <div id="${id}-about">
      ${block.hint ? html`<small>${block.hint.text}</small>` : nothing}
      ${error === undefined ? nothing : html`<p class="error" role="alert">${error}</p>`}
    </div>`;
}

function drawElement(element: Element, spot: Spot): Drawn {
  switch (element.type) {
    case 'button':
      return drawButton(element, spot);
    case 'overflow':
      return drawMenu({
        id: spot.id,
        face: '⋯',
        label: 'More',
        className: 'button',
        items: element.options.map((option) => ({
          label: option.text.text,
          choose: () => press(spot, element, { type: 'overflow', selected_option: option }),
        })),
      });
    case 'plain_text_input':
      return drawTextInput(element, spot);
    case 'static_select':
    case 'users_select':
      return drawSelect(element, spot);
    case 'external_select':
      return drawSearch(element, spot);
    default:
      return drawAbsent(element.type);
  }
}

type Select = Of<'static_select' | 'users_select'>;

function choicesOf(element: Select): { label: string; sent: unknown }[] {
  if (element.type === 'users_select')
    return page.users.map(({ id, realName }) => ({ label: realName, sent: id }));
  return (element.options ?? []).map((option) => ({ label: option.text.text, sent: option }));
}

/** The element's initial value, in the form in which it would be sent. */
function initialOf(element: Element): unknown {
  const field = valueFields[element.type] ?? '';
  const given = new Map<string, unknown>(Object.entries(element));
  return given.get(field === 'value' ? 'initial_value' : field.replace('selected', 'initial')) ?? null;
}

function drawTextInput(element: Of<'plain_text_input'>, spot: Spot): TemplateResult {
  const { id, error } = spot;
  const sends = element.dispatch_action_config !== undefined;
  return html`<input
    id=${id}
    data-action=${actionIdOf(element)}
    data-type=${element.type}
    aria-describedby="${id}-about"
    aria-invalid=${error === undefined ? nothing : 'true'}
    ?data-wants-focus=${element.focus_on_load}
    autocomplete="off"
    placeholder=${element.placeholder?.text ?? nothing}
    maxlength=${element.max_length ?? nothing}
    @keydown=${(event: KeyboardEvent) => {
      if (!sends || event.key !== 'Enter') return;
      const { value } = event.currentTarget as HTMLInputElement;
      press(spot, element, { type: element.type, value });
    }}
    value=${initialOf(element) ?? ''}
  />`;
}

function drawSelect(element: Select, spot: Spot): TemplateResult {
  const initial = JSON.stringify(initialOf(element));
  return html`<select
    id=${spot.id}
    data-action=${actionIdOf(element)}
    data-type=${element.type}
    aria-label=${element.placeholder?.text ?? nothing}
    aria-invalid=${spot.error === undefined ? nothing : 'true'}
  >
    <option value="null" hidden>${element.placeholder?.text ?? 'Choose…'}</option>
    ${choicesOf(element).map(({ label, sent }) => {
      const value = JSON.stringify(sent);
      return html`<option value=${value} ?selected=${value === initial}>${label}</option>`;
    })}
  </select>`;
}

/** A select whose options the bot sends while the person types: ARIA's combobox pattern. */
function drawSearch(element: Of<'external_select'>, { id, surface, blockId, error }: Spot): TemplateResult {
  const initial = initialOf(element) as PageOption | null;
  const open = ui.search?.id === id ? ui.search : undefined;
  const viewId = surface.container.type === 'view' ? surface.container.viewId : '';

  async function ask(text: string): Promise<void> {
    update({ search: { id, text, options: open?.options ?? [], marked: 0, waiting: true } });
    const result = await act({ kind: 'suggest', blockId, actionId: actionIdOf(element), text, viewId });
    // Answers may come out of order: show only the one for the present text.
    if (ui.search?.id !== id || ui.search.text !== text) return;
    const found = result.ok ? { ...ui.search, options: result.options ?? [], waiting: false } : undefined;
    update({ search: found });
  }
  /** Closes the list and shows the chosen option's text again. In an emptied field nothing is chosen. */
  function close(chosen?: PageOption): void {
    const field = document.querySelector<HTMLInputElement>(`#${id}`);
    if (!field || !open) return;
    if (chosen || field.value === '') field.dataset['sent'] = JSON.stringify(chosen ?? null);
    const held = JSON.parse(field.dataset['sent'] ?? 'null') as PageOption | null;
    field.value = held?.text.text ?? '';
    update({ search: undefined });
  }
  /** Offers all choices and selects the present text, so that typing replaces it. */
  function begin({ currentTarget }: Event): void {
    if (open) return;
    (currentTarget as HTMLInputElement).select();
    void ask('');
  }
  function onKey(event: KeyboardEvent): void {
    if (!open) return event.key === 'ArrowDown' ? begin(event) : undefined;
    const { options, marked } = open;
    const mark = (index: number) => (): void =>
      update({ search: { ...open, marked: (index + options.length) % Math.max(1, options.length) } });
    const keys: Record<string, () => void> = {
      ArrowDown: mark(marked + 1),
      ArrowUp: mark(marked - 1),
      Enter: () => close(options[marked]),
      Escape: () => close(),
    };
    if (!keys[event.key]) return;
    event.preventDefault();
    event.stopPropagation();
    keys[event.key]?.();
  }
  return html`<div class="search">
    <input
      id=${id}
      data-action=${actionIdOf(element)}
      data-type=${element.type}
      data-sent=${JSON.stringify(initial)}
      role="combobox"
      autocomplete="off"
      aria-expanded=${open ? 'true' : 'false'}
      aria-controls="${id}-options"
      aria-activedescendant=${open ? `${id}-${open.marked}` : nothing}
      aria-describedby="${id}-about"
      aria-invalid=${error === undefined ? nothing : 'true'}
      placeholder=${element.placeholder?.text ?? 'Type to search…'}
      value=${initial?.text.text ?? ''}
      @input=${(event: InputEvent) => void ask((event.currentTarget as HTMLInputElement).value)}
      @click=${begin}
      @blur=${() => close()}
      @keydown=${onKey}
    />
    <ul class="box" id="${id}-options" role="listbox" aria-label="Choices" ?hidden=${!open}>
      ${open?.options.map(
        (option, index) =>
          html`<li
            id="${id}-${index}"
            role="option"
            aria-selected=${index === open.marked ? 'true' : 'false'}
            @mousedown=${(event: Event) => {
              event.preventDefault();
              close(option);
            }}
          >
            ${option.text.text}
          </li>`,
      )}
      ${open?.options.length === 0 ? html`<li role="option" aria-selected="false">${open.waiting ? 'Searching…' : 'No results'}</li>` : nothing}
    </ul>
  </div>`;
}

function drawButton(element: Of<'button'>, spot: Spot): TemplateResult {
  const { text, value, url, style = '', confirm } = element;
  const state: State = { type: 'button', text, ...(value === undefined ? {} : { value }) };
  return html`<button
    type="button"
    class="button ${style}"
    @click=${() => {
      if (url !== undefined) window.open(url, '_blank', 'noopener');
      press(spot, element, state, confirm);
    }}
  >
    ${text.text}
  </button>`;
}

function press(
  { surface: { container }, blockId }: Spot,
  element: Element,
  state: State,
  dialog?: ConfirmationDialog,
): void {
  const actionId = actionIdOf(element);
  const go = (): void => {
    const surface = container.type === 'view' ? container.viewId : container.ts;
    const root = document.querySelector(`[data-surface="${surface}"]`);
    const values = root ? readValues(root) : {};
    const sent = { ...state, action_id: actionId, block_id: blockId };
    // As in Slack, a drawn element can be pressed even if the message has changed since.
    void act({
      kind: 'block_action',
      blockId,
      actionId,
      element: sent,
      container,
      values,
      mayBeOutdated: true,
    });
  };
  if (dialog) update({ confirm: { dialog, go } });
  else go();
}

/** The present values of all fields. */
export function readValues(root: ParentNode): Values {
  const values: Values = {};
  for (const field of root.querySelectorAll<HTMLElement>('[data-action]')) {
    const blockId = field.closest<HTMLElement>('[data-block]')?.dataset['block'] ?? '';
    values[blockId] = { ...values[blockId], [field.dataset['action'] ?? '']: stateOf(field) };
  }
  return values;
}

/** The state of one field. A field keeps its choice as the JSON that Slack would send. */
function stateOf(field: HTMLElement): State {
  const { type = '', sent } = field.dataset;
  const { value = 'null' } = field as { value?: string };
  const held: unknown = type === 'plain_text_input' ? value || null : JSON.parse(sent ?? value);
  return { type, [valueFields[type] ?? 'value']: held };
}
