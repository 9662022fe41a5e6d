/** How long what was reviewed can be agreed to. */
export const draftKeepMs = 30 * 60_000;
