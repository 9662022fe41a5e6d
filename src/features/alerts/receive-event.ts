import { hash } from 'node:crypto';
import type { Account } from '../../account.ts';
import { outsideText } from '../../domain/outside-text.ts';
import { type PaymentEvent, unreadableKind } from '../../domain/payment-event.ts';
import { type SavedCard, faceOf } from '../../domain/card.ts';
import { withoutUndefined } from '../../domain/json.ts';
import { counted } from '../../domain/wording.ts';
import {
  type MessageRecord,
  type Work,
  alertKey,
  listsOf,
  newCounters,
  writeMessageRecord,
} from '../../messages/message-record.ts';
import { tellOperators } from '../../messages/messages.ts';
import type { Notice } from '../../messages/notices.ts';
import { code, rich } from '../../slack/kit/blocks.ts';
import { searchLists } from '../../records/found-by.ts';
import type { Entry } from '../../store/store.ts';
import { type Evidence, eventFoundBy, sealEvidence } from './alert.ts';
import type { AlertRecovery } from './alert-recovery.ts';
import { eventPrefix } from './event-case.ts';
import { type StoredEvent, findEvent, openStoredEvent } from './event-log.ts';
import { toRouteLanes } from './look-up-event.ts';
import type { Destination, Route, Routed } from './route-event.ts';
import { arrivals } from './storm/storm.ts';
import { dayMs } from '../../domain/span.ts';

type ReceiveResult = 'new' | 'duplicate' | 'differs';

/** Receives validly signed events. Everything throws StoreUnavailable; then the sender retries. */
export function createReceiving(
  account: Pick<Account, 'store' | 'sealer' | 'fingerprint' | 'rememberMs' | 'now' | 'wake' | 'log'>,
  needs: {
    route: Route;
    /** Whether only a look-up can say which channels get the event. */
    needsLookUp: (event: PaymentEvent) => Promise<boolean>;
    /** Stores a saved card's token, sealed; undefined: the bot stores no tokens. */
    rememberCard: ((card: SavedCard) => Promise<void>) | undefined;
    /** Whether this is a payment link of the bot's own that saves no card. */
    savesNoCard: (reference: string) => Promise<boolean>;
    /** Tells charges that a first payment has saved this card. */
    onCardSaved: (card: SavedCard) => Promise<void>;
    /** Called with every event, repeats too, so that its charge is looked up now. The saved card's token was removed before. */
    beforeReceived: (event: PaymentEvent) => Promise<void>;
    addPayment: AlertRecovery['addPayment'];
    /** Where notices to the operators go; undefined: they are only logged. */
    opsChannel: string | undefined;
  },
) {
  const { store, sealer, now } = account;
  const operators = { ...account, opsChannel: needs.opsChannel };

  /** Undefined: it can't be read; the worker reports that. */
  function openIfPossible(entry: Entry | undefined): StoredEvent | undefined {
    try {
      return entry && openStoredEvent(sealer, entry);
    } catch {
      return undefined;
    }
  }

  /**
   * Moves the card's token from the event to the ledger. The card is stored before the event: after a crash in between the
   * sender retries; in the other order the token would be lost. A repeat stores no card, so a forgotten card stays forgotten.
   */
  async function takeToken(received: PaymentEvent): Promise<PaymentEvent> {
    if (!received.savedCard) {
      const { cardSaved, ...others } = received;
      const lacksToken = cardSaved && !(await needs.savesNoCard(received.orderReference ?? ''));
      return lacksToken ? received : others;
    }
    const { savedCard, ...event } = received;
    const { rememberCard } = needs;
    const known = await findEvent(store, event.key);
    const isSaved = event.kind === 'payment_success';
    if (!known) await rememberCard?.(savedCard);
    if (!known && isSaved && event.isSavedCardCharge !== true) await needs.onCardSaved(savedCard);
    if (!isSaved) return event;
    const customerEmail = event.customerEmail ?? savedCard.customerEmail;
    const saved = { kind: rememberCard ? 'kept' : 'not_kept', face: faceOf(savedCard) } as const;
    const cardSaved = known ? openIfPossible(known)?.event.cardSaved : saved;
    return { ...event, ...withoutUndefined({ cardSaved, customerEmail }) };
  }

  async function isStoredAlone(key: string): Promise<boolean> {
    return openIfPossible(await store.read(eventPrefix + key))?.fingerprint !== undefined;
  }

  /** False: it is stored already. Dedupe and queue are one write, or a crash in between would lose the alert. */
  async function storeEvent(received: NewAlert, routed: Routed | undefined): Promise<boolean> {
    const { event, fingerprint, receivedAtMs, foundBy } = received;
    const isPayment = event.kind === 'payment_success';
    if (isPayment && routed?.routed.length === 0) {
      const only = { fingerprint, foundBy, ...withoutUndefined({ keptBy: routed.keptBy }) };
      return await needs.addPayment(event, receivedAtMs, only);
    }
    // If a success went to no channel when it came, its payment case is its only record. Don't post a repeat of it.
    if (isPayment && !(await needs.addPayment(event, receivedAtMs)) && (await isStoredAlone(event.key)))
      return false;
    return await storeAlert(account, received, routed);
  }

  return {
    /**
     * Resolves once the event is stored, as work if a channel gets it. A repeat under any id is `duplicate`; one with other
     * content is `differs`, which operators read once, unless only the reason differs: some senders put a time into it.
     *
     * Spec: Events, rule 1.
     */
    async receive(received: PaymentEvent, fingerprint: string): Promise<ReceiveResult> {
      const event = await takeToken(received);
      const receivedAtMs = now();
      const routed = (await needs.needsLookUp(event)) ? undefined : await needs.route(event, receivedAtMs);
      const foundBy = await searchLists(account, eventFoundBy(event));
      // A repeat does all of this again, so a crash between the writes loses nothing.
      const [, isNew] = await Promise.all([
        needs.beforeReceived(event),
        storeEvent({ event, fingerprint, receivedAtMs, foundBy }, routed),
      ]);
      if (isNew) {
        if (routed?.routed.length !== 0) account.wake();
        return 'new';
      }
      const known = openIfPossible(await findEvent(store, event.key));
      if (!known || (known.fingerprint ?? fingerprint) === fingerprint) return 'duplicate';
      const { event: first } = known;
      const isSameMoney = first.amountMinor === event.amountMinor && first.currency === event.currency;
      const onlyReasonDiffers = !first.isErased && isSameMoney && first.reason !== event.reason;
      if (!onlyReasonDiffers) {
        const notice = differingNotice(event.kind, event.orderReference);
        await tellOperators(operators, `differs:${event.key}:${fingerprint}`, notice);
      }
      return 'differs';
    },

    /**
     * Stores a signed delivery of unknown kind, sealed, because its meaning may be learnt later. Operators get one notice per
     * kind.
     */
    async keepUnknown({ eventKind, key: id, body }: { eventKind: string; key: string; body: Buffer }) {
      const key = `unknown:${id}`;
      const { rememberMs } = account;
      await store.create(key, sealer.seal(key, body.toString('base64')), { ttlMs: rememberMs });
      // Outside text must not shape a key.
      const name = hash('sha256', eventKind).slice(0, 16);
      await tellOperators(operators, `unknown:${name}`, unknownNotice(eventKind, rememberMs));
    },
  };
}

type NewAlert = {
  event: PaymentEvent;
  fingerprint: string;
  receivedAtMs: number;
  /** Its lists for `/pay find`; none for a copy in another channel. */
  foundBy: string[];
  /** The look-up that routed it: a storm's digest needn't look up again. */
  found?: Evidence | undefined;
};

/** Lane of events without a channel, so that no channel waits for them. */
const noChannelLane = 'untold';

/**
 * A channel's lane keeps its alerts in order. Events that need a look-up to be routed, and events for several channels, first
 * wait in a lane of their kind; the look-up holds that lane for at most ten seconds. Failures never wait for successes there.
 */
function laneOf({ kind }: PaymentEvent, routed: readonly Destination[] | undefined): string {
  if (!routed) return `${toRouteLanes}${kind}`;
  const [first, second] = routed;
  if (!first) return noChannelLane;
  return second ? `to-copy/${kind}` : first.channel;
}

/**
 * Stores an event and its channels in one call. `copyFor`: stores a copy for that channel. `to`: undefined if only a look-up
 * can say which channels. False: it was stored before. Throws StoreUnavailable.
 */
async function storeAlert(
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
    ...(routed && (routed.length > 1 ? { routed } : channelFields(event, routed))),
    ...others,
    ...(foundBy.length > 0 && { foundBy }),
    ...(found && { evidence: sealEvidence(sealer, key, found) }),
  };
  const due = { delayMs: 0, lane: laneOf(event, routed), index: listsOf(key, record) };
  return await store.create(key, writeMessageRecord(record), due);
}

function channelFields(
  { kind }: PaymentEvent,
  routed: Destination[],
): Pick<MessageRecord, 'channel' | 'routed' | 'arrivals'> {
  const [first] = routed;
  return {
    channel: first?.channel ?? '',
    routed,
    // Counts towards a storm from now on, even before it is posted.
    ...(first && kind !== 'payment_given_back' ? { arrivals: arrivals(first, kind) } : {}),
  };
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

function unknownNotice(eventKind: string, rememberMs: number): Notice {
  const isKept = `It’s kept for ${counted(Math.round(rememberMs / dayMs), 'day')}.`;
  const how = rich`; ${code('npm run explain-delivery')} shows how a captured one is read.`;
  if (eventKind === unreadableKind) {
    return {
      state: 'A signed delivery without an event kind arrived',
      about: [],
      lines: [
        rich`${isKept} Others like it aren’t told.`,
        [...rich`Should it be an alert? Check ${code('WEBHOOK_EVENT_POINTERS')}`, ...how],
      ],
    };
  }
  return {
    state: 'A signed event of unknown kind arrived',
    about: [eventKind],
    lines: [
      rich`${isKept} Others of this kind aren’t told.`,
      [...rich`What does it mean? Say so in ${code('WEBHOOK_KINDS')}`, ...how],
    ],
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
