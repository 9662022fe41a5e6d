import { randomUUID } from 'node:crypto';
import type { Account } from '../../account.ts';
import type {
  AlertCard,
  AlertCharge,
  AlertClaims,
  AlertNews,
  AlertTaken,
  BotCharge,
  Lookup,
} from '../../domain/alert.ts';
import type { AuditEntry } from '../../records/shapes.ts';
import { claimTimes } from '../../domain/charge.ts';
import { StoreUnavailable } from '../../domain/failure.ts';
import { type PaymentEvent, referenceOfEventKey } from '../../domain/payment-event.ts';
import { withoutUndefined } from '../../domain/json.ts';
import type { MessagePlace } from '../../messages/delivery.ts';
import { alertKey, isMessage, messageKey, openEvent } from '../../messages/message-record.ts';
import { type Applied, createCases } from '../../records/cases.ts';
import { createMessages, type Messages } from '../../messages/messages.ts';
import {
  addressees,
  alertsOf,
  type CaseEvent,
  type EventCase,
  eventRules,
  newsOf,
  type Payment,
  timesOf,
  untouched,
} from './event-case.ts';
import {
  type AlertMessage,
  type Evidence,
  alertMessages,
  alertNoteKey,
  newestOf,
  openEvidence,
  placeOf,
} from './alert-record.ts';
import {
  type CardMove,
  type CardStep,
  type MovedCard,
  endsCard,
  moveCard,
  recordOf,
  withProvenOrder,
} from './alert.ts';
import type { JudgeAgain } from './charge-again.ts';
import { nextCall } from './escalation.ts';
import type { Storms } from './storm/storm.ts';

/** An alert, with what a press on its card needs. */
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

/** A step, as its messages are stored: `parent` is the key of the message it belongs to. */
export type AlertStep = { parent: string; step: CardStep };

export type AlertStepBodies = { alert_note: AlertStep; alert_direct: AlertStep };

export type AlertCards = ReturnType<typeof createAlertCards>;

/** Who has more is shown the newest of them. */
const mostListed = 50;

/**
 * The cards of failed charges, each by the key of its event. What stands in the channels follows: a change is
 * stored as work, and a worker edits the messages and tells the step in their threads, so that no crash and no outage of
 * Slack leaves a change untold. All of it throws StoreUnavailable.
 */
export function createAlertCards(
  kept: Pick<Account, 'store' | 'sealer' | 'rememberMs' | 'leaseMs' | 'wake' | 'wait' | 'now'>,
  around: {
    storms: Pick<Storms, 'recovered' | 'taker' | 'callsFor'>;
    /** A person who asks is not told of an outage that was a moment ago. */
    lookUp: (event: PaymentEvent) => Promise<Lookup>;
    /** For what nobody waits for: it does not ask a service that has just failed. */
    lookUpSparingly: (event: PaymentEvent) => Promise<Lookup>;
    /** Called with what was found out about a failure after its alert was told: it may belong to more payments now. */
    learnt: (event: PaymentEvent, lookup: Lookup, receivedAtMs: number) => Promise<void>;
    /** Whether the charge of this reference has ended without money; undefined: it was never stored. */
    hasEnded: (reference: string) => Promise<boolean | undefined>;
    /** Looks for the failures that a payment may be for. */
    search: (payment: Payment) => Promise<CaseEvent>;
    /** Whether a person must find out what that charge moved. */
    needsReview?: (reference: string) => Promise<boolean>;
    chargeOf: (reference: string) => Promise<BotCharge | undefined>;
    /** True once an entry is on the chain; absent: nothing is audited. */
    audit?: (entry: AuditEntry) => Promise<boolean>;
    /** A charge or link of the bot's own is told what else ended its alert; again is the same as once. */
    tellPayment?: (reference: string, news: AlertNews) => Promise<void>;
  },
) {
  const { store, sealer, now } = kept;
  const { storms, hasEnded, needsReview, chargeOf } = around;
  const tell = createTellingSteps(kept, around);
  const cases = createCases<EventCase, CaseEvent>({ ...kept, audit: around.audit }, eventRules, {
    due,
    tell,
  });

  async function due(state: EventCase, nowMs: number): Promise<{ event: CaseEvent } | undefined> {
    const { id, card, payment } = state;
    if (payment) {
      const isDue = payment.looksAtMs !== undefined && payment.looksAtMs <= nowMs;
      return isDue ? { event: await around.search(payment) } : undefined;
    }
    const { wakesAt, unheldAt, callsAt, looksAt } = timesOf(state, nowMs);
    if (wakesAt <= nowMs) return { event: { kind: 'moved', move: { kind: 'wake' }, seen: card } };
    if (unheldAt <= nowMs) return { event: { kind: 'unheld' } };
    if (callsAt <= nowMs) return { event: await escalated(state, nowMs) };
    if (looksAt > nowMs) return undefined;
    const evidence = await lookAgain(id);
    return { event: evidence ? { kind: 'looked_up', evidence } : { kind: 'unanswered' } };
  }

  /** Those of a storm are called for by its digest, once for all of them: those too that were posted just before it. */
  async function escalated(state: EventCase, nowMs: number): Promise<CaseEvent> {
    const { about = '', fromMs = nowMs } = nextCall(state.escalations, nowMs).escalation ?? {};
    const messages = await alertMessages(store, state.id);
    const { digest, routed: [to] = [] } = messages.find(({ key }) => key === about)?.record ?? {};
    const isOver = digest !== undefined || !to || (await storms.callsFor(to, fromMs));
    return { kind: 'escalated', about, isOver, seen: await seen(state, messages) };
  }

  /** As everybody sees it: an open one of a storm that somebody acknowledged is theirs. */
  async function seen({ card }: EventCase, messages: readonly AlertMessage[]): Promise<AlertCard> {
    if (card.kind !== 'open') return card;
    const ofStorms = messages.flatMap(({ record }) => record.digest?.storm ?? []);
    const taken = await Promise.all(ofStorms.map((storm) => storms.taker(storm)));
    const [first] = taken.flatMap((one) => one ?? []).toSorted((one, other) => one.at - other.at);
    return first ? { kind: 'acknowledged', ...first } : card;
  }

  async function readAll(
    id: string,
    known?: AlertMessage,
  ): Promise<{ state: EventCase; messages: AlertMessage[]; card: AlertCard }> {
    const [state = untouched(id), messages] = await Promise.all([
      cases.find(id),
      alertMessages(store, id, known),
    ]);
    return { state, messages, card: await seen(state, messages) };
  }

  async function find(id: string): Promise<FoundAlert | undefined> {
    const { state, messages, card } = await readAll(id);
    const [own] = messages;
    if (!own) return undefined;
    const { receivedAtMs } = own.record;
    // A message that took another’s place was looked up for that, later than anybody asked perhaps.
    const told = messages.map(({ key, record }) => openEvidence(sealer, key, record));
    const evidence = newestOf([state.evidence, ...told]);
    const place = messages.map(({ record }) => placeOf(record)).find((one) => one);
    const event = withProvenOrder(openEvent(sealer, own.key, own.record), evidence?.lookup);
    return { event, receivedAtMs, card, ...withoutUndefined({ evidence, place }) };
  }

  /** An alert after what happened; one that nobody has done anything with yet begins so. Told at once, by a worker. */
  async function hear(id: string, event: CaseEvent): Promise<Applied<EventCase>> {
    const heard = await cases.hear(id, event);
    if (heard) return heard;
    await cases.begin(id, untouched(id));
    return await hear(id, event);
  }

  /** The failure that an alert goes back to: a charge that was begun from an alert may fail too, and has an alert then. */
  async function firstAlert(id: string): Promise<string> {
    const reference = referenceOfEventKey(id) ?? (await provenReference(id));
    const from = reference === undefined ? undefined : (await chargeOf(reference))?.alert;
    return from === undefined ? id : await firstAlert(from);
  }

  /** Of an event whose reference is not signed, as its look-up proved it. */
  async function provenReference(id: string): Promise<string | undefined> {
    return (await cases.find(id))?.failed?.proven?.reference ?? (await find(id))?.event.orderReference;
  }

  /** An order or a customer that only this look-up names ties the alert to more payments. */
  async function learn({ event, receivedAtMs, evidence }: FoundAlert, lookup: Lookup): Promise<Evidence> {
    if (recordOf(lookup) && !recordOf(evidence?.lookup)) await around.learnt(event, lookup, receivedAtMs);
    return { atMs: now(), lookup };
  }

  async function lookAgain(id: string): Promise<Evidence | undefined> {
    const alert = await find(id);
    if (!alert || alert.event.isErased) return undefined;
    const lookup = await around.lookUpSparingly(alert.event);
    return lookup.kind === 'unchecked' ? undefined : await learn(alert, lookup);
  }

  /**
   * The charge that has the alert: one that is under way, in doubt, in doubt again, or paid. A claim whose charge was
   * never stored, as a crash leaves it, stands for `claimTimes.lostMs`, like the claim of a card.
   */
  async function charging({ charge }: EventCase): Promise<AlertCharge | undefined> {
    if (!charge) return undefined;
    const { reference, by, at } = charge;
    const ended = (await hasEnded(reference)) ?? now() - at >= claimTimes.lostMs;
    if (ended) return undefined;
    return { reference, by, at, ...((await needsReview?.(reference)) && { needsReview: true }) };
  }

  return {
    cases,
    find,
    hear,
    firstAlert,

    /** What a message of the card is made of, which may be `known`; an open card when nobody did anything yet. */
    async read(
      id: string,
      known?: AlertMessage,
    ): Promise<{ card: AlertCard; charging?: AlertCharge; evidence?: Evidence }> {
      const { state, card } = await readAll(id, known);
      return { card, ...withoutUndefined({ charging: await charging(state), evidence: state.evidence }) };
    },

    /** The open ones that the person has, newest first. */
    async of(userId: string): Promise<FoundAlert[]> {
      const held = await cases.list(alertsOf(userId), { max: mostListed, newestFirst: true });
      const found = await Promise.all(held.map(({ id }) => find(id)));
      return found.filter((alert) => alert !== undefined);
    },

    /** One decision on all replicas: of any number of moves at once from one state, one is made. */
    async move(id: string, move: CardMove): Promise<CardMoveResult> {
      const { messages, card: before } = await readAll(id);
      if (messages.length === 0) return { kind: 'unknown_alert' };
      const { state, isMoved } = await hear(id, { kind: 'moved', move, seen: before });
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
      const evidence = await learn(alert, await around.lookUp(alert.event));
      // No answer takes nothing away from what is known, and what was taken away does not come back.
      if (evidence.lookup.kind === 'unchecked' || alert.event.isErased) return { ...alert, evidence };
      const { state } = await hear(id, { kind: 'looked_up', evidence });
      return { ...alert, evidence: state.evidence ?? evidence };
    },

    /** Why no charge can be begun from it now. Of an alert that a charge of the bot’s own led to, its first one has it. */
    async taken(id: string, reference?: string): Promise<AlertTaken | undefined> {
      const own = await cases.find(id);
      if (own && endsCard(own.card)) return { kind: 'ended', card: own.card };
      const first = await cases.find(await firstAlert(id));
      if (!first) return undefined;
      if (endsCard(first.card)) return { kind: 'ended', card: first.card };
      const charge = first.charge?.reference === reference ? undefined : await charging(first);
      return charge && { kind: 'charging', charge };
    },
  };
}

/** Tells what became of an alert: its messages, their threads, people, and charges of the bot's own. */
function createTellingSteps(
  kept: Parameters<typeof createAlertCards>[0],
  { storms, tellPayment }: Pick<Parameters<typeof createAlertCards>[1], 'storms' | 'tellPayment'>,
): (state: EventCase) => Promise<void> {
  const { store } = kept;
  const messages: Messages<AlertStepBodies> = createMessages(kept);

  /**
   * The messages first: one that Slack does not edit any more is replaced before a note goes below it. All of it
   * may be done again: a note is stored once by its number. An alert in a storm's digest has
   * neither message nor thread; the digest says how many are resolved.
   */
  return async function tell(state: EventCase): Promise<void> {
    const { id, card, steps, told, storms: ofStorms } = state;
    const all = await alertMessages(store, id);
    const shown = all.filter(({ record }) => isMessage(record));
    const threads = shown.filter(({ record }) => !record.digest);
    await Promise.all(threads.map(({ key }) => messages.refresh(key)));
    const resolved = card.kind === 'recovered' ? ofStorms : [];
    const takers = await Promise.all(resolved.map((storm) => storms.taker(storm)));
    const about = shown.find(({ record }) => record.posted) ?? shown[0] ?? all[0];
    // A thread tells the steps in their order.
    for (const [index, one] of steps.entries()) {
      const number = told + index + 1;
      for (const { key: parent, record } of threads) {
        if (one.kind === 'escalated' && one.about !== parent) continue;
        const { channel } = record;
        const body = { parent, step: one };
        await messages.post(alertNoteKey(parent, number), { channel, body, isNote: true });
      }
      for (const channel of addressees(one, card)) {
        if (one.kind === 'recovered' && takers.some((taken) => taken?.by === channel)) continue;
        const body = { parent: about?.key ?? alertKey(id), step: one };
        const key = messageKey('alert_direct', `${id}#${number}:${channel}`);
        await messages.post(key, { channel, body });
      }
    }
    await Promise.all(resolved.map((storm) => storms.recovered(storm)));
    for (const [reference, news] of steps.flatMap((one) => newsOf(one, state))) {
      await tellPayment?.(reference, news);
    }
  };
}

/** On the alert's own record, so that it cannot be resolved or closed between the question and the claim. */
export function alertClaims(cards: AlertCards, judging: Pick<JudgeAgain, 'declineOf'>): AlertClaims {
  const { cases, firstAlert } = cards;
  async function release(id: string, holder: string): Promise<void> {
    try {
      await cases.hear(id, { kind: 'released', holder });
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
    }
  }
  return {
    taken: (alert, reference) => cards.taken(alert, reference),
    async declined(alert, card) {
      const found = await cards.find(alert);
      return found && (await judging.declineOf(found, card));
    },
    async claim(alert, { reference, by }) {
      const id = await firstAlert(alert);
      const holder = randomUUID();
      for (;;) {
        const over = (await cases.find(id))?.charge?.holders.at(-1);
        const why = await cards.taken(alert, reference);
        if (why) return { kind: 'taken', taken: why };
        const { card: seen } = await cards.read(id);
        const { isMoved } = await cards.hear(id, { kind: 'claimed', reference, by, holder, over, seen });
        if (isMoved) return { kind: 'claimed', release: () => release(id, holder) };
      }
    },
    async retell(alert) {
      await cases.hear(await firstAlert(alert), { kind: 'retold' });
    },
  };
}
