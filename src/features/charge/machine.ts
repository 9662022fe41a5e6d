import {
  type ChargeState,
  type Conclusion,
  type Heard,
  type Refusal,
  type AgentNews,
  type Verdict,
  type ConclusionDetails,
  chargeLimits,
  isConcluded,
} from '../../domain/charge.ts';
import { otpLimits } from '../../domain/otp.ts';
import { confirm, type Transaction } from '../../domain/transaction.ts';
import type {
  ChargeEvent,
  ChargeIntent,
  Effect,
  Finding,
  PastStep,
  PendingOtp,
  Step,
  StoredChargeAnswer,
  StoredOtpAnswer,
} from './charge-intent.ts';
import { addToHistory } from './step-history.ts';

// The pure step function of a charge: state and event in, next state out. Tested by `npm run tapes` and `npm run mutants`.

/**
 * Returns the next state and its effect; undefined if the event changes nothing. Money moves at most once, and nothing
 * is called paid without proof, if the caller
 * (1) stores `next` before it runs `effect`: the first step by create, later ones by compare-and-swap,
 * (2) after a lost swap drops the effect, and (except for `due`) steps again from the stored state,
 * (3) keeps each effect's deadlines,
 * (4) calls it with `due` when `dueAt` has come, and
 * (5) tells only what still holds at the time of telling.
 * `now` is UTC ms; a step is at least 1 ms later than the one before, even if the clock was put back. `times` is for
 * replay: how many look-ups this one stands for.
 *
 * Spec: Card-saving payment and saved-card charge; charge a saved card; Transactions; OTP errors.
 */
export function step(
  intent: ChargeIntent | undefined,
  event: ChargeEvent,
  now: number,
  times = 1,
): Step | undefined {
  if (!intent) return event.kind === 'submitted' ? begin(event, now) : undefined;
  const at = Math.max(now, intent.at + 1);
  const moved = move(intent, event, at, times);
  if (!moved) return undefined;
  const history = addToHistory(intent, moved.next, event, at);
  return { next: { ...moved.next, at, history }, effect: moved.effect };
}

/** Rebuilds the state from its history alone; the audit relies on this. */
export function replay(history: readonly PastStep[]): ChargeIntent | undefined {
  let intent: ChargeIntent | undefined;
  for (const { at, event, times } of history) intent = step(intent, event, at, times)?.next ?? intent;
  return intent;
}

/**
 * The first step. The intent is stored before the charge is sent, so that after a crash its timer leads to a look-up.
 */
function begin(event: Extract<ChargeEvent, { kind: 'submitted' }>, at: number): Step {
  const { reference, money, sendsOnce } = event;
  const times = { submittedAt: at, at, sends: [], ...(sendsOnce ? { sendsOnce } : {}) };
  const history = [{ at, event }];
  return charge(
    { reference, money, ...times, state: { kind: 'charging' }, heard: [], told: [], history },
    at,
  );
}

function move(intent: ChargeIntent, event: ChargeEvent, at: number, times: number): Step | undefined {
  switch (event.kind) {
    case 'submitted':
      return undefined;
    case 'charge_answered':
      return chargeAnswered(intent, event, at);
    case 'looked_up':
      return lookedUp(intent, event, at, times);
    case 'otp_submitted':
      return submitOtp(intent, at);
    case 'otp_answered':
      return otpAnswered(intent, event, at);
    case 'payment_success':
      return saidPaid(intent, at);
    case 'payment_failed':
      return paymentFailed(intent, event, at);
    case 'payment_given_back':
      return lookUpAsked(intent, at, 'also_paid');
    case 'due':
      return due(intent, at);
    case 'look_up_asked':
      return lookUpAsked(intent, at);
    case 'told':
      return recordTold(intent, event.what, at);
  }
}

/** Spec: charge a saved card, the table of code, data.status and data.otpRequired. */
function chargeAnswered(
  intent: ChargeIntent,
  { send, answer }: { send: number; answer: StoredChargeAnswer },
  at: number,
): Step | undefined {
  if (answer.kind === 'approved') return saidPaid(intent, at);
  if (answer.kind === 'otp_required') return otpRequired(intent, send, answer, at);
  const awaited = intent.state.kind === 'charging' && send === intent.sends.length;
  return awaited ? notApproved(intent, answer, at) : notApprovedLate(intent, answer, at);
}

type NotApproved = Exclude<StoredChargeAnswer, { kind: 'approved' | 'otp_required' }>;

function notApproved(intent: ChargeIntent, answer: NotApproved, at: number): Step {
  switch (answer.kind) {
    case 'declined':
      return conclude(intent, at, 'declined', withoutKind(answer));
    case 'already_exists':
      return lookUp(hear(intent, 'exists'), at);
    case 'rejected':
      return rejected(intent, withoutKind(answer), at);
    case 'unknown':
      return lookUp(intent, at);
  }
}

/**
 * An answer that is no longer awaited counts only if it says something new: a decline, or that the service has the
 * charge.
 */
function notApprovedLate(intent: ChargeIntent, answer: NotApproved, at: number): Step | undefined {
  if (answer.kind === 'declined') {
    return saidFailed(intent, hear(quote(intent, answer), 'declined'), at);
  }
  const { state, heard } = intent;
  const unsure = state.kind === 'charging' || state.kind === 'confirming' || isUnsent(intent);
  const isNews = answer.kind === 'already_exists' && unsure && !heard.includes('exists');
  return isNews ? lookUp(hear(intent, 'exists'), at) : undefined;
}

/**
 * The bank wants a code. The time for it begins with the send that was answered. A late answer counts as well, because
 * a code can be submitted only with its transaction id.
 */
function otpRequired(
  intent: ChargeIntent,
  send: number,
  answer: Extract<StoredChargeAnswer, { kind: 'otp_required' }>,
  at: number,
): Step | undefined {
  const sentAt = intent.sends[send - 1];
  if (intent.otp || isPaid(intent.state) || sentAt === undefined) return undefined;
  const { sealedTransactionId } = answer;
  const otp = { sealedTransactionId, until: sentAt + otpLimits.windowMs, tries: 0, unanswered: 0 };
  const pending: ChargeIntent = { ...quote(intent, answer), otp };
  return intent.heard.includes('paid') ? lookUp(pending, at) : askForOtp(pending, at);
}

function withoutKind<T extends { kind: string }>({ kind: _kind, ...rest }: T): Omit<T, 'kind'> {
  return rest;
}

/** A refusal is only about its own send; an earlier send may have charged. Spec: Errors. */
function rejected(intent: ChargeIntent, refusal: Refusal, at: number): Step {
  return intent.sends.length === 1
    ? conclude(intent, at, 'rejected', refusal)
    : lookUp({ ...intent, refusal }, at);
}

/** A refusal counts only as the answer to the last submission. Spec: submit OTP; OTP errors. */
function otpAnswered(
  intent: ChargeIntent,
  { submission, answer }: { submission: number; answer: StoredOtpAnswer },
  at: number,
): Step | undefined {
  if (answer.kind === 'accepted') return saidPaid(intent, at);
  const { otp } = intent;
  if (intent.state.kind !== 'otp_checking' || !otp || submission !== otp.tries) return undefined;
  const refused = { ...otp, unanswered: otp.unanswered - 1 };
  switch (answer.kind) {
    case 'wrong': {
      // The bank says that the code's time is over, but by our clock it isn't: look up, and keep the form open.
      const otpNow = answer.isOver ? { ...refused, lostAt: at } : refused;
      const known = { ...quote(intent, answer), otp: otpNow };
      // A bank that has accepted an earlier code refuses the next, so look up before believing the refusal.
      return refused.unanswered > 0 ? lookUp(known, at) : askForOtp(known, at);
    }
    case 'too_many':
      return lookUp({ ...quote(intent, answer), otp: { ...refused, tries: otpLimits.submissions } }, at);
    case 'unknown':
      return codeLost(intent, at);
  }
}

/** The answer to a code is no longer awaited. The bank may have accepted the code. */
function codeLost(intent: ChargeIntent, at: number): Step {
  const { otp } = intent;
  return lookUp(otp ? { ...intent, otp: { ...otp, lostAt: at } } : intent, at);
}

/**
 * The service says that the charge is paid, in an answer or an event: a reason for a look-up, not a proof. Spec:
 * Events.
 */
function saidPaid(intent: ChargeIntent, at: number): Step | undefined {
  return isPaid(intent.state) ? undefined : lookUp(hear(intent, 'paid'), at);
}

/**
 * A payment_failed event. The time of the first one is kept, to tell a decline from a code that was not entered in
 * time. Spec: Events.
 */
function paymentFailed(intent: ChargeIntent, said: { why?: string }, at: number): Step | undefined {
  return saidFailed(intent, { ...quote(intent, said), failedAt: intent.failedAt ?? at }, at);
}

/**
 * The service says that the charge failed, in a late answer or an event. `updated`: the intent with that noted. Leads
 * to a look-up, or is only stored while another answer is awaited.
 */
function saidFailed(intent: ChargeIntent, updated: ChargeIntent, at: number): Step | undefined {
  const { state } = intent;
  if (state.kind === 'confirming' || isUnsent(intent)) return lookUp(updated, at);
  if (state.kind === 'otp') return lookUpOpen(updated, at);
  if (state.kind === 'declined') return tellReason(intent, state, updated);
  const underWay = state.kind === 'charging' || state.kind === 'otp_checking';
  const isNews = updated.failedAt !== intent.failedAt || updated.heard !== intent.heard;
  return underWay && isNews ? enter(updated, state, intent.dueAt) : undefined;
}

/**
 * Tells a decline again if it was told without a reason, and now has one: the card's history may depend on the bank's
 * words.
 */
function tellReason(intent: ChargeIntent, state: Conclusion, updated: ChargeIntent): Step | undefined {
  const { bankWords: why } = updated;
  if (state.why !== undefined || why === undefined || why === intent.bankWords) return undefined;
  return enter(updated, { ...state, why }, intent.dueAt, tellEffect(updated, 'declined'));
}

function due(intent: ChargeIntent, at: number): Step | undefined {
  const { state } = intent;
  if (intent.dueAt === undefined) return undefined;
  switch (state.kind) {
    case 'otp':
      return codeDue(intent, at);
    case 'otp_checking':
      return codeLost(intent, at);
    case 'charging':
    case 'confirming':
      return lookUp(intent, at);
    default:
      return intent.told.includes(state.kind) ? lookUpLate(intent, state, at) : announce(intent, state, at);
  }
}

/** The timer of a charge that waits for a code. While the answer to a code is missing, its form stays open. */
function codeDue(intent: ChargeIntent, at: number): Step {
  const { otp, told } = intent;
  if (!told.includes('otp')) return askForOtp(intent, at);
  const isOpen = otp?.lostAt !== undefined && otpStanding(otp, at).kind === 'open';
  return isOpen ? lookUpOpen(intent, at) : lookUp(intent, at);
}

/**
 * Looks up on request. With `also_paid`, for an event that says *given back*, a proven payment is looked up as well.
 */
function lookUpAsked(intent: ChargeIntent, at: number, scope?: 'also_paid'): Step | undefined {
  const { state } = intent;
  if (state.kind === 'confirming') return lookUp(intent, at);
  if (state.kind === 'otp') return lookUpOpen(intent, at);
  const isSettled = state.kind === 'approved' && scope === undefined;
  return isConcluded(state) && !isSettled ? lookUpLate(intent, state, at) : undefined;
}

function recordTold(intent: ChargeIntent, what: AgentNews, at: number): Step | undefined {
  if (intent.told.includes(what)) return undefined;
  const { state } = intent;
  const known: ChargeIntent = { ...intent, told: [...intent.told, what] };
  // A look-up that was asked for meanwhile keeps its timer, because its answer may get lost.
  const isAsked = isConcluded(state) && state.askedAt !== undefined;
  if (state.kind !== what || isAsked) return enter(known, state, intent.dueAt);
  const dueAt = isConcluded(state) ? lateLookUpAt(known, state, state.concludedAt) : codeLookUpAt(known, at);
  return enter(known, state, dueAt);
}

/** A look-up has proven the payment. The money may have been given back since. */
function isPaid(state: ChargeState): state is Conclusion & { kind: 'approved' | 'given_back' } {
  return state.kind === 'approved' || state.kind === 'given_back';
}

/** Concluded as never sent to the bank, whether or not the agent was told. */
function isUnsent({ state }: ChargeIntent): boolean {
  return state.kind === 'abandoned' || state.kind === 'rejected';
}

/** Sends the charge, the first time or again under the same reference. Spec: charge a saved card (retry rules). */
function charge(intent: ChargeIntent, at: number): Step {
  const sends = [...intent.sends, at];
  const { reference } = intent;
  return enter({ ...intent, sends }, { kind: 'charging' }, at + chargeLimits.answerMs, {
    kind: 'charge',
    reference,
    send: sends.length,
    leaveBy: at + chargeLimits.leaveMs,
  });
}

/** Looks the charge up; if it was concluded, it is in doubt again. Spec: Transactions. */
function lookUp(intent: ChargeIntent, at: number): Step {
  const before =
    intent.state.kind === 'confirming' ? intent.state : { kind: 'confirming' as const, since: at };
  const state = { ...before, askedAt: at };
  return enter(intent, state, at + chargeLimits.answerMs, lookUpEffect(intent, at));
}

/** Looks a concluded charge up again; meanwhile it stays concluded. */
function lookUpLate(intent: ChargeIntent, state: Conclusion, at: number): Step {
  return enter(intent, { ...state, askedAt: at }, at + chargeLimits.answerMs, lookUpEffect(intent, at));
}

/** Looks the charge up and keeps the code's form open, so that a person who is typing is not interrupted. */
function lookUpOpen(intent: ChargeIntent, at: number): Step {
  const { otp, dueAt } = intent;
  const askAgainAt = otp?.lostAt === undefined ? dueAt : Math.min(otp.until, at + chargeLimits.answerMs);
  return enter(intent, { kind: 'otp', askedAt: at }, askAgainAt, lookUpEffect(intent, at));
}

function lookUpEffect({ reference }: ChargeIntent, askedAt: number): Effect {
  return { kind: 'look_up', reference, askedAt };
}

/** Waits for a code, and asks for it, if tries and time are left; else looks up. Spec: pending OTP; OTP errors. */
function askForOtp(intent: ChargeIntent, at: number): Step {
  const standing = intent.otp && otpStanding(intent.otp, at);
  if (!intent.otp || standing?.kind !== 'open') return lookUp(intent, at);
  return enter(intent, { kind: 'otp' }, codeLookUpAt(intent, at), tellEffect(intent, 'otp'));
}

/**
 * When a charge that waits for a code is due: soon, until the request for the code is recorded as told; while the
 * answer to a code is missing, at growing intervals (seconds to minutes); otherwise when the code's time is over.
 */
function codeLookUpAt({ otp, told }: ChargeIntent, at: number): number | undefined {
  if (!otp) return undefined;
  const { until, lostAt } = otp;
  if (!told.includes('otp')) return Math.min(until, at + chargeLimits.answerMs);
  return lostAt === undefined ? until : Math.min(until, at + backOffMs(at - lostAt));
}

/** Counts the try before the code is sent: a crash in between wastes a try, but never allows a fourth. */
function submitOtp(intent: ChargeIntent, at: number): Step | undefined {
  const { otp, reference } = intent;
  if (intent.state.kind !== 'otp' || !otp) return undefined;
  const standing = otpStanding(otp, at);
  if (standing.kind !== 'open') return undefined;
  const counted = { ...otp, tries: otp.tries + 1, unanswered: otp.unanswered + 1 };
  return enter({ ...intent, otp: counted }, { kind: 'otp_checking' }, at + chargeLimits.answerMs, {
    kind: 'submit_otp',
    reference,
    sealedTransactionId: otp.sealedTransactionId,
    submission: counted.tries,
    leaveBy: Math.min(at + chargeLimits.leaveMs, standing.leaveBy),
  });
}

/** Concludes the intent for now, and tells the verdict unless the same one was told before. */
function conclude(intent: ChargeIntent, at: number, verdict: Verdict, because: ConclusionDetails = {}): Step {
  const state: Conclusion = { kind: verdict, concludedAt: at, ...because };
  return intent.told.includes(verdict)
    ? enter(intent, state, lateLookUpAt(intent, state, at))
    : announce(intent, state, at);
}

/** Tells a verdict, again and again until it is recorded as told. The message's key makes repeats one message. */
function announce(intent: ChargeIntent, state: Conclusion, at: number): Step {
  return enter(intent, state, at + chargeLimits.answerMs, tellEffect(intent, state.kind));
}

function tellEffect({ reference }: ChargeIntent, what: AgentNews): Effect {
  return { kind: 'tell', what, key: tellKey(reference, what) };
}

/** The key of the messages about this step. */
export function tellKey(reference: string, what: AgentNews): string {
  return `told:${what}:${reference}`;
}

/** The interval grows with the time that the outcome has been unknown: from 1 s to 5 min. */
function backOffMs(unknownMs: number): number {
  return Math.min(Math.max(unknownMs, chargeLimits.shortestBackOffMs), chargeLimits.longestBackOffMs);
}

/**
 * When the time for a code is over. If the answer to the charge is unknown, the bank may want a code, so that the
 * charge may be paid until then.
 */
function codeEndsAt({ otp, sends }: ChargeIntent): number {
  return otp?.until ?? Math.max(...sends) + otpLimits.windowMs;
}

/**
 * When a concluded charge is looked up again, as money may move after all: a request can arrive late, and a bank can
 * change its mind. Undefined after a proof, and after a single send that was refused: these are certain. Under review
 * the intervals grow, for as long as the charge is remembered (`workAt`). `since`: the time of the last answered
 * look-up, else of the conclusion. (Not the present time: if a process was suspended, the missed look-up must still come.)
 */
function lateLookUpAt(intent: ChargeIntent, state: Conclusion, since: number): number | undefined {
  const { kind, concludedAt } = state;
  const sure = isPaid(state) || (kind === 'rejected' && intent.sends.length === 1);
  if (sure) return undefined;
  const { firstReviewMs, longestReviewMs } = chargeLimits;
  if (kind === 'review')
    return since + Math.min(Math.max(since - concludedAt, firstReviewMs), longestReviewMs);
  // The service asks the bank once the time for the code is over.
  const bankAsked = kind === 'wrong_codes' ? [codeEndsAt(intent) + chargeLimits.otpGraceMs] : [];
  return [...bankAsked, concludedAt + chargeLimits.lateLookUpMs].find((time) => time > since);
}

/** When the intent is due; undefined: it is not looked up any more, only remembered for `rememberMs`. */
export function workAt({ state, told, dueAt }: ChargeIntent, rememberMs: number): number | undefined {
  if (dueAt === undefined || state.kind !== 'review' || !told.includes('review')) return dueAt;
  return dueAt < state.concludedAt + rememberMs ? dueAt : undefined;
}

/** The intent with the bank's words of an answer or event; without new words the earlier ones stay. */
function quote(intent: ChargeIntent, { why }: { why?: string }): ChargeIntent {
  return why === undefined ? intent : { ...intent, bankWords: why };
}

/** The intent with this noted as said by the service. */
function hear(intent: ChargeIntent, heard: Heard): ChargeIntent {
  return intent.heard.includes(heard) ? intent : { ...intent, heard: [...intent.heard, heard] };
}

/** The step to this state, due at this time; without a time the intent is finished. */
function enter(intent: ChargeIntent, state: ChargeState, dueAt: number | undefined, effect?: Effect): Step {
  const { dueAt: _before, ...rest } = intent;
  const next: ChargeIntent = dueAt === undefined ? { ...rest, state } : { ...rest, state, dueAt };
  return { next, effect };
}

type LookedUp = Extract<ChargeEvent, { kind: 'looked_up' }>;
type Proof = Extract<Finding, { kind: 'paid' | 'given_back' }>;

/**
 * The step after a look-up. *Paid* and *given back* count in any state, even if they come late (`proved`). Every other
 * finding counts only as the answer to the look-up under way.
 *
 * Spec: Transactions ("A charge is successful only when all hold").
 */
function lookedUp(before: ChargeIntent, event: LookedUp, at: number, times: number): Step | undefined {
  const { finding, askedAt } = event;
  const intent = withRecordWords(before, finding);
  const { state } = intent;
  if (finding.kind === 'paid' || finding.kind === 'given_back') return proved(intent, askedAt, finding, at);
  if (!('askedAt' in state) || state.askedAt !== askedAt) return undefined;
  if (state.kind === 'approved') return stillConcluded(intent, state, finding, at);
  if (finding.kind === 'mismatch') {
    const isKnown = state.kind === 'review' && state.why === finding.why;
    return isKnown
      ? stillConcluded(intent, state, finding, at)
      : conclude(intent, at, 'review', { why: finding.why });
  }
  switch (state.kind) {
    case 'confirming':
      return stillInDoubt(intent, finding, at, times);
    case 'otp':
      if (finding.kind === 'final_not_paid') return notPaid(intent, at);
      return intent.otp?.lostAt === undefined
        ? undefined
        : enter(intent, { kind: 'otp' }, codeLookUpAt(intent, at));
    default:
      return stillConcluded(intent, state, finding, at);
  }
}

function withRecordWords(intent: ChargeIntent, finding: Finding): ChargeIntent {
  const isUnpaid = finding.kind === 'pending' || finding.kind === 'final_not_paid';
  return isUnpaid && finding.why !== undefined ? { ...intent, recordWords: finding.why } : intent;
}

/**
 * The step after a proof of *paid* or *given back*. A contradiction counts if its look-up was asked for after the earlier
 * proof was known (the return was cancelled, say). If not, either proof may be the newer, so another look-up decides.
 */
function proved(intent: ChargeIntent, askedAt: number, finding: Proof, at: number): Step | undefined {
  const { state } = intent;
  const verdict = finding.kind === 'paid' ? 'approved' : 'given_back';
  if (isPaid(state) && state.kind === verdict)
    return state.askedAt === askedAt ? stillConcluded(intent, state, finding, at) : undefined;
  if (isPaid(state) && askedAt < state.concludedAt) return lookUpLate(intent, state, at);
  const why = finding.kind === 'given_back' ? finding.status : undefined;
  return conclude(intent, at, verdict, why === undefined ? {} : { why });
}

/**
 * Judges the record that a look-up found. A status that is neither success nor final proves nothing, nor does a record
 * with another reference.
 *
 * Spec: Transactions ("A charge is successful only when all hold"); Transaction status.
 */
export function findingOf(
  { reference, money }: Pick<ChargeIntent, 'reference' | 'money'>,
  transaction: Transaction | undefined,
): Finding {
  const amount = { minor: money.minor, currency: money.currency, source: 'charge' } as const;
  const confirmation = confirm({ reference, amount }, transaction);
  if (confirmation.kind === 'not_found') return { kind: 'not_found' };
  const {
    evidence,
    transaction: { status, gatewayMessage },
  } = confirmation;
  // Another order's words are no reason of this charge.
  const isOwn = evidence.reference.holds;
  const words = isOwn && gatewayMessage !== undefined ? { why: gatewayMessage } : {};
  const shown = status === undefined ? {} : { status };
  if (confirmation.kind === 'confirmed') {
    const { compared } = confirmation.transaction;
    return { kind: 'paid', ...shown, ...(compared ? { compared: compared.how } : {}) };
  }
  if (confirmation.kind === 'not_paid') return { kind: 'final_not_paid', ...shown, ...words };
  if (confirmation.kind === 'given_back') return { kind: 'given_back', ...shown };
  if (evidence.status.holds) {
    const wrong = isOwn ? evidence.amount : evidence.reference;
    return { kind: 'mismatch', why: wrong.statement };
  }
  return { kind: 'pending', ...shown, ...words };
}

type Unproven = Exclude<Finding, Proof | { kind: 'mismatch' }>;

/**
 * The step for a charge in doubt after a look-up without proof. The record's final status concludes the charge; so does
 * the refusal of every code or, if no code was asked for, a decline in answer to the charge request. As long as a code
 * may still be entered nothing else does: an event that says "failed" is only a reason for a look-up.
 *
 * Spec: awaiting OTP, 15 minutes pass; Events.
 */
function stillInDoubt(before: ChargeIntent, found: Unproven, at: number, times: number): Step {
  if (found.kind === 'failed') return stillUnanswered(before, at);
  const intent = countAnswered(before, times);
  const known = hasRecord(found) ? hear(intent, 'exists') : intent;
  const { heard, otp, failedAt } = known;
  if (heard.includes('paid')) return calledPaid(known, found, at);
  if (otp && isRefused(otp)) return conclude(known, at, 'wrong_codes');
  if (found.kind === 'final_not_paid') return notPaid(known, at);
  if (otp && otpStanding(otp, at).kind === 'open') return askForOtp(known, at);
  if (!otp && heard.includes('declined')) return conclude(known, at, 'declined', bankSaid(known));
  const endsWithCodeTime = otp !== undefined || failedAt !== undefined || found.kind === 'pending';
  if (!endsWithCodeTime) return heard.includes('exists') ? lookAgain(known, at) : neverSeen(known, at);
  const over = codeEndsAt(known) + chargeLimits.otpGraceMs;
  if (at < over) return lookAgain(known, at, over);
  return otp ? conclude(known, at, 'expired') : notPaid(known, at);
}

/**
 * The service has called the charge paid, so the charge waits for proof. If the record has a final unpaid status, a
 * person decides.
 */
function calledPaid(intent: ChargeIntent, found: Unproven, at: number): Step {
  if (found.kind !== 'final_not_paid') return lookAgain(intent, at);
  return conclude(intent, at, 'review', {
    why: `The service said that it was paid, and now shows it as ${found.status}`,
  });
}

/** Expired if the charge failed only after the time for a code was over; otherwise declined. */
function notPaid(intent: ChargeIntent, at: number): Step {
  return (intent.failedAt ?? at) < codeEndsAt(intent)
    ? conclude(intent, at, 'declined', bankSaid(intent))
    : conclude(intent, at, 'expired');
}

/**
 * The service has never said that the reference arrived: resend the charge, or conclude that it was never sent. Spec:
 * charge a saved card (retry rules).
 */
function neverSeen(intent: ChargeIntent, at: number): Step {
  const { sends, refusal } = intent;
  const soon = at < intent.submittedAt + chargeLimits.resendMs;
  const most = intent.sendsOnce ? 1 : chargeLimits.sends;
  if (refusal === undefined && sends.length < most && soon) return charge(intent, at);
  const quietAt = (sends.at(-1) ?? at) + chargeLimits.quietMs;
  if (at < quietAt) return lookAgain(intent, at, quietAt);
  return refusal === undefined
    ? conclude(intent, at, 'abandoned', lastWords(intent))
    : conclude(intent, at, 'rejected', refusal);
}

/** The service's own words in an answer that the specification doesn't have; for a person, as they decide nothing. */
function lastWords({ history }: ChargeIntent): ConclusionDetails {
  const said = history.flatMap(({ event }) =>
    event.kind === 'charge_answered' && event.answer.kind === 'unknown' ? (event.answer.why ?? []) : [],
  );
  const why = said.at(-1);
  return why === undefined ? {} : { why };
}

/** The service has a record of the charge. */
function hasRecord({ kind }: Finding): boolean {
  return kind === 'pending' || kind === 'final_not_paid';
}

function bankSaid({ bankWords, recordWords }: ChargeIntent): ConclusionDetails {
  if (bankWords !== undefined) return { why: bankWords };
  return recordWords === undefined ? {} : { why: recordWords, from: 'record' };
}

/** Counts a look-up that was answered without proof. */
function countAnswered(intent: ChargeIntent, times: number): ChargeIntent {
  const { state } = intent;
  return state.kind === 'confirming'
    ? { ...intent, state: { ...state, answered: (state.answered ?? 0) + times } }
    : intent;
}

/** Looks up again. After a day in doubt with `doubtAnswers` answered look-ups the charge goes to review. */
function lookAgain(intent: ChargeIntent, at: number, noLaterThan = Infinity): Step {
  const { state } = intent;
  const { doubtMs, doubtAnswers } = chargeLimits;
  const isLong = state.kind === 'confirming' && at - state.since >= doubtMs;
  return isLong && (state.answered ?? 0) >= doubtAnswers
    ? conclude(intent, at, 'review', { why: 'No proof of the charge within 24 hours' })
    : lookAgainIn(intent, at, noLaterThan);
}

/**
 * A look-up failed. An outage says nothing about the charge, so review comes only after a week, and look-ups continue.
 */
function stillUnanswered(intent: ChargeIntent, at: number): Step {
  const { state } = intent;
  const isOver = state.kind === 'confirming' && at - state.since >= chargeLimits.unansweredMs;
  return isOver
    ? conclude(intent, at, 'review', { why: 'No answer about the charge within a week' })
    : lookAgainIn(intent, at);
}

function lookAgainIn(intent: ChargeIntent, at: number, noLaterThan = Infinity): Step {
  const { state } = intent;
  const inDoubtMs = state.kind === 'confirming' ? at - state.since : 0;
  return enter(intent, state, Math.min(at + backOffMs(inDoubtMs), noLaterThan));
}

/**
 * The step for a concluded charge after a look-up without proof. The conclusion stays, unless the service has a charge
 * that was concluded as never sent, or a doubt under review is found unpaid.
 */
function stillConcluded(intent: ChargeIntent, state: Conclusion, found: Finding, at: number): Step {
  if (found.kind === 'failed') return enter(intent, state, at + chargeLimits.longestBackOffMs);
  if (hasRecord(found) && isUnsent(intent)) return lookUp(hear(intent, 'exists'), at);
  if (found.kind === 'final_not_paid' && isDoubtUnderReview(intent)) return notPaid(intent, at);
  if (!intent.told.includes(state.kind)) return enter(intent, state, at + chargeLimits.answerMs);
  return enter(intent, state, lateLookUpAt(intent, state, state.askedAt ?? at));
}

/** Under review only for lack of answers: the service never said *paid*, and no look-up found another amount. */
function isDoubtUnderReview({ state, heard, history }: ChargeIntent): boolean {
  const isOtherMoney = history.some(
    ({ event }) => event.kind === 'looked_up' && event.finding.kind === 'mismatch',
  );
  return state.kind === 'review' && !heard.includes('paid') && !isOtherMoney;
}

type OtpStanding =
  | { kind: 'open'; triesLeft: number; leaveBy: number }
  | { kind: 'tries_used' }
  | { kind: 'time_over' };

/**
 * Whether another code may be submitted, and by when (`leaveBy`, UTC ms) it must be sent. A resend by the bank changes
 * neither.
 *
 * Spec: Limits; Card-saving payment and saved-card charge (awaiting OTP).
 */
export function otpStanding(otp: PendingOtp, now: number): OtpStanding {
  const leaveBy = otp.until - otpLimits.marginMs;
  if (now > leaveBy) return { kind: 'time_over' };
  const triesLeft = otpLimits.submissions - otp.tries;
  return triesLeft > 0 ? { kind: 'open', triesLeft, leaveBy } : { kind: 'tries_used' };
}

/** All tries were used and every code was refused, so nothing is in doubt. */
function isRefused({ tries, unanswered }: Pick<PendingOtp, 'tries' | 'unanswered'>): boolean {
  return tries >= otpLimits.submissions && unanswered === 0;
}
