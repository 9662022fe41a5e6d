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
import { type KeptEvent, findKeptEvent, openKeptEvent } from './event-log.ts';
import { type Route, storeAlert } from './route-event.ts';
import { dayMs } from '../../domain/span.ts';

type ReceiveResult = 'new' | 'duplicate' | 'differs';

/** What takes the deliveries that were validly signed. All of it throws StoreUnavailable: the sender sends again. */
export function createReceiving(
  account: Pick<Account, 'store' | 'sealer' | 'fingerprint' | 'rememberMs' | 'now' | 'wake' | 'log'>,
  around: {
    route: Route;
    /** Whether that hangs on what only a look-up says. */
    needsLookUp: (event: PaymentEvent) => boolean | Promise<boolean>;
    /** Keeps the token of a saved card, sealed; undefined: no token is kept anywhere. */
    rememberCard: ((card: SavedCard) => Promise<void>) | undefined;
    /**
     * Called before the event is called received, however often it comes, so that a charge it may be about is looked
     * up now and not at its next round, or never. It gets no token.
     */
    beforeReceived: (event: PaymentEvent) => Promise<void>;
    /** The same of a success, to hold it against the failures it may make good. */
    expect: AlertRecovery['expect'];
    /** Where notices to the operators go; undefined: they are only logged. */
    opsChannel: string | undefined;
  },
) {
  const { store, sealer, now } = account;
  const operators = { ...account, opsChannel: around.opsChannel };

  /** Undefined: the worker that meets it tells that; refusing its repeats would help nobody. */
  function openIfPossible(entry: Entry | undefined): KeptEvent | undefined {
    try {
      return entry && openKeptEvent(sealer, entry);
    } catch {
      return undefined;
    }
  }

  /**
   * The event without its card token, which goes to the ledger or nowhere. The card comes before the event's own record: a
   * crash in between makes the sender send again, and the other way round the token would be lost. A repeat of a stored
   * event remembers no card, so one that was forgotten meanwhile stays forgotten.
   */
  async function takeToken(received: PaymentEvent): Promise<PaymentEvent> {
    if (!received.savedCard) return received;
    const { savedCard, ...event } = received;
    const { rememberCard } = around;
    const known = rememberCard && (await findKeptEvent(store, event.key));
    if (!known) await rememberCard?.(savedCard);
    if (event.kind !== 'payment_success') return event;
    const customerEmail = event.customerEmail ?? savedCard.customerEmail;
    const saved = { kind: rememberCard ? 'kept' : 'not_kept', face: faceOf(savedCard) } as const;
    const cardSaved = known ? openIfPossible(known)?.event.cardSaved : saved;
    return { ...event, ...withoutUndefined({ cardSaved, customerEmail }) };
  }

  return {
    /**
     * Once it has answered, the event is safe: stored, and work if it is to be told. A repeat of it, under
     * whatever id, is `duplicate`; one that says anything else is `differs`, and the operators are told, once, unless only
     * its reason is another: a sender that writes a time or a number into its reasons would fill the channel.
     *
     * Dedupe and enqueueing are one step on purpose: with "remember, then queue" a crash in between loses the alert.
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
      // At once, for a repeat triggers as well: when only the event is stored, nobody is told that it was received.
      const [, , isNew] = await Promise.all([
        around.beforeReceived(kept),
        isPayment && !isUntold && around.expect(kept, receivedAtMs),
        isPayment && isUntold
          ? around.expect(kept, receivedAtMs, {
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
      const known = openIfPossible(await findKeptEvent(store, event.key));
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
     * Keeps a delivery that was validly signed but is none of the spec's events, sealed, and tells the
     * operators once per kind. Never throws it away: what it meant may be learnt later.
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
