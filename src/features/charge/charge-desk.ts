import type { ChargeSeen, Resend } from '../../domain/charge-seen.ts';
import type { ChargeTerms } from '../../domain/charge-terms.ts';
import { referenceOf } from '../../records/reference-of.ts';
import { otpLimits, otpStanding } from '../../domain/otp-rules.ts';
import { auditOfHandOver, auditOfResend } from '../../domain/audit-of-charge.ts';
import {
  type ChargeRecord,
  type ChargeView,
  chargeKey,
  chargeLists,
  chargesInDoubt,
} from './charge-record.ts';
import { makeSavingLink } from './saving-link.ts';
import { type ChargeDeps, advanceCharge, amendCharge, runCharge, see, showProgress } from './run-charge.ts';
import { holdOf, reviewCharge, submitCharge } from './submit-charge.ts';

export type ChargeDesk = ReturnType<typeof createChargeDesk>;

/** A modal that is long closed is not worth a call. */
const mostViews = 5;

/**
 * Everything a person can do with a charge. Nothing here waits for the payments service except what `carryOn`
 * does, `lookUpNow` and `makeSavingLink`; all of it throws StoreUnavailable when the store is away, and then nothing was
 * sent. Only `submit` tells of that by what it gives.
 */
export function createChargeDesk(deps: ChargeDeps) {
  function show(records: readonly ChargeRecord[]): Promise<ChargeSeen[]> {
    return Promise.all(records.map((record) => see(deps, record)));
  }
  const bound =
    <Request, Result>(act: (deps: ChargeDeps, request: Request) => Result) =>
    (request: Request): Result =>
      act(deps, request);

  return {
    keepDraft: (viewId: string, terms: ChargeTerms) => deps.drafts.keep(viewId, terms),
    readDraft: (viewId: string, draft: string) => deps.drafts.read(viewId, draft),
    review: bound(reviewCharge),
    holdOf: bound(holdOf),
    submit: bound(submitCharge),
    submitCode: bound(submitCode),
    resendCode: bound(resendCode),
    takeOver: bound(takeOver),
    lookUpNow: bound(lookUpNow),
    makeSavingLink: bound(makeSavingLink),
    /** The limits that hold for this person, and what is used of their day. */
    limitsOf: (userId: string) => deps.limits.of(userId),
    /** Why this dialogue, or a new one, cannot charge from that alert now; undefined: it can. `submit` asks again. */
    alertTaken: (alert: string, viewId?: string) => deps.alerts.taken(alert, viewId && referenceOf(viewId)),

    async find(reference: string): Promise<ChargeSeen | undefined> {
      const record = await deps.charges.read(reference);
      return record && see(deps, record);
    },

    /**
     * The modal shows the charge from now on: what becomes of it is shown there, at once when it has gone on
     * since `at`, the step that the modal shows.
     */
    async watch(reference: string, { id, userId, at }: ChargeView & { at: number }): Promise<void> {
      const view = { id, userId };
      const watched = await amendCharge(deps, reference, (record) => {
        const others = record.views.filter((other) => other.id !== id);
        return { ...record, views: newestViews([...others, view], record.agent) };
      });
      if (watched && watched.intent.at > at) await deps.show(await see(deps, watched), [view]);
    },

    /** Their modal is closed: if it still waits for a code of theirs, a direct message asks for it, once. */
    async remind({ reference, by }: { reference: string; by: string }): Promise<void> {
      const record = await deps.charges.read(reference);
      if (record?.agent !== by || record.intent.state.kind !== 'otp') return;
      await deps.tell.direct(by, `reminded:${reference}`, { reference, what: 'otp' });
    },

    /** Charges that wait for a code this person is to enter, oldest first. */
    waitingFor: async (userId: string) => show(await deps.charges.all(chargeLists.codesOf(userId))),
    inDoubt: () => chargesInDoubt(deps),
    /** This person's last charges, newest first. */
    recent: async (userId: string, max: number) =>
      show(await deps.charges.list(chargeLists.of(userId), { max, newestFirst: true })),
  };
}

/** However many colleagues look on, the last modal of whoever has it in hand is one of them. */
function newestViews(views: readonly ChargeView[], agent: string): ChargeView[] {
  const own = views.findLast(({ userId }) => userId === agent);
  const others = views.filter((view) => view !== own);
  return own ? [...others.slice(1 - mostViews), own] : others.slice(-mostViews);
}

type CodeResult =
  /** The try is counted; `carryOn` sends the code, which nothing else keeps. */
  | { kind: 'checking'; charge: ChargeSeen; carryOn: () => Promise<void> }
  /** Somebody else has it in hand: only they may enter a code, or whoever takes it over. */
  | { kind: 'not_yours'; charge: ChargeSeen }
  /** No code is asked for now: one is being checked, the time is over, it is settled. */
  | { kind: 'not_open'; charge: ChargeSeen }
  | { kind: 'unknown_charge' };

type ResendResult =
  | { kind: 'asked'; charge: ChargeSeen; carryOn: () => Promise<void> }
  /** Asked for less than half a minute ago. */
  | { kind: 'too_soon'; charge: ChargeSeen; againAt: number }
  | { kind: 'not_yours'; charge: ChargeSeen }
  | { kind: 'not_open'; charge: ChargeSeen }
  | { kind: 'unknown_charge' };

type Request = { reference: string; by: string };

/** A bank needs a moment to send a code, and people press twice. */
const resendAgainMs = 30_000;
/** As long as a charge may take to leave. */
const leaveMs = 25_000;

/**
 * A code a person typed, held in memory for one call and kept nowhere else. The try is counted before the code leaves, by
 * whoever wins the swap. `triesLeft`: as the modal showed it, so that a repeated delivery of one submit costs one try.
 */
export async function submitCode(
  deps: ChargeDeps,
  { reference, by, code, triesLeft }: Request & { code: string; triesLeft: number },
): Promise<CodeResult> {
  const advanced = await advanceCharge(
    deps,
    reference,
    { kind: 'otp_submitted', by },
    ({ agent, intent: { otp } }) => {
      if (agent !== by || !otp || otpLimits.submissions - otp.tries !== triesLeft) return false;
      // Throws when its key is gone: before the try is counted, not after.
      deps.sealer.open(chargeKey(reference), otp.sealedTransactionId);
      return true;
    },
  );
  if (!advanced) return await notTaken(deps, { reference, by });
  return {
    kind: 'checking',
    charge: await see(deps, advanced.record),
    carryOn: () => runCharge(deps, advanced, code),
  };
}

async function notTaken(
  deps: ChargeDeps,
  { reference, by }: Request,
): Promise<{ kind: 'not_yours' | 'not_open'; charge: ChargeSeen } | { kind: 'unknown_charge' }> {
  const record = await deps.charges.read(reference);
  if (!record) return { kind: 'unknown_charge' };
  const kind = record.agent !== by && record.intent.state.kind === 'otp' ? 'not_yours' : 'not_open';
  return { kind, charge: await see(deps, record) };
}

/**
 * Asks the bank for another code, which gives neither time nor tries. The wish is on record before it leaves, so that two
 * clicks are one.
 */
export async function resendCode(deps: ChargeDeps, { reference, by }: Request): Promise<ResendResult> {
  const at = deps.now();
  const asked = await amendCharge(deps, reference, (record) => {
    const mayAsk = record.agent === by && openUntil(record, at) !== undefined && againAt(record) <= at;
    return mayAsk ? { ...record, resends: [...record.resends, { at, by }] } : undefined;
  });
  if (asked) {
    deps.note?.(auditOfResend(reference, { at, by }));
    return { kind: 'asked', charge: await see(deps, asked), carryOn: () => askForAnother(deps, asked, at) };
  }
  const record = await deps.charges.read(reference);
  if (record?.agent === by && openUntil(record, at) !== undefined) {
    return { kind: 'too_soon', charge: await see(deps, record), againAt: againAt(record) };
  }
  return await notTaken(deps, { reference, by });
}

/** Until when something about this code may leave; undefined when no code is asked for. */
function openUntil({ intent }: ChargeRecord, nowMs: number): number | undefined {
  const standing = intent.state.kind === 'otp' && intent.otp && otpStanding(intent.otp, nowMs);
  return standing && standing.kind === 'open' ? standing.leaveBy : undefined;
}

function againAt({ resends }: ChargeRecord): number {
  return (resends.at(-1)?.at ?? -Infinity) + resendAgainMs;
}

/** Spec: resend-otp. It changes neither the time nor the tries, so the machine need not hear of it. */
async function askForAnother(deps: ChargeDeps, record: ChargeRecord, at: number): Promise<void> {
  const { reference, otp } = record.intent;
  if (!otp) return;
  const transactionId = deps.sealer.open(chargeKey(reference), otp.sealedTransactionId);
  const leaveBy = Math.min(at + leaveMs, openUntil(record, at) ?? at);
  const { kind: answer } = await deps.resendOtp(transactionId, { leaveBy, now: deps.now });
  deps.log('info', 'another code asked for', { orderReference: reference, result: answer });
  const answered = await amendCharge(deps, reference, (current) => ({
    ...current,
    resends: current.resends.map((resend): Resend => (resend.at === at ? { ...resend, answer } : resend)),
  }));
  const by = record.agent;
  await deps.tell.note(reference, `resent:${at}`, { kind: 'resent', by, answer, at });
  if (answered) await showProgress(deps, answered);
}

/**
 * From now on this person enters the code and is told; everybody sees it. What is settled stays whose it was. Undefined: no
 * such charge.
 */
export async function takeOver(
  deps: ChargeDeps,
  { reference, by }: Request,
): Promise<ChargeSeen | undefined> {
  const at = deps.now();
  const taken = await amendCharge(deps, reference, (record) => {
    if (record.agent === by || 'concludedAt' in record.intent.state) return undefined;
    return { ...record, agent: by, handOvers: [...record.handOvers, { at, from: record.agent, to: by }] };
  });
  const record = taken ?? (await deps.charges.read(reference));
  if (!record) return undefined;
  const from = taken?.handOvers.at(-1)?.from;
  if (taken && from !== undefined) {
    deps.log('info', 'charge taken over', { orderReference: reference, userId: by });
    deps.note?.(auditOfHandOver(reference, { at, from, to: by }));
    await deps.tell.note(reference, `handed_over:${at}`, { kind: 'handed_over', from, to: by, at });
    await showProgress(deps, taken);
  }
  return await see(deps, record);
}

/** Looks a charge in doubt up now instead of later; resolves when the answer is stored. */
export async function lookUpNow(
  deps: ChargeDeps,
  { reference, by }: Request,
): Promise<ChargeSeen | undefined> {
  const advanced = await advanceCharge(deps, reference, { kind: 'look_up_asked', by });
  if (advanced) await runCharge(deps, advanced);
  const record = await deps.charges.read(reference);
  return record && (await see(deps, record));
}
