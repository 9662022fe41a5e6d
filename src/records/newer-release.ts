import { StoreUnavailable } from '../domain/failure.ts';

/**
 * The newest form this release reads. Raise it, and give the record's kind the same number, when a change makes a record
 * unreadable for the release before: older replicas then leave such records to newer ones.
 */
const newestForm = 1;

/** Handled like an absent store: the next try may reach a replica that can read it. */
export class NewerRelease extends StoreUnavailable {
  constructor() {
    super('The record was written by a newer release.');
    this.name = 'NewerRelease';
  }
}

const formMark = /^\d+ /;

/** Puts the form before the sealed text, in the clear; the first form has no mark. */
export function withForm(text: string, form = 1): string {
  return form === 1 ? text : `${form} ${text}`;
}

export function isNewer(stored: string, newest = newestForm): boolean {
  return Number(formMark.exec(stored)?.[0] ?? 1) > newest;
}

/** Throws NewerRelease for a form above `newest`. */
export function withoutForm(stored: string, newest?: number): string {
  if (isNewer(stored, newest)) throw new NewerRelease();
  return stored.replace(formMark, '');
}
