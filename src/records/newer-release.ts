import { StoreUnavailable } from '../domain/failure.ts';

/**
 * The newest record form that this release can read. If a change makes records unreadable for the release before, raise
 * this and give the record's kind the same number: older replicas then leave such records to newer ones.
 */
const newestForm = 1;

/** Handled like a store that is away: a retry may reach a replica that can read the record. */
export class NewerRelease extends StoreUnavailable {
  constructor() {
    super('The record was written by a newer release.');
    this.name = 'NewerRelease';
  }
}

const formMark = /^\d+ /;

/** Writes the form, unencrypted, before the sealed text. The first form has no mark. */
export function withForm(text: string, form = 1): string {
  return form === 1 ? text : `${form} ${text}`;
}

export function isNewer(stored: string, newest = newestForm): boolean {
  return Number(formMark.exec(stored)?.[0] ?? 1) > newest;
}

/** The sealed text without its mark. Throws NewerRelease for a form above `newest`. */
export function withoutForm(stored: string, newest?: number): string {
  if (isNewer(stored, newest)) throw new NewerRelease();
  return stored.replace(formMark, '');
}
