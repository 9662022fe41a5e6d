import { cut } from './outside-text.ts';

/** More than any rule asks for, and than any list shows. */
const longestText = 500;
/** No address is longer. */
const longestEmail = 320;

/**
 * As much of an outside text as a list of events keeps. Fifty events are one record, which is read and written anew
 * with each of them: whoever sends texts of a hundred kilobytes must not make that megabytes.
 */
export function listedText(text: string | undefined): string | undefined {
  return text === undefined ? undefined : cut(text, longestText);
}

/** Undefined for a text that is too long to be an address: its beginning would be somebody else’s. */
export function listedEmail(email: string | undefined): string | undefined {
  return email !== undefined && email.length <= longestEmail ? email : undefined;
}
