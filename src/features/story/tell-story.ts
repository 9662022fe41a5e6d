import { cleanAuditEntry, type AuditEntry } from '../../domain/audit-entry.ts';
import { auditOfCharge } from '../../domain/audit-of-charge.ts';
import type { ChargeSeen } from '../../domain/charge-seen.ts';
import { orderEventKey } from '../../domain/event-key.ts';
import type { OrderReference } from '../../domain/order-reference.ts';
import type { PaymentEvent, PaymentEventKind } from '../../domain/payment-event.ts';
import type { PaymentLink } from '../../domain/payment-link.ts';
import type { Sealer } from '../../domain/sealer.ts';
import type { Store } from '../../store/store.ts';
import { seenOf, type ChargeRecords } from '../charge/charge-record.ts';
import { linkCardKey } from '../links/prepare-link.ts';
import {
  alertKey,
  openEvent,
  outboxKey,
  readOutboxRecord,
  type OutboxRecord,
} from '../../messages/outbox.ts';

/** Everything the bot knows and did about one reference, oldest first. */
export type Story = {
  reference: OrderReference;
  charge?: ChargeSeen;
  link?: PaymentLink;
  /** The last event of an order that the bot neither charged nor made a link of. */
  event?: Pick<PaymentEvent, 'kind' | 'amountMinor' | 'currency' | 'customerEmail'>;
  entries: readonly AuditEntry[];
};

type StoryDeps = {
  store: Pick<Store, 'read'>;
  sealer: Sealer;
  /** What the audit has of it, oldest first. Throws StoreUnavailable. */
  ofReference: (reference: string) => Promise<readonly AuditEntry[]>;
  charges: Pick<ChargeRecords, 'read'>;
  findLink: (reference: string) => Promise<PaymentLink | undefined>;
  /** The merchant account it is told for; undefined in a bot that knows one alone. */
  account: string | undefined;
};

/**
 * The audit is the story. What stands in no entry of it, or not yet, is added from the records: the steps of a charge
 * that is not at rest, the events, and where messages were posted. Each thing once. Undefined: the bot knows nothing of
 * the reference. Throws StoreUnavailable.
 */
export async function tellStory(deps: StoryDeps, reference: OrderReference): Promise<Story | undefined> {
  const [audited, charge, link, ...events] = await Promise.all([
    deps.ofReference(reference),
    deps.charges.read(reference),
    deps.findLink(reference),
    ...eventKinds.map((kind) => readEvent(deps, orderEventKey(kind, reference))),
  ]);
  const received = events.filter((event) => event !== undefined);
  const posts = [
    ...(charge ? [outboxKey('charge', reference)] : []),
    ...(link ? link.places.map((place) => linkCardKey(reference, place)) : []),
  ];
  const kept = [
    ...(charge ? auditOfCharge(charge.intent.history) : []),
    // A charge or a link has heard of it in a step of its own.
    ...(charge || link ? [] : received.map((event) => heard(reference, event))),
    ...received.flatMap(({ key, record }) => ofPost(reference, alertKey(key), record)),
    ...(await Promise.all(posts.map((key) => readPost(deps, reference, key)))).flat(),
  ];
  const entries = merged(
    audited.filter(({ account }) => account === undefined || account === deps.account),
    kept.map(cleanAuditEntry),
  );
  const last = received.toSorted((one, other) => one.receivedAtMs - other.receivedAtMs).at(-1);
  if (!charge && !link && !last && entries.every(isOfTheStoryItself)) return undefined;
  return {
    reference,
    entries,
    ...(charge ? { charge: seenOf(charge) } : {}),
    ...(link ? { link } : {}),
    ...(last ? { event: last.event } : {}),
  };
}

const eventKinds = ['payment_failed', 'payment_success'] as const satisfies PaymentEventKind[];

/** That somebody asked for the story is a part of it, and alone is none. */
function isOfTheStoryItself({ verb }: AuditEntry): boolean {
  return verb === 'story';
}

/**
 * What the records tell and the audit has is one; by what happened and when, which is the same in both. In one
 * millisecond what came in stands before what people did about it.
 */
function merged(audited: readonly AuditEntry[], kept: readonly AuditEntry[]): AuditEntry[] {
  const known = new Set(audited.map(sameThing));
  const missing = kept.filter((entry) => !known.has(sameThing(entry)));
  return [...missing, ...audited].toSorted((one, other) => one.atMs - other.atMs);
}

function sameThing({ atMs, who, what, result = '' }: AuditEntry): string {
  return JSON.stringify([atMs, who, what, result]);
}

type Received = { key: string; event: PaymentEvent; receivedAtMs: number; record: OutboxRecord };

async function readEvent({ store, sealer }: StoryDeps, key: string): Promise<Received | undefined> {
  const entry = await store.read(alertKey(key));
  if (!entry) return undefined;
  const record = readOutboxRecord(entry.value);
  return { key, event: openEvent(sealer, entry.key, record), receivedAtMs: record.receivedAtMs, record };
}

function heard(reference: string, { key, event: { kind, reason }, receivedAtMs }: Received): AuditEntry {
  return {
    id: `event:${key}`,
    atMs: receivedAtMs,
    who: 'payments',
    what: 'answer',
    reference,
    result: `event_${kind}`,
    ...(reason === undefined ? {} : { reason }),
  };
}

async function readPost({ store }: StoryDeps, reference: string, key: string): Promise<AuditEntry[]> {
  const entry = await store.read(key);
  return entry ? ofPost(reference, key, readOutboxRecord(entry.value)) : [];
}

/** Where it was told: Slack's own time of the message. */
function ofPost(reference: string, key: string, { kind, posted }: OutboxRecord): AuditEntry[] {
  if (!posted) return [];
  const { channel, ts } = posted;
  return [
    {
      id: `post:${key}`,
      atMs: Math.round(Number(ts) * 1_000),
      who: 'payops',
      what: 'step',
      reference,
      where: channel,
      result: `posted_${kind}`,
    },
  ];
}
