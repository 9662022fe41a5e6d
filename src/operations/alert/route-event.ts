import type { Destination } from '../../domain/alert-route.ts';
import type { PaymentEvent } from '../../domain/payment-event.ts';
import type { Store } from '../../store/store.ts';
import {
  alertKey,
  sealEvidence,
  writeOutboxRecord,
  type Evidence,
  type OutboxRecord,
} from '../outbox/outbox.ts';
import type { Sealer } from '../../domain/sealer.ts';
import type { Storms } from '../storm/storms.ts';

export type RouteDeps = {
  store: Pick<Store, 'create'>;
  sealer: Sealer;
  /** What tells alerts of a channel that has too many of them: each counts from when it is stored. */
  storms: Pick<Storms, 'arrived'>;
};

export type StoredAlert = { event: PaymentEvent; fingerprint: string; receivedAtMs: number };

/** What an event's own record is beside its dedupe memory: a message, the work of routing it, or that of logging it. */
export type Own = { kind: 'channel'; to: Destination } | { kind: 'to_route' } | { kind: 'nowhere' };

/** One lane for all of them: however many come, they keep one worker busy and no channel waits for them. */
const untoldLane = 'event-log';

/** How the lanes begin of what is routed by its look-up: several of them are looked up at once. */
export const toRouteLanes = 'to-route/';

/**
 * A channel gets its alerts in the order they came in, though which channel is known only after the look-up: so each
 * is routed after the one before it, ten seconds later at most, as in a channel. Failures never wait for the many
 * successes.
 */
function toRouteLane({ kind }: PaymentEvent): string {
  return `${toRouteLanes}${kind}`;
}

/** Stores the event. False: it is there already, and nothing changed. Throws StoreUnavailable. */
export function storeOwn(deps: RouteDeps, alert: StoredAlert, own: Own): Promise<boolean> {
  const key = alertKey(alert.event.key);
  const { store } = deps;
  switch (own.kind) {
    case 'channel':
      return storeTold(deps, key, alert, own.to);
    case 'to_route':
      return store.create(key, recordOf(deps, key, alert, ''), {
        delayMs: 0,
        lane: toRouteLane(alert.event),
      });
    case 'nowhere':
      return store.create(key, recordOf(deps, key, { ...alert, untold: true }, ''), {
        delayMs: 0,
        lane: untoldLane,
      });
  }
}

/**
 * Stores a record of the alert for each of these channels; those that are there stay as they are. `found`: what it
 * was routed by, which a storm’s digest need not ask for once more.
 */
export async function storeCopies(
  deps: RouteDeps,
  alert: StoredAlert & { found?: Evidence },
  destinations: readonly Destination[],
): Promise<void> {
  await Promise.all(
    destinations.map((to) => storeTold(deps, alertKey(alert.event.key, to.channel), alert, to)),
  );
}

async function storeTold(
  deps: RouteDeps,
  key: string,
  alert: StoredAlert & StoredMore,
  to: Destination,
): Promise<boolean> {
  const { channel } = to;
  const isNew = await deps.store.create(key, recordOf(deps, key, alert, channel), {
    delayMs: 0,
    lane: channel,
  });
  if (isNew) await deps.storms.arrived(to, key, alert.event.kind);
  return isNew;
}

type StoredMore = Pick<OutboxRecord, 'untold'> & { found?: Evidence };

/** Without a channel it is no message. */
function recordOf(
  { sealer }: RouteDeps,
  key: string,
  { event, fingerprint, receivedAtMs, found, ...more }: StoredAlert & StoredMore,
  channel: string,
): string {
  return writeOutboxRecord({
    kind: 'alert',
    channel,
    fingerprint,
    receivedAtMs,
    sealed: sealer.seal(key, JSON.stringify(event)),
    misses: 0,
    ...more,
    ...(found ? { evidence: sealEvidence(sealer, key, found) } : {}),
    // People act on a failure, and its message is edited as they do.
    ...(event.kind === 'payment_failed' && channel !== '' ? { progress: { kind: 'waiting' } } : {}),
  });
}
