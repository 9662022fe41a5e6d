import { withoutUndefined } from '../domain/json.ts';
import type { Entry, ListOptions, Store } from '../store/store.ts';

/** All entries of a list, page by page; 500 a page unless `max` is given. Throws StoreUnavailable. */
export async function* pagesOf(
  store: Pick<Store, 'list'>,
  name: string,
  options: Partial<Omit<ListOptions, 'after'>> = {},
): AsyncGenerator<readonly Entry[]> {
  let next: string | undefined;
  do {
    const page = await store.list(name, { max: 500, ...options, ...withoutUndefined({ after: next }) });
    yield page.entries;
    ({ next } = page);
  } while (next !== undefined);
}

export async function allEntries(store: Pick<Store, 'list'>, name: string): Promise<Entry[]> {
  const entries: Entry[] = [];
  for await (const page of pagesOf(store, name)) entries.push(...page);
  return entries;
}
