const largestPage = 50;
const usualPage = 20;

/** What a list is asked for; undefined when the limit breaks the spec's maximum. Spec: Limits (page size). */
export function pageRequest(
  query: URLSearchParams,
): { limit: number; cursor: string | undefined } | undefined {
  const text = query.get('limit');
  const limit = text === null ? usualPage : Number(text);
  if (!Number.isInteger(limit) || limit < 1 || limit > largestPage) return undefined;
  return { limit, cursor: query.get('cursor') ?? undefined };
}
