export const cardEmailActions = {
  /** The typeahead over saved cards; its block has the same id. */
  card: 'card_email_card',
  /** Back to the form from what was read back, or from what became of it. The modal says which draft. */
  again: 'card_email_again',
} as const;

/** Which draft a modal is about: its word, which is no secret. */
export function draftMetadata(draft: string): string {
  return JSON.stringify({ draft });
}
