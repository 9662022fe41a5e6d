import {
  type CardMove,
  type CardStep,
  type MovedCard,
  moveCard,
  knownDecline,
  recordOfOrder,
} from './alert.ts';
import type { AlertCard, AlertCharge, Lookup } from '../../domain/alert.ts';
import type { ChargeSeen } from '../../domain/charge.ts';
import type { Confirmation } from '../../domain/confirmation.ts';
import type { DeclineRule, KnownDecline } from '../../domain/decline-reason.ts';
import type { MessagePlace } from '../../messages/delivery.ts';
import { orderEventKey, type PaymentEvent } from '../../domain/payment-event.ts';
import type { Money } from '../../domain/money.ts';
import type { Sealer, Store } from '../../store/store.ts';
import { StoreUnavailable } from '../../domain/failure.ts';
import { moneyToTake } from '../../domain/transaction.ts';
import { withoutUndefined } from '../../domain/without-undefined.ts';
import {
  type AlertCase,
  type AlertCases,
  type AlertMessage,
  alertMessages,
  alertsOf,
  untouched,
} from './alert-case.ts';
import { type StandingChargeDeps, hearOf, standingCharge } from './alert-claims.ts';
import { type Evidence, newestOf, openEvidence, placeOf } from './alert-record.ts';
import type { Storms } from './storm/storms.ts';
import { openEvent } from '../../messages/message-record.ts';

type AlertCardsDeps = StandingChargeDeps & {
  store: Pick<Store, 'read' | 'list'>;
  sealer: Sealer;
  alerts: AlertCases;
  storms: Pick<Storms, 'taker'>;
  lookUp: (event: PaymentEvent) => Promise<Lookup>;
};

/** An alert as whoever acts on its card needs it. */
export type FoundAlert = {
  event: PaymentEvent;
  receivedAtMs: number;
  card: AlertCard;
  /** Absent as long as nothing was posted. */
  evidence?: Evidence;
  /** Its message, or the first of several; absent where it is told nowhere. */
  place?: MessagePlace;
};

/** `card` is the one that stands, so that the second of two learns who was first. */
export type CardMoveResult =
  | { kind: 'moved'; card: AlertCard; step: CardStep }
  | (Extract<MovedCard, { kind: 'refused' }> & { card: AlertCard })
  /** So old that it is forgotten, or never told here. */
  | { kind: 'unknown_alert' };

export type AlertCards = ReturnType<typeof createAlertCards>;

/** Who has more is shown the newest of them. */
const mostListed = 50;

/**
 * The cards of failed charges, each by the key of its event. What stands in the channels follows: a change is
 * stored as work, and whoever takes that work edits the messages and tells the step in their threads, so that
 * no crash and no outage of Slack leaves a change untold. All of it throws StoreUnavailable.
 */
export function createAlertCards(deps: AlertCardsDeps) {
  const { store, sealer, alerts, now } = deps;

  /** As everybody sees it: an open one of a storm that somebody acknowledged is theirs. */
  async function seen({ card }: AlertCase, messages: readonly AlertMessage[]): Promise<AlertCard> {
    if (card.kind !== 'open') return card;
    const storms = messages.flatMap(({ record }) => record.digest?.storm ?? []);
    const taken = await Promise.all(storms.map((storm) => deps.storms.taker(storm)));
    const [first] = taken.flatMap((one) => one ?? []).toSorted((one, other) => one.at - other.at);
    return first ? { kind: 'acknowledged', ...first } : card;
  }

  async function read(id: string): Promise<{ state: AlertCase; messages: AlertMessage[]; card: AlertCard }> {
    const [state = untouched(id), messages] = await Promise.all([alerts.find(id), alertMessages(store, id)]);
    return { state, messages, card: await seen(state, messages) };
  }

  async function find(id: string): Promise<FoundAlert | undefined> {
    const { state, messages, card } = await read(id);
    const [own] = messages;
    if (!own) return undefined;
    const { receivedAtMs } = own.record;
    // A message that took another’s place was looked up for that, later than anybody asked perhaps.
    const evidence = newestOf([
      state.evidence,
      ...messages.map(({ key, record }) => openEvidence(sealer, key, record)),
    ]);
    const place = messages.map(({ record }) => placeOf(record)).find((one) => one);
    const event = openEvent(sealer, own.key, own.record);
    return { event, receivedAtMs, card, ...withoutUndefined({ evidence, place }) };
  }

  return {
    /** What a message of the card is made of; an open card when nobody did anything yet. */
    async read(id: string): Promise<{ card: AlertCard; charging?: AlertCharge; evidence?: Evidence }> {
      const { state, card } = await read(id);
      const charging = await standingCharge(deps, state.charge);
      return { card, ...withoutUndefined({ charging, evidence: state.evidence }) };
    },
    find,

    /** The open ones that the person has, newest first. */
    async of(userId: string): Promise<FoundAlert[]> {
      const held = await alerts.list(alertsOf(userId), { max: mostListed, newestFirst: true });
      const found = await Promise.all(held.map(({ id }) => find(id)));
      return found.filter((alert) => alert !== undefined);
    },

    /** One decision on all replicas: of any number of moves at once from one state, one is made. */
    async move(id: string, move: CardMove): Promise<CardMoveResult> {
      const { messages, card: before } = await read(id);
      if (messages.length === 0) return { kind: 'unknown_alert' };
      const { state, isMoved } = await hearOf(alerts, id, { kind: 'moved', move, seen: before });
      const card = state.card.kind === 'open' ? before : state.card;
      const step = state.steps.at(-1);
      if (isMoved && step) return { kind: 'moved', card, step };
      const moved = moveCard(card, move, now());
      return { kind: 'refused', why: moved.kind === 'refused' ? moved.why : 'nothing_new', card };
    },

    /** Looks the failed reference up now; the messages show what it gave, if it gave anything. Undefined: unknown alert. */
    async lookUpNow(id: string): Promise<FoundAlert | undefined> {
      const alert = await find(id);
      if (!alert) return undefined;
      const evidence = { atMs: now(), lookup: await deps.lookUp(alert.event) };
      // No answer takes nothing away from what is known, and what was taken away does not come back.
      if (evidence.lookup.kind === 'unchecked' || alert.event.isErased) return { ...alert, evidence };
      const { state } = await hearOf(alerts, id, { kind: 'looked_up', evidence });
      return { ...alert, evidence: state.evidence ?? evidence };
    },
  };
}

/**
 * What was to be paid by the charge that failed: by the service's own record, else by the signed event; looked up
 * where nobody has done so yet. Undefined where neither says it; `unchecked` when the service could not be asked.
 */
export async function moneyOfFailure(
  lookUp: (event: PaymentEvent) => Promise<Lookup>,
  alert: FoundAlert,
): Promise<Money | 'unchecked' | undefined> {
  const known = knownMoney(alert);
  if (known) return known;
  const lookup = await lookUp(alert.event);
  return lookup.kind === 'unchecked' ? 'unchecked' : moneyOfRecord(lookup);
}

/** The same by what is known already. */
export function knownMoney({ event, evidence }: FoundAlert): Money | undefined {
  const recorded = evidence && !event.isErased ? moneyOfRecord(evidence.lookup) : undefined;
  if (recorded) return recorded;
  const { amountMinor: minor, currency } = event;
  return minor === undefined || currency === undefined ? undefined : { minor, currency };
}

function moneyOfRecord(lookup: Lookup): Money | undefined {
  const record = recordOfOrder(lookup);
  return record && moneyToTake(record);
}

type FindDeclineDeps = {
  findAlert: (id: string) => Promise<FoundAlert | undefined>;
  findCharge: (reference: string) => Promise<ChargeSeen | undefined>;
  rule: DeclineRule;
};

/**
 * What the bot knows of a decline that a look-up does not contradict: its own charge's answer, else the signed event.
 * Undefined also while the store is away: the look-up is answered all the same.
 */
export async function findDecline(
  { findAlert, findCharge, rule }: FindDeclineDeps,
  reference: string,
  lookup: Confirmation,
): Promise<KnownDecline | undefined> {
  if (lookup.kind !== 'not_confirmed') return undefined;
  try {
    const charge = await findCharge(reference);
    if (charge?.state.kind === 'declined') {
      const event = {
        kind: 'payment_failed',
        key: '',
        ...reasonOf(charge.state.why ?? charge.bankWords),
      } as const;
      return knownDecline({ event, lookup, receivedAtMs: charge.state.concludedAt }, rule);
    }
    const alert = await findAlert(orderEventKey('payment_failed', reference));
    return alert && knownDecline({ ...alert, lookup }, rule);
  } catch (error) {
    if (error instanceof StoreUnavailable) return undefined;
    throw error;
  }
}

function reasonOf(reason: string | undefined): { reason?: string } {
  return withoutUndefined({ reason });
}
