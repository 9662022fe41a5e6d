import type { PageAction } from '../../simulators/protocol.ts';
import type { Draw } from './model.ts';

export function fieldText(form: HTMLFormElement, name: string): string {
  const text = new FormData(form).get(name);
  return typeof text === 'string' ? text.trim() : '';
}

/** What a form asks the service for, when it is sent; the form keeps its values for the next time. */
export function onForm(draw: Draw, read: (form: HTMLFormElement, button: string) => PageAction) {
  return (event: SubmitEvent): void => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const button = event.submitter instanceof HTMLButtonElement ? event.submitter.value : '';
    draw.dispatch({ kind: 'act', action: read(form, button) });
  };
}
