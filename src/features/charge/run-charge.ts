import { randomInt } from 'node:crypto';
import type { Account } from '../../account.ts';
import type { ChargeAnswer, OtpAnswer } from '../../payments/charges.ts';
import { auditOfCharge } from './charge-audit.ts';
import {
  type Advanced,
  type ChargeBook,
  chargeKey,
  isAudited,
  seenOf,
  type ChargeRecord,
} from './charge-record.ts';
import type {
  ChargeEvent,
  ChargeIntent,
  Effect,
  Finding,
  StoredChargeAnswer,
  StoredOtpAnswer,
} from './charge-intent.ts';
import { findingOf } from './machine.ts';
import type { AlertClaims, Lookup, ProvenPayment } from '../../domain/alert.ts';
import type { ApprovalGate } from '../../domain/approval.ts';
import type { ChargeSeen, Told } from '../../domain/charge.ts';
import { chargeReferencePrefix } from '../../domain/order-reference.ts';
import { declineReason, isThreeDSecure } from '../../domain/decline-reason.ts';
import { codeEntry } from '../../domain/otp.ts';
import { ServiceFailure, StoreUnavailable } from '../../domain/failure.ts';
import type { PaymentEvent } from '../../domain/payment-event.ts';
import { newErrorId } from '../../log.ts';
import type { Entry } from '../../store/store.ts';
import { untilStored } from '../../records/retry.ts';
import { createBackground } from '../../under-way.ts';
import type { CardHistory } from './card-history.ts';
import { createChargePosts, createShowCharge } from './charge-messages.ts';

/** What running charges needs of other features. */
export type RunNeeds = {
  alerts: Pick<AlertClaims, 'retell'> & {
    /** Reports a proven payment to the alerts; needed because its event may never come. */
    paid: (charge: ProvenPayment) => Promise<void>;
  };
  approvals?: Pick<ApprovalGate, 'charged'> | undefined;
  /** Called at least once for an approved charge whose event has not come yet. */
  awaitEvent: (reference: string) => Promise<void>;
  /** Counts an outcome; after a crash perhaps twice. */
  count: (outcome: Exclude<Told, 'otp'>) => void;
};

export type ChargeRunner = ReturnType<typeof createChargeRunner>;

/** Runs the effects of stored steps, and posts the results. */
export function createChargeRunner(
  account: Account,
  charges: ChargeBook,
  cards: CardHistory,
  needs: RunNeeds,
) {
  const { payments, sealer, log } = account;
  const posts = createChargePosts(account, account.settings.policy.channels.desk);
  const show = createShowCharge(account, async (reference) => {
    const record = await charges.read(reference);
    return record && { charge: await see(record), views: record.views };
  });
  const background = createBackground(log, 'a charge');

  /** The charge for display; after a decline with the card's next possible try. */
  async function see(record: ChargeRecord): Promise<ChargeSeen> {
    const isDeclined = record.intent.state.kind === 'declined';
    const seen = seenOf(record, isDeclined ? await cards.mayTry(record.card) : undefined);
    const entry = codeEntry(account.settings);
    if (entry !== 'agent') return { ...seen, codeEntry: entry };
    const { customer: _ended, ...own } = seen;
    return own;
  }

  /** Steps the charge with an event and runs the effects, until it must wait for something. */
  async function handle(reference: string, event: ChargeEvent): Promise<void> {
    const advanced = await untilStored(account, () => charges.advance(reference, event));
    if (advanced) await runEffect(advanced);
  }

  /**
   * Runs a stored step's effect, and continues with its answer. `code`: the OTP to submit, passed on and never stored.
   * Only the process that stored the step may call this, once.
   */
  async function run(advanced: Advanced, code?: string): Promise<void> {
    try {
      await runEffect(advanced, code);
    } finally {
      background.add(auditSteps(advanced.record.intent.reference));
    }
  }

  /**
   * Writes the missing steps to the audit, and notes that on the record. After a crash it writes them again with the
   * same ids, which counts once. Runs in the background; a charge with unwritten steps becomes due again.
   */
  async function auditSteps(reference: string): Promise<void> {
    try {
      const record = await charges.read(reference);
      if (!record || isAudited(record)) return;
      const { at, history } = record.intent;
      const missing = auditOfCharge(history).filter(({ atMs }) => atMs > record.auditedAt);
      // All at once, so that they share a block of the audit.
      const written = await Promise.all(missing.map((entry) => account.audit.write(entry)));
      if (written.includes(false)) return;
      await charges.amend(reference, (current) =>
        current.auditedAt < at ? { ...current, auditedAt: at } : undefined,
      );
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
    }
  }

  async function runEffect({ record, effect }: Advanced, code?: string): Promise<void> {
    if (effect?.kind === 'tell') return await tell(record, effect.what, effect.key);
    // Don't update an open form, in which somebody may be typing.
    if (record.intent.state.kind !== 'otp') await showProgress(record);
    switch (effect?.kind) {
      case undefined:
        return;
      case 'charge':
        return await charge(record, effect);
      case 'look_up':
        return await lookUp(record.intent, effect.askedAt);
      case 'submit_otp':
        return await submitCode(effect, code);
    }
  }

  /** Updates modals and messages. Awaits only what must be stored: a call to the bank must not wait for a screen. */
  async function showProgress(record: ChargeRecord): Promise<void> {
    background.add(show(record.intent.reference));
    // If this fails, the next step does it again; an open charge always has one.
    await posts.refresh(record.intent.reference, agentsOf(record)).catch((error: unknown) => {
      log('warn', 'the desk’s message is behind', { orderReference: record.intent.reference }, error);
    });
  }

  async function charge(
    { terms, intent }: ChargeRecord,
    { reference, send, leaveBy }: Extract<Effect, { kind: 'charge' }>,
  ): Promise<void> {
    const { tokenKey, money, customerEmail, customerId } = terms;
    const request = { tokenKey, money, customerEmail, reference, customerId };
    const answer = await payments.chargeSavedCard(request, { leaveBy, now: account.now });
    logAnswer('charge answered', reference, send, answer);
    const stored = storedChargeAnswer(answer, (transactionId) =>
      sealer.seal(chargeKey(reference), transactionId),
    );
    const told = await withRecordWords(stored, () => find(intent));
    await handle(reference, { kind: 'charge_answered', send, answer: told });
  }

  /** Logs an answer; for an unknown outcome also the reason, which engineers look for. */
  function logAnswer(
    what: string,
    reference: string,
    attempt: number,
    answer: ChargeAnswer | OtpAnswer,
  ): void {
    const about = { orderReference: reference, attempt, result: answer.kind };
    if (answer.kind === 'unknown') log('warn', what, { ...about, failure: answer.cause.kind });
    else log('info', what, about);
  }

  async function lookUp(intent: ChargeIntent, askedAt: number): Promise<void> {
    const { reference } = intent;
    const finding = await find(intent);
    log('info', 'charge looked up', { orderReference: reference, result: finding.kind });
    await handle(reference, { kind: 'looked_up', askedAt, finding });
  }

  async function find(intent: ChargeIntent): Promise<Finding> {
    const { reference } = intent;
    try {
      return findingOf(intent, await payments.findTransaction(reference));
    } catch (error) {
      if (error instanceof StoreUnavailable) throw error;
      const failure = error instanceof ServiceFailure ? error.kind : 'bug';
      const level = error instanceof ServiceFailure ? 'info' : 'error';
      log(level, 'a look-up was not answered', { orderReference: reference, failure }, error);
      return { kind: 'failed' };
    }
  }

  /**
   * Sends the code. After a crash the code is gone and nothing is sent: the try is used up, and the timer leads to a
   * look-up.
   */
  async function submitCode(
    { reference, sealedTransactionId, submission, leaveBy }: Extract<Effect, { kind: 'submit_otp' }>,
    otp: string | undefined,
  ): Promise<void> {
    if (otp === undefined) return;
    const transactionId = sealer.open(chargeKey(reference), sealedTransactionId);
    const answer = await payments.submitOtp({ otp, transactionId, reference }, { leaveBy, now: account.now });
    logAnswer('code answered', reference, submission, answer);
    await handle(reference, { kind: 'otp_answered', submission, answer: storedOtpAnswer(answer) });
  }

  /**
   * Stores the messages to agent and desk, and then records that in the machine; after a crash in between they are
   * stored again under the same keys, which counts once. If the charge has changed meanwhile, does nothing: the process
   * that changed it posts its own message.
   */
  async function tell(stepped: ChargeRecord, what: Told, key: string): Promise<void> {
    const { reference } = stepped.intent;
    const isTold = await untilStored(account, async () => {
      const record = await charges.read(reference);
      if (record?.intent.state.kind !== what) return false;
      await settle(record);
      if (what === 'approved' && !hasEvent(record.intent)) await needs.awaitEvent(reference);
      await posts.refresh(reference, agentsOf(record));
      // Approvers look at the request, so show the outcome there, too.
      await needs.approvals?.charged(reference);
      await posts.note(reference, key, { kind: 'told', what });
      const reached = await show(reference);
      if (!reached || !posts.hasDesk) await posts.direct(record.agent, key, { reference, what });
      return true;
    });
    if (!isTold) return;
    if (what !== 'otp' && !stepped.intent.told.includes(what)) needs.count(what);
    // This step changes nothing on any screen.
    await untilStored(account, () => charges.advance(reference, { kind: 'told', what }));
  }

  /** Reports the outcome to the card's history and to the alerts. */
  async function settle({ intent, card, terms }: ChargeRecord): Promise<void> {
    const { state, reference } = intent;
    const outcome = outcomeForCard(intent, account.settings.chargeThreeDSecureWords);
    if (!outcome) return;
    await cards.settle(card, reference, outcome);
    if (outcome === 'approved' && 'concludedAt' in state) {
      await needs.alerts.paid({ ...terms, reference, atMs: state.concludedAt });
    } else if (terms.alert !== undefined) await needs.alerts.retell(terms.alert);
  }

  return { run, see, show, showProgress, posts, auditSteps, background };
}

/** Adds words to a decline without any: those of its transaction record, if the record agrees that it is unpaid. */
async function withRecordWords(
  answer: StoredChargeAnswer,
  find: () => Promise<Finding>,
): Promise<StoredChargeAnswer> {
  if (answer.kind !== 'declined' || answer.why !== undefined) return answer;
  const found = await find();
  const isUnpaid = found.kind === 'pending' || found.kind === 'final_not_paid';
  return isUnpaid && found.why !== undefined ? { ...answer, why: found.why, from: 'record' } : answer;
}

/** All agents that the charge ever had. */
function agentsOf({ agent, handOvers }: ChargeRecord): string[] {
  return [...new Set([agent, ...handOvers.map(({ from }) => from)])];
}

function hasEvent({ history }: ChargeIntent): boolean {
  return history.some(({ event }) => event.kind === 'payment_success');
}

/** The outcome for the card's history; undefined while the charge is open. */
function outcomeForCard({ state }: ChargeIntent, threeDSecureWords: readonly string[]) {
  switch (state.kind) {
    case 'approved':
    case 'given_back':
      return state.kind;
    case 'declined':
      return isThreeDSecure(state.why, threeDSecureWords) ? 'three_d_secure' : 'declined';
    case 'rejected':
    case 'abandoned':
    case 'wrong_codes':
    case 'expired':
      // Neither bank nor card has refused.
      return 'cleared';
    case 'review':
      // A person decides. The card isn't blocked, but before its next equal charge this one is shown.
      return 'review';
    default:
      return undefined;
  }
}

/** The most due charges that one process works on at once; others stay due, so that they don't delay alerts. */
const settledAtOnce = 32;

/** Charges without room are due again at a random time within this, so that not all come at once. */
const noRoomMs = 30_000;

/** Continues charges without people: after timers and signed events. */
export function createChargeWork(
  account: Account,
  charges: ChargeBook,
  { run, auditSteps, background, posts }: ChargeRunner,
) {
  let taken = 0;

  /**
   * Works on a due charge, after its timer or a crash. Stores the step here, and runs its effects in the background: a
   * bank may be slow, and the worker has alerts to deliver.
   */
  async function recover(entry: Entry): Promise<void> {
    if (taken >= settledAtOnce) {
      await account.store.write(entry, entry.value, { delayMs: randomInt(noRoomMs) });
      return;
    }
    const record = charges.open(entry);
    const { reference, dueAt, at } = record.intent;
    // A charge that is due before its own timer is due only for the audit.
    const isDue = dueAt !== undefined && (isAudited(record) || dueAt <= account.now());
    // After a conflict the other process runs the effect.
    const advanced = isDue
      ? await charges.advance(reference, { kind: 'due' }, (current) => current.intent.at === at)
      : undefined;
    if (!advanced) {
      // Not due yet: store it unchanged, so that it is due at its own time.
      await charges.amend(reference, (current) => current);
      background.add(auditSteps(reference));
      return;
    }
    taken += 1;
    background.add(
      run(advanced).finally(() => {
        taken -= 1;
      }),
    );
  }

  /**
   * A signed event decides nothing; it leads to a look-up of the charge with its reference. (An unsigned reference does
   * so, too, and nothing else.) Resolves once that is stored, so that the webhook can be acknowledged; the look-up runs
   * in the background. Throws only StoreUnavailable.
   *
   * Spec: Events.
   */
  async function onPaymentEvent(event: PaymentEvent): Promise<void> {
    const orderReference = event.orderReference ?? event.referenceHint;
    // Most events belong to no charge of the bot's. Those about money given back are handled by `hearGivenBack`, with
    // their look-up.
    if (!orderReference?.startsWith(chargeReferencePrefix) || event.kind === 'payment_given_back') return;
    try {
      const advanced = await charges.advance(orderReference, saidBy(event));
      if (advanced) background.add(run(advanced));
    } catch (error) {
      if (error instanceof StoreUnavailable) throw error;
      // The sealing key is missing, which is no reason to refuse the webhook for ever.
      const errorId = newErrorId();
      account.log('error', 'an event’s charge cannot be opened', { errorId, orderReference }, error);
    }
  }

  /**
   * A signed event says that this charge was given back. The charge is looked up, and posts the result. If the event's
   * own look-up `found` otherwise, thread and agent are told of the event. False: it is no charge of the bot's. Throws
   * StoreUnavailable; idempotent.
   */
  async function hearGivenBack(
    reference: string,
    { key, found }: { key: string; found: Lookup['kind'] },
  ): Promise<boolean> {
    const record = reference.startsWith(chargeReferencePrefix) ? await charges.read(reference) : undefined;
    if (!record) return false;
    const advanced = await charges.advance(reference, { kind: 'payment_given_back' });
    if (advanced) background.add(run(advanced));
    if (found === 'given_back') return true;
    const note = { kind: 'said_given_back', found } as const;
    await posts.note(reference, `said:${key}`, note);
    await posts.tellAgent(record.agent, reference, `said:${key}`, note);
    return true;
  }

  return { recover, onPaymentEvent, hearGivenBack };
}

function saidBy({ kind, orderReference, reason }: PaymentEvent): ChargeEvent {
  if (orderReference === undefined) return { kind: 'look_up_asked', by: 'payments' };
  return kind === 'payment_failed' ? { kind, ...words(reason) } : { kind };
}

/**
 * The part of an answer that machine and history may store: no errors, and secrets only sealed. "Already exists" is
 * information about the charge, not a rejection. Never sent and never answered are both `unknown`, to be settled by a
 * look-up.  * Spec: charge a saved card (retry rules); Errors (saved-card charge rejections).
 */
export function storedChargeAnswer(
  answer: ChargeAnswer,
  seal: (transactionId: string) => string,
): StoredChargeAnswer {
  switch (answer.kind) {
    case 'approved':
    case 'unknown':
      return { kind: answer.kind };
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
        ...words('message' in answer ? answer.message : undefined),
      };
  }
}

/** The answer to a code. A code that was never sent still costs its try, rather than risk a fourth. */
export function storedOtpAnswer(answer: OtpAnswer): StoredOtpAnswer {
  switch (answer.kind) {
    case 'accepted':
      return { kind: 'accepted' };
    case 'too_many':
      return { kind: 'too_many', ...words(answer.bankMessage) };
    case 'wrong': {
      const isOver = declineReason(answer.bankMessage, []) === 'code_expired';
      return { kind: 'wrong', ...words(answer.bankMessage), ...(isOver && { isOver }) };
    }
    case 'not_made':
    case 'unknown':
      return { kind: 'unknown' };
  }
}

function words(why: string | undefined): { why?: string } {
  return why === undefined ? {} : { why };
}
