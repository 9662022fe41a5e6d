import { z } from 'zod';
import type { Account } from '../../account.ts';
import {
  type ChargeSeen,
  type ChargeState,
  type SeenOtp,
  type Verdict,
  isClosed,
  isConcluded,
} from '../../domain/charge.ts';
import { chargeReferencePrefix, parseOrderReference } from '../../domain/order-reference.ts';
import type { ChargeEvent, ChargeIntent, Effect, PendingOtp, StoredOtpAnswer } from './charge-intent.ts';
import { step, workAt } from './machine.ts';
import { otpLimits } from '../../domain/otp.ts';
import { withoutUndefined } from '../../domain/json.ts';
import {
  createRecords,
  isUnreadable,
  openRecord,
  type RecordKind,
  type Records,
  type Schedule,
} from '../../records/records.ts';
import type { Index } from '../../store/store.ts';
import type { BotCharge } from '../../domain/alert.ts';
import { indexAt, searchLists, ownPaymentsList } from '../../records/found-by.ts';
import { allEntries } from '../../records/pages.ts';
import { alertNewsShape, chargeTermsShape, stored } from '../../records/shapes.ts';

export const chargePrefix = 'charge:';

const chargeRecord = z.object({
  intent: stored<ChargeIntent>('state', 'history'),
  terms: chargeTermsShape,
  /** The card's fingerprint: the key of the card's history. */
  card: z.string(),
  by: z.string(),
  agent: z.string(),
  handOvers: z.array(z.object({ at: z.number(), from: z.string(), to: z.string() })),
  resends: z.array(
    z.object({
      at: z.number(),
      by: z.string(),
      answer: z.enum(['resent', 'refused', 'not_made', 'unknown']).exactOptional(),
    }),
  ),
  /** The customer's code page: its link (hashed), maker, time and tries left. Absent: the agent types the code. */
  customer: z
    .object({ link: z.string(), by: z.string(), at: z.number(), triesLeft: z.number().exactOptional() })
    .exactOptional(),
  /** When the customer pressed *I did not ask for this*, UTC ms. */
  notMineAt: z.number().exactOptional(),
  /** Another payment or a person has ended the alert from which this charge was begun. */
  alertNews: alertNewsShape.exactOptional(),
  /** The modals that show the charge, newest last. */
  views: z.array(z.object({ id: z.string(), userId: z.string() })),
  /** The time of the last step that is in the audit, UTC ms. */
  auditedAt: z.number(),
});

/** A stored charge: the machine's intent, and further data. */
export type ChargeRecord = z.infer<typeof chargeRecord>;

/** A modal that shows the charge, and its viewer. */
export type ChargeView = ChargeRecord['views'][number];

export type ChargeRecords = Records<ChargeRecord>;

/** For reading charges. Without lists: only a write needs them (`chargeKind`). */
export const storedCharge: RecordKind<ChargeRecord> = { prefix: chargePrefix, schema: chargeRecord };

/** For writing charges, with their lists. */
export function chargeKind(account: Pick<Account, 'fingerprint' | 'log'>) {
  return { ...storedCharge, lists: (record: ChargeRecord) => listsOfCharge(record, account) };
}

/** A stored step. Only the caller that stored it runs `effect`. */
export type Advanced = { record: ChargeRecord; effect: Effect | undefined };

export type ChargeBook = ReturnType<typeof openChargeBook>;

/** One account's charges, with the two ways to change one. Methods throw StoreUnavailable. */
export function openChargeBook(account: Account) {
  const charges: ChargeRecords = createRecords(account, chargeKind(account));
  function written<Result>(value: ChargeRecord, result: Result) {
    return { kind: 'write', value, schedule: scheduleOf(value, account), result } as const;
  }
  return {
    ...charges,

    /** Stores a new charge. If one exists, returns that and changes nothing. */
    add: (record: ChargeRecord): Promise<ChargeRecord | undefined> =>
      charges.change<ChargeRecord | undefined>(record.intent.reference, (before) =>
        before ? { kind: 'keep', result: before } : written(record, undefined),
      ),

    /**
     * Steps the machine with an event, stores the result and returns it; after a conflict, steps again from the stored
     * record. Undefined: there is no such charge, the event changes nothing, or `mayStep` refuses the stored record.
     */
    advance: (
      reference: string,
      event: ChargeEvent,
      mayStep: (record: ChargeRecord) => boolean = () => true,
    ): Promise<Advanced | undefined> =>
      charges.change<Advanced | undefined>(reference, (before) => {
        const stepped = before && mayStep(before) ? step(before.intent, event, account.now()) : undefined;
        if (!before || !stepped) return { kind: 'keep', result: undefined };
        const record = { ...before, intent: stepped.next };
        return written(record, { record, effect: stepped.effect });
      }),

    /** Changes data other than the intent; the timer stays. Undefined: there is no such charge, or `change` refuses. */
    amend: (
      reference: string,
      change: (record: ChargeRecord) => ChargeRecord | undefined,
    ): Promise<ChargeRecord | undefined> =>
      charges.change<ChargeRecord | undefined>(reference, (before) => {
        const record = before && change(before);
        return record ? written(record, record) : { kind: 'keep', result: undefined };
      }),
  };
}

/**
 * Lists of charges, in the order of submission: those that need somebody, a person's own, and those that wait for a
 * person's code.
 */
export const chargeLists = {
  open: 'open-charges',
  of: (userId: string) => `charges-of:${userId}`,
  codesOf: (userId: string) => `codes-of:${userId}`,
};

async function listsOfCharge(
  record: ChargeRecord,
  account: Pick<Account, 'fingerprint' | 'log'>,
): Promise<Index> {
  const { intent, terms, by, agent, handOvers } = record;
  const people = [by, agent, ...handOvers.map(({ to }) => to)];
  const names = people.map(chargeLists.of);
  if (!isClosed(intent)) names.push(chargeLists.open);
  if (intent.state.kind === 'otp') names.push(chargeLists.codesOf(agent));
  const { customerEmail, card, money } = terms;
  const known = { customerEmail, lastFour: card.lastFour, amountMinor: money.minor };
  names.push(...(await searchLists(account, known)));
  return {
    ...indexAt(names, intent.submittedAt),
    [ownPaymentsList]: outcomeAtMs(record) ?? intent.submittedAt,
  };
}

export function outcomeAtMs({ intent: { state } }: ChargeRecord): number | undefined {
  return isConcluded(state) ? state.concludedAt : undefined;
}

export function chargeKey(reference: string): string {
  return `${chargePrefix}${reference}`;
}

/** If the audit lacks steps, the charge is due within this time, regardless of its own timer. */
const auditWithinMs = 30_000;

/** The charge is due by the machine's timer, or soon if the audit lacks steps. Without either it is only remembered. */
function scheduleOf(
  record: ChargeRecord,
  { now, rememberMs }: Pick<Account, 'now' | 'rememberMs'>,
): Schedule {
  const { at } = record.intent;
  const dueAt = workAt(record.intent, rememberMs) ?? Infinity;
  const dueMs = Math.max(0, dueAt - Math.max(now(), at));
  const delayMs = isAudited(record) ? dueMs : Math.min(dueMs, auditWithinMs);
  return delayMs === Infinity ? { ttlMs: rememberMs } : { delayMs };
}

/** Whether the audit has all steps. */
export function isAudited({ intent, auditedAt }: ChargeRecord): boolean {
  return auditedAt >= intent.at;
}

/** The charge for display. `blocks`: what stands against another. */
export function seenOf(record: ChargeRecord, blocks: Pick<ChargeSeen, 'nextTry' | 'taken'> = {}): ChargeSeen {
  const { intent, terms, by, agent, handOvers, resends, customer, notMineAt, alertNews } = record;
  const { tokenKey: _secret, ...shown } = terms;
  const { reference, submittedAt, at, state, dueAt, otp, bankWords, heard } = intent;
  // The last verdict that the agent was told, if the charge ended otherwise.
  const corrects = isConcluded(state)
    ? intent.told.findLast((what): what is Verdict => what !== state.kind && what !== 'otp')
    : undefined;
  return {
    reference,
    terms: shown,
    card: record.card,
    by,
    agent,
    submittedAt,
    at,
    state,
    heard,
    sends: intent.sends.length,
    handOvers,
    resends,
    ...blocks,
    ...withoutUndefined({
      dueAt,
      otp: otp && seenOtp(intent, otp),
      proof: state.kind === 'approved' ? proofOf(intent) : undefined,
      bankWords,
      corrects,
      customer,
      notMineAt,
      alertNews,
    }),
  };
}

function proofOf({ history }: ChargeIntent): NonNullable<ChargeSeen['proof']> {
  const findings = history.map(({ event }) => (event.kind === 'looked_up' ? event.finding : undefined));
  const { status, compared } = findings.findLast((found) => found?.kind === 'paid') ?? {};
  return withoutUndefined({ status, compared });
}

function lastCodeAfter(refusal: StoredOtpAnswer | undefined): NonNullable<SeenOtp['lastCode']> {
  if (refusal?.kind !== 'wrong') return 'unanswered';
  return refusal.isOver ? 'time_over' : 'refused';
}

function seenOtp({ state, history }: ChargeIntent, { until, tries, unanswered }: PendingOtp): SeenOtp {
  const triesLeft = Math.max(0, otpLimits.submissions - tries);
  if (tries === 0 || state.kind === 'otp_checking') return { until, triesLeft };
  const answers = history.flatMap(({ event }) => (event.kind === 'otp_answered' ? event : []));
  const isClosed = answers.some(
    ({ answer, submission }) => answer.kind === 'too_many' && submission < otpLimits.submissions,
  );
  const refusal = answers.find(({ answer, submission }) => answer.kind === 'wrong' && submission === tries);
  return {
    until,
    triesLeft,
    lastCode: lastCodeAfter(refusal?.answer),
    ...(isClosed && { isClosed }),
    ...(unanswered > 0 && { answerLost: true }),
  };
}

const withoutMoney = new Set<ChargeState['kind']>([
  'declined',
  'rejected',
  'abandoned',
  'wrong_codes',
  'expired',
]);

/** The charge ended without taking money. */
export function hasMovedNothing({ state }: Pick<ChargeIntent, 'state'>): boolean {
  return withoutMoney.has(state.kind);
}

/**
 * Whether the charge ended without taking money, or gave it back; undefined: it is not stored. False for a charge in
 * doubt, for one that was paid late, and for one that can't be read: it may have moved money.
 */
export function hasEnded(
  charges: Pick<ChargeRecords, 'read'>,
  reference: string,
): Promise<boolean | undefined> {
  return ifStored(
    charges,
    reference,
    (intent) => hasMovedNothing(intent) || intent.state.kind === 'given_back',
  );
}

/**
 * Whether the charge's outcome is unknown, also if it was told before and is in doubt again; undefined: it is not
 * stored. False if it can't be read: then its last outcome counts.
 */
export function isUnsettled(
  charges: Pick<ChargeRecords, 'read'>,
  reference: string,
): Promise<boolean | undefined> {
  return ifStored(charges, reference, ({ state }) => !isConcluded(state));
}

/** Undefined: the charge is not stored. False: its sealing key is gone. */
async function ifStored(
  charges: Pick<ChargeRecords, 'read'>,
  reference: string,
  holds: (intent: ChargeIntent) => boolean,
): Promise<boolean | undefined> {
  try {
    const record = await charges.read(reference);
    return record && holds(record.intent);
  } catch (error) {
    if (isUnreadable(error)) return false;
    throw error;
  }
}

/**
 * Whether the charge's own message says, or will say, that it failed. False for a paid charge and for one under review,
 * even if an event says that they failed.
 */
export async function tellsFailure(
  charges: Pick<ChargeRecords, 'read'>,
  reference: string,
): Promise<boolean> {
  if (!mayBeCharge(reference)) return false;
  const tells = await ifStored(
    charges,
    reference,
    ({ state: { kind } }) => kind !== 'approved' && kind !== 'given_back' && kind !== 'review',
  );
  return tells === true;
}

/** Check this first: outside text must not get into a key. */
function mayBeCharge(reference: string): boolean {
  return reference.startsWith(chargeReferencePrefix) && parseOrderReference(reference).ok;
}

/** The bot's charge with this reference; undefined: there is none, or it is no longer remembered. */
export async function chargeOf(
  charges: Pick<ChargeRecords, 'read'>,
  reference: string,
): Promise<BotCharge | undefined> {
  const record = mayBeCharge(reference) ? await charges.read(reference) : undefined;
  return (
    record && { card: record.card, agent: record.agent, ...withoutUndefined({ alert: record.terms.alert }) }
  );
}

/** `unread`: references of charges that can't be read, so their outcome is unknown, too. */
export type Doubts = { charges: readonly ChargeSeen[]; unread: readonly string[] };

/** The charges with an unknown outcome, oldest first, then those under review. Changes nothing. */
export async function chargesInDoubt(account: Pick<Account, 'store' | 'sealer' | 'log'>): Promise<Doubts> {
  const { store, sealer, log } = account;
  const unread: string[] = [];
  const records: ChargeRecord[] = [];
  for (const entry of await allEntries(store, chargeLists.open)) {
    try {
      records.push(openRecord(sealer, storedCharge, entry));
    } catch (error) {
      // One unreadable charge must not hide all others.
      const reference = entry.key.slice(chargePrefix.length);
      log('error', 'a charge on a list cannot be opened', { orderReference: reference }, error);
      unread.push(reference);
    }
  }
  const unsettled = records.filter(({ intent: { state } }) => !isConcluded(state) && state.kind !== 'otp');
  const underReview = records.filter(({ intent }) => intent.state.kind === 'review');
  return { charges: [...unsettled, ...underReview].map((record) => seenOf(record)), unread };
}
