import { html, nothing, type TemplateResult } from 'lit/html.js';
import { guard } from 'lit/directives/guard.js';
import { repeat } from 'lit/directives/repeat.js';
import type {
  ActionsBlockElement,
  Button,
  ConfirmationDialog,
  ConversationsSelect,
  ExternalSelect,
  InputBlock,
  KnownBlock,
  PlainTextInput,
  RadioButtons,
  StaticSelect,
  UsersSelect,
} from '@slack/types';
import type { PageBlock, PageOption, WorkspaceAction } from '../../simulators/protocol.ts';
import { drawMenu } from './bits.ts';
import { act, page, ui, update } from './state.ts';
import { drawAbsent, drawMrkdwn, drawRichText, type Drawn } from './text.ts';

/** Block Kit, as far as the bot uses it. What is typed and chosen stands in the page's own fields until it is sent. */

type Container = Extract<WorkspaceAction, { kind: 'block_action' }>['container'];
type State = { type: string; [field: string]: unknown };
type Values = Record<string, Record<string, State>>;
export type Surface = { container: Container; errors?: Record<string, string> };
type Element = ActionsBlockElement | InputBlock['element'];
/** What an element holds besides its text: the option that Slack would send. */
type Field = HTMLElement & { sent?: unknown; value?: string };

/** Where an element stands, and the words that name and describe it. */
type Spot = {
  surface: Surface;
  blockId: string;
  id: string;
  described?: string;
  isInvalid?: boolean;
  isOptional?: boolean;
};

/** By element type: the field in which Slack sends its value. The one in which the app gives the first is called alike. */
const valueFields: Record<string, string> = {
  plain_text_input: 'value',
  static_select: 'selected_option',
  external_select: 'selected_option',
  radio_buttons: 'selected_option',
  users_select: 'selected_user',
  conversations_select: 'selected_conversation',
};

/** What stood in views that others cover now, by view id: it stands there again when they are gone. */
const covered = new Map<string, Values>();

/** Call before drawing. What was typed into a view that is gone is forgotten with it. */
export function keepCovered(): void {
  const ids = new Set(page.views.map(({ id }) => id));
  for (const id of covered.keys()) if (!ids.has(id)) covered.delete(id);
  const drawn = document.querySelector<HTMLElement>('#view-dialog form');
  const id = drawn?.dataset['surface'] ?? '';
  if (drawn && ids.has(id) && page.views.at(-1)?.id !== id) covered.set(id, readValues(drawn));
}

/** Blocks in their order. One that cannot be drawn says so and takes nothing else down with it. */
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
  const blockId = block.block_id ?? '';
  switch (block.type) {
    case 'header':
      return html`<h3>${block.text.text}</h3>`;
    case 'divider':
      return html`<hr />`;
    case 'rich_text':
      return drawRichText(block);
    case 'section':
      return block.text ? drawMrkdwn(block.text.text) : nothing;
    case 'context':
      return block.elements.map((element) =>
        element.type === 'mrkdwn'
          ? drawMrkdwn(element.text)
          : element.type === 'plain_text'
            ? html`<span>${element.text}</span>`
            : drawAbsent(element.type),
      );
    case 'actions':
      return block.elements.map((element) =>
        drawElement(element, { surface, blockId, id: idOf(surface, blockId, element) }),
      );
    case 'input':
      return drawInput(block, surface);
    default:
      return drawAbsent(block.type);
  }
}

function actionIdOf(element: Element): string {
  return 'action_id' in element ? (element.action_id ?? '') : '';
}

function idOf({ container }: Surface, blockId: string, element: Element): string {
  const scope = container.type === 'view' ? container.viewId : container.ts;
  return `field-${scope}-${blockId}-${actionIdOf(element)}`.replaceAll(/[^\w-]/g, '-');
}

function drawInput(block: InputBlock, surface: Surface): TemplateResult {
  const blockId = block.block_id ?? '';
  const id = idOf(surface, blockId, block.element);
  const error = surface.errors?.[blockId];
  const described = `${block.hint ? `${id}-hint` : ''} ${error === undefined ? '' : `${id}-error`}`.trim();
  const spot: Spot = {
    surface,
    blockId,
    id,
    described,
    isInvalid: error !== undefined,
    isOptional: block.optional === true,
  };
  return html`<label id="${id}-label" for=${id}
      >${block.label.text} ${block.optional ? html`<small>(optional)</small>` : nothing}</label
    >
    ${drawElement(block.element, spot)}
    ${block.hint ? html`<p class="hint" id="${id}-hint">${block.hint.text}</p>` : nothing}
    ${error === undefined ? nothing : html`<p class="error" id="${id}-error" role="alert">${error}</p>`}`;
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
      return drawSelect(element, spot, optionsOf(element.options ?? []));
    case 'users_select':
      return drawSelect(
        element,
        spot,
        page.users.map(({ id, realName }) => ({ label: realName, sent: id })),
      );
    case 'conversations_select':
      return drawSelect(element, spot, channels());
    case 'radio_buttons':
      return drawRadios(element, spot);
    case 'external_select':
      return drawSearch(element, spot);
    default:
      return drawAbsent(element.type);
  }
}

type Choice = { label: string; sent: unknown };

function optionsOf(options: readonly { text: { text: string } }[]): Choice[] {
  return options.map((option) => ({ label: option.text.text, sent: option }));
}

function channels(): Choice[] {
  return page.channels
    .filter(({ kind }) => kind === 'channel')
    .map(({ id, name }) => ({ label: `#${name}`, sent: id }));
}

/** What stood there before another view covered it, else what the app gave. */
function initialOf(element: Element, { surface: { container }, blockId }: Spot): unknown {
  const field = valueFields[element.type] ?? '';
  const before =
    container.type === 'view' ? covered.get(container.viewId)?.[blockId]?.[actionIdOf(element)] : undefined;
  if (before) return before[field];
  const given = new Map<string, unknown>(Object.entries(element));
  return given.get(field === 'value' ? 'initial_value' : field.replace('selected', 'initial')) ?? null;
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function drawTextInput(element: PlainTextInput, spot: Spot): TemplateResult {
  return html`<input
    id=${spot.id}
    data-action=${actionIdOf(element)}
    data-type=${element.type}
    aria-describedby=${spot.described || nothing}
    aria-invalid=${spot.isInvalid ? 'true' : nothing}
    ?data-wants-focus=${element.focus_on_load}
    autocomplete="off"
    placeholder=${element.placeholder?.text ?? nothing}
    maxlength=${element.max_length ?? nothing}
    value=${initialOf(element, spot) ?? ''}
  />`;
}

/** In an actions block a choice is told at once, in a form when it is submitted. */
function drawSelect(
  element: StaticSelect | UsersSelect | ConversationsSelect,
  spot: Spot,
  choices: Choice[],
): TemplateResult {
  const initial = initialOf(element, spot);
  return html`<select
    id=${spot.id}
    data-action=${actionIdOf(element)}
    data-type=${element.type}
    aria-label=${element.placeholder?.text ?? nothing}
    aria-describedby=${spot.described || nothing}
    aria-invalid=${spot.isInvalid ? 'true' : nothing}
    @change=${(event: Event) => {
      const field = event.currentTarget as Field;
      if (!field.closest('.block-input')) press(spot, element, stateOf(field));
    }}
  >
    <option value="" hidden .sent=${null}>${element.placeholder?.text ?? 'Choose…'}</option>
    ${choices.map(({ label, sent }) => html`<option ?selected=${isSame(sent, initial)} .sent=${sent}>${label}</option>`)}
  </select>`;
}

function drawRadios(element: RadioButtons, spot: Spot): TemplateResult {
  const initial = initialOf(element, spot);
  return html`<div
    id=${spot.id}
    class="ticks"
    role="radiogroup"
    aria-labelledby="${spot.id}-label"
    data-action=${actionIdOf(element)}
    data-type=${element.type}
  >
    ${element.options.map(
      (option) =>
        html`<label
          ><input type="radio" name=${spot.id} ?checked=${isSame(option, initial)} .sent=${option} />
          ${option.text.text}</label
        >`,
    )}
  </div>`;
}

/** A select whose options the bot gives while the person types: the combobox pattern of ARIA. */
function drawSearch(element: ExternalSelect, spot: Spot): TemplateResult {
  const { id, surface, blockId } = spot;
  const initial = initialOf(element, spot) as PageOption | null;
  const open = ui.search?.id === id ? ui.search : undefined;
  const viewId = surface.container.type === 'view' ? surface.container.viewId : '';
  const input = (): (Field & HTMLInputElement) | null => document.querySelector(`#${id}`);

  async function ask(text: string): Promise<void> {
    const options = ui.search?.id === id ? ui.search.options : [];
    update({ search: { id, text, options, marked: 0, waiting: true } });
    const result = await act({ kind: 'suggest', blockId, actionId: actionIdOf(element), text, viewId });
    // Answers may come out of order: only the one for what stands in the field now is shown.
    if (ui.search?.id !== id || ui.search.text !== text) return;
    update({
      search: result.ok ? { ...ui.search, options: result.options ?? [], waiting: false } : undefined,
    });
  }
  /** An open list begins with an empty question: what is chosen already would find itself alone. */
  function begin(): void {
    if (open) return;
    const field = input();
    if (field) field.value = '';
    void ask('');
  }
  function choose(sent: unknown): void {
    const field = input();
    if (field) field.sent = sent;
    close();
  }
  function close(): void {
    const field = input();
    if (field) field.value = (field.sent as PageOption | null)?.text.text ?? '';
    if (ui.search) update({ search: undefined });
  }
  function onKey(event: KeyboardEvent): void {
    if (!open) return event.key === 'ArrowDown' ? begin() : undefined;
    const count = Math.max(1, open.options.length);
    const mark = (marked: number) => (): void =>
      update({ search: { ...open, marked: (marked + count) % count } });
    const chosen = open.options[open.marked];
    const keys: Record<string, () => void> = {
      ArrowDown: mark(open.marked + 1),
      ArrowUp: mark(open.marked - 1),
      Enter: () => (chosen ? choose(chosen) : close()),
      Escape: close,
    };
    if (!keys[event.key]) return;
    event.preventDefault();
    event.stopPropagation();
    keys[event.key]?.();
  }
  const none = open?.waiting ? 'Searching…' : 'Nothing found';
  return html`<div class="search">
    <input
      id=${id}
      data-action=${actionIdOf(element)}
      data-type=${element.type}
      role="combobox"
      autocomplete="off"
      aria-expanded=${open ? 'true' : 'false'}
      aria-controls="${id}-options"
      aria-activedescendant=${open ? `${id}-${open.marked}` : nothing}
      aria-describedby=${spot.described || nothing}
      aria-invalid=${spot.isInvalid ? 'true' : nothing}
      placeholder=${element.placeholder?.text ?? 'Type to search…'}
      value=${initial?.text.text ?? ''}
      .sent=${guard([JSON.stringify(initial)], () => initial)}
      @input=${(event: InputEvent) => void ask((event.currentTarget as HTMLInputElement).value)}
      @click=${begin}
      @blur=${close}
      @keydown=${onKey}
    />
    ${spot.isOptional && !open ? html`<button type="button" class="tool" aria-label="Clear the choice" @click=${() => choose(null)}>×</button>` : nothing}
    <ul id="${id}-options" role="listbox" aria-label="Choices" ?hidden=${!open}>
      ${open?.options.map(
        (option, index) =>
          html`<li
            id="${id}-${index}"
            role="option"
            aria-selected=${index === open.marked ? 'true' : 'false'}
            @mousedown=${(event: Event) => {
              event.preventDefault();
              choose(option);
            }}
          >
            ${option.text.text}
          </li>`,
      )}
      ${open?.options.length === 0 ? html`<li class="hint" role="option" aria-selected="false">${none}</li>` : nothing}
    </ul>
  </div>`;
}

function drawButton(element: Button, spot: Spot): TemplateResult {
  const { text, value, style = '', confirm } = element;
  const state: State = { type: 'button', text, ...(value === undefined ? {} : { value }) };
  return html`<button
    type="button"
    class="button ${style}"
    @click=${() => press(spot, element, state, confirm)}
  >
    ${text.text}
  </button>`;
}

function press(
  { surface, blockId }: Spot,
  element: Element,
  state: State,
  confirm?: ConfirmationDialog,
): void {
  const { container } = surface;
  const actionId = actionIdOf(element);
  const go = (): void => {
    const root = document.querySelector(
      `[data-surface="${container.type === 'view' ? container.viewId : container.ts}"]`,
    );
    const values = root ? readValues(root) : {};
    const sent = { ...state, action_id: actionId, block_id: blockId };
    // As in Slack, what was there when it was drawn can be pressed though the message is newer by now.
    void act({ kind: 'block_action', blockId, actionId, element: sent, container, values, behind: true });
  };
  if (confirm) update({ confirm: { dialog: confirm, go } });
  else go();
}

/** Every field as it stands. */
export function readValues(root: ParentNode): Values {
  const values: Values = {};
  for (const field of root.querySelectorAll<Field>('[data-action]')) {
    const blockId = field.closest<HTMLElement>('[data-block]')?.dataset['block'] ?? '';
    values[blockId] = { ...values[blockId], [field.dataset['action'] ?? '']: stateOf(field) };
  }
  return values;
}

function stateOf(field: Field): State {
  const type = field.dataset['type'] ?? '';
  return { type, [valueFields[type] ?? 'value']: heldBy(field) ?? null };
}

function heldBy(field: Field): unknown {
  if (field instanceof HTMLSelectElement) return (field.selectedOptions[0] as Field | undefined)?.sent;
  if (field.role === 'radiogroup') return field.querySelector<Field>('input:checked')?.sent;
  return 'sent' in field ? field.sent : field.value || null;
}
