import type { Destination } from '../../domain/alert-route.ts';
import type { CardSaved } from '../../domain/card-saved.ts';
import type { PaymentEvent } from '../../domain/payment-event.ts';
import { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type { Entry, Store } from '../../store/store.ts';
import { toChannelLane } from '../outbox/alert-age.ts';
import {
  alertKey,
  isMessage,
  openEvent,
  readOutboxRecord,
  writeOutboxRecord,
  type OutboxRecord,
} from '../outbox/outbox.ts';
import type { Work } from '../outbox/outbox-work.ts';
import type { Sealer } from '../../domain/sealer.ts';

export type LateTokenDeps = {
  store: Pick<Store, 'read' | 'write'>;
  sealer: Sealer;
  rememberMs: number;
  /** For how long a worker may have the record in hand. */
  leaseMs: number;
};

/** Whoever loses that often loses to somebody who wins every time. */
const mostTries = 20;

/** The stored event when it lacks the token that a repeat of it may still bring; one that cannot be opened lacks none. */
export function eventWithoutToken(sealer: Sealer, { key, value }: Entry): PaymentEvent | undefined {
  try {
    const event = openEvent(sealer, key, readOutboxRecord(value));
    return event.cardSaved?.kind === 'no_token' ? event : undefined;
  } catch {
    return undefined;
  }
}

/**
 * From now on the record says what became of the card, and its message is edited to say so. Once, on all replicas:
 * what says it already is left alone, so no later repeat changes anything. True when this call changed it. Throws
 * StoreUnavailable.
 */
export async function tellLateToken(
  deps: LateTokenDeps,
  key: string,
  cardSaved: CardSaved,
): Promise<boolean> {
  const { store, sealer } = deps;
  for (let tries = 0; tries < mostTries; tries += 1) {
    // oxlint-disable-next-line no-await-in-loop -- each round looks at what the one before lost to
    const entry = await store.read(key);
    const event = entry && eventWithoutToken(sealer, entry);
    if (!entry || !event) return false;
    const sealed = sealer.seal(key, JSON.stringify({ ...event, cardSaved }));
    // oxlint-disable-next-line no-await-in-loop
    if (await rewrite(deps, entry, { ...readOutboxRecord(entry.value), sealed })) return true;
  }
  throw new StoreUnavailable('A record was changed again and again while a card token came late.');
}

/** A card token that came late is on the event’s own record, and the messages of further channels follow. */
export async function bringUpToDate(
  deps: LateTokenDeps,
  { entry, record }: Work,
  { kind, key, cardSaved }: PaymentEvent,
  destinations: readonly Destination[],
): Promise<void> {
  if (kind !== 'payment_success' || !record.progress || !cardSaved || entry.key !== alertKey(key)) return;
  await Promise.all(
    destinations.map(({ channel }) => tellLateToken(deps, alertKey(key, channel), cardSaved)),
  );
}

/**
 * What a worker may have in hand goes on being held for it, or its message would be taken, and posted, a second
 * time while it leaves; marked stale, it is edited afterwards.
 */
async function rewrite(
  { store, rememberMs, leaseMs }: LateTokenDeps,
  entry: Entry,
  record: OutboxRecord,
): Promise<boolean> {
  const { refused, posted, doubt, logged } = record;
  if (refused?.givenUp) {
    // A dead letter stays one until somebody has it delivered again.
    const ttlMs = record.rememberMs ?? rememberMs;
    return (await store.write(entry, writeOutboxRecord(record), { ttlMs })) !== undefined;
  }
  const isDone = (posted !== undefined && !doubt) || (!isMessage(record) && logged === true);
  if (!isDone) {
    const stale = writeOutboxRecord({ ...record, progress: { kind: 'stale' } });
    if (await store.write(entry, stale, { holdMs: leaseMs })) return true;
    // Changed meanwhile; or nobody has it in hand, and then it can simply become work.
  }
  const waiting = writeOutboxRecord({ ...record, progress: { kind: 'waiting' } });
  return (await store.write(entry, waiting, { delayMs: 0, ...toChannelLane(entry, record) })) !== undefined;
}
