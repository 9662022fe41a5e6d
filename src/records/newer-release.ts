import { StoreUnavailable } from '../domain/failure.ts';

/** Handled like a store that is away: a retry may reach a replica that can read the record. */
export class NewerRelease extends StoreUnavailable {
  constructor() {
    super('The record was written by a newer release.');
    this.name = 'NewerRelease';
  }
}

/**
 * Whether only a newer release can read the record. A release that changes records so that this one can't read them
 * writes a number and a space before their sealed text; this release then leaves them to the newer replicas.
 */
export function isNewer(stored: string): boolean {
  return /^\d+ /.test(stored);
}

/** Returns the sealed text. Throws NewerRelease. */
export function notNewer(stored: string): string {
  if (isNewer(stored)) throw new NewerRelease();
  return stored;
}
