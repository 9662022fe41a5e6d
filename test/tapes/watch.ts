import type {
  ChargeEvent,
  ChargeIntent,
  Effect,
  StoredChargeAnswer,
} from '../../src/features/charge/charge-intent.ts';
import { replay, workAt } from '../../src/features/charge/machine.ts';
import type { AgentNews } from '../../src/domain/charge.ts';
import type { Clock, Found, ServiceRecord } from './model-service.ts';

/** A broken invariant. Any other exception is a bug of the model. */
export class Violation extends Error {
  override readonly name = 'Violation';
}

export function demand(holds: unknown, invariant: string): void {
  if (!holds) throw new Violation(invariant);
}

/** Two minutes for the last send, 25 s for it to leave, and a second for steps in the same millisecond. */
const latestLeaveMs = 146_000;
/** From the latest time at which an OTP leaves until another replica may continue. */
const answeredWithinMs = 5_000;
const otpWindowMs = 15 * 60_000;
const weekMs = 7 * 24 * 3_600_000;
/** How long a charge under review is looked up. */
export const rememberMs = 60 * 24 * 3_600_000;
/** The maximum difference of a replica's clock from the true one. */
export const largestSkewMs = 2_000;

type OtpLeave = { leaveBy: number; answered: boolean };

/** Observes a whole tape from outside, with the true clock, and throws a Violation as soon as an invariant breaks. */
export type Watch = {
  written: (step: WrittenStep) => void;
  chargeLeaves: (effect: Extract<Effect, { kind: 'charge' }>) => void;
  otpLeaves: (effect: Extract<Effect, { kind: 'submit_otp' }>, record: ServiceRecord | undefined) => OtpLeave;
  /** An answer was handled to the end without a crash. */
  chargeAnswerHandled: (answer: StoredChargeAnswer) => void;
  lookedUp: (found: Found) => void;
  says: (what: AgentNews, key: string) => void;
  givesValue: (key: string) => void;
  /** `eventsCame`: all of the service's events arrived, after everything else had recovered. */
  ends: (
    intent: ChargeIntent | undefined,
    records: ReadonlyMap<string, ServiceRecord>,
    eventsCame: boolean,
  ) => void;
};

export function createWatch(clock: Clock, submitted: Extract<ChargeEvent, { kind: 'submitted' }>): Watch {
  const { reference, money, sendsOnce } = submitted;
  const sends = new Set<number>();
  const otps: OtpLeave[] = [];
  const keys = new Set<string>();
  const said: AgentNews[] = [];
  let createdAt: number | undefined;
  let isProven = false;
  let isShownBack = false;
  let sawDifference = false;
  let values = 0;
  let otpRequired = false;

  function once(key: string): boolean {
    if (keys.has(key)) return false;
    keys.add(key);
    return true;
  }

  return {
    written(step) {
      const { before, next } = step;
      createdAt ??= clock.time;
      checkStep(step);
      demand(next.state.kind !== 'approved' || isProven, 'approved only after proof');
      demand(next.state.kind !== 'given_back' || isShownBack, 'given back only where a look-up says so');
      const last = next.history.at(-1)?.event;
      const isRefusal = last?.kind === 'otp_answered' && last.answer.kind === 'wrong';
      if (before?.state.kind !== 'otp_checking' || !(isRefusal || next.state.kind === 'otp')) return;
      demand(
        otps.at(-1)?.answered,
        'only the answer to the OTP under way ends its check, not that to another',
      );
    },
    chargeLeaves(effect) {
      demand(effect.reference === reference, 'one reference per intent');
      demand(!sends.has(effect.send), 'one POST per send, however many clicks and replicas');
      sends.add(effect.send);
      demand(sends.size <= (sendsOnce ? 1 : 3), 'at most 3 sends, or one where the service wants no repeat');
      demand(createdAt !== undefined, 'nothing leaves before the intent is stored');
      const latest = (createdAt ?? 0) + latestLeaveMs + 2 * largestSkewMs;
      demand(clock.time <= latest, 'no charge leaves minutes after the click');
    },
    otpLeaves(effect, record) {
      demand(effect.sealedTransactionId === `sealed:${reference}`, 'the OTP goes with its own charge');
      demand(clock.time <= (record?.createdAt ?? 0) + otpWindowMs, 'no OTP after 15 minutes');
      const isPending = otps.some(
        ({ answered, leaveBy }) => !answered && clock.time < leaveBy + answeredWithinMs - 2 * largestSkewMs,
      );
      demand(!isPending, 'nobody submits an OTP while another is unanswered');
      const leave = { leaveBy: effect.leaveBy, answered: false };
      otps.push(leave);
      demand(otps.length <= 3, 'at most 3 OTP submissions');
      return leave;
    },
    chargeAnswerHandled(answer) {
      if (answer.kind === 'otp_required') otpRequired = true;
    },
    lookedUp(found) {
      if (found === 'failed') return;
      const { status, orderReference: shown } = found.transaction ?? {};
      if (status === 'REFUNDED' && shown === reference) isShownBack = true;
      if (found.transaction?.status !== 'SUCCESS') return;
      const { orderReference, amountMinor, currency } = found.transaction;
      const isRight = amountMinor === money.minor && currency === money.currency;
      if (isRight && orderReference === reference) isProven = true;
      else sawDifference = true;
    },
    says(what, key) {
      if (!once(key)) return;
      demand(!said.includes(what), 'told once');
      demand(what !== 'approved', 'paid is said only where value is given');
      said.push(what);
    },
    givesValue(key) {
      demand(isProven, 'value only after proof');
      if (!once(key)) return;
      values += 1;
      said.push('approved');
      demand(values === 1, 'value at most once');
    },
    ends(intent, records, eventsCame) {
      if (!intent) return demand(records.size === 0, 'nothing is charged without a stored intent');
      const record = records.get(reference);
      checkEnd({
        intent,
        record,
        records: records.size,
        said,
        values,
        sawDifference,
        otpRequired,
        eventsCame,
      });
    },
  };
}

type WrittenStep = {
  before: ChargeIntent | undefined;
  next: ChargeIntent;
  effect: Effect | undefined;
};

/** Invariants of every stored step. */
function checkStep(step: WrittenStep): void {
  const { before, next } = step;
  demand(!before || before.reference === next.reference, 'one reference per intent');
  const { kind } = next.state;
  demand(
    before?.state.kind !== 'approved' || isPaidOrBack(kind),
    'approved is for ever, unless it is given back',
  );
  demand(before?.state.kind !== 'given_back' || kind === 'given_back', 'what was given back stays so');
  demand(!before || next.at > before.at, 'time never runs backwards');
  demand(next.history.length <= 120, 'the history stays small');
  demand((next.otp?.tries ?? 0) <= 3, 'at most 3 OTP submissions');
  if (!before) return;
  if (isPaidOrBack(before.state.kind) && kind !== before.state.kind) checkContradiction(before, next);
  checkSend(before, step);
  checkMissingCode(before, next);
  if (before.state.kind !== next.state.kind) checkConclusion(next);
  checkDoubt(before, next);
}

/** An answer under way since before a proof may be older than that. */
function checkContradiction({ state }: ChargeIntent, { history }: ChargeIntent): void {
  const last = history.at(-1)?.event;
  const isNewer = last?.kind === 'looked_up' && 'concludedAt' in state && last.askedAt > state.concludedAt;
  demand(isNewer, 'only a look-up asked after a proof contradicts it');
}

/** While the answer to a code is missing, the service is asked repeatedly, and no later code may be called wrong. */
function checkMissingCode(before: ChargeIntent, next: ChargeIntent): void {
  const { state, history, at, dueAt = Infinity, told } = next;
  if (state.kind !== 'otp') return;
  const submitted = history.filter(({ event }) => event.kind === 'otp_submitted');
  const missing = submitted.length - refusedCodes(history);
  if (missing === 0) return;
  demand(
    before.state.kind !== 'otp_checking',
    'no code is called wrong while the answer to another is missing',
  );
  const sinceMs = at - (submitted[0]?.at ?? at);
  const soon = Math.max(30_000, Math.min(sinceMs, 300_000));
  demand(!told.includes('otp') || dueAt - at <= soon, 'a missing answer to a code is looked for');
}

const otpGraceMs = 60_000;

/** When no code can be open any more, as far as the merchant knows. */
function codeEnd({ otp, sends }: ChargeIntent): number {
  return otp?.until ?? Math.max(...sends) + 15 * 60_000;
}

function checkConclusion(next: ChargeIntent): void {
  const { state, history, at } = next;
  const last = history.at(-1)?.event;
  const isFinal = last?.kind === 'looked_up' && last.finding.kind === 'final_not_paid';
  const isOver = at >= codeEnd(next) + otpGraceMs;
  if (state.kind === 'declined') {
    demand(isFinal || isOver || hasOwnDecline(next), 'no event decides "declined" while a code may be open');
  }
  if (state.kind === 'expired') {
    demand(at >= codeEnd(next) && (isFinal || isOver), 'nothing expires while a code may be open');
  }
  if (state.kind === 'review') checkReview(next);
  if (state.kind === 'wrong_codes') demand(isRefusedThrice(next), 'every code that was entered was refused');
}

/** A difference or a denial needs review at once; a mere lack of proof only after long look-ups. */
function checkReview({ history, at }: ChargeIntent): void {
  const last = history.at(-1)?.event;
  if (last?.kind !== 'looked_up' || ['mismatch', 'final_not_paid'].includes(last.finding.kind)) return;
  const isDue =
    last.finding.kind === 'failed' ? at - (history[0]?.at ?? at) >= weekMs : answersIn(history) >= 144;
  demand(isDue, 'a review for want of proof follows half a day of answers, or a week without');
}

/** A look-up's answer ends what it can: a card must not be blocked longer than its doubt lasts. */
function checkDoubt(before: ChargeIntent, next: ChargeIntent): void {
  const last = next.history.at(-1)?.event;
  if (last?.kind !== 'looked_up' || before.state.kind !== 'confirming') return;
  const { kind } = last.finding;
  const staysOpen = next.state.kind === 'confirming';
  demand(!staysOpen || kind !== 'final_not_paid', 'a final status ends the doubt');
  if (isCalledPaid(next)) return;
  const isOver = next.at >= codeEnd(next) + otpGraceMs;
  demand(
    !staysOpen || kind !== 'pending' || !isOver,
    'a record without success ends the doubt after the codes',
  );
  const shows = kind === 'pending' || kind === 'not_found' || kind === 'final_not_paid';
  const isRight = !shows || !isRefusedThrice(next) || next.state.kind === 'wrong_codes';
  demand(isRight, 'three refused codes are no doubt and no decline');
}

/** Look-ups that the service answered; consecutive equal ones are stored as one. */
function answersIn(history: ChargeIntent['history']): number {
  return history.reduce(
    (sum, { event, times = 1 }) =>
      sum + (event.kind === 'looked_up' && event.finding.kind !== 'failed' ? times : 0),
    0,
  );
}

function refusedCodes(history: ChargeIntent['history']): number {
  return history.filter(
    ({ event }) => event.kind === 'otp_answered' && ['wrong', 'too_many'].includes(event.answer.kind),
  ).length;
}

function hasOwnDecline({ history }: ChargeIntent): boolean {
  return history.some(({ event }) => event.kind === 'charge_answered' && event.answer.kind === 'declined');
}

function isCalledPaid({ history }: ChargeIntent): boolean {
  return history.some(
    ({ event }) =>
      event.kind === 'payment_success' ||
      (event.kind === 'charge_answered' && event.answer.kind === 'approved') ||
      (event.kind === 'otp_answered' && event.answer.kind === 'accepted'),
  );
}

function isRefusedThrice({ history, otp }: ChargeIntent): boolean {
  const entered = history.filter(({ event }) => event.kind === 'otp_submitted').length;
  return otp !== undefined && otp.tries >= 3 && refusedCodes(history) === entered;
}

function checkSend(before: ChargeIntent, { next, effect }: WrittenStep): void {
  const resends = effect?.kind === 'charge';
  demand(!resends || !isKnownToExist(before), 'nothing is sent again that the service is known to have');
  const last = next.history.at(-1)?.event;
  if (last?.kind !== 'looked_up' || !(resends || next.state.kind === 'abandoned')) return;
  const isNewer = last.askedAt > (before.sends.at(-1) ?? 0);
  demand(isNewer, 'a look-up older than the last send says nothing about it');
}

/** From the history alone, so that a machine that forgets to note it is detected. */
function isKnownToExist({ history }: ChargeIntent): boolean {
  return history.some(
    ({ event }) =>
      event.kind === 'payment_success' ||
      event.kind === 'payment_failed' ||
      (event.kind === 'looked_up' && !['not_found', 'failed'].includes(event.finding.kind)) ||
      (event.kind === 'charge_answered' && !['rejected', 'unknown'].includes(event.answer.kind)),
  );
}

/** The final state. */
type End = {
  intent: ChargeIntent;
  /** The service's record of the intent's reference, and the number of its records. */
  record: ServiceRecord | undefined;
  records: number;
  said: readonly AgentNews[];
  values: number;
  /** Whether a look-up showed a wrong amount. */
  sawDifference: boolean;
  otpRequired: boolean;
  eventsCame: boolean;
};

function checkEnd(end: End): void {
  const isOver = workAt(end.intent, rememberMs) === undefined;
  demand('concludedAt' in end.intent.state && isOver, 'every intent ends');
  demand(end.records <= 1, 'at most one charge accepted per intent');
  demand(!end.otpRequired || end.intent.otp || isPaidOrBack(end.intent.state.kind), 'no answer is forgotten');
  checkMoney(end);
  checkGivenBack(end);
  checkSaid(end);
  checkReplay(end.intent);
}

function checkMoney(end: End): void {
  const { intent, record } = end;
  const isPaid = record?.status === 'SUCCESS';
  const isBack = record?.status === 'REFUNDED';
  const isRight =
    record?.taken.minor === intent.money.minor && record.taken.currency === intent.money.currency;
  const { kind } = intent.state;
  const inReview = kind === 'review';
  demand(!isApproved(end) || end.values === 1, 'value is given when approved');
  demand(end.values === 0 || isPaidOrBack(kind), 'value is given only when approved');
  demand(
    !isApproved(end) || ((isPaid || isBack) && isRight),
    'approved only when the right amount was taken',
  );
  demand(!isPaid || isApproved(end) || inReview, 'money taken ends approved or in review');
  const isShown = record !== undefined && record.shownReference === record.reference;
  const isOwn = isPaid && isRight && isShown;
  demand(!isOwn || isApproved(end), 'money that a record proves ends approved, also from a review');
  demand(!isPaid || isRight || !end.sawDifference || inReview, 'a difference ends in review');
}

/** Money returned to the customer. */
function checkGivenBack({ intent, record, eventsCame }: End): void {
  const { kind } = intent.state;
  const isBack = record?.status === 'REFUNDED' && record.shownReference === record.reference;
  demand(kind !== 'given_back' || isBack, 'only what was given back ends so');
  demand(!isBack || !eventsCame || kind === 'given_back', 'what an event calls given back ends so');
  demand(!isBack || isPaidOrBack(kind), 'what was given back never ends as not taken');
}

function isPaidOrBack(kind: ChargeIntent['state']['kind']): boolean {
  return kind === 'approved' || kind === 'given_back';
}

/** A charge may go to review, be looked up and return: that is posted once. */
function checkSaid({ intent, said }: End): void {
  const { kind } = intent.state;
  demand(said.at(-1) === kind || (kind === 'review' && said.includes(kind)), 'the agent is told the end');
  const areSaid = intent.told.every((what) => said.includes(what));
  demand(areSaid, 'only what was said is on record as told');
}

function isApproved({ intent }: End): boolean {
  return intent.state.kind === 'approved';
}

/** Equal look-ups are stored as one, so only the histories may differ. */
function checkReplay(intent: ChargeIntent): void {
  const stored = JSON.parse(JSON.stringify(intent)) as ChargeIntent;
  const replayed = replay(stored.history);
  demand(replayed && canonical(replayed) === canonical(stored), 'replay gives the stored state');
}

function canonical(intent: ChargeIntent): string {
  return JSON.stringify({ ...intent, history: [] }, (_key, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  );
}
