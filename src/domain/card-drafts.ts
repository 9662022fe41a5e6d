/** How long what was reviewed can be agreed to. */
export const draftKeepMs = 30 * 60_000;

/** The list of what is read back about a card, by its fingerprint, and holds its token. */
export function draftsOfCard(card: string): string {
  return `drafts-of-card:${card}`;
}
