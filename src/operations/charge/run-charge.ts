import type {
  ChargeAnswer,
  Leave,
  OtpAnswer,
  OtpSubmission,
  SavedCardCharge,
} from '../../domain/charge-answer.ts';
import type { ApprovalGate } from '../approval/approval-desk.ts';
import { countsForLimits } from '../../domain/charge-limits.ts';
import type { ChargeNote } from '../../domain/charge-note.ts';
import type { ChargeSeen } from '../../domain/charge-seen.ts';
import { findingOf } from '../../domain/charge-finding.ts';
import type { ChargeEvent, ChargeIntent, Effect, Finding, Told } from '../../domain/charge-state.ts';
import { ServiceFailure } from '../../domain/failure.ts';
import type { OrderReference } from '../../domain/order-reference.ts';
import type { RetryVerdict } from '../../domain/retry-rule.ts';
import { StoreUnavailable } from '../../domain/store-unavailable.ts';
import { storedChargeAnswer, storedOtpAnswer } from '../../domain/stored-answer.ts';
import { isThreeDSecure } from '../../domain/decline-reason.ts';
import type { Transaction } from '../../domain/transaction.ts';
import type { Log, LogFields } from '../../log.ts';
import { advanceCharge, readCharge, type Advanced, type AdvanceDeps } from './advance-charge.ts';
import type { AlertClaims } from '../alert/alert-claims.ts';
import type { ProvenPayment } from '../alert/alert-recovery.ts';
import type { CardHistory } from './card-history.ts';
import { chargeKey, limitedOf, seenOf, type ChargeRecord, type ChargeView } from './charge-record.ts';
import { insist } from '../work/insist.ts';
import type { ProcessedCharge } from '../webhook/webhook-watch.ts';

/** The places a charge is told in; each of these is on record before it resolves, and again is the same as once. */
export type TellCharge = {
  refresh: (reference: string, agents: readonly string[]) => Promise<void>;
  note: (reference: string, name: string, note: ChargeNote) => Promise<void>;
  direct: (userId: string, key: string, about: { reference: string; what: Told }) => Promise<void>;
  /** Resolves true once the desk's message stands; false when there is no desk channel or the time is over. */
  deskPosted: (reference: string, withinMs: number) => Promise<boolean>;
  /** Whether there is a message in a channel that outlives the modal. */
  hasDesk: boolean;
};

export type RunDeps = AdvanceDeps & {
  chargeSavedCard: (charge: SavedCardCharge, leave: Leave) => Promise<ChargeAnswer>;
  submitOtp: (submission: OtpSubmission, leave: Leave) => Promise<OtpAnswer>;
  findTransaction: (reference: OrderReference) => Promise<Transaction | undefined>;
  cards: Pick<CardHistory, 'settle' | 'mayTry'>;
  /** Absent: no charge needs a second person. */
  approvals?: ApprovalGate | undefined;
  alerts: Pick<AlertClaims, 'ended'> & {
    /** It is proven: the alerts hear of it as of a payment, whether its event comes or not. */
    paid: (charge: ProvenPayment) => Promise<void>;
  };
  threeDSecureWords: readonly string[];
  tell: TellCharge;
  /** Puts the charge as it is into the open modals; true when this agent has one of them open. Never throws. */
  show: (charge: ChargeSeen, views: readonly ChargeView[]) => Promise<boolean>;
  /** Work that nobody waits for; the process does, before it ends. */
  inBackground: (work: Promise<unknown>) => void;
  /** Called when the service surely processed a charge, at least once: its event is waited for. */
  processed?: (charge: ProcessedCharge) => Promise<void>;
  wait: (ms: number) => Promise<void>;
  log: Log;
};

/** One event, its stored step and whatever follows from it, until something has to be waited for. */
async function handleCharge(deps: RunDeps, reference: string, event: ChargeEvent): Promise<void> {
  const advanced = await insist(deps, () => advanceCharge(deps, reference, event));
  if (advanced) await runCharge(deps, advanced);
}

/**
 * Does what a stored step asks for, and goes on with the answer. `code` is the OTP of the step that submits
 * one; it is handed on and kept nowhere. Only whoever stored the step may call this, once.
 */
export async function runCharge(deps: RunDeps, { record, effect }: Advanced, code?: string): Promise<void> {
  if (effect?.kind === 'ask_for_otp') return await tell(deps, record, 'otp', effect.key);
  if (effect?.kind === 'tell') return await tell(deps, record, effect.what, effect.key);
  if (effect?.kind === 'give_value') return await tell(deps, record, 'approved', effect.key);
  await showProgress(deps, record);
  switch (effect?.kind) {
    case undefined:
      return;
    case 'charge':
      return await charge(deps, record, effect);
    case 'look_up':
      return await lookUp(deps, record.intent, effect.askedAt);
    case 'submit_otp':
      return await submitCode(deps, effect, code);
  }
}

/** The bank is not kept waiting for a screen: only what must be on record is awaited. */
export async function showProgress(deps: RunDeps, record: ChargeRecord): Promise<void> {
  deps.inBackground(showLatest(deps, record));
  // Not on record now is made good at the next step, which there always is while something is open.
  await deps.tell.refresh(record.intent.reference, agentsOf(record)).catch((error: unknown) => {
    deps.log('warn', 'the desk’s message is behind', { orderReference: record.intent.reference }, error);
  });
}

/** Until what is shown is what is stored: an update of another replica may have been overtaken by ours. */
async function showLatest(deps: RunDeps, record: ChargeRecord): Promise<void> {
  let shown = record;
  for (;;) {
    // oxlint-disable-next-line no-await-in-loop -- each round shows what the one before found
    await deps.show(await see(deps, shown), shown.views);
    // oxlint-disable-next-line no-await-in-loop
    const current = await readCharge(deps, record.intent.reference);
    if (!current || current.intent.at <= shown.intent.at) return;
    shown = current;
  }
}

async function charge(
  deps: RunDeps,
  { terms }: ChargeRecord,
  { reference, send, leaveBy }: Extract<Effect, { kind: 'charge' }>,
): Promise<void> {
  const { tokenKey, money, customerEmail, customerId } = terms;
  const request = { tokenKey, money, customerEmail, reference, customerId };
  const answer = await deps.chargeSavedCard(request, { leaveBy, now: deps.now });
  logAnswer(deps, 'charge answered', { orderReference: reference, attempt: send }, answer);
  const seal = (transactionId: string): string => deps.sealer.seal(chargeKey(reference), transactionId);
  const stored = storedChargeAnswer(answer, seal);
  await handleCharge(deps, reference, { kind: 'charge_answered', send, answer: stored });
}

/** Why nobody knows is worth a line: it is what an engineer looks for. */
function logAnswer(deps: RunDeps, message: string, about: LogFields, answer: ChargeAnswer | OtpAnswer): void {
  const failure = answer.kind === 'unknown' ? answer.cause.kind : undefined;
  const level = failure === undefined ? 'info' : 'warn';
  deps.log(level, message, { ...about, result: answer.kind, ...(failure === undefined ? {} : { failure }) });
}

async function lookUp(deps: RunDeps, intent: ChargeIntent, askedAt: number): Promise<void> {
  const { reference } = intent;
  const finding = await find(deps, intent);
  deps.log('info', 'charge looked up', { orderReference: reference, result: finding.kind });
  await handleCharge(deps, reference, { kind: 'looked_up', askedAt, finding });
}

async function find(deps: RunDeps, intent: ChargeIntent): Promise<Finding> {
  const { reference } = intent;
  try {
    return findingOf(intent, await deps.findTransaction(reference));
  } catch (error) {
    if (error instanceof StoreUnavailable) throw error;
    const failure = error instanceof ServiceFailure ? error.kind : 'bug';
    const level = error instanceof ServiceFailure ? 'info' : 'error';
    deps.log(level, 'a look-up was not answered', { orderReference: reference, failure }, error);
    return { kind: 'failed' };
  }
}

/** Without the code, which a crash takes along, nothing leaves: its try is spent and the timer looks up. */
async function submitCode(
  deps: RunDeps,
  { reference, sealedTransactionId, submission, leaveBy }: Extract<Effect, { kind: 'submit_otp' }>,
  otp: string | undefined,
): Promise<void> {
  if (otp === undefined) return;
  const transactionId = deps.sealer.open(chargeKey(reference), sealedTransactionId);
  const sent = { otp, transactionId, payment: 'saved_card_charge', reference } as const;
  const answer = await deps.submitOtp(sent, { leaveBy, now: deps.now });
  logAnswer(deps, 'code answered', { orderReference: reference, attempt: submission }, answer);
  const stored = storedOtpAnswer(answer);
  await handleCharge(deps, reference, { kind: 'otp_answered', submission, answer: stored });
}

/**
 * Tells the agent and the desk, on record before the machine hears that it is told: a crash in between tells
 * again under the same keys, which is once. What no longer stands is not told; whoever changed it tells.
 */
async function tell(deps: RunDeps, stepped: ChargeRecord, what: Told, key: string): Promise<void> {
  const { reference } = stepped.intent;
  const isTold = await insist(deps, async () => {
    const record = await readCharge(deps, reference);
    if (record?.intent.state.kind !== what) return false;
    await settle(deps, record);
    if (what === 'approved' || what === 'declined') {
      await deps.processed?.({ reference, outcome: what, hasEvent: hasEvent(record, what) });
    }
    await deps.tell.refresh(reference, agentsOf(record));
    // Its request says what came of it too, where its approvers look.
    await deps.approvals?.charged(reference);
    await deps.tell.note(reference, key, { kind: 'told', what, at: record.intent.at });
    const reached = await deps.show(await see(deps, record), record.views);
    if (!reached || !deps.tell.hasDesk) await deps.tell.direct(record.agent, key, { reference, what });
    return true;
  });
  if (isTold) await handleCharge(deps, reference, { kind: 'told', what });
}

function hasEvent({ intent }: ChargeRecord, outcome: ProcessedCharge['outcome']): boolean {
  const kind = outcome === 'approved' ? 'payment_success' : 'payment_failed';
  return intent.history.some(({ event }) => event.kind === kind);
}

/** Tells the card's history and the alerts what became of the charge. */
async function settle(deps: RunDeps, record: ChargeRecord): Promise<void> {
  const { intent, card, terms } = record;
  const { state, reference } = intent;
  switch (state.kind) {
    case 'approved':
      // A correction: whatever raced when it was taken off, by now it counts.
      if (intent.told.some((kind) => !countsForLimits({ kind }))) await deps.limits.count(limitedOf(record));
      await deps.cards.settle(card, reference, 'approved');
      return await deps.alerts.paid({ ...terms, reference, atMs: state.concludedAt });
    case 'declined': {
      const outcome = isThreeDSecure(state.why, deps.threeDSecureWords) ? 'three_d_secure' : 'declined';
      await deps.cards.settle(card, reference, outcome);
      return await freeAlert(deps, record);
    }
    case 'rejected':
    case 'abandoned':
    case 'wrong_codes':
    case 'expired':
      // Neither bank nor card spoke.
      await deps.cards.settle(card, reference, 'cleared');
      return await freeAlert(deps, record);
    case 'review':
      // A person's case, and no reason to stop the card; but whoever charges it again must be told of it.
      return await deps.cards.settle(card, reference, 'review');
    default:
  }
}

async function freeAlert({ alerts }: RunDeps, { terms }: ChargeRecord): Promise<void> {
  if (terms.alert !== undefined) await alerts.ended(terms.alert);
}

/** The charge as people may see it, with the card's next try once it was declined. */
export async function see(deps: Pick<RunDeps, 'cards'>, record: ChargeRecord): Promise<ChargeSeen> {
  const nextTry: RetryVerdict | undefined =
    record.intent.state.kind === 'declined' ? await deps.cards.mayTry(record.card) : undefined;
  return seenOf(record, nextTry);
}

export function agentsOf({ agent, handOvers }: ChargeRecord): string[] {
  return [...new Set([agent, ...handOvers.map(({ from }) => from)])];
}
