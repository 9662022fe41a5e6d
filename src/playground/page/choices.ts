import { html, nothing, type TemplateResult } from 'lit/html.js';
import { live } from 'lit/directives/live.js';
import type { Checkboxes, MultiSelect, Option, RadioButtons, Select } from '@slack/types';
import { valueFieldOf } from './form.ts';
import { drawText } from './glyph.ts';
import { drawTextObject } from './inline.ts';
import { labelled, type Field } from './labelled.ts';
import type { Draw } from './model.ts';

export type Choice = { value: string; label: string; sent: unknown };
type ChoiceGroup = { label?: string | undefined; choices: Choice[] };

function optionChoice(option: Option): Choice {
  return { value: option.value ?? '', label: option.text.text, sent: option };
}

function channelChoices(draw: Draw): Choice[] {
  return draw.page.channels
    .filter(({ kind }) => kind === 'channel')
    .map(({ id, name }) => ({ value: id, label: `#${name}`, sent: id }));
}

function groupsOf(element: Select | MultiSelect, draw: Draw): ChoiceGroup[] {
  switch (element.type) {
    case 'static_select':
    case 'multi_static_select':
      return element.option_groups
        ? element.option_groups.map(({ label, options }) => ({
            label: label.text,
            choices: options.map(optionChoice),
          }))
        : [{ choices: (element.options ?? []).map(optionChoice) }];
    case 'users_select':
    case 'multi_users_select':
      return [
        { choices: draw.page.users.map(({ id, realName }) => ({ value: id, label: realName, sent: id })) },
      ];
    default:
      return [{ choices: channelChoices(draw) }];
  }
}

function keyOf(sent: unknown): string {
  if (typeof sent === 'string') return sent;
  const option = sent as Option | null | undefined;
  return option?.value ?? '';
}

/** static, users, channels and conversations select: the browser's own, which every keyboard and reader knows. */
export function drawSelect(element: Select, field: Field, draw: Draw): TemplateResult {
  const valueField = valueFieldOf(element.type);
  const current = keyOf(field.state[valueField]);
  const groups = groupsOf(element, draw);
  const all = groups.flatMap(({ choices }) => choices);
  const draws = (choices: Choice[]): TemplateResult[] =>
    choices.map(
      (choice) =>
        html`<option value=${choice.value} .selected=${live(choice.value === current)}>
          ${choice.label}
        </option>`,
    );
  return html`<select
    ${labelled(field)}
    @change=${(event: Event) => {
      const value = (event.currentTarget as HTMLSelectElement).value;
      const chosen = all.find((choice) => choice.value === value);
      field.change({ type: element.type, [valueField]: chosen?.sent ?? null });
    }}
  >
    <option value="" .selected=${live(current === '')} ?disabled=${current !== ''} hidden>
      ${element.placeholder?.text ?? 'Choose…'}
    </option>
    ${groups.map((group) =>
      group.label === undefined
        ? draws(group.choices)
        : html`<optgroup label=${group.label}>${draws(group.choices)}</optgroup>`,
    )}
  </select>`;
}

type Ticked = { type: 'checkbox' | 'radio'; name: string; choice: Choice; checked: boolean; option?: Option };

function drawTick(ticked: Ticked, toggle: (checked: boolean) => void, draw: Draw): TemplateResult {
  const { option } = ticked;
  return html`<label class="tick">
    <input
      type=${ticked.type}
      name=${ticked.name}
      value=${ticked.choice.value}
      .checked=${live(ticked.checked)}
      @change=${(event: Event) => toggle((event.currentTarget as HTMLInputElement).checked)}
    />
    <span
      >${option ? drawTextObject(option.text, draw) : drawText(ticked.choice.label)}
      ${
        option?.description
          ? html`<span class="tick-description">${drawTextObject(option.description, draw)}</span>`
          : nothing
      }</span
    >
  </label>`;
}

function drawGroup(field: Field, role: 'group' | 'radiogroup', ticks: TemplateResult[]): TemplateResult {
  return html`<div class="ticks" role=${role} ${labelled(field)}>${ticks}</div>`;
}

function toggled(chosen: unknown[], choice: Choice, checked: boolean): unknown[] {
  const others = chosen.filter((sent) => keyOf(sent) !== choice.value);
  return checked ? [...others, choice.sent] : others;
}

export function drawRadioButtons(element: RadioButtons, field: Field, draw: Draw): TemplateResult {
  const current = keyOf(field.state['selected_option']);
  const ticks = element.options.map((option) => {
    const choice = optionChoice(option);
    const ticked: Ticked = {
      type: 'radio',
      name: field.id,
      choice,
      checked: choice.value === current,
      option,
    };
    return drawTick(ticked, () => field.change({ type: element.type, selected_option: option }), draw);
  });
  return drawGroup(field, 'radiogroup', ticks);
}

export function drawCheckboxes(element: Checkboxes, field: Field, draw: Draw): TemplateResult {
  const chosen = (field.state['selected_options'] ?? []) as unknown[];
  const ticks = element.options.map((option) => {
    const choice = optionChoice(option);
    const checked = chosen.some((sent) => keyOf(sent) === choice.value);
    const ticked: Ticked = { type: 'checkbox', name: field.id, choice, checked, option };
    const toggle = (now: boolean): void =>
      field.change({ type: element.type, selected_options: toggled(chosen, choice, now) });
    return drawTick(ticked, toggle, draw);
  });
  return drawGroup(field, 'group', ticks);
}

/** The selects of several: a list to tick. */
export function drawMultiSelect(element: MultiSelect, field: Field, draw: Draw): TemplateResult {
  const valueField = valueFieldOf(element.type);
  const chosen = (field.state[valueField] ?? []) as unknown[];
  const choices = groupsOf(element, draw).flatMap((group) => group.choices);
  const ticks = choices.map((choice) => {
    const checked = chosen.some((sent) => keyOf(sent) === choice.value);
    const toggle = (now: boolean): void =>
      field.change({ type: element.type, [valueField]: toggled(chosen, choice, now) });
    return drawTick({ type: 'checkbox', name: field.id, choice, checked }, toggle, draw);
  });
  return drawGroup(field, 'group', ticks);
}
