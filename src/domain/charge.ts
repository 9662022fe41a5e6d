import { remember } from './charge-history.ts';
import { lookedUp } from './charge-finding.ts';
import {
  announce,
  askForOtp,
  charge,
  conclude,
  enter,
  hear,
  lateLookUpAt,
  lookUp,
  lookUpLate,
  lookUpOpen,
  quote,
  submitOtp,
} from './charge-moves.ts';
import {
  type StoredChargeAnswer,
  type ChargeEvent,
  type ChargeIntent,
  type Conclusion,
  type StoredOtpAnswer,
  type Past,
  type Refusal,
  type Step,
  type Told,
} from './charge-state.ts';
import { otpLimits } from './otp-rules.ts';

/**
 * What one event makes of one charge; undefined when it changes nothing. Money moves at most once and
 * nothing is called paid without proof, provided that the caller
 * (1) stores `next` before it runs `effect`: by create for the first, by compare-and-swap after that,
 * (2) drops the effect when the swap is lost, and for anything but `due` steps again from what is stored,
 * (3) keeps each effect's deadlines, (4) has the store give the intent out again at `dueAt`, and
 * (5) tells only what the intent still says when it is told.
 * `now` is UTC ms; a clock that steps back makes time stand still, never run backwards.
 *
 * Spec: Card-saving payment and saved-card charge; charge a saved card; Transactions; OTP errors.
 */
export function step(intent: ChargeIntent | undefined, event: ChargeEvent, now: number): Step | undefined {
  if (!intent) return event.kind === 'submitted' ? begin(event, now) : undefined;
  const at = Math.max(now, intent.at + 1);
  const moved = move(intent, event, at);
  if (!moved) return undefined;
  const history = remember(intent, moved.next, event, at);
  return { next: { ...moved.next, at, history }, effect: moved.effect };
}

/** The stored state again, from nothing but its history. Spec: not shown; this is the audit's promise. */
export function replay(history: readonly Past[]): ChargeIntent | undefined {
  let intent: ChargeIntent | undefined;
  for (const { at, event } of history) intent = step(intent, event, at)?.next ?? intent;
  return intent;
}

/** The intent exists before anything leaves: a crash in between is found by its timer. */
function begin(event: Extract<ChargeEvent, { kind: 'submitted' }>, at: number): Step {
  const { reference, money } = event;
  const times = { submittedAt: at, at, sends: [] };
  const history = [{ at, event }];
  return charge(
    { reference, money, ...times, state: { kind: 'charging' }, heard: [], told: [], history },
    at,
  );
}

function move(intent: ChargeIntent, event: ChargeEvent, at: number): Step | undefined {
  switch (event.kind) {
    case 'submitted':
      return undefined;
    case 'charge_answered':
      return chargeAnswered(intent, event, at);
    case 'looked_up':
      return lookedUp(intent, event, at);
    case 'otp_submitted':
      return submitOtp(intent, at);
    case 'otp_answered':
      return otpAnswered(intent, event, at);
    case 'payment_success':
      return saidPaid(intent, at);
    case 'payment_failed':
      return paymentFailed(intent, event, at);
    case 'due':
      return due(intent, at);
    case 'look_up_asked':
      return lookUpAsked(intent, at);
    case 'told':
      return told(intent, event.what);
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
      return conclude(intent, at, 'declined', because(answer));
    case 'already_exists':
      return lookUp(hear(intent, 'exists'), at);
    case 'rejected':
      return rejected(intent, because(answer), at);
    case 'unknown':
      return lookUp(intent, at);
  }
}

/** The intent has moved on since that send; only what shows that the service has the charge still counts. */
function notApprovedLate(intent: ChargeIntent, answer: NotApproved, at: number): Step | undefined {
  if (answer.kind === 'declined') {
    return saidFailed(intent, hear(quote(intent, answer), 'declined'), at);
  }
  const { state, heard } = intent;
  const unsure = state.kind === 'charging' || state.kind === 'confirming' || isUnsent(intent);
  const isNews = answer.kind === 'already_exists' && unsure && !heard.includes('exists');
  return isNews ? lookUp(hear(intent, 'exists'), at) : undefined;
}

/** The window counts from the very send that was answered. Late or not, the transaction id is needed. */
function otpRequired(
  intent: ChargeIntent,
  send: number,
  answer: Extract<StoredChargeAnswer, { kind: 'otp_required' }>,
  at: number,
): Step | undefined {
  const sentAt = intent.sends[send - 1];
  if (intent.otp || intent.state.kind === 'approved' || sentAt === undefined) return undefined;
  const { sealedTransactionId } = answer;
  const otp = { sealedTransactionId, until: sentAt + otpLimits.windowMs, tries: 0, unanswered: 0 };
  const pending: ChargeIntent = { ...quote(intent, answer), otp };
  return intent.heard.includes('paid') ? lookUp(pending, at) : askForOtp(pending, at);
}

function because<T extends { kind: string }>({ kind: _kind, ...rest }: T): Omit<T, 'kind'> {
  return rest;
}

/** A refusal speaks for its own request only: an earlier one may still have charged. Spec: Errors. */
function rejected(intent: ChargeIntent, refusal: Refusal, at: number): Step {
  return intent.sends.length === 1
    ? conclude(intent, at, 'rejected', refusal)
    : lookUp({ ...intent, refusal }, at);
}

/** Spec: submit OTP; OTP errors. An answer to an earlier submission says nothing about the one under way. */
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
    case 'wrong':
      return askForOtp({ ...quote(intent, answer), otp: refused }, at);
    case 'too_many':
      return lookUp({ ...intent, otp: { ...refused, tries: otpLimits.submissions } }, at);
    case 'unknown':
      return lookUp(intent, at);
  }
}

/** An approval or a payment_success, whenever it comes: a reason to look, never a proof. Spec: Events. */
function saidPaid(intent: ChargeIntent, at: number): Step | undefined {
  return intent.state.kind === 'approved' ? undefined : lookUp(hear(intent, 'paid'), at);
}

/** Spec: Events. When the first one came tells a decline from a time for a code that ran out. */
function paymentFailed(intent: ChargeIntent, said: { why?: string }, at: number): Step | undefined {
  return saidFailed(intent, { ...quote(intent, said), failedAt: intent.failedAt ?? at }, at);
}

/** A decline that was not waited for, or a payment_failed: kept while an answer is awaited, else looked up. */
function saidFailed(intent: ChargeIntent, heard: ChargeIntent, at: number): Step | undefined {
  const { state } = intent;
  if (state.kind === 'confirming' || isUnsent(intent)) return lookUp(heard, at);
  if (state.kind === 'otp') return lookUpOpen(heard, at);
  const underWay = state.kind === 'charging' || state.kind === 'otp_checking';
  const isNews = heard.failedAt !== intent.failedAt || heard.heard !== intent.heard;
  return underWay && isNews ? enter(heard, state, intent.dueAt) : undefined;
}

function due(intent: ChargeIntent, at: number): Step | undefined {
  const { state } = intent;
  if (intent.dueAt === undefined) return undefined;
  switch (state.kind) {
    case 'otp':
      return intent.told.includes('otp') ? lookUp(intent, at) : askForOtp(intent, at);
    case 'charging':
    case 'confirming':
    case 'otp_checking':
      return lookUp(intent, at);
    default:
      return intent.told.includes(state.kind) ? lookUpLate(intent, state, at) : announce(intent, state, at);
  }
}

function lookUpAsked(intent: ChargeIntent, at: number): Step | undefined {
  const { state } = intent;
  if (state.kind === 'confirming') return lookUp(intent, at);
  if (state.kind === 'otp') return lookUpOpen(intent, at);
  return isConcluded(state) && state.kind !== 'approved' ? lookUpLate(intent, state, at) : undefined;
}

function told(intent: ChargeIntent, what: Told): Step | undefined {
  if (intent.told.includes(what)) return undefined;
  const { state } = intent;
  const known: ChargeIntent = { ...intent, told: [...intent.told, what] };
  if (state.kind !== what) return enter(known, state, intent.dueAt);
  const dueAt = isConcluded(state) ? lateLookUpAt(known, state, state.concludedAt) : known.otp?.until;
  return enter(known, state, dueAt);
}

function isConcluded(state: ChargeIntent['state']): state is Conclusion {
  return 'concludedAt' in state;
}

/** The agent was told that nothing was sent. */
function isUnsent({ state }: ChargeIntent): boolean {
  return state.kind === 'abandoned' || state.kind === 'rejected';
}
