import type { ServiceFailure } from './failure.ts';

/**
 * One page of a list of the payments service. `cursor` is the service's own word for the next page and is passed
 * back as it came; absent: the list ends here.
 *
 * Spec: Limits (pagination).
 */
export type ServicePage<Item> = { items: readonly Item[]; cursor?: string };

export type PageAnswer<Item> =
  | ({ kind: 'page' } & ServicePage<Item>)
  /** The service does not know this cursor (any more): only a list read from its beginning goes on. */
  | { kind: 'cursor_refused' };

/** Reads one page; without a cursor the first. Throws ServiceFailure when the service gave no usable answer. */
export type ReadPage<Item> = (cursor?: string) => Promise<PageAnswer<Item>>;

/** Spec: Limits (page size). */
export const largestPage = 50;

/** How far a list has been read. */
export type Reading = {
  /** Pages and their items that have been read, the list's first included. */
  pages: number;
  items: number;
  /** Calls of the service that this very request made. */
  calls: number;
  /** When its first page was read, UTC milliseconds. */
  readAt: number;
  /** `more`: the service has given a cursor for a next page. */
  end: 'more' | 'last_page' | 'repeated_cursor';
};

/** Why reading stopped before it had come as far as it was to. */
export type ReadingStop =
  | { kind: 'failure'; failure: ServiceFailure }
  | { kind: 'cursor_refused' }
  /** As many calls as one request makes. */
  | { kind: 'enough_calls' };

/** What stands on one shown page of a list. */
export type ListPage<Item> = {
  /** From 0. */
  number: number;
  items: readonly Item[];
  /** Of the first item: how many stand before it, on this list or among those that match. */
  before: number;
  /** Without a filter the same as `reading.items`. */
  found: number;
  hasNext: boolean;
  reading: Reading;
  stop?: ReadingStop;
};
