import { randomInt } from 'node:crypto';
import { withoutUndefined } from '../../domain/json.ts';
import type { Account } from '../../account.ts';
import type { ChargeAnswer, OtpAnswer } from '../../payments/charges.ts';
import { auditOfCharge } from './charge-audit.ts';
import {
  type Advanced,
  type ChargeBook,
  chargeKey,
  isAudited,
  hasMovedNothing,
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
import { type ChargeSeen, type ChargeState, type AgentNews, isConcluded } from '../../domain/charge.ts';
import type { SavedCard } from '../../domain/card.ts';
import { chargeReferencePrefix } from '../../domain/order-reference.ts';
import { declineReason, isThreeDSecure } from '../../domain/decline-reason.ts';
import { codeEntry } from '../../domain/otp.ts';
import { ServiceFailure, StoreUnavailable, undefinedIfAway } from '../../domain/failure.ts';
import { orderEventKey, type PaymentEvent } from '../../domain/payment-event.ts';
import { newErrorId, type Log } from '../../log.ts';
import type { Entry } from '../../store/store.ts';
import { undefinedIfUnreadable } from '../../records/records.ts';
import { untilStored, updateOwnRecords } from '../../records/retry.ts';
import { createBackground } from '../../under-way.ts';
import type { CardHistory } from './card-history.ts';
import { createChargePosts } from './charge-messages.ts';
import { createShowCharge } from './charge-modal.ts';

/** What running charges needs of other features. */
export type RunNeeds = {
  alerts: Pick<AlertClaims, 'updateMessages' | 'taken'> & {
    /** Reports a proven payment to the alerts; needed because its event may never come. */
    paid: (charge: ProvenPayment) => Promise<void>;
  };
  approvals: Pick<ApprovalGate, 'charged'>;
  ledger: { forgetEmail: (card: string, wrongEmail: string) => Promise<void> } | undefined;
  /** Called at least once for an approved charge whose event has not come yet. */
  awaitEvent: (reference: string) => Promise<void>;
  /** Counts an outcome; after a crash perhaps twice. */
  count: (outcome: Exclude<AgentNews, 'otp'>) => void;
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
    return record && { charge: await toSeen(record), views: record.views };
  });
  const background = createBackground(log, 'a charge');

  async function toSeen(record: ChargeRecord): Promise<ChargeSeen> {
    const seen = seenOf(record, await blocksOf(record, cards, needs.alerts));
    const entry = codeEntry(account.settings);
    if (entry !== 'agent') return { ...seen, codeEntry: entry };
    // The settings no longer let customers type codes, so a link made earlier has ended.
    const { customer: _ended, ...withoutLink } = seen;
    return withoutLink;
  }

  async function findCharge(reference: string): Promise<ChargeSeen | undefined> {
    const record = await charges.read(reference);
    return record && (await toSeen(record));
  }

  /** Steps the charge with an event and runs the effects, until the charge must wait for something. */
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
      background.add(auditSteps(advanced.record.intent.reference).catch(undefinedIfAway));
    }
  }

  /**
   * Writes the missing steps to the audit, and notes that on the record. After a crash it writes them again with the
   * same ids, which counts once. Runs in the background; a charge with unwritten steps becomes due again.
   */
  async function auditSteps(reference: string): Promise<void> {
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

  /** Updates modals and messages. Doesn't await Slack: a call to the bank must not wait for a screen. */
  async function showProgress(record: ChargeRecord): Promise<void> {
    background.add(show(record.intent.reference));
    // After a failure the next step refreshes again; an open charge always has a next step.
    await posts.refresh(record.intent.reference, toldOf(record)).catch((error: unknown) => {
      log('warn', 'the desk’s message is behind', { orderReference: record.intent.reference }, error);
    });
  }

  async function charge(
    { terms, intent }: ChargeRecord,
    { reference, send, leaveBy }: Extract<Effect, { kind: 'charge' }>,
  ): Promise<void> {
    const { tokenKey, money, customerEmail, customerId, alert } = terms;
    if (alert !== undefined && (await hasAlertEnded(needs.alerts, alert, reference))) {
      log('info', 'charge not sent: its alert has ended', { orderReference: reference, attempt: send });
      const answer = { kind: 'rejected', reason: 'alert_ended' } as const;
      return await handle(reference, { kind: 'charge_answered', send, answer });
    }
    const request = { tokenKey, money, customerEmail, reference, customerId };
    const answer = await payments.chargeSavedCard(request, { leaveBy, now: account.now });
    logAnswer(log, 'charge answered', { orderReference: reference, attempt: send }, answer);
    const stored = storedChargeAnswer(answer, (transactionId) =>
      sealer.seal(chargeKey(reference), transactionId),
    );
    const answered = await withDeclineWords(stored, () => find(intent));
    await handle(reference, { kind: 'charge_answered', send, answer: answered });
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
    logAnswer(log, 'code answered', { orderReference: reference, attempt: submission }, answer);
    await handle(reference, { kind: 'otp_answered', submission, answer: storedOtpAnswer(answer) });
  }

  /**
   * Stores the messages to agent and desk, and then records that in the machine; after a crash in between they are
   * stored again under the same keys, which counts once. If the charge has changed meanwhile, does nothing: the process
   * that changed it posts its own message.
   */
  async function tell(stepped: ChargeRecord, what: AgentNews, key: string): Promise<void> {
    const { reference } = stepped.intent;
    const isTold = await untilStored(account, async () => {
      const record = await charges.read(reference);
      if (record?.intent.state.kind !== what) return false;
      await reportOutcome(record);
      if (what === 'approved' && !hasSuccessEvent(record.intent)) await needs.awaitEvent(reference);
      await posts.refresh(reference, toldOf(record));
      // Show the outcome on the approval request, too: approvers look there.
      await needs.approvals.charged(reference);
      await posts.note(reference, key, { kind: 'told', what });
      const reached = await show(reference);
      if (!reached || !posts.hasDesk) await posts.direct(record.agent, key, { reference, what });
      return true;
    });
    if (!isTold) return;
    if (what !== 'otp' && !stepped.intent.told.includes(what)) needs.count(what);
    // Not `handle`: this step changes no screen.
    await untilStored(account, () => charges.advance(reference, { kind: 'told', what }));
  }

  /** Tells the card's history and the alerts about the outcome. */
  async function reportOutcome({ intent, card, terms }: ChargeRecord): Promise<void> {
    const { state, reference } = intent;
    const outcome = outcomeForCard(intent, account.settings.chargeThreeDSecureWords);
    if (!outcome) return;
    await cards.settle(card, reference, outcome);
    await forgetWrongEmail(account, needs.ledger, { state, card, terms });
    if (outcome === 'approved' && isConcluded(state)) {
      await needs.alerts.paid({ ...terms, reference, atMs: state.concludedAt });
    } else if (terms.alert !== undefined) await needs.alerts.updateMessages(terms.alert);
  }

  return { run, toSeen, findCharge, show, showProgress, posts, auditSteps, background };
}

/**
 * What stands against another charge, for one that took no money. Without an alert the one of its own failure counts, which no
 * channel gets. An unreadable card or alert must not hide the charge.
 */
async function blocksOf(
  { intent: { reference, state }, terms, card }: ChargeRecord,
  cards: CardHistory,
  alerts: Pick<AlertClaims, 'taken'>,
): Promise<Pick<ChargeSeen, 'nextTry' | 'taken'>> {
  if (!hasMovedNothing({ state })) return {};
  const { alert = orderEventKey('payment_failed', reference) } = terms;
  return withoutUndefined({
    nextTry: state.kind === 'declined' ? await cards.mayTry(card).catch(undefinedIfUnreadable) : undefined,
    taken: await alerts.taken(alert, reference).catch(undefinedIfUnreadable),
  });
}

/**
 * Another payment may resolve the alert after this charge has claimed it and before it is sent. If the store can't be
 * read, the claim of a moment ago counts.
 */
async function hasAlertEnded(
  alerts: Pick<AlertClaims, 'taken'>,
  alert: string,
  reference: string,
): Promise<boolean> {
  try {
    return (await alerts.taken(alert, reference))?.kind === 'ended';
  } catch (error) {
    if (error instanceof StoreUnavailable) return false;
    throw error;
  }
}

/** Forgets an e-mail that is not the card's: as the form's default it would make every charge of the card fail. */
async function forgetWrongEmail(
  account: Account,
  ledger: RunNeeds['ledger'],
  { state, card, terms }: Pick<ChargeRecord, 'card' | 'terms'> & { state: ChargeState },
): Promise<void> {
  if (!ledger || state.kind !== 'rejected' || state.reason !== 'email_mismatch') return;
  await updateOwnRecords(account, 'A remembered card still has a wrong address', () =>
    ledger.forgetEmail(card, terms.customerEmail),
  );
}

/** Logs an answer; for an unknown outcome also the reason, which engineers look for. */
function logAnswer(
  log: Log,
  what: string,
  about: { orderReference: string; attempt: number },
  answer: ChargeAnswer | OtpAnswer,
): void {
  const result = answer.kind;
  if (result === 'unknown') log('warn', what, { ...about, result, failure: answer.cause.kind });
  else log('info', what, { ...about, result });
}

/**
 * If a decline has no words, adds those of its transaction record, provided that the record is unpaid as well. If the
 * record says paid, the outcome is unknown: a look-up decides.
 */
async function withDeclineWords(
  answer: StoredChargeAnswer,
  find: () => Promise<Finding>,
): Promise<StoredChargeAnswer> {
  if (answer.kind !== 'declined' || answer.why !== undefined) return answer;
  const found = await find();
  if (['paid', 'given_back', 'mismatch'].includes(found.kind)) return { kind: 'unknown' };
  const isUnpaid = found.kind === 'pending' || found.kind === 'final_not_paid';
  return isUnpaid && found.why !== undefined ? { ...answer, why: found.why, from: 'record' } : answer;
}

/** All agents that the charge ever had, and everything that was told. */
function toldOf({ agent, handOvers, intent: { told } }: ChargeRecord) {
  return { agents: [agent, ...handOvers.map(({ from }) => from)], told };
}

function hasSuccessEvent({ history }: ChargeIntent): boolean {
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

/** The most due charges that one process works on at once. More would delay alerts. */
const mostAtOnce = 32;

/** Due charges beyond `mostAtOnce` are due again within this, each at a random time. */
const dueAgainMs = 30_000;

/** Continues charges when no person does: after a timer, a crash or a signed event. */
export function createChargeWork(
  account: Account,
  charges: ChargeBook,
  cards: Pick<CardHistory, 'savedAgain'>,
  { run, auditSteps, background, posts }: ChargeRunner,
) {
  let working = 0;

  /**
   * Works on a due charge, after its timer or a crash. Stores the step here, and runs its effects in the background: a
   * bank may be slow, and the worker has alerts to deliver.
   */
  async function recover(entry: Entry): Promise<void> {
    if (working >= mostAtOnce) {
      await account.store.write(entry, entry.value, { delayMs: randomInt(dueAgainMs) });
      return;
    }
    const record = charges.open(entry);
    const { reference, dueAt, at } = record.intent;
    // Until its audit is complete a charge is due earlier than by its own timer (`scheduleOf`).
    const isDue = dueAt !== undefined && (isAudited(record) || dueAt <= account.now());
    // After a conflict the other process runs the effect.
    const advanced = isDue
      ? await charges.advance(reference, { kind: 'due' }, (current) => current.intent.at === at)
      : undefined;
    if (!advanced) {
      // Store the charge unchanged, which sets the time when it is due.
      await charges.amend(reference, (current) => current);
      background.add(auditSteps(reference).catch(undefinedIfAway));
      return;
    }
    working += 1;
    background.add(
      run(advanced).finally(() => {
        working -= 1;
      }),
    );
  }

  /**
   * Passes a signed event to the charge with its reference. The event decides nothing, but leads to a look-up. (If the
   * reference itself isn't signed, only a look-up is requested.) Resolves once the step is stored, so that the webhook
   * can be acknowledged; the look-up runs in the background. Throws only StoreUnavailable.
   *
   * Spec: Events.
   */
  async function onPaymentEvent(event: PaymentEvent): Promise<void> {
    const orderReference = event.orderReference ?? event.referenceHint;
    // Most events are not about charges of the bot. `onGivenBack` gets those about money given back.
    if (!orderReference?.startsWith(chargeReferencePrefix) || event.kind === 'payment_given_back') return;
    try {
      const advanced = await charges.advance(orderReference, machineEvent(event));
      if (advanced) background.add(run(advanced));
    } catch (error) {
      if (error instanceof StoreUnavailable) throw error;
      // The sealing key is missing. Don't throw: the sender would repeat the webhook for ever.
      const errorId = newErrorId();
      account.log('error', 'an event’s charge cannot be opened', { errorId, orderReference }, error);
    }
  }

  /**
   * A signed event says that this charge was given back, so it is looked up again and the result is posted. `found`:
   * the result of the event's own look-up; if it disagrees with the event, a note in the thread and to the agent says
   * so. False: the bot has no such charge. Idempotent. Throws StoreUnavailable.
   */
  async function onGivenBack(
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

  /** A first payment has saved this card. Throws only StoreUnavailable. */
  async function onCardSaved({ tokenKey }: SavedCard): Promise<void> {
    try {
      await cards.savedAgain(await account.fingerprint(tokenKey));
    } catch (error) {
      if (error instanceof StoreUnavailable) throw error;
      // Don't throw, as in `onPaymentEvent`.
      account.log('error', 'a saved card’s history cannot be opened', { errorId: newErrorId() }, error);
    }
  }

  return { recover, onPaymentEvent, onCardSaved, onGivenBack };
}

function machineEvent({ kind, orderReference, reason }: PaymentEvent): ChargeEvent {
  if (orderReference === undefined) return { kind: 'look_up_asked', by: 'payments' };
  return kind === 'payment_failed' ? { kind, ...withWhy(reason) } : { kind };
}

/**
 * An answer in the form that is stored: without errors, and with secrets sealed. "Already exists" says something about
 * the charge, so it is no rejection. `unknown`: never answered, or perhaps never sent; a look-up decides.
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
    case 'unknown':
      return { kind: 'unknown', ...withWhy(answer.cause.said) };
    case 'otp_required':
      return {
        kind: 'otp_required',
        sealedTransactionId: seal(answer.transactionId),
        ...withWhy(answer.message),
      };
    case 'declined':
      return { kind: 'declined', ...withWhy(answer.bankMessage) };
    case 'rejected':
      if (answer.reason === 'reference_exists') return { kind: 'already_exists' };
      return { kind: 'rejected', reason: answer.reason, ...withWhy(answer.message) };
    case 'not_made':
      return {
        kind: 'rejected',
        reason: answer.failure,
        ...withWhy('message' in answer ? answer.message : undefined),
      };
  }
}

/**
 * The answer to a code, in the form that is stored. A code that was not sent still costs a try: better than a fourth.
 */
export function storedOtpAnswer(answer: OtpAnswer): StoredOtpAnswer {
  switch (answer.kind) {
    case 'accepted':
      return { kind: 'accepted' };
    case 'too_many':
      return { kind: 'too_many', ...withWhy(answer.bankMessage) };
    case 'wrong': {
      const isOver = declineReason(answer.bankMessage, []) === 'code_expired';
      return { kind: 'wrong', ...withWhy(answer.bankMessage), ...(isOver && { isOver }) };
    }
    case 'not_made':
    case 'unknown':
      return { kind: 'unknown' };
  }
}

function withWhy(why: string | undefined): { why?: string } {
  return why === undefined ? {} : { why };
}
