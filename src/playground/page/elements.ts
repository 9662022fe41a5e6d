import { html, nothing, type TemplateResult } from 'lit/html.js';
import { live } from 'lit/directives/live.js';
import type { Button, ImageElement, MultiSelect, Overflow } from '@slack/types';
import { drawCheckboxes, drawMultiSelect, drawRadioButtons, drawSelect } from './choices.ts';
import { drawExternalSelect } from './external-select.ts';
import { actionIdOf, initialState, valueFieldOf, type Element, type ElementState } from './form.ts';
import { drawText } from './glyph.ts';
import { icon } from './icons.ts';
import type { Drawn } from './inline.ts';
import { labelled, type Field } from './labelled.ts';
import { drawMenu } from './menu.ts';
import { scopeOf, type Container, type Draw, type Place } from './model.ts';
import { safeUrl } from './mrkdwn.ts';

/** Where an element stands: the ids its events carry, and the words that name and describe it. */
export type Spot = {
  container: Container;
  blockId: string;
  silent: boolean;
  labelledBy?: string | undefined;
  describedBy?: string | undefined;
  invalid?: boolean;
  optional?: boolean;
};

/** Any element of Block Kit that this playground draws; the others say so instead of vanishing. */
export function drawElement(element: Element | ImageElement, spot: Spot, draw: Draw): Drawn {
  if (element.type === 'image') return drawImage(element.alt_text);
  const place: Place = {
    container: spot.container,
    blockId: spot.blockId,
    actionId: actionIdOf(element),
    silent: spot.silent,
  };
  const confirm = 'confirm' in element ? element.confirm : undefined;
  const press = (state: ElementState): void =>
    draw.dispatch({ kind: 'press', pressed: { place, state, confirm } });
  if (element.type === 'button') return drawButton(element, press);
  if (element.type === 'overflow') return drawOverflow(element, place, press);
  const field = fieldOf(element, { spot, place, press }, draw);
  return field ? drawField(element, field, place, draw) : drawAbsent(element.type);
}

function drawAbsent(type: string): TemplateResult {
  return html`<p class="undrawn">This playground has no ${type}.</p>`;
}

type FieldElement = Exclude<Element, Button | Overflow>;
type Around = { spot: Spot; place: Place; press: (state: ElementState) => void };

function fieldOf(element: FieldElement, { spot, place, press }: Around, draw: Draw): Field | undefined {
  const scope = scopeOf(spot.container);
  const state = draw.ui.typed[scope]?.[spot.blockId]?.[place.actionId] ?? initialState(element);
  if (!state) return undefined;
  const placeholder = 'placeholder' in element ? element.placeholder?.text : undefined;
  return {
    id: `field-${scope}-${spot.blockId}-${place.actionId}`.replaceAll(/[^\w-]/g, '-'),
    state,
    change: press,
    labelledBy: spot.labelledBy,
    describedBy: spot.describedBy,
    invalid: spot.invalid ?? false,
    optional: spot.optional ?? false,
    wantsFocus: 'focus_on_load' in element && (element.focus_on_load ?? false),
    label: placeholder ?? 'Choose',
  };
}

function drawField(element: FieldElement, field: Field, place: Place, draw: Draw): Drawn {
  switch (element.type) {
    case 'static_select':
    case 'users_select':
    case 'channels_select':
    case 'conversations_select':
      return drawSelect(element, field, draw);
    case 'external_select':
      return drawExternalSelect(element, field, place, draw);
    case 'radio_buttons':
      return drawRadioButtons(element, field, draw);
    case 'checkboxes':
      return drawCheckboxes(element, field, draw);
    default:
      return isMultiSelect(element)
        ? drawMultiSelect(element, field, draw)
        : drawInput(element, field, place, draw);
  }
}

function isMultiSelect(element: FieldElement): element is MultiSelect {
  return element.type.startsWith('multi_');
}

type Typing = { type: string; mode?: string };

const inputs: Record<string, Typing> = {
  plain_text_input: { type: 'text' },
  email_text_input: { type: 'email', mode: 'email' },
  url_text_input: { type: 'url', mode: 'url' },
  number_input: { type: 'text', mode: 'decimal' },
  datepicker: { type: 'date' },
  timepicker: { type: 'time' },
};

/** The text and date inputs. One that dispatches does so when it is left or Enter is pressed, as in Slack. */
function drawInput(element: FieldElement, field: Field, place: Place, draw: Draw): TemplateResult {
  const typing = inputs[element.type];
  if (!typing) return drawAbsent(element.type);
  const valueField = valueFieldOf(element.type);
  const text = field.state[valueField];
  const stateFor = (event: Event): ElementState => {
    const typed = (event.currentTarget as HTMLInputElement | HTMLTextAreaElement).value;
    return { type: element.type, [valueField]: typed === '' ? null : typed };
  };
  const face: Face = {
    field,
    typing,
    text: typeof text === 'string' ? text : '',
    placeholder: 'placeholder' in element ? element.placeholder?.text : undefined,
    maxLength: element.type === 'plain_text_input' ? element.max_length : undefined,
    remember: (event) =>
      draw.dispatch({
        kind: 'press',
        pressed: { place: { ...place, silent: true }, state: stateFor(event) },
      }),
    change: (event) => (place.silent ? undefined : field.change(stateFor(event))),
  };
  return element.type === 'plain_text_input' && element.multiline === true
    ? drawTextArea(face)
    : drawLine(face);
}

type Face = {
  field: Field;
  typing: Typing;
  text: string;
  placeholder: string | undefined;
  maxLength: number | undefined;
  remember: (event: Event) => void;
  change: (event: Event) => void;
};

function drawTextArea({ field, text, placeholder, maxLength, remember, change }: Face): TemplateResult {
  return html`<textarea
    ${labelled(field)}
    rows="4"
    placeholder=${placeholder ?? nothing}
    maxlength=${maxLength ?? nothing}
    .value=${live(text)}
    @input=${remember}
    @change=${change}
  ></textarea>`;
}

function drawLine({ field, typing, text, placeholder, maxLength, remember, change }: Face): TemplateResult {
  return html`<input
    ${labelled(field)}
    type=${typing.type}
    inputmode=${typing.mode ?? nothing}
    autocomplete="off"
    placeholder=${placeholder ?? nothing}
    maxlength=${maxLength ?? nothing}
    .value=${live(text)}
    @input=${remember}
    @change=${change}
  />`;
}

function drawButton(element: Button, press: (state: ElementState) => void): TemplateResult {
  const { text, value, style, url } = element;
  const state: ElementState = { type: 'button', text, ...(value === undefined ? {} : { value }) };
  const face = html`<span class="button-text">${drawText(text.text)}</span>`;
  const className = `block-button ${style === undefined ? '' : `block-button-${style}`}`;
  const label = element.accessibility_label ?? nothing;
  const address = url === undefined ? undefined : safeUrl(url);
  if (address !== undefined) {
    return html`<a
      class=${className}
      href=${address}
      target="_blank"
      rel="noreferrer noopener"
      aria-label=${label}
      @click=${() => press(state)}
      >${face} ${icon('external', 13)}</a
    >`;
  }
  return html`<button type="button" class=${className} aria-label=${label} @click=${() => press(state)}>
    ${face}
  </button>`;
}

function drawOverflow(element: Overflow, place: Place, press: (state: ElementState) => void): TemplateResult {
  return drawMenu({
    id: `${scopeOf(place.container)}-${place.blockId}-${place.actionId}`,
    face: icon('more'),
    label: 'More',
    className: 'block-button block-overflow',
    items: element.options.map((option) => ({
      label: drawText(option.text.text),
      choose: () => press({ type: 'overflow', selected_option: option }),
    })),
  });
}

/** Pictures are never fetched: the playground makes no external request. */
export function drawImage(altText: string): TemplateResult {
  return html`<span class="image-placeholder" role="img" aria-label=${altText}>
    ${icon('image', 18)}<span aria-hidden="true">${altText}</span>
  </span>`;
}
