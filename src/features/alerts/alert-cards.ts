import type { Lookup } from '../../domain/alert.ts';
import {
  moveCard,
  type AlertCard,
  type AlertCharge,
  type CardMove,
  type CardStep,
  type MovedCard,
  type OtherPayment,
} from '../../domain/alert-card.ts';
import type { MessagePlace } from '../../domain/delivery.ts';
import type { PaymentEvent } from '../../domain/payment-event.ts';
import type { Sealer } from '../../domain/sealer.ts';
import { withoutUndefined } from '../../domain/without-undefined.ts';
import type { Entry, Store } from '../../store/store.ts';
import { type Evidence, newestOf, openEvidence, placeOf } from './alert-record.ts';
import { openEvent } from '../../messages/message-record.ts';
import type { Storms } from './storm/storms.ts';
import {
  alertMessages,
  alertsOf,
  untouched,
  type AlertCase,
  type AlertCases,
  type AlertMessage,
} from './alert-case.ts';
import { hearOf, standingCharge, type StandingChargeDeps } from './alert-claims.ts';

export type AlertCardsDeps = StandingChargeDeps & {
  store: Pick<Store, 'read' | 'list'>;
  sealer: Sealer;
  alerts: AlertCases;
  storms: Pick<Storms, 'ofAlert'>;
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

/**
 * The cards of failed charges, each by the key of its event. What stands in the channels follows: a change is
 * stored as work, and whoever takes that work edits the messages and tells the step in their threads, so that
 * no crash and no outage of Slack leaves a change untold. All of it throws StoreUnavailable.
 */
export type AlertCards = {
  /** What a message of the card is made of; an open card when nobody did anything yet. */
  read(id: string): Promise<{ card: AlertCard; charging?: AlertCharge; evidence?: Evidence }>;
  find(id: string): Promise<FoundAlert | undefined>;
  /** The open ones that the person has, newest first. */
  of(userId: string): Promise<readonly FoundAlert[]>;
  /** One decision on all replicas: of any number of moves at once from one state, one is made. */
  move(id: string, move: CardMove): Promise<CardMoveResult>;
  /** Tells a payment that does not resolve the card in its threads, one for each reason why it does not. */
  tellOther(id: string, payment: OtherPayment): Promise<void>;
  /** Looks the failed reference up now; the messages show what it gave, if it gave anything. Undefined: unknown alert. */
  lookUpNow(id: string): Promise<FoundAlert | undefined>;
  /** Its messages are made once more. */
  retell(id: string): Promise<void>;
  /** Forgets what was looked up anew: the alert's details go. Its state stays. */
  erase(id: string): Promise<void>;
  /** For work of the prefix `alertCardPrefix`. */
  work(entry: Entry): Promise<void>;
};

/** Who has more is shown the newest of them. */
const mostListed = 50;

export function createAlertCards(deps: AlertCardsDeps): AlertCards {
  const { store, sealer, alerts, now } = deps;

  /** As everybody sees it: an open one of a storm that somebody acknowledged is theirs. */
  async function seen({ card }: AlertCase, messages: readonly AlertMessage[]): Promise<AlertCard> {
    if (card.kind !== 'open') return card;
    const taken = (await deps.storms.ofAlert(messages)).flatMap((storm) => storm.taken ?? []);
    const [first] = taken.toSorted((one, other) => one.at - other.at);
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
    async read(id) {
      const { state, card } = await read(id);
      const charging = await standingCharge(deps, state.charge);
      return { card, ...withoutUndefined({ charging, evidence: state.evidence }) };
    },
    find,

    async of(userId) {
      const held = await alerts.list(alertsOf(userId), { max: mostListed, newestFirst: true });
      const found = await Promise.all(held.map(({ id }) => find(id)));
      return found.filter((alert) => alert !== undefined);
    },

    async move(id, move) {
      const { messages, card: before } = await read(id);
      if (messages.length === 0) return { kind: 'unknown_alert' };
      const { state, isMoved } = await hearOf(alerts, id, { kind: 'moved', move, seen: before });
      const card = state.card.kind === 'open' ? before : state.card;
      const step = state.steps.at(-1);
      if (isMoved && step) return { kind: 'moved', card, step };
      const moved = moveCard(card, move, now());
      return { kind: 'refused', why: moved.kind === 'refused' ? moved.why : 'nothing_new', card };
    },

    async tellOther(id, payment) {
      await alerts.hear(id, { kind: 'paid_otherwise', payment });
    },

    async lookUpNow(id) {
      const alert = await find(id);
      if (!alert) return undefined;
      const evidence = { atMs: now(), lookup: await deps.lookUp(alert.event) };
      // No answer takes nothing away from what is known, and what was taken away does not come back.
      if (evidence.lookup.kind === 'unchecked' || alert.event.isErased) return { ...alert, evidence };
      const { state } = await hearOf(alerts, id, { kind: 'looked_up', evidence });
      return { ...alert, evidence: state.evidence ?? evidence };
    },

    async retell(id) {
      await alerts.hear(id, { kind: 'retold' });
    },
    async erase(id) {
      await alerts.apply(id, { kind: 'erased' });
    },
    async work(entry) {
      await alerts.work(entry);
    },
  };
}
