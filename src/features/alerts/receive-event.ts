import { createHash } from 'node:crypto';
import type { Routed } from './routing.ts';
import { faceOf, type SavedCard } from '../../domain/saved-card.ts';
import { outsideText } from '../../domain/outside-text.ts';
import { unreadableKind, type PaymentEvent } from '../../domain/payment-event.ts';
import { counted } from '../../domain/wording.ts';
import { withoutUndefined } from '../../domain/without-undefined.ts';
import type { Entry, Store } from '../../store/store.ts';
import { type TellDeps, tellOperators } from '../../messages/messages.ts';
import type { Notice } from '../../messages/notices.ts';
import { code, rich } from '../../slack/kit/blocks.ts';
import { type KeptEvent, findKeptEvent, openKeptEvent } from './event-log.ts';
import { splitRouted, storeEvent } from './route-event.ts';

export type ReceiveDeps = TellDeps & {
  store: Pick<Store, 'create' | 'read' | 'write'>;
  /** The channels that an event received then is told in, and those that mutes keep it from; none: it is remembered and not told. */
  route: (event: PaymentEvent, receivedAtMs: number) => readonly Routed[] | Promise<readonly Routed[]>;
  /** Whether that hangs on what only a look-up says. */
  needsLookUp: (event: PaymentEvent) => boolean | Promise<boolean>;
  rememberMs: number;
  /** Called after new work was stored, so that a worker need not wait for its next round. */
  wake: () => void;
  /** Keeps the token of a saved card, sealed; undefined: no token is kept anywhere. */
  rememberCard: ((card: SavedCard) => Promise<void>) | undefined;
  /**
   * Called before the event is called received, however often it comes, so that a charge it may be about is looked
   * up now and not at its next round, or never. It gets no token. Throws StoreUnavailable: the sender sends again.
   */
  beforeReceived: (event: PaymentEvent) => Promise<void>;
  /**
   * The same of a success, to hold it against the failures it may make good. `alone`: no rule wants it, and this
   * remembers it; false: it is known.
   */
  expect: (event: PaymentEvent, receivedAtMs: number, alone?: Alone) => Promise<boolean>;
};

/** What is remembered of a success that is told nowhere; `keptBy`: because of these mutes. */
export type Alone = { fingerprint: string; keptBy?: readonly string[] };

const dayMs = 86_400_000;

type ReceiveResult = 'new' | 'duplicate' | 'differs';

/**
 * Once it has answered, the event is safe: stored, and work if it is to be told. A repeat of it, under
 * whatever id, is `duplicate`; one that says anything else is `differs`, and the operators are told unless only its
 * reason is another. Throws StoreUnavailable when nothing is safe: the sender must be refused, so that it sends again.
 *
 * Dedupe and enqueueing are one step on purpose: with "remember, then queue" a crash in between loses the alert.
 *
 * Spec: Events, rule 1.
 */
export async function receiveEvent(
  deps: ReceiveDeps,
  event: PaymentEvent,
  fingerprint: string,
): Promise<ReceiveResult> {
  const kept = await takeToken(deps, event);
  const receivedAtMs = deps.now();
  const routed = (await deps.needsLookUp(kept)) ? undefined : await deps.route(kept, receivedAtMs);
  const isPayment = kept.kind === 'payment_success';
  const split = routed && splitRouted(routed);
  const isUntold = split?.routed.length === 0;
  const alert = { event: kept, fingerprint, receivedAtMs };
  // At once, for a repeat triggers as well: when only the event is stored, nobody is told that it was received.
  const [, , isNew] = await Promise.all([
    deps.beforeReceived(kept),
    isPayment && !isUntold && deps.expect(kept, receivedAtMs),
    isPayment && isUntold
      ? deps.expect(kept, receivedAtMs, { fingerprint, ...withoutUndefined({ keptBy: split.keptBy }) })
      : storeEvent(deps, alert, routed),
  ]);
  if (isNew) {
    if (!isUntold) deps.wake();
    return 'new';
  }
  const known = await firstOf(deps, event.key);
  if (!known || (known.fingerprint ?? fingerprint) === fingerprint) return 'duplicate';
  await tellDiffering(deps, known.event, event, fingerprint);
  return 'differs';
}

/**
 * The event without its card token, which goes to the ledger or nowhere. The card comes before the event's own record: a
 * crash in between makes the sender send again, and the other way round the token would be lost. A repeat of a stored
 * event remembers no card, so one that was forgotten meanwhile stays forgotten.
 */
async function takeToken(deps: ReceiveDeps, received: PaymentEvent): Promise<PaymentEvent> {
  if (!received.savedCard) return received;
  const { savedCard, ...event } = received;
  const known = deps.rememberCard && (await findKeptEvent(deps.store, event.key));
  if (!known) await deps.rememberCard?.(savedCard);
  if (event.kind !== 'payment_success') return event;
  const customerEmail = event.customerEmail ?? savedCard.customerEmail;
  const saved = { kind: deps.rememberCard ? 'kept' : 'not_kept', face: faceOf(savedCard) } as const;
  const cardSaved = known ? openIfPossible(deps, known)?.event.cardSaved : saved;
  return { ...event, ...withoutUndefined({ cardSaved, customerEmail }) };
}

async function firstOf(deps: ReceiveDeps, key: string): Promise<KeptEvent | undefined> {
  const known = await findKeptEvent(deps.store, key);
  return known && openIfPossible(deps, known);
}

/** Undefined: the worker that meets it tells that; refusing its repeats would help nobody. */
function openIfPossible({ sealer }: ReceiveDeps, entry: Entry): KeptEvent | undefined {
  try {
    return openKeptEvent(sealer, entry);
  } catch {
    return undefined;
  }
}

const longestShown = 80;

/**
 * Tells the operators of a repeat that differs from the first, once. A sender that writes a time or a number into its
 * reasons would fill the channel, so another reason alone is in the log only.
 */
async function tellDiffering(
  deps: ReceiveDeps,
  first: PaymentEvent,
  event: PaymentEvent,
  fingerprint: string,
): Promise<void> {
  const { kind: eventKind, key, orderReference } = event;
  const isSameMoney = first.amountMinor === event.amountMinor && first.currency === event.currency;
  if (!first.isErased && isSameMoney && first.reason !== event.reason) return;
  await tellOperators(deps, `differs:${key}:${fingerprint}`, differingNotice(eventKind, orderReference));
}

export function differingNotice(eventKind: string, reference: string | undefined): Notice {
  return {
    state: 'A repeated event differs from the first',
    about: [eventKind, reference ?? 'no reference'],
    lines: [
      rich`Its amount or outcome is different. The first alert stays as it was.`,
      reference === undefined
        ? rich`Look the order up before acting on either.`
        : rich`Look it up before acting on either: ${code(`/pay ${outsideText(reference, longestShown)}`)}`,
    ],
  };
}

type UnknownDelivery = { eventKind: string; key: string; body: Buffer };

/**
 * Keeps a delivery that was validly signed but is none of the spec's events, sealed, and tells the
 * operators once per kind. Never throws it away: what it meant may be learnt later.
 */
export async function keepUnknownEvent(deps: ReceiveDeps, delivery: UnknownDelivery): Promise<void> {
  const key = `unknown:${delivery.key}`;
  const sealed = deps.sealer.seal(key, delivery.body.toString('base64'));
  await deps.store.create(key, sealed, { ttlMs: deps.rememberMs });
  const { eventKind } = delivery;
  const isUnreadable = eventKind === unreadableKind;
  const kept = `It’s kept for ${counted(Math.round(deps.rememberMs / dayMs), 'day')}.`;
  await tellOperators(deps, `unknown:${shortHash(eventKind)}`, {
    state: isUnreadable
      ? 'A signed delivery without an event kind arrived'
      : 'A signed event of unknown kind arrived',
    about: isUnreadable ? [] : [eventKind],
    lines: [
      rich`${kept} ${isUnreadable ? 'Others like it' : 'Others of this kind'} aren’t told.`,
      rich`Should it be an alert? Check ${code('WEBHOOK_EVENT_POINTERS')}; ${code('npm run explain-delivery')} shows how a captured one is read.`,
    ],
  });
}

/** Outside text must not shape a key. */
function shortHash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}
