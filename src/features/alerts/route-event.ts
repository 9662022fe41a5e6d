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
  unsaid,
  writeMessageRecord,
} from '../../messages/message-record.ts';
import { type Work, again, hold } from '../../messages/message-work.ts';
import type { Entry } from '../../store/store.ts';
import { type Evidence, knownAfter, openEvidence, sealEvidence } from './alert-record.ts';
import { withProvenOrder } from './alert.ts';
import { arrivals } from './storm/storm.ts';

/** `found`: what it was routed by, which a storm’s digest need not ask for once more. */
type StoredAlert = {
  event: PaymentEvent;
  /** The lists of its customer and card; none for a copy, which is no event of its own. */
  foundBy?: readonly string[];
  fingerprint: string;
  receivedAtMs: number;
  found?: Evidence | undefined;
};

/** Where an event received then is told; `lookup`: what was found of it, where that was asked. */
export type Route = (event: PaymentEvent, receivedAtMs: number, lookup?: Lookup) => Routed | Promise<Routed>;

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
 * Stores the event, in one call, with the channels that tell it; `channel`: as a copy for that one. Without `to` its
 * look-up says them later. False: it is there already, and nothing changed. Throws StoreUnavailable.
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
    ...unsaid,
    ...(routed && (routed.length > 1 ? { routed: routed.map(asKept) } : whereTold(event, routed))),
    ...kept,
    ...(foundBy.length > 0 && { foundBy: [...foundBy] }),
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
  return {
    channel: first?.channel ?? '',
    routed: routed.map(asKept),
    // It counts towards a storm of its channel from now on, whenever Slack lets it be posted.
    ...(first && kind !== 'payment_given_back' ? { arrivals: arrivals(first, kind) } : {}),
  };
}

function asKept({ channel, rule }: Destination): Destination {
  if (!rule) return { channel };
  const { name, mention, severity, quietHours, escalate, digestAfter } = rule;
  return { channel, rule: withoutUndefined({ name, mention, severity, quietHours, escalate, digestAfter }) };
}

/**
 * Sends an event whose channels are known on its way: a copy for each channel but the first, while it still holds its
 * lane, so that no channel gets a later one before it; then its own record goes into the lane of its first channel.
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
  // Those that are there stay as they are.
  await Promise.all(further.map((to) => storeAlert(kept, alert, { routed: [to] }, to.channel)));
  const told = { ...record, ...whereTold(event, routed), turns: entry.attempts };
  const due = { delayMs: 0, lane: told.channel, index: listsOf(entry.key, told) };
  await kept.store.write(entry, writeMessageRecord(told), due);
}

/** A service that is away delays an alert by this much at most; then it is told unchecked. */
const lookUpPatienceMs = 10_000;
const lookUpAgainMs = 2_000;

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

/** Asks the service what an alert is told by, and routed by where its event does not say enough. */
export function createEvidence(
  kept: Pick<Account, 'store' | 'sealer' | 'rememberMs' | 'leaseMs' | 'now'>,
  { lookUp, route }: { lookUp: (event: PaymentEvent) => Promise<Lookup>; route: Route },
) {
  const { sealer, now } = kept;

  /** Undefined: the service could not be asked, and not for so long yet that the alert is told without. */
  async function ask({ entry, record }: Work, event: PaymentEvent): Promise<Evidence | undefined> {
    const known = openEvidence(sealer, entry.key, record);
    const lookup = await lookUp(withProvenOrder(event, known?.lookup));
    const isWaiting = lookup.kind === 'unchecked' && mayWait(record, lookup, now());
    return isWaiting ? undefined : knownAfter({ lookup, atMs: now() }, known);
  }

  /** Its lane waits for the service. */
  async function wait(work: Work): Promise<void> {
    const { unansweredSinceMs = now() } = work.record;
    await again(kept, work, { unansweredSinceMs }, { holdMs: lookUpAgainMs });
  }

  /** What was found, and where that sends the event: written together, so that no rule is asked a second time. */
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
      if (change) await again(kept, work, change, { holdMs: 0 });
      else await wait(work);
    },

    /**
     * Looks an event up that waits for its turn to be routed by what is found, so that its turn asks nobody and nothing is
     * asked twice, also after a crash. Undefined: the alert waits for the service. Throws what keeps it from being read.
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
