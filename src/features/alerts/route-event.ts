import { type Routed, withLookUp } from './routing.ts';
import type { Destination } from '../../domain/alert-route.ts';
import type { Lookup } from '../../domain/alert.ts';
import type { PaymentEvent } from '../../domain/payment-event.ts';
import type { Sealer, Entry, Store } from '../../store/store.ts';
import { withoutUndefined } from '../../domain/without-undefined.ts';
import { tagLog } from '../../log.ts';
import {
  alertKey,
  isMessage,
  listsOf,
  openEvent,
  type MessageRecord,
  readMessageRecord,
  unsaid,
  writeMessageRecord,
} from '../../messages/message-record.ts';
import { again, hold, type Work } from '../../messages/message-work.ts';
import type { Rendered } from '../../messages/views.ts';
import { type AlertPostDeps, type AlertShown, type Evidence, sealEvidence } from './alert-record.ts';
import { arrivals } from './storm/storms.ts';

type RouteDeps = {
  store: Pick<Store, 'create'>;
  sealer: Sealer;
};

/** `found`: what it was routed by, which a storm’s digest need not ask for once more. */
export type StoredAlert = {
  event: PaymentEvent;
  fingerprint: string;
  receivedAtMs: number;
  found?: Evidence;
};

/** Of what no channel is told: however many come, no channel waits for them. */
const untoldLane = 'untold';

/** How the lanes begin of what is routed by its look-up: several of them are looked up at once. */
export const toRouteLanes = 'to-route/';

/**
 * A channel gets its alerts in the order they came in, though which channel is known only after the look-up: so each
 * is routed after the one before it, ten seconds later at most, as in a channel. One for several channels is copied to
 * them in the same way. Failures never wait for the many successes.
 */
function laneOf({ kind }: PaymentEvent, routed: readonly Destination[] | undefined): string {
  const [first, second] = routed ?? [];
  if (routed && !first) return untoldLane;
  return first && !second ? first.channel : `${first ? 'to-copy/' : toRouteLanes}${kind}`;
}

/**
 * Stores the event, in one call, with the channels that tell it. Without `routed` its look-up
 * says them later. False: it is there already, and nothing changed. Throws StoreUnavailable.
 */
export function storeEvent(
  deps: RouteDeps,
  alert: StoredAlert,
  routed: readonly Routed[] | undefined,
): Promise<boolean> {
  return storeAlert(deps, alertKey(alert.event.key), alert, routed);
}

/** Those that tell it, and the mutes that keep it from others. */
export function splitRouted(all: readonly Routed[]): { routed: Routed[]; keptBy?: string[] } {
  const routed = all.filter(({ mutedBy }) => mutedBy === undefined);
  const keptBy = all.flatMap(({ mutedBy = [] }) => mutedBy);
  return { routed, ...(keptBy.length > 0 && { keptBy }) };
}

async function storeAlert(
  { store, sealer }: RouteDeps,
  key: string,
  { event, found, ...stored }: StoredAlert,
  to: readonly Routed[] | undefined,
): Promise<boolean> {
  const { routed, ...kept } = to ? splitRouted(to) : {};
  const record: MessageRecord = {
    kind: 'alert',
    channel: '',
    ...stored,
    sealed: sealer.seal(key, JSON.stringify(event)),
    ...unsaid,
    ...(routed && (routed.length > 1 ? { routed: routed.map(asKept) } : whereTold(event, routed))),
    ...kept,
    ...(found && { evidence: sealEvidence(sealer, key, found) }),
  };
  const due = { delayMs: 0, lane: laneOf(event, routed), index: listsOf(key, record) };
  return await store.create(key, writeMessageRecord(record), due);
}

/** What a record says of it from when it is routed. */
function whereTold(
  { kind }: PaymentEvent,
  routed: readonly Destination[],
): Pick<MessageRecord, 'channel' | 'routed' | 'arrivals'> {
  const [first] = routed;
  const channel = first?.channel ?? '';
  return {
    channel,
    routed: routed.map(asKept),
    // It counts towards a storm of its channel from now on, whenever Slack lets it be posted.
    ...(first ? { arrivals: arrivals(first, kind) } : {}),
  };
}

function asKept({ channel, rule }: Destination): Destination {
  if (!rule) return { channel };
  const { name, mention, severity, quietHours, digestAfter } = rule;
  return { channel, rule: withoutUndefined({ name, mention, severity, quietHours, digestAfter }) };
}

/** A service that is away delays an alert by this much at most; then it is told unchecked. */
const lookUpPatienceMs = 10_000;
const lookUpAgainMs = 2_000;

/**
 * Looked up anew for every post; an edit shows what the post showed, and an event is routed by what was found first.
 * Undefined: the alert waits for the service.
 */
export async function evidenceOf(
  deps: AlertPostDeps,
  work: Work,
  event: PaymentEvent,
  kept: Evidence | undefined,
): Promise<Evidence | undefined> {
  const { record } = work;
  if (kept && (record.posted || !isMessage(record))) return kept;
  const found = await lookUpPatiently(deps, record, event);
  const { unansweredSinceMs = deps.now() } = record;
  if (!found) await again(deps, work, { unansweredSinceMs }, { holdMs: lookUpAgainMs });
  return found;
}

/** Undefined: the service could not be asked, and not for so long yet that the alert is told without. */
async function lookUpPatiently(
  deps: AlertPostDeps,
  record: MessageRecord,
  event: PaymentEvent,
): Promise<Evidence | undefined> {
  const lookup = await deps.lookUp(event);
  const isWaiting = lookup.kind === 'unchecked' && mayWait(record, lookup, deps.now());
  return isWaiting ? undefined : { lookup, atMs: deps.now() };
}

/**
 * A service that has just begun to be away is waited for by what is old as well, or one failed look-up would send a
 * whole backlog where its events alone say. One order that alone gets no answer does not hold up the others for longer.
 */
function mayWait(
  { receivedAtMs, unansweredSinceMs }: MessageRecord,
  { sinceMs = receivedAtMs }: Extract<Lookup, { kind: 'unchecked' }>,
  nowMs: number,
): boolean {
  const waitedMs = nowMs - Math.max(receivedAtMs, Math.min(sinceMs, unansweredSinceMs ?? nowMs));
  // Below zero: the clocks differ, or one was put back. Nobody knows how long that goes on.
  return waitedMs >= 0 && waitedMs < lookUpPatienceMs;
}

/** What the look-up found, and where that sends the event: written together, so that no rule is asked a second time. */
async function routedBy(
  deps: AlertPostDeps,
  { entry, record }: Work,
  event: PaymentEvent,
  found: Evidence,
): Promise<Pick<MessageRecord, 'evidence' | 'routed' | 'keptBy'>> {
  const evidence = sealEvidence(deps.sealer, entry.key, found);
  const all = await deps.route(withLookUp(event, found.lookup), record.receivedAtMs);
  const { routed, ...kept } = splitRouted(all);
  return { evidence, routed: routed.map(asKept), ...kept };
}

/** Routes an event by what its look-up says. The next round, at once, acts on that. */
export async function routeByLookUp(
  deps: AlertPostDeps,
  work: Work,
  event: PaymentEvent,
): Promise<Rendered<AlertShown>> {
  const found = await evidenceOf(deps, work, event, undefined);
  if (found) await again(deps, work, await routedBy(deps, work, event, found), { holdMs: 0 });
  return { kind: 'settled' };
}

/**
 * Sends an event whose channels are known on its way: a copy for each channel but the first, while it still holds its
 * lane, so that no channel gets a later one before it; then its own record goes into the lane of its first channel.
 */
export async function sendOn(
  deps: AlertPostDeps,
  { entry, record }: Work,
  alert: StoredAlert,
  routed: readonly Destination[],
): Promise<Rendered<AlertShown>> {
  const { event } = alert;
  const [, ...further] = routed;
  // Those that are there stay as they are.
  await Promise.all(further.map((to) => storeAlert(deps, alertKey(event.key, to.channel), alert, [to])));
  const told = { ...record, ...whereTold(event, routed), turns: entry.attempts };
  const due = { delayMs: 0, lane: told.channel, index: listsOf(entry.key, told) };
  await deps.store.write(entry, writeMessageRecord(told), due);
  return { kind: 'settled' };
}

/**
 * Looks an event up that waits for its turn to be routed by what is found, and puts that on its record, so that its
 * turn asks nobody and nothing is asked twice, also after a crash. Undefined: the alert waits for the service. Throws
 * what keeps it from being read.
 */
export async function lookUpAhead(deps: AlertPostDeps, entry: Entry): Promise<Entry | undefined> {
  const record = readMessageRecord(entry.value);
  if (record.kind !== 'alert' || record.routed) return entry;
  tagLog({ requestId: record.requestId });
  const event = openEvent(deps.sealer, entry.key, record);
  const found = await lookUpPatiently(deps, record, event);
  if (!found) return undefined;
  const work = { entry, record };
  return (await hold(deps, work, await routedBy(deps, work, event, found), deps.leaseMs))?.entry;
}
