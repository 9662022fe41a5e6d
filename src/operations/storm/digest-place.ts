import { withoutUndefined } from '../../domain/without-undefined.ts';
import type { PaymentEvent, PaymentEventKind } from '../../domain/payment-event.ts';
import type { StormItem } from '../../domain/storm-summary.ts';
import { alertKey, openEvent, readOutboxRecord, type OutboxRecord } from '../outbox/outbox.ts';
import { readStormId } from './storm-records.ts';
import { itemsPerPage } from '../work/paged-log.ts';
import type { AlertPostDeps } from '../alert/alert-post.ts';

/** Where a digest is to be posted; `told`: everything it counts is told elsewhere. */
export type DigestPlace = { kind: 'channel'; channel: string } | { kind: 'told' };

/** Where the rules of the moment send one alert, and which of those channels have not been told it. */
type Asked = { channels: string[]; left: string[] };

type Named = { id: string; gathers: PaymentEventKind };

/** So many alerts say where a storm’s are sent now. */
const mostAskedPages = 20;

/**
 * Where a storm’s digest goes that does not stand, by the rules of the moment: its own channel, as long as they send
 * one of its alerts there or none of them anywhere. Else the first channel that all of them go to; where they go to
 * several, the one that is told what no rule takes, and where that is the one it leaves, the one that most go to.
 * Channels that an alert was told in already do not count for it. Throws StoreUnavailable.
 */
export async function digestPlace(deps: AlertPostDeps, id: string, own: string): Promise<DigestPlace> {
  const storm: Named = { id, gathers: readStormId(id)?.gathers ?? 'payment_failed' };
  const asked = await askAll(deps, storm, own);
  const isRouted = asked?.some(({ channels }) => channels.length > 0) === true;
  if (!asked || !isRouted) return { kind: 'channel', channel: own };
  const left = asked.map((one) => one.left).filter(({ length }) => length > 0);
  if (left.length === 0) return { kind: 'told' };
  return { kind: 'channel', channel: bestOf(left, restOf(deps, storm), own) };
}

/** Undefined as soon as one of them still goes to its channel. */
async function askAll(deps: AlertPostDeps, storm: Named, own: string): Promise<Asked[] | undefined> {
  const all: Asked[] = [];
  for (let page = 0; page < mostAskedPages; page += 1) {
    // oxlint-disable-next-line no-await-in-loop -- the first alert mostly says it
    const items = await deps.storms.items(storm.id, page);
    // oxlint-disable-next-line no-await-in-loop
    const asked = await Promise.all(items.map((item) => channelsOf(deps, storm, item)));
    if (asked.some(({ channels }) => channels.includes(own))) return undefined;
    all.push(...asked);
    if (items.length < itemsPerPage) break;
  }
  return all;
}

/** What no rule takes is told there. */
function restOf({ rest: { failures, successes } }: AlertPostDeps, { gathers }: Named): string {
  return gathers === 'payment_failed' ? failures : (successes ?? failures);
}

function bestOf(left: readonly (readonly string[])[], rest: string, own: string): string {
  const counts = new Map<string, number>();
  for (const channel of left.flat()) counts.set(channel, (counts.get(channel) ?? 0) + 1);
  // In the order in which the rules name them.
  const all = [...counts].find(([, count]) => count === left.length);
  if (all) return all[0];
  if (rest !== own) return rest;
  return [...counts].toSorted(([, one], [, other]) => other - one)[0]?.[0] ?? own;
}

async function channelsOf(deps: AlertPostDeps, { id, gathers }: Named, item: StormItem): Promise<Asked> {
  const key = alertKey(item.id);
  const entry = await deps.store.read(key);
  const record = entry && readOutboxRecord(entry.value);
  const event = knownOf(gathers, item, record && openEvent(deps.sealer, key, record));
  const channels = deps.route(event, item.receivedAtMs).map(({ channel }) => channel);
  const told = await Promise.all(
    channels.map(
      async (channel) =>
        (record !== undefined && isToldBy(record, id, channel)) ||
        (await deps.store.read(alertKey(item.id, channel))) !== undefined,
    ),
  );
  return { channels, left: channels.filter((_, index) => told[index] !== true) };
}

/** What was looked up when it was counted fills what the event leaves open; the event itself may be forgotten. */
function knownOf(gathers: PaymentEventKind, item: StormItem, event: PaymentEvent | undefined): PaymentEvent {
  const { id: key, customerEmail, amountMinor, currency, reason } = item;
  const found = withoutUndefined({ customerEmail, amountMinor, currency, reason });
  return { kind: gathers, key, ...found, ...event };
}

/** The event’s own message, or the digest that stands for it, unless that is the digest in question. */
function isToldBy({ channel: own, digest, posted }: OutboxRecord, storm: string, channel: string): boolean {
  return digest?.storm !== storm && (posted?.channel ?? own) === channel;
}
