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

export type NewAlert = {
  event: PaymentEvent;
  fingerprint: string;
  receivedAtMs: number;
  /** Its lists for `/pay find`; none for a copy in another channel. */
  foundBy: string[];
  /** The look-up that routed it: a storm's digest needn't look up again. */
  found?: Evidence | undefined;
};

/** Finds an event's channels; `lookup`: if there was one. */
export type Route = (event: PaymentEvent, receivedAtMs: number, lookup?: Lookup) => Routed | Promise<Routed>;

/** Lane of events without a channel, so that no channel waits for them. */
const untoldLane = 'untold';

/** Prefix of lanes for events routed by a look-up; several are looked up at once. */
export const toRouteLanes = 'to-route/';

/**
 * The lane keeps a channel's alerts in order. If only the look-up can say which channel, events are routed one after the other,
 * each at most ten seconds later; so are events for several channels. Failures never wait for successes.
 */
function laneOf({ kind }: PaymentEvent, routed: readonly Destination[] | undefined): string {
  if (!routed) return `${toRouteLanes}${kind}`;
  const [first, second] = routed;
  if (!first) return untoldLane;
  return second ? `to-copy/${kind}` : first.channel;
}

/**
 * Stores an event and its channels in one call. `copyFor`: stores a copy for that channel. `to`: undefined if only a look-up
 * can say which channels. False: it was stored before. Throws StoreUnavailable.
 */
export async function storeAlert(
  { store, sealer }: Pick<Account, 'store' | 'sealer'>,
  { event, found, foundBy, ...stored }: NewAlert,
  to: Routed | undefined,
  copyFor?: string,
): Promise<boolean> {
  const key = alertKey(event.key, copyFor);
  const { routed, ...others }: Partial<Routed> = to ?? {};
  const record: MessageRecord = {
    channel: '',
    ...stored,
    sealed: sealer.seal(key, JSON.stringify(event)),
    ...newCounters,
    // An event for several channels is copied first; see `sendToChannels`.
    ...(routed && (routed.length > 1 ? { routed: routed.map(storedPart) } : channelFields(event, routed))),
    ...others,
    ...(foundBy.length > 0 && { foundBy }),
    ...(found && { evidence: sealEvidence(sealer, key, found) }),
  };
  const due = { delayMs: 0, lane: laneOf(event, routed), index: listsOf(key, record) };
  return await store.create(key, writeMessageRecord(record), due);
}

/** The record's fields for its first channel. */
function channelFields(
  { kind }: PaymentEvent,
  routed: readonly Destination[],
): Pick<MessageRecord, 'channel' | 'routed' | 'arrivals'> {
  const [first] = routed;
  return {
    channel: first?.channel ?? '',
    routed: routed.map(storedPart),
    // Counts towards a storm from now on, even before it is posted.
    ...(first && kind !== 'payment_given_back' ? { arrivals: arrivals(first, kind) } : {}),
  };
}

function storedPart({ channel, rule }: Destination): Destination {
  if (!rule) return { channel };
  const { name, mention, severity, quietHours, escalate, digestAfter } = rule;
  return { channel, rule: withoutUndefined({ name, mention, severity, quietHours, escalate, digestAfter }) };
}

/**
 * Puts an event into its channels' lanes: first copies for the further channels, then its own record. It holds its lane
 * meanwhile, so no channel gets a later event before it.
 */
export async function sendToChannels(
  account: Pick<Account, 'store' | 'sealer'>,
  { entry, record }: Work,
  event: PaymentEvent,
  found: Evidence | undefined,
): Promise<void> {
  const { routed = [], fingerprint = '', receivedAtMs } = record;
  const [, ...further] = routed;
  const copy = { event, fingerprint, receivedAtMs, foundBy: [], found };
  await Promise.all(further.map((to) => storeAlert(account, copy, { routed: [to] }, to.channel)));
  const first = { ...record, ...channelFields(event, routed), turns: entry.attempts };
  const due = { delayMs: 0, lane: first.channel, index: listsOf(entry.key, first) };
  await account.store.write(entry, writeMessageRecord(first), due);
}

/** The longest that an outage of the service delays an alert; then it is posted unchecked. */
const lookUpPatienceMs = 10_000;
const retryLookUpMs = 2_000;

/**
 * Whether the alert still waits for the service. The time counts from the event, or from the outage's start if that is later:
 * otherwise one failed look-up would route a whole backlog unchecked. For a single order without an answer it counts from its event.
 */
function mayWait(
  { receivedAtMs, unansweredSinceMs }: MessageRecord,
  { sinceMs = receivedAtMs }: Extract<Lookup, { kind: 'unchecked' }>,
  nowMs: number,
): boolean {
  const waitedMs = nowMs - Math.max(receivedAtMs, Math.min(sinceMs, unansweredSinceMs ?? nowMs));
  // Negative if a clock was put back.
  return waitedMs >= 0 && waitedMs < lookUpPatienceMs;
}

/** Looks up alerts, and routes those whose event doesn't say enough. */
export function createLookUps(
  account: Pick<Account, 'store' | 'sealer' | 'rememberMs' | 'leaseMs' | 'now'>,
  { lookUp, route }: { lookUp: (event: PaymentEvent) => Promise<Lookup>; route: Route },
) {
  const { sealer, now } = account;

  /** Undefined: no answer yet, and the alert still waits. */
  async function ask({ entry, record }: Work, event: PaymentEvent): Promise<Evidence | undefined> {
    const known = openEvidence(sealer, entry.key, record);
    const lookup = await lookUp(withProvenOrder(event, known?.lookup));
    const isWaiting = lookup.kind === 'unchecked' && mayWait(record, lookup, now());
    return isWaiting ? undefined : newerOf({ lookup, atMs: now() }, known);
  }

  /** Holds its lane until the service answers. */
  async function wait(work: Work): Promise<void> {
    const { unansweredSinceMs = now() } = work.record;
    await reschedule(account, work, { unansweredSinceMs }, { holdMs: retryLookUpMs });
  }

  /** The look-up and its route, to be stored together. Undefined: no answer yet. */
  async function routeByLookUp(
    work: Work,
    event: PaymentEvent,
  ): Promise<Pick<MessageRecord, 'evidence' | 'routed' | 'keptBy' | 'byCharge'> | undefined> {
    const { entry, record } = work;
    const found = await ask(work, event);
    if (!found) return undefined;
    const { routed, ...others } = await route(
      withLookUp(event, found.lookup),
      record.receivedAtMs,
      found.lookup,
    );
    return { evidence: sealEvidence(sealer, entry.key, found), routed: routed.map(storedPart), ...others };
  }

  return {
    /** Undefined: no answer yet; the alert's lane waits. */
    async askOrWait(work: Work, event: PaymentEvent): Promise<Evidence | undefined> {
      const found = await ask(work, event);
      if (!found) await wait(work);
      return found;
    },

    /** Stores the route; the record is due again at once. Without an answer its lane waits. */
    async routeOrWait(work: Work, event: PaymentEvent): Promise<void> {
      const change = await routeByLookUp(work, event);
      if (change) await reschedule(account, work, change, { holdMs: 0 });
      else await wait(work);
    },

    /**
     * Looks up an event before its turn to be routed, and stores the result with it. Undefined: no answer yet. Throws if the
     * record can't be read.
     */
    async lookUpAhead(entry: Entry): Promise<Entry | undefined> {
      const record = readMessageRecord(entry.value);
      if (!isAlert(record) || record.routed) return entry;
      tagLog({ requestId: record.requestId });
      const work = { entry, record };
      const change = await routeByLookUp(work, openEvent(sealer, entry.key, record));
      return change && (await hold(account, work, change, account.leaseMs))?.entry;
    },
  };
}
