import { randomUUID } from 'node:crypto';
import type { Account } from '../../account.ts';
import type {
  AlertState,
  AlertCharge,
  AlertClaims,
  AlertNews,
  AlertTaken,
  BotCharge,
  Lookup,
  OpenPayment,
} from '../../domain/alert.ts';
import type { AuditEntry } from '../../records/shapes.ts';
import { claimTimes } from '../../domain/charge.ts';
import { undefinedIfAway } from '../../domain/failure.ts';
import { type PaymentEvent, referenceOfEventKey } from '../../domain/payment-event.ts';
import { withoutUndefined } from '../../domain/json.ts';
import type { MessagePlace } from '../../messages/delivery.ts';
import { alertKey, hasChannel, messageKey, openEvent } from '../../messages/message-record.ts';
import { type Applied, createCases } from '../../records/cases.ts';
import { undefinedIfUnreadable } from '../../records/records.ts';
import { createMessages, type Messages } from '../../messages/messages.ts';
import {
  addressees,
  alertsOf,
  type CaseEvent,
  type EventCase,
  eventRules,
  newsOf,
  type Payment,
  isEnd,
  referenceOf,
  timesOf,
  untouched,
} from './event-case.ts';
import {
  type AlertMessage,
  type AlertMove,
  type AlertStep,
  type Evidence,
  type MovedAlert,
  alertMessages,
  alertNoteKey,
  handlersOf,
  isEnded,
  isMoneyStep,
  moveAlert,
  newestOf,
  openEvidence,
  placeOf,
  recordOf,
  withProvenOrder,
} from './alert.ts';
import type { JudgeAgain } from './charge-again.ts';
import { nextCall } from './escalation.ts';
import type { Storms } from './storm/storm.ts';

/** An alert, as buttons and searches need it. */
export type FoundAlert = {
  event: PaymentEvent;
  receivedAtMs: number;
  state: AlertState;
  /** The newest look-up; absent before the first. */
  evidence?: Evidence;
  /** Its first message; absent: it has none. */
  place?: MessagePlace;
};

/** `state`: the present one, so that the second of two people reads who was first. */
export type AlertMoveResult =
  | { kind: 'moved'; state: AlertState; step: AlertStep }
  | (Extract<MovedAlert, { kind: 'refused' }> & { state: AlertState })
  /** Forgotten, or never received. */
  | { kind: 'unknown_alert' };

/** The body of a step's message. `parent`: the key of the alert's message. */
export type AlertStepBody = { parent: string; step: AlertStep };

export type AlertStepBodies = { alert_note: AlertStepBody; alert_direct: AlertStepBody };

export type AlertCases = ReturnType<typeof createAlertCases>;

/** If there are more, the newest are shown. */
const mostListed = 50;

/**
 * The cases of alerts, by their event's key. A change is stored first; then a worker edits the alert's messages and posts the
 * step in their threads, however often a crash or Slack's outage interrupts it. Everything throws StoreUnavailable.
 */
export function createAlertCases(
  account: Pick<Account, 'store' | 'sealer' | 'rememberMs' | 'leaseMs' | 'wake' | 'wait' | 'now'>,
  needs: {
    storms: Pick<Storms, 'recount' | 'stateOfAlerts' | 'replacesEscalation'>;
    /** For people: looks up even right after an outage. */
    lookUp: (event: PaymentEvent) => Promise<Lookup>;
    /** For background work, behind a circuit breaker. */
    lookUpSparingly: (event: PaymentEvent) => Promise<Lookup>;
    /** Called with a look-up after the alert was posted. */
    matchFailure: (event: PaymentEvent, lookup: Lookup, receivedAtMs: number) => Promise<void>;
    /** Whether this charge ended without money; undefined: no such charge. */
    hasEnded: (reference: string) => Promise<boolean | undefined>;
    search: (payment: Payment) => Promise<CaseEvent>;
    /** The bot's own charge with this reference, unless it ended without money. */
    ownCharge?: (reference: string) => Promise<AlertCharge | undefined>;
    needsReview?: (reference: string) => Promise<boolean>;
    chargeOf: (reference: string) => Promise<BotCharge | undefined>;
    /** True once an entry is on the chain; absent: nothing is audited. */
    audit?: (entry: AuditEntry) => Promise<boolean>;
    /** Tells the bot's own charge or link how else its alert ended. Idempotent. */
    tellPayment?: (reference: string, news: AlertNews) => Promise<void>;
    /** The payment links of this alert that may be paid. */
    openLinks?: (alert: string) => Promise<readonly OpenPayment[]>;
    /** A channel that a mute kept the alert from; undefined: no mute did. */
    mutedIn?: (message: AlertMessage) => string | undefined;
  },
) {
  const { store, sealer, now } = account;
  const { storms, hasEnded, needsReview, ownCharge, chargeOf } = needs;
  const tell = createStepTelling(account, needs);
  const cases = createCases<EventCase, CaseEvent>({ ...account, audit: needs.audit }, eventRules, {
    due,
    tell,
  });

  async function due(state: EventCase, nowMs: number): Promise<{ event: CaseEvent } | undefined> {
    const { id, card, payment } = state;
    if (payment) {
      const isDue = payment.looksAtMs !== undefined && payment.looksAtMs <= nowMs;
      return isDue ? { event: await needs.search(payment) } : undefined;
    }
    const { wakesAt, unheldAt, callsAt, looksAt } = timesOf(state, nowMs);
    if (wakesAt <= nowMs) return { event: { kind: 'moved', move: { kind: 'wake' }, seen: card } };
    if (unheldAt <= nowMs) return { event: { kind: 'unheld' } };
    if (callsAt <= nowMs) return { event: await escalated(state, nowMs) };
    if (looksAt > nowMs) return undefined;
    const evidence = await lookAgain(id);
    return { event: evidence ? { kind: 'looked_up', evidence } : { kind: 'unanswered' } };
  }

  /** A storm's digest calls once for all its alerts, even those posted just before it. */
  async function escalated(state: EventCase, nowMs: number): Promise<CaseEvent> {
    const { about = '', fromMs = nowMs } = nextCall(state.escalations, nowMs).escalation ?? {};
    const messages = await alertMessages(store, state.id);
    const { digest, routed: [to] = [] } = messages.find(({ key }) => key === about)?.record ?? {};
    const seen = await seenState(state, messages, storms);
    const isOver = digest !== undefined || !to || seen.kind !== 'open';
    const replaced = isOver ? 'over' : await storms.replacesEscalation(to, fromMs);
    return { kind: 'escalated', about, ...(replaced && { replaced }) };
  }

  async function readAll(id: string, known?: AlertMessage) {
    const [stored = untouched(id), messages] = await Promise.all([
      cases.find(id),
      alertMessages(store, id, known),
    ]);
    return { stored, messages, state: await seenState(stored, messages, storms) };
  }

  async function find(id: string): Promise<FoundAlert | undefined> {
    const { stored, messages, state } = await readAll(id);
    const [own] = messages;
    if (!own) return undefined;
    const { receivedAtMs } = own.record;
    // A message posted later has a newer look-up than the first.
    const ofPosts = messages.map(({ key, record }) => openEvidence(sealer, key, record));
    const evidence = newestOf([stored.evidence, ...ofPosts]);
    const place = messages.map(({ record }) => placeOf(record)).find((one) => one);
    const event = withProvenOrder(openEvent(sealer, own.key, own.record), evidence?.lookup);
    return { event, receivedAtMs, state, ...withoutUndefined({ evidence, place }) };
  }

  /** Applies an event to an alert, creating its case if needed. */
  async function applyOrCreate(id: string, event: CaseEvent): Promise<Applied<EventCase>> {
    const heard = await cases.applyAndWake(id, event);
    if (heard) return heard;
    await cases.begin(id, untouched(id));
    return await applyOrCreate(id, event);
  }

  /** The first alert of a chain: a charge begun from an alert may fail and get an alert too. */
  async function firstAlert(id: string): Promise<string> {
    const reference = referenceOfEventKey(id) ?? (await provenReference(id));
    const from = reference === undefined ? undefined : (await chargeOf(reference))?.alert;
    return from === undefined ? id : await firstAlert(from);
  }

  /** For an event without a signed reference: the one that its look-up proved. */
  async function provenReference(id: string): Promise<string | undefined> {
    return (await cases.find(id))?.failed?.proven?.reference ?? (await find(id))?.event.orderReference;
  }

  /** Matches the alert with more payments if this look-up is the first that found a record. */
  async function learn({ event, receivedAtMs, evidence }: FoundAlert, lookup: Lookup): Promise<Evidence> {
    if (recordOf(lookup) && !recordOf(evidence?.lookup))
      await needs.matchFailure(event, lookup, receivedAtMs);
    return { atMs: now(), lookup };
  }

  async function lookAgain(id: string): Promise<Evidence | undefined> {
    const alert = await find(id);
    if (!alert || alert.event.isErased) return undefined;
    const lookup = await needs.lookUpSparingly(alert.event);
    return lookup.kind === 'unchecked' ? undefined : await learn(alert, lookup);
  }

  /**
   * The charge that holds the alert: under way, in doubt or paid; begun from it, or itself the one that failed. After a
   * crash before the charge was stored, its claim lasts `claimTimes.lostMs`, like a card's.
   */
  async function charging(stored: EventCase): Promise<AlertCharge | undefined> {
    const { charge } = stored;
    const isOver = !charge || ((await hasEnded(charge.reference)) ?? now() - charge.at >= claimTimes.lostMs);
    if (isOver) return await ownCharge?.(referenceOf(stored));
    const { reference, by, at } = charge;
    return { reference, by, at, ...((await needsReview?.(reference)) && { needsReview: true }) };
  }

  return {
    cases,
    find,
    findAll: (ids: readonly { id: string }[]) => findEach(ids, find),
    applyOrCreate,
    firstAlert,

    /** The data of an alert's message; `known`: a message of it that was read before. */
    async read(id: string, known?: AlertMessage) {
      const { stored, state } = await readAll(id, known);
      return { state, ...withoutUndefined({ charging: await charging(stored), evidence: stored.evidence }) };
    },

    /** The person's unresolved alerts, newest first. */
    async assignedTo(userId: string): Promise<FoundAlert[]> {
      return await findEach(await cases.list(alertsOf(userId), { max: mostListed, newestFirst: true }), find);
    },

    /** Moves are applied one after the other, over all replicas; a second *Acknowledge* or *Resolve* is refused. */
    async move(id: string, move: AlertMove): Promise<AlertMoveResult> {
      const { messages, state: before } = await readAll(id);
      if (messages.length === 0) return { kind: 'unknown_alert' };
      const { state: stored, isMoved } = await applyOrCreate(id, { kind: 'moved', move, seen: before });
      const state = stored.card.kind === 'open' ? before : stored.card;
      const step = stored.steps.at(-1);
      if (isMoved && step) return { kind: 'moved', state, step };
      // Acknowledged by its storm: a message of its own, in another channel, doesn't show that yet.
      if (state !== stored.card && state.kind !== 'open') await applyOrCreate(id, { kind: 'retold' });
      const moved = moveAlert(state, move, now());
      return { kind: 'refused', why: moved.kind === 'refused' ? moved.why : 'nothing_new', state };
    },

    /** Looks up now; an answer shows on the messages. Undefined: unknown alert. */
    async lookUpNow(id: string): Promise<FoundAlert | undefined> {
      const alert = await find(id);
      if (!alert) return undefined;
      const evidence = await learn(alert, await needs.lookUp(alert.event));
      // Without an answer the known evidence stays; removed details don't return.
      if (evidence.lookup.kind === 'unchecked' || alert.event.isErased) return { ...alert, evidence };
      const { state } = await applyOrCreate(id, { kind: 'looked_up', evidence });
      return { ...alert, evidence: state.evidence ?? evidence };
    },

    /** Why no charge may begin from it now; undefined: it may. In a chain, the first alert counts. */
    async taken(id: string, reference?: string): Promise<AlertTaken | undefined> {
      const own = await readAll(id);
      if (isEnded(own.state)) return { kind: 'ended', state: own.state };
      const firstId = await firstAlert(id);
      const { stored, state } = firstId === id ? own : await readAll(firstId);
      if (isEnded(state)) return { kind: 'ended', state };
      const charge = await charging(stored);
      return charge && charge.reference !== reference ? { kind: 'charging', charge } : undefined;
    },
  };
}

/** Finds several alerts. Leaves out those that are forgotten or can't be read, or one such would hide the others. */
async function findEach(
  ids: readonly { id: string }[],
  find: (id: string) => Promise<FoundAlert | undefined>,
): Promise<(FoundAlert & { id: string })[]> {
  const found = ids.map(async ({ id }) => {
    const alert = await find(id).catch(undefinedIfUnreadable);
    return alert ? [{ id, ...alert }] : [];
  });
  return (await Promise.all(found)).flat();
}

/** The state that people see: acknowledging or resolving a storm does the same to its open alerts. */
export async function seenState(
  { card }: EventCase,
  messages: readonly AlertMessage[],
  storms: Pick<Storms, 'stateOfAlerts'>,
): Promise<AlertState> {
  if (card.kind !== 'open') return card;
  const ofStorms = messages.flatMap(({ record }) => record.digest?.storm ?? []);
  const found = await Promise.all(ofStorms.map((storm) => storms.stateOfAlerts(storm)));
  const [first] = found
    .flatMap((one) => one ?? [])
    .toSorted((one, other) => Number(isEnded(other)) - Number(isEnded(one)) || one.at - other.at);
  return first ?? card;
}

/** Returns the function that tells an alert's steps to its messages, threads, people, charges and links. */
function createStepTelling(
  account: Parameters<typeof createAlertCases>[0],
  needs: Parameters<typeof createAlertCases>[1],
): (state: EventCase) => Promise<void> {
  const { store } = account;
  const { storms, tellPayment, openLinks, chargeOf, mutedIn } = needs;
  const messages: Messages<AlertStepBodies> = createMessages(account);

  /** The alert's end is stored before its links are read: a link begun later finds the end, and is refused. */
  async function tellPayments(state: EventCase): Promise<void> {
    const open = state.steps.some(isEnd)
      ? [...((await openLinks?.(state.id)) ?? []), ...(await typed(state))]
      : [];
    for (const [reference, news] of state.steps.flatMap((one) => newsOf(one, state, open))) {
      await tellPayment?.(reference, news);
    }
  }

  /** The bot's own charge that failed, if it was begun from no other alert: that one's end tells it. */
  async function typed(state: EventCase): Promise<{ reference: string }[]> {
    const reference = referenceOf(state);
    const charge = await chargeOf(reference);
    return charge?.card !== undefined && charge.alert === undefined ? [{ reference }] : [];
  }

  /**
   * Messages first: one that Slack no longer lets be edited is replaced before its thread gets a note. Safe to repeat: a note
   * is stored once by its number. An alert in a storm's digest has neither message nor thread: the digest says how many are
   * resolved, and its thread gets the steps of `isMoneyStep`. If a mute held the alert back, those steps go into the channel that
   * it was held back from.
   */
  return async function tell(state: EventCase): Promise<void> {
    const { id, card, steps, told, storms: ofStorms } = state;
    const all = await alertMessages(store, id);
    const shown = all.filter(({ record }) => hasChannel(record));
    const threads = shown.filter(({ record }) => !record.digest);
    const places = threads.map(({ key, record: { channel } }) => ({ key, channel }));
    const placesForMoney = (shown.length > 0 ? shown : all).flatMap((message) => {
      const channel = message.record.channel || mutedIn?.(message);
      return channel ? [{ key: message.key, channel }] : [];
    });
    await Promise.all(threads.map(({ key }) => messages.refresh(key)));
    const resolved = card.kind === 'recovered' ? ofStorms : [];
    const ofResolved = await Promise.all(resolved.map((storm) => storms.stateOfAlerts(storm)));
    const people = ofResolved.flatMap((one) => (one ? handlersOf(one) : []));
    const about = shown.find(({ record }) => record.posted) ?? shown[0] ?? all[0];
    // One after the other, so a thread shows them in order.
    for (const [index, one] of steps.entries()) {
      const number = told + index + 1;
      for (const { key: parent, channel } of isMoneyStep(one) ? placesForMoney : places) {
        if (one.kind === 'escalated' && one.about !== parent) continue;
        const body = { parent, step: one };
        await messages.post(alertNoteKey(parent, number), { channel, body, isNote: true });
      }
      for (const channel of addressees(one, card)) {
        // The digest tells the person who acknowledged the storm, except of an alert that was assigned to them.
        const isAssigned = 'acknowledged' in card && card.acknowledged?.assignee === channel;
        if (one.kind === 'recovered' && !isAssigned && people.includes(channel)) continue;
        const body = { parent: about?.key ?? alertKey(id), step: one };
        const key = messageKey('alert_direct', `${id}#${number}:${channel}`);
        await messages.post(key, { channel, body });
      }
    }
    await Promise.all(resolved.map((storm) => storms.recount(storm)));
    await tellPayments(state);
  };
}

/** Claims are stored in the alert's own case, so it can't end between check and claim. */
export function alertClaims(alerts: AlertCases, judging: Pick<JudgeAgain, 'declineOf'>): AlertClaims {
  const { cases, firstAlert } = alerts;
  async function release(id: string, holder: string): Promise<void> {
    await cases.applyAndWake(id, { kind: 'released', holder }).catch(undefinedIfAway);
  }
  return {
    taken: (alert, reference) => alerts.taken(alert, reference),
    async declined(alert, card) {
      const found = await alerts.find(alert);
      return found && (await judging.declineOf(found, card));
    },
    async claim(alert, { reference, by }) {
      const id = await firstAlert(alert);
      const holder = randomUUID();
      for (;;) {
        const lastHolder = (await cases.find(id))?.charge?.holders.at(-1);
        const why = await alerts.taken(alert, reference);
        if (why) return { kind: 'taken', taken: why };
        const { state: seen } = await alerts.read(id);
        const { isMoved } = await alerts.applyOrCreate(id, {
          kind: 'claimed',
          reference,
          by,
          holder,
          lastHolder,
          seen,
        });
        if (isMoved) return { kind: 'claimed', release: () => release(id, holder) };
      }
    },
    async updateMessages(alert) {
      await cases.applyAndWake(await firstAlert(alert), { kind: 'retold' });
    },
  };
}
