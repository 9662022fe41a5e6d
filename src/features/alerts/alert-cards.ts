import type { AuditEntry, NoteAudit } from '../../domain/audit-entry.ts';
import type { Lookup } from '../../domain/alert.ts';
import {
  endsCard,
  handOf,
  moveCard,
  type AlertCard,
  type AlertCharge,
  type CardMove,
  type CardStep,
  type MovedCard,
  type OtherPayment,
} from '../../domain/alert-card.ts';
import { claimTimes } from '../../domain/charge-state.ts';
import type { MessagePlace } from '../../domain/delivery.ts';
import { referenceOfEventKey } from '../../domain/event-key.ts';
import type { PaymentEvent } from '../../domain/payment-event.ts';
import { withoutUndefined } from '../../domain/without-undefined.ts';
import type { Log } from '../../log.ts';
import type { Entry, Index, Store } from '../../store/store.ts';
import { createChangeRecord, makeDue } from '../../records/change-record.ts';
import { stormRecovered, stormsOfAlert } from './storm/storms.ts';
import {
  alertKey,
  newestOf,
  openEvent,
  openEvidence,
  placeOf,
  readOutboxRecord,
  type Evidence,
} from '../../messages/outbox.ts';
import type { Sealer } from '../../domain/sealer.ts';
import { tellCard, type TellCardDeps, type UntoldCard } from './tell-card.ts';

export type AlertCardsDeps = TellCardDeps & {
  lookUp: (event: PaymentEvent) => Promise<Lookup>;
  /** How long a card is remembered after what was last done with it: as long as its alert. */
  rememberMs: number;
  /** Called after work was stored, so that a worker need not wait for its next round. */
  wake: () => void;
  log: Log;
  /** Whether the charge of this reference has ended without money; undefined: it was never stored. */
  hasEnded: (reference: string) => Promise<boolean | undefined>;
  /** Writes into the audit, in the background; absent: nothing is written down. */
  note?: NoteAudit;
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
  | (Extract<MovedCard, { kind: 'moved' }> & { card: AlertCard })
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
  /** A further message of the card, in another channel; the first one's key follows from the id. */
  join(id: string, message: string): Promise<void>;
  /** Its messages are made once more. */
  retell(id: string): Promise<void>;
  /** Forgets what was looked up anew: the alert's details go. Its state stays. */
  erase(id: string): Promise<void>;
  /** Posts pending notes, or wakes the alert if its snooze has expired. For work of the prefix `alertCardPrefix`. */
  work(entry: Entry): Promise<void>;
};

export const alertCardPrefix = 'alert:';

/** As it is stored, sealed. Steps that are told stand in the threads alone. */
export type CardRecord = UntoldCard & {
  evidence?: Evidence;
  /** Why the payments that were told did not resolve it. */
  otherPayments?: OtherPayment['why'][];
  /** See `AlertClaims`; `holders` are the deliveries of its submit. It stays when the charge has ended. */
  charge?: AlertCharge & { holders: readonly string[] };
};

/** The list of the open alerts that a person has: assigned to them, or acknowledged by them and given to nobody else. */
const alertsOf = (userId: string): string => `alerts-of:${userId}`;

/** Who has more is shown the newest of them. */
const mostListed = 50;

function listsOfCard({ card, storms = [] }: CardRecord): Index {
  if (card.kind === 'recovered') return Object.fromEntries(storms.map((storm) => [stormRecovered(storm), 0]));
  const userId = handOf(card);
  return userId === undefined || endsCard(card) || !('at' in card) ? {} : { [alertsOf(userId)]: card.at };
}

const noRecord: CardRecord = { card: { kind: 'open' }, untold: [], told: 0, others: [] };

export function createAlertCards(deps: AlertCardsDeps): AlertCards {
  const { store, sealer } = deps;
  const changeRecord = createChangeRecord(store);

  async function read(id: string): Promise<CardRecord> {
    const key = alertCardPrefix + id;
    return openCard(sealer, key, (await store.read(key))?.value);
  }

  async function find(id: string): Promise<FoundAlert | undefined> {
    const record = await read(id);
    const { others, ...asked } = record;
    const card = await asTaken(deps, id, record);
    const records = await Promise.all([alertKey(id), ...others].map((key) => readAlert(deps, key)));
    const alerts = records.filter((one) => one !== undefined);
    const [alert] = alerts;
    if (!alert) return undefined;
    // A message that took another’s place was looked up for that, later than anybody asked perhaps.
    const evidence = newestOf([asked.evidence, ...alerts.map((one) => one.evidence)]);
    const { event, receivedAtMs } = alert;
    const place = alerts.find((one) => one.place)?.place;
    return { event, receivedAtMs, card, ...withoutUndefined({ evidence, place }) };
  }

  /** Stored as work that is due: telling it is what the work is. */
  function change<Result>(
    id: string,
    judge: (record: CardRecord) => { record?: CardRecord; result: Result },
  ): Promise<Result> {
    const key = alertCardPrefix + id;
    return changeRecord(key, (value) => {
      const { record, result } = judge(openCard(sealer, key, value));
      return record
        ? {
            kind: 'write',
            value: sealCard(sealer, key, record),
            delayMs: 0,
            index: listsOfCard(record),
            result,
          }
        : { kind: 'keep', result };
    });
  }

  return {
    async read(id) {
      const record = await read(id);
      const { evidence, charge } = record;
      const card = await asTaken(deps, id, record);
      return { card, ...withoutUndefined({ charging: await standingCharge(deps, charge), evidence }) };
    },
    find,

    async of(userId) {
      const { entries } = await store.list(alertsOf(userId), { max: mostListed, newestFirst: true });
      const found = await Promise.all(entries.map(({ key }) => find(key.slice(alertCardPrefix.length))));
      return found.filter((alert) => alert !== undefined);
    },

    async move(id, move) {
      if (!(await store.read(alertKey(id)))) return { kind: 'unknown_alert' };
      const seen = await asTaken(deps, id, await read(id));
      const { result, before } = await change(id, (record) => {
        const card = record.card.kind === 'open' ? seen : record.card;
        return judgeMove({ ...record, card }, move, deps.now());
      });
      if (result.kind === 'moved') {
        deps.note?.(auditOfCardStep(id, before, result));
        deps.wake();
      }
      return result;
    },

    async tellOther(id, payment) {
      if (await change(id, (record) => judgeOther(record, payment, deps.now()))) deps.wake();
    },

    async lookUpNow(id) {
      const alert = await find(id);
      if (!alert) return undefined;
      const atMs = deps.now();
      const evidence = { lookup: await deps.lookUp(alert.event), atMs };
      // No answer takes nothing away from what is known.
      if (evidence.lookup.kind === 'unchecked') return { ...alert, evidence };
      // Whoever asked is told; what was taken away does not come back.
      if (alert.event.isErased) return { ...alert, evidence };
      const newest = await change(id, (record) => judgeLookUp(record, evidence));
      deps.wake();
      return { ...alert, evidence: newest };
    },

    async join(id, message) {
      if (message === alertKey(id)) return;
      await change(id, (record) => judgeJoin(record, message));
    },

    retell: (id) => makeDue(changeRecord, alertCardPrefix + id, 0),
    erase: (id) => change(id, judgeErase),
    work: (entry) => workOn(deps, entry),
  };
}

/** Of two that ask at once the slower one knows less. */
function judgeLookUp(record: CardRecord, asked: Evidence): { record: CardRecord; result: Evidence } {
  const evidence = newestOf([asked, record.evidence]) ?? asked;
  return { record: { ...record, evidence }, result: evidence };
}

function judgeErase({ evidence, ...record }: CardRecord): { record?: CardRecord; result: void } {
  return { ...(evidence ? { record } : {}), result: undefined };
}

function judgeMove(
  record: CardRecord,
  move: CardMove,
  at: number,
): { record?: CardRecord; result: { result: CardMoveResult; before: AlertCard['kind'] } } {
  const before = record.card.kind;
  const result = moveCard(record.card, move, at);
  if (result.kind === 'refused') return { result: { result: { ...result, card: record.card }, before } };
  const { card, step } = result;
  return { record: { ...record, card, untold: [...record.untold, step] }, result: { result, before } };
}

function judgeJoin(record: CardRecord, message: string): { record?: CardRecord; result: void } {
  const { others } = record;
  if (others.includes(message)) return { result: undefined };
  return { record: { ...record, others: [...others, message] }, result: undefined };
}

/**
 * False: one like it is told already, or the card has ended. A customer who pays every day would fill the thread of an
 * alert that nobody closes.
 */
function judgeOther(
  record: CardRecord,
  payment: OtherPayment,
  at: number,
): { record?: CardRecord; result: boolean } {
  const { otherPayments = [], untold } = record;
  if (otherPayments.includes(payment.why) || endsCard(record.card)) return { result: false };
  const step: CardStep = { kind: 'other_payment', payment, at };
  const told = { otherPayments: [...otherPayments, payment.why], untold: [...untold, step] };
  return { record: { ...record, ...told }, result: true };
}

async function workOn(deps: AlertCardsDeps, entry: Entry): Promise<void> {
  const { store, sealer } = deps;
  const id = entry.key.slice(alertCardPrefix.length);
  const record = openCard(sealer, entry.key, entry.value);
  const woken = moveCard(record.card, { kind: 'wake' }, deps.now());
  if (woken.kind === 'moved') {
    // Stored before it is told: the next round tells it.
    const awake = { ...record, card: woken.card, untold: [...record.untold, woken.step] };
    const options = { delayMs: 0, index: listsOfCard(awake) };
    const written = await store.write(entry, sealCard(sealer, entry.key, awake), options);
    if (written) deps.note?.(auditOfCardStep(id, record.card.kind, woken));
    return;
  }
  const storms = await tellCard(deps, id, record);
  const told: CardRecord = { ...record, storms, untold: [], told: record.told + record.untold.length };
  const { card, charge } = record;
  const now = deps.now();
  const dueAt = Math.min(
    (card.kind === 'acknowledged' && card.snoozedUntil) || Infinity,
    // Should a crash have left the claim alone, the message stops saying that it is being charged.
    charge && now < charge.at + claimTimes.lostMs ? charge.at + claimTimes.lostMs : Infinity,
  );
  const due = dueAt === Infinity ? { ttlMs: deps.rememberMs } : { delayMs: Math.max(0, dueAt - now) };
  const options = { ...due, index: listsOfCard(told) };
  // Lost: the card was moved meanwhile and is due again, with these steps under the same numbers.
  await store.write(entry, sealCard(sealer, entry.key, told), options);
  deps.wake();
}

/**
 * The charge that has the alert: one that is under way, in doubt, in doubt again, or paid. A claim whose charge was
 * never stored, as a crash leaves it, stands for `claimTimes.lostMs`, like the claim of a card.
 */
export async function standingCharge(
  { hasEnded, now }: Pick<AlertCardsDeps, 'hasEnded' | 'now'>,
  claim: CardRecord['charge'],
): Promise<AlertCharge | undefined> {
  if (!claim) return undefined;
  const { holders: _holders, ...charge } = claim;
  const ended = (await hasEnded(charge.reference)) ?? now() - charge.at >= claimTimes.lostMs;
  return ended ? undefined : charge;
}

/** The card as everybody sees it: an open one of a storm that somebody acknowledged is theirs. */
async function asTaken(
  deps: Pick<AlertCardsDeps, 'store' | 'sealer'>,
  id: string,
  { card, others }: CardRecord,
): Promise<AlertCard> {
  if (card.kind !== 'open') return card;
  const storms = await stormsOfAlert(deps, [alertKey(id), ...others]);
  const taken = storms.flatMap((storm) => storm.taken ?? []);
  const [first] = taken.toSorted((one, other) => one.at - other.at);
  return first ? { kind: 'acknowledged', ...first } : card;
}

/** Throws when the record is sealed with a key that is not here. */
export function openCard(sealer: Sealer, key: string, value: string | undefined): CardRecord {
  return value === undefined ? noRecord : (JSON.parse(sealer.open(key, value)) as CardRecord);
}

export function sealCard(sealer: Sealer, key: string, record: CardRecord): string {
  return sealer.seal(key, JSON.stringify(record));
}

/** The event and what was last looked up of it when it was posted. */
export async function readAlert(
  { store, sealer }: { store: Pick<Store, 'read'>; sealer: Sealer },
  key: string,
): Promise<Omit<FoundAlert, 'card'> | undefined> {
  const entry = await store.read(key);
  if (!entry) return undefined;
  const record = readOutboxRecord(entry.value);
  const evidence = openEvidence(sealer, key, record);
  const { receivedAtMs } = record;
  const event = openEvent(sealer, key, record);
  return { event, receivedAtMs, ...withoutUndefined({ evidence, place: placeOf(record) }) };
}

/** What the audit says of one step of an alert's card; `id` is the key of its event. */
function auditOfCardStep(
  id: string,
  before: AlertCard['kind'],
  { card, step }: { card: AlertCard; step: CardStep },
): AuditEntry {
  return {
    id: `alert:${id}:${step.at}:${step.kind}`,
    atMs: step.at,
    who: 'by' in step ? step.by : 'payops',
    what: 'step',
    reference: referenceOfEventKey(id) ?? id,
    ...(before === card.kind ? {} : { before: `alert_${before}`, after: `alert_${card.kind}` }),
    result: `alert_${step.kind}`,
    ...detailOf(step),
  };
}

function detailOf(step: CardStep): Pick<AuditEntry, 'reason' | 'after'> {
  switch (step.kind) {
    case 'assigned':
      return { after: step.to };
    case 'snoozed':
      return { reason: `until ${new Date(step.until).toISOString()}` };
    case 'closed':
      return { reason: step.reason };
    case 'recovered':
    case 'other_payment':
      return { reason: `by the payment ${step.payment.reference}` };
    default:
      return {};
  }
}
