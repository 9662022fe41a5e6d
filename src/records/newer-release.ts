import { StoreUnavailable } from '../domain/failure.ts';

/**
 * The newest form of a record that this release reads. Whoever changes a record so that the release before cannot read it
 * raises this and gives the record's kind the same number: older replicas then leave such records to the newer ones.
 */
const newestForm = 1;

/** For a person as for a worker it is as if the store were away: the next try may reach a replica that can read it. */
export class NewerRelease extends StoreUnavailable {
  constructor() {
    super('The record was written by a newer release.');
    this.name = 'NewerRelease';
  }
}

const formMark = /^\d+ /;

/** The text as it is stored: the form stands before it, in the open; the first form is the text alone. */
export function withForm(text: string, form = 1): string {
  return form === 1 ? text : `${form} ${text}`;
}

/** Whether the text is of a form above `newest`. */
export function isNewer(stored: string, newest = newestForm): boolean {
  return Number(formMark.exec(stored)?.[0] ?? 1) > newest;
}

/** The text that was stored. Throws NewerRelease for a form above `newest`. */
export function withoutForm(stored: string, newest?: number): string {
  if (isNewer(stored, newest)) throw new NewerRelease();
  return stored.replace(formMark, '');
}
