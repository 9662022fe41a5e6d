import { withoutUndefined } from '../domain/without-undefined.ts';
import type { PaymentEvent } from '../domain/payment-event.ts';
import type { StormItem } from '../domain/storm-summary.ts';
import { alertKey, openEvent, readOutboxRecord, type OutboxRecord } from './outbox.ts';
import { itemsPerPage } from './paged-log.ts';
import type { PrepareDeps } from './prepare-post.ts';

/** Where a digest is to be posted; `told`: everything it counts is told elsewhere. */
export type DigestPlace = { kind: 'channel'; channel: string } | { kind: 'told' };

/** So many alerts say where a storm’s are sent now. */
const mostAskedPages = 20;

/**
 * Where a storm’s digest goes that does not stand, by the rules of the moment: its own channel, as long as they send
 * one of its alerts there or none of them anywhere. Else the first channel that all of them go to; where they go to
 * several, the one that is told what no rule takes, and where that is the one it leaves, the one that most go to.
 * Channels that an alert was told in already do not count for it. Throws StoreUnavailable.
 */
export async function digestPlace(deps: PrepareDeps, storm: string, own: string): Promise<DigestPlace> {
  const here: DigestPlace = { kind: 'channel', channel: own };
  const counts = new Map<string, number>();
  let [routed, open] = [0, 0];
  for (let page = 0; page < mostAskedPages; page += 1) {
    // oxlint-disable-next-line no-await-in-loop -- the first alert mostly says it
    const items = await deps.storms.items(storm, page);
    // oxlint-disable-next-line no-await-in-loop
    const asked = await Promise.all(items.map((item) => channelsOf(deps, storm, item)));
    if (asked.some(({ channels }) => channels.includes(own))) return here;
    for (const { channels, left } of asked) {
      if (channels.length > 0) routed += 1;
      if (left.length > 0) open += 1;
      for (const channel of left) counts.set(channel, (counts.get(channel) ?? 0) + 1);
    }
    if (items.length < itemsPerPage) break;
  }
  if (routed === 0) return here;
  if (open === 0) return { kind: 'told' };
  return { kind: 'channel', channel: bestOf(deps, { counts, open, own }) };
}

function bestOf(
  { rest }: PrepareDeps,
  { counts, open, own }: { counts: ReadonlyMap<string, number>; open: number; own: string },
): string {
  // In the order in which the rules name them.
  const all = [...counts].find(([, count]) => count === open);
  if (all) return all[0];
  if (rest.failures !== own) return rest.failures;
  return [...counts].toSorted(([, one], [, other]) => other - one)[0]?.[0] ?? own;
}

/** Where the rules of the moment send one alert, and which of those channels have not been told it. */
async function channelsOf(
  deps: PrepareDeps,
  storm: string,
  item: StormItem,
): Promise<{ channels: string[]; left: string[] }> {
  const key = alertKey(item.id);
  const entry = await deps.store.read(key);
  const record = entry && readOutboxRecord(entry.value);
  const event = knownOf(item, record && openEvent(deps.sealer, key, record));
  const channels = deps.route(event, item.receivedAtMs).map(({ channel }) => channel);
  const told = await Promise.all(
    channels.map(
      async (channel) =>
        (record !== undefined && isToldBy(record, storm, channel)) ||
        (await deps.store.read(alertKey(item.id, channel))) !== undefined,
    ),
  );
  return { channels, left: channels.filter((_, index) => told[index] !== true) };
}

/** What was looked up when it was counted fills what the event leaves open; the event itself may be forgotten. */
function knownOf(item: StormItem, event: PaymentEvent | undefined): PaymentEvent {
  const { id: key, customerEmail, amountMinor, currency, reason } = item;
  const found = withoutUndefined({ customerEmail, amountMinor, currency, reason });
  return { kind: 'payment_failed', key, ...found, ...event };
}

/** The event’s own message, or the digest that stands for it, unless that is the digest in question. */
function isToldBy({ channel: own, digest, posted }: OutboxRecord, storm: string, channel: string): boolean {
  return digest?.storm !== storm && (posted?.channel ?? own) === channel;
}
