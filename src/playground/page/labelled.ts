import { noChange } from 'lit/html.js';
import { Directive, directive, type ElementPart } from 'lit/directive.js';
import type { ElementState } from './form.ts';

/** One element of a form as it is drawn: its value, what to do with a new one, and the words around it. */
export type Field = {
  id: string;
  state: ElementState;
  change: (state: ElementState) => void;
  /** The id of its label's element; without one `label` names it. */
  labelledBy: string | undefined;
  describedBy: string | undefined;
  label: string;
  invalid: boolean;
  /** A choice may be taken back. */
  optional: boolean;
  /** The app wants the focus here when it appears. */
  wantsFocus: boolean;
};

function put(element: Element, name: string, value: string | undefined): void {
  if (value === undefined) element.removeAttribute(name);
  else element.setAttribute(name, value);
}

class Labelled extends Directive {
  override render(_field: Field): typeof noChange {
    return noChange;
  }

  override update(part: ElementPart, [field]: [Field]): typeof noChange {
    const { element } = part;
    element.id = field.id;
    put(element, 'aria-labelledby', field.labelledBy);
    put(element, 'aria-label', field.labelledBy === undefined ? field.label : undefined);
    put(element, 'aria-describedby', field.describedBy);
    put(element, 'aria-invalid', field.invalid ? 'true' : undefined);
    put(element, 'data-wants-focus', field.wantsFocus ? '' : undefined);
    return noChange;
  }
}

/** Gives the element its field's id and tells assistive technology its name, its hint and whether it is wrong. */
export const labelled = directive(Labelled);
