import type { Entry, Index, Listed, ListOptions, WriteOptions } from './store.ts';
import { hourMs, dayMs } from '../domain/span.ts';

/**
 * How long a write holds a record (`holdMs`: extends its lease), delays it as work (`delayMs`), or keeps it as memory
 * (`ttlMs`; with none of them, for ever). At most one is set, in whole milliseconds.
 */
export type Timing = { holdMs?: number; delayMs?: number; ttlMs?: number };

/** The longest time for which a lease, hold or pause blocks a lane; a longer one is shortened. */
const longestBlockMs = hourMs;

const longestMs = 100 * 365 * dayMs;

/** Reads the options of `Store`, for both adapters. Throws RangeError for an impossible duration. */
export function readTiming({ holdMs, delayMs, ttlMs }: Timing): Timing {
  if (holdMs !== undefined) return { holdMs: blockMs('holdMs', holdMs) };
  if (delayMs !== undefined) return { delayMs: wholeMs('delayMs', delayMs) };
  return ttlMs === undefined ? {} : { ttlMs: wholeMs('ttlMs', ttlMs) };
}

/** Rounds up, so that nothing is due or forgotten too early. Throws RangeError below 0 and above 100 years. */
function wholeMs(name: string, ms: number): number {
  if (!(ms >= 0 && ms <= longestMs)) {
    throw new RangeError(`${name} must be a duration from 0 to 100 years in milliseconds, not ${ms}.`);
  }
  return Math.ceil(ms);
}

/** Reads the time for which a lease, hold or pause blocks a lane. Throws RangeError like `wholeMs`. */
export function blockMs(name: string, ms: number): number {
  return Math.min(wholeMs(name, ms), longestBlockMs);
}

/** Throws RangeError for a lease or `max` of 0, which would take work and lose it at once. */
export function checkTake(leaseMs: number, max: number): { leaseMs: number; max: number } {
  const lease = blockMs('leaseMs', leaseMs);
  if (lease === 0) throw new RangeError('leaseMs must be more than 0.');
  if (!Number.isSafeInteger(max) || max < 1)
    throw new RangeError(`max must be a whole number from 1, not ${max}.`);
  return { leaseMs: lease, max };
}

export function written(entry: Entry, value: string, version: number, options: WriteOptions): Entry {
  const { lane = entry.lane } = options.holdMs === undefined ? options : {};
  return { ...entry, value, version, lane };
}

/** The lists as both adapters store them. Throws RangeError for a place that is not a whole number. */
export function readIndex(index: Index): [name: string, place: number][] {
  const lists = Object.entries(index);
  for (const [name, place] of lists) {
    if (!Number.isSafeInteger(place))
      throw new RangeError(`The place in list ${name} must be a whole number, not ${place}.`);
  }
  return lists;
}

/** The place and key after which a page starts. */
type Cursor = { place: number; key: string };

/** Before the first entry of every list, and after the last. */
const ends = { first: { place: -(2 ** 53), key: '' }, last: { place: 2 ** 53, key: '' } };

/** Reads the options of `list`. `limit` is one more than `max`, to know whether there is a further page. */
export function readList({ after, from, max, newestFirst = false }: ListOptions): {
  start: Cursor;
  limit: number;
  newestFirst: boolean;
} {
  if (!Number.isSafeInteger(max) || max < 1 || max > 1000)
    throw new RangeError(`max must be a whole number from 1 to 1000, not ${max}.`);
  const start = after === undefined ? beginning(from, newestFirst) : readCursor(after);
  return { start, limit: max + 1, newestFirst };
}

function beginning(from: number | undefined, newestFirst: boolean): Cursor {
  if (from === undefined) return newestFirst ? ends.last : ends.first;
  if (!Number.isSafeInteger(from)) throw new RangeError(`from must be a whole number, not ${from}.`);
  // Starts before the first key of that place; for newest first, before the first key of the next place.
  return { place: newestFirst ? from + 1 : from, key: '' };
}

function readCursor(after: string): Cursor {
  const colon = after.indexOf(':');
  const place = Number(after.slice(0, Math.max(colon, 0)));
  if (colon < 1 || !Number.isSafeInteger(place))
    throw new RangeError('after must be what a page gave as next.');
  return { place, key: after.slice(colon + 1) };
}

export function toListed(found: readonly (Entry & { place: number })[], max: number): Listed {
  const entries = found.slice(0, max).map(({ place: _place, ...entry }) => entry);
  const last = found.length > max ? found[max - 1] : undefined;
  return last ? { entries, next: `${last.place}:${last.key}` } : { entries };
}
