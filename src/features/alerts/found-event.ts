import type { Account, Finder } from '../../account.ts';
import type { FoundRecord } from '../../domain/found-record.ts';
import { withoutUndefined } from '../../domain/json.ts';
import type { Lookup } from '../../domain/alert.ts';
import type { Money } from '../../domain/money.ts';
import type { PaymentEvent } from '../../domain/payment-event.ts';
import { openRecord } from '../../records/records.ts';
import { messageKey } from '../../messages/message-record.ts';
import { type EventCase, eventKind, untouched } from './event-case.ts';
import {
  alertMessages,
  customerEmailOf,
  isEnded,
  moneyOfFailure,
  newestOf,
  recordOfOrder,
  withProvenOrder,
} from './alert.ts';
import { seenState } from './alert-cases.ts';
import { stateByStorm } from './storm/storm.ts';
import { eventState } from './alert-message.ts';
import { openStoredEvent, type StoredEvent } from './event-log.ts';

/**
 * Finds events for `/pay find`. `isOwn`: whether the bot's own charge or link has that reference; then its success and its
 * refunds are left out, because the charge or link shows them.
 */
export function eventFinders(
  { store, sealer }: Pick<Account, 'store' | 'sealer'>,
  isOwn: (reference: string) => Promise<boolean>,
): Finder[] {
  const read: Finder['read'] = async (entry) => {
    const stored = openStoredEvent(sealer, entry);
    if (!stored) return undefined;
    const { kind, key } = stored.event;
    const { orderReference: reference } = withProvenOrder(stored.event, stored.lookup);
    // Its charge's row shows such a failure. A refund has a row of its own, because its alert's row doesn't show it.
    if (kind === 'payment_failed' ? stored.byCharge : reference !== undefined && (await isOwn(reference)))
      return undefined;
    const caseEntry = await store.read(eventKind.prefix + key);
    const state = caseEntry ? openRecord(sealer, eventKind, caseEntry).state : untouched(key);
    return kind === 'payment_failed' ? await foundFailure(stored, state) : foundEvent(stored, state);
  };

  async function foundFailure(stored: StoredEvent, state: EventCase): Promise<FoundRecord> {
    const { key } = stored.event;
    const stateOfAlerts = (storm: string) => stateByStorm({ store, sealer }, storm);
    const card = await seenState(state, await alertMessages(store, key), { stateOfAlerts });
    return foundEvent(stored, { ...state, card });
  }

  return [messageKey('alert', ''), eventKind.prefix].map((prefix) => ({ prefix, read }));
}

const foundKinds = {
  payment_failed: 'alert',
  payment_success: 'payment',
  payment_given_back: 'refund',
} as const;

function foundEvent(
  { event: stored, receivedAtMs, lookup: first }: StoredEvent,
  { card, evidence }: EventCase,
): FoundRecord {
  const posted = first && { lookup: first, atMs: receivedAtMs };
  const lookup = newestOf([evidence, posted])?.lookup ?? { kind: 'no_reference' };
  const event = withProvenOrder(stored, lookup);
  const isFailed = event.kind === 'payment_failed';
  const saved = event.cardSaved && 'face' in event.cardSaved ? event.cardSaved.face : undefined;
  return {
    kind: foundKinds[event.kind],
    isProven: lookup.kind === (event.kind === 'payment_given_back' ? 'given_back' : 'confirmed'),
    isInDoubt: false,
    state: eventState({ event, lookup }, isFailed ? card : undefined),
    atMs: receivedAtMs,
    ...withoutUndefined({
      reference: event.orderReference,
      money: moneyOf(event, lookup),
      card: saved,
      customerEmail: customerEmailOf(event, lookup),
    }),
    isFailed,
    isOpen: isFailed && !isEnded(card),
  };
}

/** For a success the amount taken; for a failure the amount that was to be taken. */
function moneyOf(event: PaymentEvent, lookup: Lookup): Money | undefined {
  const isTaken = event.kind === 'payment_success' && recordOfOrder(lookup) && 'money' in lookup;
  return (isTaken ? lookup.money : undefined) ?? moneyOfFailure(event, lookup);
}
