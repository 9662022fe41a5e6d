import type { Account } from '../../account.ts';
import { type Destination, type Routed, withLookUp } from './routing.ts';
import type { Lookup } from '../../domain/alert.ts';
import type { PaymentEvent } from '../../domain/payment-event.ts';
import { withoutUndefined } from '../../domain/json.ts';
import { tagLog } from '../../log.ts';
import {
  type MessageRecord,
  alertKey,
  isAlert,
  listsOf,
  openEvent,
  readMessageRecord,
  newCounters,
  writeMessageRecord,
} from '../../messages/message-record.ts';
import { type Work, hold, reschedule } from '../../messages/message-work.ts';
import type { Entry } from '../../store/store.ts';
import { type Evidence, newerOf, openEvidence, sealEvidence } from './alert-record.ts';
import { withProvenOrder } from './alert.ts';
import { arrivals } from './storm/storm.ts';

/** `found`: the look-up that routed it, so that a storm's digest needn't ask again. */
type StoredAlert = {
  event: PaymentEvent;
  /** Lists by customer and card; none for a copy in another channel. */
  foundBy?: readonly string[];
  fingerprint: string;
  receivedAtMs: number;
  found?: Evidence | undefined;
};

/** The channels of an event received at that time; `lookup`: if it was asked. */
export type Route = (event: PaymentEvent, receivedAtMs: number, lookup?: Lookup) => Routed | Promise<Routed>;

/** Of events without a channel, so that no channel waits for them. */
const untoldLane = 'untold';

/** Prefix of lanes for events routed by a look-up; several are looked up at once. */
export const toRouteLanes = 'to-route/';

/**
 * A channel gets its alerts in order, though only the look-up says which channel: so they are routed one after the other, each
 * at most ten seconds later. Copies for several channels go the same way. Failures never wait for successes.
 */
function laneOf({ kind }: PaymentEvent, routed: readonly Destination[] | undefined): string {
  const [first, second] = routed ?? [];
  if (routed && !first) return untoldLane;
  return first && !second ? first.channel : `${first ? 'to-copy/' : toRouteLanes}${kind}`;
}

/**
 * Stores the event and its channels in one call. `channel`: a copy for that one. Without `to`, its look-up names the channels
 * later. False: it exists, and nothing changed. Throws StoreUnavailable.
 */
export async function storeAlert(
  { store, sealer }: Pick<Account, 'store' | 'sealer'>,
  { event, found, foundBy = [], ...stored }: StoredAlert,
  to: Routed | undefined,
  channel?: string,
): Promise<boolean> {
  const key = alertKey(event.key, channel);
  const { routed, ...kept }: Partial<Routed> = to ?? {};
  const record: MessageRecord = {
    channel: '',
    ...stored,
    sealed: sealer.seal(key, JSON.stringify(event)),
    ...newCounters,
    ...(routed && (routed.length > 1 ? { routed: routed.map(asKept) } : whereTold(event, routed))),
    ...kept,
    ...(foundBy.length > 0 && { foundBy: [...foundBy] }),
    ...(found && { evidence: sealEvidence(sealer, key, found) }),
  };
  const due = { delayMs: 0, lane: laneOf(event, routed), index: listsOf(key, record) };
  return await store.create(key, writeMessageRecord(record), due);
}

/** Its record's fields once it is routed. */
function whereTold(
  { kind }: PaymentEvent,
  routed: readonly Destination[],
): Pick<MessageRecord, 'channel' | 'routed' | 'arrivals'> {
  const [first] = routed;
  return {
    channel: first?.channel ?? '',
    routed: routed.map(asKept),
    // Counts towards a storm of its channel from now on, even before Slack takes the post.
    ...(first && kind !== 'payment_given_back' ? { arrivals: arrivals(first, kind) } : {}),
  };
}

function asKept({ channel, rule }: Destination): Destination {
  if (!rule) return { channel };
  const { name, mention, severity, quietHours, escalate, digestAfter } = rule;
  return { channel, rule: withoutUndefined({ name, mention, severity, quietHours, escalate, digestAfter }) };
}

/**
 * Puts an event into its channels' lanes: first a copy for each further channel while it still holds its lane, so that no
 * channel gets a later event before it; then its own record into the first channel's lane.
 */
export async function sendOn(
  kept: Pick<Account, 'store' | 'sealer'>,
  { entry, record }: Work,
  event: PaymentEvent,
  found: Evidence | undefined,
): Promise<void> {
  const { routed = [], fingerprint = '', receivedAtMs } = record;
  const [, ...further] = routed;
  const alert = { event, fingerprint, receivedAtMs, found };
  // Existing copies stay.
  await Promise.all(further.map((to) => storeAlert(kept, alert, { routed: [to] }, to.channel)));
  const told = { ...record, ...whereTold(event, routed), turns: entry.attempts };
  const due = { delayMs: 0, lane: told.channel, index: listsOf(entry.key, told) };
  await kept.store.write(entry, writeMessageRecord(told), due);
}

/** The most that a service outage delays an alert; then it is told unchecked. */
const lookUpPatienceMs = 10_000;
const lookUpAgainMs = 2_000;

/**
 * At the start of an outage old events wait too, or one failed look-up would route a whole backlog by its events alone. A
 * single order without an answer doesn't hold up the others longer.
 */
function mayWait(
  { receivedAtMs, unansweredSinceMs }: MessageRecord,
  { sinceMs = receivedAtMs }: Extract<Lookup, { kind: 'unchecked' }>,
  nowMs: number,
): boolean {
  const waitedMs = nowMs - Math.max(receivedAtMs, Math.min(sinceMs, unansweredSinceMs ?? nowMs));
  // Negative: the clocks differ, or one was put back, for nobody knows how long.
  return waitedMs >= 0 && waitedMs < lookUpPatienceMs;
}

/** Asks the service about an alert, and routes it if its event doesn't say enough. */
export function createEvidence(
  kept: Pick<Account, 'store' | 'sealer' | 'rememberMs' | 'leaseMs' | 'now'>,
  { lookUp, route }: { lookUp: (event: PaymentEvent) => Promise<Lookup>; route: Route },
) {
  const { sealer, now } = kept;

  /** Undefined: the service didn't answer, and the alert still waits for it. */
  async function ask({ entry, record }: Work, event: PaymentEvent): Promise<Evidence | undefined> {
    const known = openEvidence(sealer, entry.key, record);
    const lookup = await lookUp(withProvenOrder(event, known?.lookup));
    const isWaiting = lookup.kind === 'unchecked' && mayWait(record, lookup, now());
    return isWaiting ? undefined : newerOf({ lookup, atMs: now() }, known);
  }

  /** Holds its lane until the service answers. */
  async function wait(work: Work): Promise<void> {
    const { unansweredSinceMs = now() } = work.record;
    await reschedule(kept, work, { unansweredSinceMs }, { holdMs: lookUpAgainMs });
  }

  /** The look-up and its route, written together so that no rule is asked twice. */
  async function routeByLookUp(
    work: Work,
    event: PaymentEvent,
  ): Promise<Pick<MessageRecord, 'evidence' | 'routed' | 'keptBy' | 'byCharge'> | undefined> {
    const { entry, record } = work;
    const found = await ask(work, event);
    if (!found) return undefined;
    const { routed, ...muted } = await route(
      withLookUp(event, found.lookup),
      record.receivedAtMs,
      found.lookup,
    );
    return { evidence: sealEvidence(sealer, entry.key, found), routed: routed.map(asKept), ...muted };
  }

  return {
    /** Undefined: the alert waits for the service. */
    async askOrWait(work: Work, event: PaymentEvent): Promise<Evidence | undefined> {
      const found = await ask(work, event);
      if (!found) await wait(work);
      return found;
    },

    /** The next round, at once, acts on it. */
    async routeOrWait(work: Work, event: PaymentEvent): Promise<void> {
      const change = await routeByLookUp(work, event);
      if (change) await reschedule(kept, work, change, { holdMs: 0 });
      else await wait(work);
    },

    /**
     * Looks up an event ahead of its turn to be routed, so that nothing is asked twice, even after a crash. Undefined: the
     * alert waits for the service. Throws if the record can't be read.
     */
    async lookUpAhead(entry: Entry): Promise<Entry | undefined> {
      const record = readMessageRecord(entry.value);
      if (!isAlert(record) || record.routed) return entry;
      tagLog({ requestId: record.requestId });
      const work = { entry, record };
      const change = await routeByLookUp(work, openEvent(sealer, entry.key, record));
      return change && (await hold(kept, work, change, kept.leaseMs))?.entry;
    },
  };
}
