import { randomInt } from 'node:crypto';
import type { Account } from '../../account.ts';
import type { ChargeAnswer, OtpAnswer } from '../../domain/charge-answer.ts';
import {
  auditOfCharge,
  chargeKey,
  isAudited,
  restOfCharge,
  seenOf,
  type ChargeRecord,
  type ChargeRecords,
  type ChargeView,
} from './charge-record.ts';
import type { NoteAudit } from '../../domain/audit-entry.ts';
import {
  step,
  findingOf,
  type ChargeEvent,
  type ChargeIntent,
  type Effect,
  type Finding,
  type StoredChargeAnswer,
  type StoredOtpAnswer,
} from './machine.ts';
import type { ChargeSeen, Told } from '../../domain/charge.ts';
import { chargeReferencePrefix } from '../../domain/order-reference.ts';
import { isThreeDSecure, type RetryVerdict } from '../../domain/decline-reason.ts';
import { ServiceFailure, StoreUnavailable } from '../../domain/failure.ts';
import type { PaymentEvent } from '../../domain/payment-event.ts';
import { newErrorId, type LogFields } from '../../log.ts';
import type { Entry, Store } from '../../store/store.ts';
import type { AlertClaims, ProvenPayment } from '../../domain/alert.ts';
import type { ApprovalGate } from '../../domain/approval.ts';
import { insist } from '../../records/insist.ts';
import type { CardHistory } from './card-history.ts';
import type { ChargePosts } from './charge-messages.ts';
import type { ChargeDrafts } from './charge-desk.ts';
import type { LimitClaims } from './limit-claims.ts';

/** All that charges work with. */
export type ChargeDeps = Pick<Account, 'sealer' | 'fingerprint' | 'rememberMs' | 'now' | 'wait' | 'log'> &
  Pick<Account['payments'], 'chargeSavedCard' | 'submitOtp' | 'resendOtp' | 'findTransaction'> & {
    store: Pick<Store, 'write' | 'list'>;
    charges: ChargeRecords;
    drafts: ChargeDrafts;
    cards: CardHistory;
    limits: LimitClaims;
    /** Absent: no charge needs a second person. */
    approvals?: ApprovalGate | undefined;
    alerts: AlertClaims & {
      /** It is proven: the alerts hear of it as of a payment, whether its event comes or not. */
      paid: (charge: ProvenPayment) => Promise<void>;
    };
    threeDSecureWords: readonly string[];
    tell: ChargePosts;
    /** Puts the charge as it is into the open modals; true when this agent has one of them open. Never throws. */
    show: (charge: ChargeSeen, views: readonly ChargeView[]) => Promise<boolean>;
    /** Told of each outcome; again after a crash. */
    count?: (outcome: Exclude<Told, 'otp'>) => void;
    /** Called of an approved charge whose event has not come, at least once: it is waited for. */
    awaitEvent?: (reference: string) => Promise<void>;
    /** True once it is on the audit's chain, in the order of the calls; never throws. */
    audit: Account['audit']['write'];
    /** Writes into the audit what is no step, in the background; absent: nothing is written down. */
    note?: NoteAudit;
    /** Work that nobody waits for; the process does, before it ends. */
    inBackground: (work: Promise<unknown>) => void;
  };

type MoveDeps = Pick<ChargeDeps, 'charges' | 'rememberMs' | 'now'>;

/** What a step made of a charge, stored: `effect` is the caller's to run, and nobody else's. */
type Advanced = { record: ChargeRecord; effect: Effect | undefined };

/**
 * Makes one event's step of a charge, stored before it is given back; stepped again from what is stored
 * whenever somebody else was faster. Undefined when there is no such charge, the event changes nothing, or
 * `mayStep` says no to the very record that would be written over.
 */
export function advanceCharge(
  { charges, rememberMs, now }: MoveDeps,
  reference: string,
  event: ChargeEvent,
  mayStep: (record: ChargeRecord) => boolean = () => true,
): Promise<Advanced | undefined> {
  return charges.change<Advanced | undefined>(reference, (before) => {
    const stepped = before && mayStep(before) ? step(before.intent, event, now()) : undefined;
    if (!before || !stepped) return { kind: 'keep', result: undefined };
    const record = { ...before, intent: stepped.next };
    const rest = restOfCharge(record, now(), rememberMs);
    return { kind: 'write', value: record, rest, result: { record, effect: stepped.effect } };
  });
}

/** Changes what stands beside the intent, and leaves its timer as it is. Undefined: no such charge, or `change` says no. */
export function amendCharge(
  { charges, rememberMs, now }: MoveDeps,
  reference: string,
  change: (record: ChargeRecord) => ChargeRecord | undefined,
): Promise<ChargeRecord | undefined> {
  return charges.change<ChargeRecord | undefined>(reference, (record) => {
    const value = record && change(record);
    if (!value) return { kind: 'keep', result: undefined };
    return { kind: 'write', value, rest: restOfCharge(value, now(), rememberMs), result: value };
  });
}

/** One event, its stored step and whatever follows from it, until something has to be waited for. */
async function handleCharge(deps: ChargeDeps, reference: string, event: ChargeEvent): Promise<void> {
  const advanced = await insist(deps, () => advanceCharge(deps, reference, event));
  if (advanced) await run(deps, advanced);
}

/**
 * Does what a stored step asks for, and goes on with the answer. `code` is the OTP of the step that submits
 * one; it is handed on and kept nowhere. Only whoever stored the step may call this, once.
 */
export async function runCharge(deps: ChargeDeps, advanced: Advanced, code?: string): Promise<void> {
  try {
    await run(deps, advanced, code);
  } finally {
    deps.inBackground(auditSteps(deps, advanced.record.intent.reference));
  }
}

/**
 * Puts the steps that the audit lacks there, in their order, and notes that on the record: a crash in between writes
 * them again under the same ids, which counts once. Nobody waits for it, and what is not on record by then is work again.
 */
async function auditSteps(deps: ChargeDeps, reference: string): Promise<void> {
  try {
    const record = await deps.charges.read(reference);
    if (!record || isAudited(record)) return;
    const { at, history } = record.intent;
    const missing = auditOfCharge(history).filter(({ atMs }) => atMs > record.auditedAt);
    // At once: they go onto the chain together.
    const written = await Promise.all(missing.map((entry) => deps.audit(entry)));
    if (written.includes(false)) return;
    await amendCharge(deps, reference, (current) =>
      current.auditedAt < at ? { ...current, auditedAt: at } : undefined,
    );
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
  }
}

async function run(deps: ChargeDeps, { record, effect }: Advanced, code?: string): Promise<void> {
  if (effect?.kind === 'tell') return await tell(deps, record, effect.what, effect.key);
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
export async function showProgress(deps: ChargeDeps, record: ChargeRecord): Promise<void> {
  deps.inBackground(showLatest(deps, record));
  // Not on record now is made good at the next step, which there always is while something is open.
  await deps.tell.refresh(record.intent.reference, agentsOf(record)).catch((error: unknown) => {
    deps.log('warn', 'the desk’s message is behind', { orderReference: record.intent.reference }, error);
  });
}

/** Until what is shown is what is stored: an update of another replica may have been overtaken by ours. */
async function showLatest(deps: ChargeDeps, record: ChargeRecord): Promise<void> {
  let shown = record;
  for (;;) {
    // oxlint-disable-next-line no-await-in-loop -- each round shows what the one before found
    await deps.show(await see(deps, shown), shown.views);
    // oxlint-disable-next-line no-await-in-loop
    const current = await deps.charges.read(record.intent.reference);
    if (!current || current.intent.at <= shown.intent.at) return;
    shown = current;
  }
}

async function charge(
  deps: ChargeDeps,
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
function logAnswer(
  deps: ChargeDeps,
  message: string,
  about: LogFields,
  answer: ChargeAnswer | OtpAnswer,
): void {
  const failure = answer.kind === 'unknown' ? answer.cause.kind : undefined;
  const level = failure === undefined ? 'info' : 'warn';
  deps.log(level, message, { ...about, result: answer.kind, ...(failure === undefined ? {} : { failure }) });
}

async function lookUp(deps: ChargeDeps, intent: ChargeIntent, askedAt: number): Promise<void> {
  const { reference } = intent;
  const finding = await find(deps, intent);
  deps.log('info', 'charge looked up', { orderReference: reference, result: finding.kind });
  await handleCharge(deps, reference, { kind: 'looked_up', askedAt, finding });
}

async function find(deps: ChargeDeps, intent: ChargeIntent): Promise<Finding> {
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
  deps: ChargeDeps,
  { reference, sealedTransactionId, submission, leaveBy }: Extract<Effect, { kind: 'submit_otp' }>,
  otp: string | undefined,
): Promise<void> {
  if (otp === undefined) return;
  const transactionId = deps.sealer.open(chargeKey(reference), sealedTransactionId);
  const answer = await deps.submitOtp({ otp, transactionId, reference }, { leaveBy, now: deps.now });
  logAnswer(deps, 'code answered', { orderReference: reference, attempt: submission }, answer);
  const stored = storedOtpAnswer(answer);
  await handleCharge(deps, reference, { kind: 'otp_answered', submission, answer: stored });
}

/**
 * Tells the agent and the desk, on record before the machine hears that it is told: a crash in between tells
 * again under the same keys, which is once. What no longer stands is not told; whoever changed it tells.
 */
async function tell(deps: ChargeDeps, stepped: ChargeRecord, what: Told, key: string): Promise<void> {
  const { reference } = stepped.intent;
  const isTold = await insist(deps, async () => {
    const record = await deps.charges.read(reference);
    if (record?.intent.state.kind !== what) return false;
    await settle(deps, record);
    if (what === 'approved' && !hasEvent(record)) await deps.awaitEvent?.(reference);
    await deps.tell.refresh(reference, agentsOf(record));
    // Its request says what came of it too, where its approvers look.
    await deps.approvals?.charged(reference);
    await deps.tell.note(reference, key, { kind: 'told', what, at: record.intent.at });
    const reached = await deps.show(await see(deps, record), record.views);
    if (!reached || !deps.tell.hasDesk) await deps.tell.direct(record.agent, key, { reference, what });
    return true;
  });
  if (!isTold) return;
  if (what !== 'otp') deps.count?.(what);
  await handleCharge(deps, reference, { kind: 'told', what });
}

function hasEvent({ intent }: ChargeRecord): boolean {
  return intent.history.some(({ event }) => event.kind === 'payment_success');
}

/** Tells the card's history and the alerts what became of the charge. */
async function settle(deps: ChargeDeps, record: ChargeRecord): Promise<void> {
  const { intent, card, terms } = record;
  const { state, reference } = intent;
  switch (state.kind) {
    case 'approved':
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

async function freeAlert({ alerts }: ChargeDeps, { terms }: ChargeRecord): Promise<void> {
  if (terms.alert !== undefined) await alerts.ended(terms.alert);
}

/** The charge as people may see it, with the card's next try once it was declined. */
export async function see(deps: Pick<ChargeDeps, 'cards'>, record: ChargeRecord): Promise<ChargeSeen> {
  const nextTry: RetryVerdict | undefined =
    record.intent.state.kind === 'declined' ? await deps.cards.mayTry(record.card) : undefined;
  return seenOf(record, nextTry);
}

export function agentsOf({ agent, handOvers }: ChargeRecord): string[] {
  return [...new Set([agent, ...handOvers.map(({ from }) => from)])];
}

/** So many charges at most are being settled by one process; the others stay due, and alerts are not held up. */
export type Room = { taken: number; readonly size: number };

/** A charge that finds no room comes back at any moment within this time, so that not all come at once. */
const noRoomMs = 30_000;

/**
 * A charge the store gave out as due: its timer, or a crash. The step is stored here; what follows from it
 * goes on in the background, because a bank may take its time and the worker has alerts to deliver.
 */
export async function recoverCharge(deps: ChargeDeps, room: Room, entry: Entry): Promise<void> {
  if (room.taken >= room.size) {
    await deps.store.write(entry, entry.value, { delayMs: randomInt(noRoomMs) });
    return;
  }
  const record = deps.charges.open(entry);
  const { intent } = record;
  const { reference } = intent;
  // One that is given out before its time is given out for the audit alone.
  const isDue = intent.dueAt !== undefined && (isAudited(record) || intent.dueAt <= deps.now());
  const advanced = isDue
    ? // Whoever changed it meanwhile has its effect.
      await advanceCharge(deps, reference, { kind: 'due' }, (current) => current.intent.at === intent.at)
    : undefined;
  if (!advanced) {
    // Nothing to do now: not given out again before its time.
    await amendCharge(deps, reference, (current) => current);
    deps.inBackground(auditSteps(deps, reference));
    return;
  }
  room.taken += 1;
  deps.inBackground(
    runCharge(deps, advanced).finally(() => {
      room.taken -= 1;
    }),
  );
}

/**
 * A signed event decides nothing: it makes the charge of its reference be looked up now, and one whose reference is
 * not signed does nothing else. On record when it resolves, so that the event may be called received; the look-up goes
 * on in the background. Throws StoreUnavailable alone.
 *
 * Spec: Events.
 */
export async function triggerCharge(deps: ChargeDeps, event: PaymentEvent): Promise<void> {
  const orderReference = event.orderReference ?? event.referenceHint;
  // Whatever else is paid there is no charge of ours, and most events are of that.
  if (!orderReference?.startsWith(chargeReferencePrefix)) return;
  const said = saidBy(event);
  try {
    const advanced = await advanceCharge(deps, orderReference, said);
    if (advanced) deps.inBackground(runCharge(deps, advanced));
  } catch (error) {
    if (error instanceof StoreUnavailable) throw error;
    // Sealed with a key that is not here: no reason to refuse the sender for ever.
    const errorId = newErrorId();
    deps.log('error', 'an event’s charge cannot be opened', { errorId, orderReference }, error);
  }
}

function saidBy({ kind, orderReference, reason }: PaymentEvent): ChargeEvent {
  if (orderReference === undefined) return { kind: 'look_up_asked', by: 'payments' };
  if (kind === 'payment_success') return { kind };
  return { kind, ...(reason === undefined ? {} : { why: reason }) };
}

/**
 * What the machine and its history may know of a charge's answer: no secret that `seal` has not sealed and
 * no error. "Already exists" is no rejection but news of the charge; what was never sent or never answered
 * is alike unknown, and a look-up tells.
 *
 * Spec: charge a saved card (retry rules); Errors (saved-card charge rejections).
 */
export function storedChargeAnswer(
  answer: ChargeAnswer,
  seal: (transactionId: string) => string,
): StoredChargeAnswer {
  switch (answer.kind) {
    case 'approved':
      return { kind: 'approved' };
    case 'otp_required':
      return {
        kind: 'otp_required',
        sealedTransactionId: seal(answer.transactionId),
        ...words(answer.message),
      };
    case 'declined':
      return { kind: 'declined', ...words(answer.bankMessage) };
    case 'rejected':
      if (answer.reason === 'reference_exists') return { kind: 'already_exists' };
      return { kind: 'rejected', reason: answer.reason, ...words(answer.message) };
    case 'not_made':
      return {
        kind: 'rejected',
        reason: answer.failure,
        ...words(answer.failure === 'invalid_request' ? answer.message : undefined),
      };
    case 'unknown':
      return { kind: 'unknown' };
  }
}

/** A code that was refused at the door keeps its try: it costs one rather than risk a fourth. */
export function storedOtpAnswer(answer: OtpAnswer): StoredOtpAnswer {
  switch (answer.kind) {
    case 'accepted':
    case 'too_many':
      return { kind: answer.kind };
    case 'wrong':
      return { kind: 'wrong', ...words(answer.bankMessage) };
    case 'not_made':
    case 'unknown':
      return { kind: 'unknown' };
  }
}

function words(why: string | undefined): { why?: string } {
  return why === undefined ? {} : { why };
}
