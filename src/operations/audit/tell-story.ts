import type { AuditEntry } from '../../domain/audit-entry.ts';
import { auditOfCharge } from '../../domain/audit-of-charge.ts';
import type { ChargeSeen } from '../../domain/charge-seen.ts';
import { cleanAuditEntry } from '../../domain/clean-audit-entry.ts';
import { orderEventKey } from '../../domain/event-key.ts';
import type { OrderReference } from '../../domain/order-reference.ts';
import type { PaymentEvent, PaymentEventKind } from '../../domain/payment-event.ts';
import type { PaymentLink } from '../../domain/payment-link.ts';
import type { Store } from '../../store/store.ts';
import { readAlertCard } from '../alert/alert-cards.ts';
import { auditOfCard } from './audit-of-alert.ts';
import { auditOfDesk } from './audit-of-desk.ts';
import { seenOf, type ChargeRecord, type ChargeRecords } from '../charge/charge-record.ts';
import { auditOfNewLink } from '../link/payment-links.ts';
import { linkCardKey } from '../link/prepare-link.ts';
import { alertKey, openEvent, outboxKey, readOutboxRecord, type OutboxRecord } from '../outbox/outbox.ts';
import type { Sealer } from '../../domain/sealer.ts';

/** Everything the bot knows and did about one reference, oldest first. */
export type Story = {
  reference: OrderReference;
  charge?: ChargeSeen;
  link?: PaymentLink;
  /** The last event of an order that the bot neither charged nor made a link of. */
  event?: Pick<PaymentEvent, 'kind' | 'amountMinor' | 'currency' | 'customerEmail'>;
  entries: readonly AuditEntry[];
};

export type StoryDeps = {
  store: Pick<Store, 'read' | 'list'>;
  sealer: Sealer;
  /** What the audit has of it, oldest first. Throws StoreUnavailable. */
  ofReference: (reference: string) => Promise<readonly AuditEntry[]>;
  charges: Pick<ChargeRecords, 'read'>;
  findLink: (reference: string) => Promise<PaymentLink | undefined>;
  /** The merchant account it is told for; undefined in a bot that knows one alone. */
  account: string | undefined;
};

/**
 * The audit is the story; what it lacks, because it is younger than the payment, is kept for a shorter time or has not
 * come up yet, is told from the records of the charge, the link, the events and the alert themselves, so that the end
 * is never missing. Each thing once. Undefined: the bot knows nothing of the reference. Throws StoreUnavailable.
 */
export async function tellStory(deps: StoryDeps, reference: OrderReference): Promise<Story | undefined> {
  const [audited, charge, link, ...events] = await Promise.all([
    deps.ofReference(reference),
    deps.charges.read(reference),
    deps.findLink(reference),
    ...eventKinds.map((kind) => readEvent(deps, orderEventKey(kind, reference))),
  ]);
  const received = events.filter((event) => event !== undefined);
  const kept = [
    ...(charge ? await ofCharge(deps, charge) : []),
    ...(link ? await ofLink(deps, link) : []),
    ...received.flatMap((event) => ofEvent(reference, event, charge !== undefined || link !== undefined)),
    ...received.flatMap(({ key, card }) => auditOfCard(key, card)),
  ];
  const entries = merged(
    audited.filter(({ account }) => account === undefined || account === deps.account),
    kept.map(cleanAuditEntry),
  );
  if (entries.every(isOfTheStoryItself)) return undefined;
  const last = received.toSorted((one, other) => one.receivedAtMs - other.receivedAtMs).at(-1);
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

/** What the records tell and the audit has is one; by what happened and when, which is the same in both. */
function merged(audited: readonly AuditEntry[], kept: readonly AuditEntry[]): AuditEntry[] {
  const known = new Set(audited.map(sameThing));
  const missing = kept.filter((entry) => !known.has(sameThing(entry)));
  return [...audited, ...missing].toSorted((one, other) => one.atMs - other.atMs);
}

function sameThing({ atMs, who, what, result = '' }: AuditEntry): string {
  return JSON.stringify([atMs, who, what, result]);
}

async function ofCharge({ store }: StoryDeps, record: ChargeRecord): Promise<AuditEntry[]> {
  const { reference } = record.intent;
  const entry = await store.read(outboxKey('charge', reference));
  return [
    ...auditOfCharge(record.intent.history),
    ...auditOfDesk(record),
    ...(entry ? ofPost(reference, entry.key, readOutboxRecord(entry.value)) : []),
  ];
}

/** Of its life the record has the beginning and where it stands; the steps between are the audit's. */
async function ofLink({ store }: StoryDeps, link: PaymentLink): Promise<AuditEntry[]> {
  const { reference, state, places } = link;
  const posts = await Promise.all(places.map((place) => store.read(linkCardKey(reference, place))));
  const told = posts.flatMap((entry) =>
    entry ? ofPost(reference, entry.key, readOutboxRecord(entry.value)) : [],
  );
  if (!('atMs' in state)) return [auditOfNewLink(link), ...told];
  const { atMs, kind } = state;
  const end = { reference, atMs, after: `link_${kind}`, result: `link_looked_up_${lookedUp[kind]}` };
  return [
    auditOfNewLink(link),
    ...told,
    { id: `link:${reference}:end`, who: 'payments', what: 'answer', ...end },
  ];
}

const lookedUp = { paid: 'confirmed', review: 'not_confirmed', aged: 'not_found' } as const;

type Received = {
  key: string;
  event: PaymentEvent;
  receivedAtMs: number;
  record: OutboxRecord;
  card: Awaited<ReturnType<typeof readAlertCard>>;
};

async function readEvent(deps: StoryDeps, key: string): Promise<Received | undefined> {
  const entry = await deps.store.read(alertKey(key));
  if (!entry) return undefined;
  const record = readOutboxRecord(entry.value);
  const card = await readAlertCard(deps, key);
  const { receivedAtMs } = record;
  return { key, event: openEvent(deps.sealer, entry.key, record), receivedAtMs, record, card };
}

/** A charge or a link has heard of it in a step of its own. */
function ofEvent(
  reference: OrderReference,
  { key, event, receivedAtMs, record }: Received,
  isHeard: boolean,
): AuditEntry[] {
  const { kind, reason } = event;
  const heard: AuditEntry = {
    id: `event:${key}`,
    atMs: receivedAtMs,
    who: 'payments',
    what: 'answer',
    reference,
    result: `event_${kind}`,
    ...(reason === undefined ? {} : { reason }),
  };
  return [...(isHeard ? [] : [heard]), ...ofPost(reference, alertKey(key), record)];
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
