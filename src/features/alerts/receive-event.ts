import { createHash } from 'node:crypto';
import type { Account } from '../../account.ts';
import { outsideText } from '../../domain/outside-text.ts';
import { type PaymentEvent, unreadableKind } from '../../domain/payment-event.ts';
import { type SavedCard, faceOf } from '../../domain/card.ts';
import { withoutUndefined } from '../../domain/json.ts';
import { counted } from '../../domain/wording.ts';
import { tellOperators } from '../../messages/messages.ts';
import type { Notice } from '../../messages/notices.ts';
import { code, rich } from '../../slack/kit/blocks.ts';
import { listsFoundBy } from '../../records/found-by.ts';
import type { Entry } from '../../store/store.ts';
import { eventFoundBy } from './alert.ts';
import type { AlertRecovery } from './alert-recovery.ts';
import { type StoredEvent, findEvent, openStoredEvent } from './event-log.ts';
import { type Route, storeAlert } from './route-event.ts';
import { dayMs } from '../../domain/span.ts';

type ReceiveResult = 'new' | 'duplicate' | 'differs';

/** Takes validly signed deliveries. Everything throws StoreUnavailable; then the sender repeats. */
export function createReceiving(
  account: Pick<Account, 'store' | 'sealer' | 'fingerprint' | 'rememberMs' | 'now' | 'wake' | 'log'>,
  around: {
    route: Route;
    /** Whether the route needs a look-up. */
    needsLookUp: (event: PaymentEvent) => boolean | Promise<boolean>;
    /** Keeps the token of a saved card, sealed; undefined: no token is kept anywhere. */
    rememberCard: ((card: SavedCard) => Promise<void>) | undefined;
    /**
     * Called before the event counts as received, for repeats too, so that a charge it may be about is looked up now. Gets no
     * token.
     */
    beforeReceived: (event: PaymentEvent) => Promise<void>;
    addPayment: AlertRecovery['addPayment'];
    /** Where notices to the operators go; undefined: they are only logged. */
    opsChannel: string | undefined;
  },
) {
  const { store, sealer, now } = account;
  const operators = { ...account, opsChannel: around.opsChannel };

  /** Undefined: unreadable. The worker reports it; refusing repeats would help nobody. */
  function openIfPossible(entry: Entry | undefined): StoredEvent | undefined {
    try {
      return entry && openStoredEvent(sealer, entry);
    } catch {
      return undefined;
    }
  }

  /**
   * The event without its card token, which goes to the ledger or nowhere. The card is stored before the event: after a crash
   * in between the sender repeats, while the other order would lose the token. A repeat of a stored event stores no card, so a
   * forgotten card stays forgotten.
   */
  async function takeToken(received: PaymentEvent): Promise<PaymentEvent> {
    if (!received.savedCard) return received;
    const { savedCard, ...event } = received;
    const { rememberCard } = around;
    const known = rememberCard && (await findEvent(store, event.key));
    if (!known) await rememberCard?.(savedCard);
    if (event.kind !== 'payment_success') return event;
    const customerEmail = event.customerEmail ?? savedCard.customerEmail;
    const saved = { kind: rememberCard ? 'kept' : 'not_kept', face: faceOf(savedCard) } as const;
    const cardSaved = known ? openIfPossible(known)?.event.cardSaved : saved;
    return { ...event, ...withoutUndefined({ cardSaved, customerEmail }) };
  }

  return {
    /**
     * Resolves once the event is stored, as work if a channel gets it. A repeat under any id is `duplicate`; one with other
     * content is `differs`, which operators read once, unless only the reason differs: some senders put a time into it.
     *
     * Dedupe and enqueueing are one step: with "remember, then queue" a crash in between loses the alert.
     *
     * Spec: Events, rule 1.
     */
    async receive(event: PaymentEvent, fingerprint: string): Promise<ReceiveResult> {
      const kept = await takeToken(event);
      const receivedAtMs = now();
      const routed = (await around.needsLookUp(kept)) ? undefined : await around.route(kept, receivedAtMs);
      const isPayment = kept.kind === 'payment_success';
      const isUntold = routed?.routed.length === 0;
      const foundBy = await listsFoundBy(account, eventFoundBy(kept));
      // At once; a repeat does all three again, so a crash between them loses nothing.
      const [, , isNew] = await Promise.all([
        around.beforeReceived(kept),
        isPayment && !isUntold && around.addPayment(kept, receivedAtMs),
        isPayment && isUntold
          ? around.addPayment(kept, receivedAtMs, {
              fingerprint,
              foundBy,
              ...withoutUndefined({ keptBy: routed.keptBy }),
            })
          : storeAlert(account, { event: kept, fingerprint, receivedAtMs, foundBy }, routed),
      ]);
      if (isNew) {
        if (!isUntold) account.wake();
        return 'new';
      }
      const known = openIfPossible(await findEvent(store, event.key));
      if (!known || (known.fingerprint ?? fingerprint) === fingerprint) return 'duplicate';
      const { event: first } = known;
      const isSameMoney = first.amountMinor === event.amountMinor && first.currency === event.currency;
      if (first.isErased || !isSameMoney || first.reason === event.reason) {
        const { kind: eventKind, key, orderReference } = event;
        const notice = differingNotice(eventKind, orderReference);
        await tellOperators(operators, `differs:${key}:${fingerprint}`, notice);
      }
      return 'differs';
    },

    /**
     * Keeps a validly signed delivery of unknown kind, sealed, because its meaning may be learnt later. Operators read of each
     * kind once.
     */
    async keepUnknown({ eventKind, key: id, body }: { eventKind: string; key: string; body: Buffer }) {
      const key = `unknown:${id}`;
      const { rememberMs } = account;
      await store.create(key, sealer.seal(key, body.toString('base64')), { ttlMs: rememberMs });
      // Outside text must not shape a key.
      const name = createHash('sha256').update(eventKind).digest('hex').slice(0, 16);
      const isUnreadable = eventKind === unreadableKind;
      const isKept = `It’s kept for ${counted(Math.round(rememberMs / dayMs), 'day')}.`;
      await tellOperators(operators, `unknown:${name}`, {
        state: isUnreadable
          ? 'A signed delivery without an event kind arrived'
          : 'A signed event of unknown kind arrived',
        about: isUnreadable ? [] : [eventKind],
        lines: [
          rich`${isKept} ${isUnreadable ? 'Others like it' : 'Others of this kind'} aren’t told.`,
          rich`${isUnreadable ? 'Should it be an alert? Check' : 'What does it mean? Say so in'} ${code(isUnreadable ? 'WEBHOOK_EVENT_POINTERS' : 'WEBHOOK_KINDS')}; ${code('npm run explain-delivery')} shows how a captured one is read.`,
        ],
      });
    },
  };
}

const longestShown = 80;

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
