import type { AlertTaken } from '../../domain/alert-card.ts';
import type { CardHold } from '../../domain/card-refusal.ts';
import type { OwnLimits } from '../../domain/charge-limits.ts';
import type { ChargeSeen } from '../../domain/charge-seen.ts';
import type { ChargeTerms } from '../../domain/charge-terms.ts';
import { referenceOf } from '../work/reference-of.ts';
import {
  lookUpNow,
  resendCode,
  submitCode,
  takeOver,
  type CodeResult,
  type ResendResult,
} from './charge-code.ts';
import {
  chargeLists,
  chargesInDoubt,
  type ChargeRecord,
  type ChargeView,
  type Doubts,
} from './charge-record.ts';
import { makeSavingLink, type LinkResult } from './make-saving-link.ts';
import { amendCharge, see, type ChargeDeps } from './run-charge.ts';
import {
  holdOf,
  reviewCharge,
  submitCharge,
  type ChargeReview,
  type SubmitRequest,
  type SubmitResult,
} from './submit-charge.ts';

/**
 * Everything a person can do with a charge. Nothing here waits for the payments service except what `carryOn`
 * does and `makeSavingLink`; all of it throws StoreUnavailable when the store is away, and then nothing was sent.
 */
export type ChargeDesk = {
  /**
   * Keeps the terms, sealed, for the half hour in which they may be agreed to, and gives a word that stands for
   * exactly these terms. Another call for the same dialogue replaces them. The word is no secret.
   */
  keepDraft(viewId: string, terms: ChargeTerms): Promise<string>;
  /** What was read back, for going back to it or for asking again. */
  readDraft(viewId: string, draft: string): Promise<ChargeTerms | undefined>;
  /** Every restriction on these terms, before anybody presses. Counts and claims nothing: `submit` decides. */
  review(request: { viewId: string; terms: ChargeTerms; by: string }): Promise<ChargeReview>;
  /** The same of a card alone, by its fingerprint. */
  holdOf(request: { card: string; by: string; currency: string }): Promise<CardHold | undefined>;
  /** The limits that hold for this person, and what is used of their day. */
  limitsOf(userId: string): Promise<OwnLimits>;
  /** Why this dialogue, or a new one, cannot charge from that alert now; undefined: it can. `submit` asks again. */
  alertTaken(alert: string, viewId?: string): Promise<AlertTaken | undefined>;
  /**
   * Charges on the terms that were read back, at most once for a dialogue, if the card may be charged now. A store
   * that is away is `unsure`, and not thrown.
   */
  submit(request: SubmitRequest): Promise<SubmitResult>;
  find(reference: string): Promise<ChargeSeen | undefined>;
  /** A code a person typed. It is held in memory for one call and stands nowhere else. */
  submitCode(request: {
    reference: string;
    code: string;
    by: string;
    /** As the modal showed it, so that a repeated delivery of one submit costs one try. */
    triesLeft: number;
  }): Promise<CodeResult>;
  /** Asks the bank for another code, which gives neither time nor tries. */
  resendCode(request: { reference: string; by: string }): Promise<ResendResult>;
  /** From now on this person enters the code and is told; everybody sees it. Undefined: no such charge. */
  takeOver(request: { reference: string; by: string }): Promise<ChargeSeen | undefined>;
  /** Looks a charge in doubt up now instead of later; resolves when the answer is stored. */
  lookUpNow(request: { reference: string; by: string }): Promise<ChargeSeen | undefined>;
  /**
   * The modal shows the charge from now on: what becomes of it is shown there, at once when it has gone on
   * since `at`, the step that the modal shows.
   */
  watch(reference: string, view: { id: string; userId: string; at: number }): Promise<void>;
  /** Their modal is closed: if it still waits for a code of theirs, a direct message asks for it, once. */
  remind(request: { reference: string; by: string }): Promise<void>;
  /** Charges that wait for a code this person is to enter, oldest first. */
  waitingFor(userId: string): Promise<readonly ChargeSeen[]>;
  /** Charges whose outcome is not known, everybody's, oldest first; those under review at the end. */
  inDoubt(): Promise<Doubts>;
  /** This person's last charges, newest first. */
  recent(userId: string, max: number): Promise<readonly ChargeSeen[]>;
  /** A checkout page on which the customer pays the same amount and saves the card anew; the same one when asked again. */
  makeSavingLink(request: { reference: string; by: string }): Promise<LinkResult>;
};

/** A modal that is long closed is not worth a call. */
const mostViews = 5;

/** Everything a person can do with a charge: see `ChargeDesk`. */
export function createChargeDesk(deps: ChargeDeps): ChargeDesk {
  function show(records: readonly ChargeRecord[]): Promise<ChargeSeen[]> {
    return Promise.all(records.map((record) => see(deps, record)));
  }

  return {
    keepDraft: (viewId, terms) => deps.drafts.keep(viewId, terms),
    readDraft: (viewId, draft) => deps.drafts.read(viewId, draft),
    review: (request) => reviewCharge(deps, request),
    holdOf: (request) => holdOf(deps, request),
    limitsOf: (userId) => deps.limits.of(userId),
    alertTaken: (alert, viewId) => deps.alerts.taken(alert, viewId && referenceOf(viewId)),
    submit: (request) => submitCharge(deps, request),
    submitCode: (request) => submitCode(deps, request),
    resendCode: (request) => resendCode(deps, request),
    takeOver: (request) => takeOver(deps, request),
    lookUpNow: (request) => lookUpNow(deps, request),
    makeSavingLink: (request) => makeSavingLink(deps, request),

    async find(reference) {
      const record = await deps.charges.read(reference);
      return record && see(deps, record);
    },

    async watch(reference, { id, userId, at }) {
      const view = { id, userId };
      const watched = await amendCharge(deps, reference, (record) => {
        const others = record.views.filter((other) => other.id !== id);
        return { ...record, views: newestViews([...others, view], record.agent) };
      });
      if (watched && watched.intent.at > at) await deps.show(await see(deps, watched), [view]);
    },

    async remind({ reference, by }) {
      const record = await deps.charges.read(reference);
      if (record?.agent !== by || record.intent.state.kind !== 'otp') return;
      await deps.tell.direct(by, `reminded:${reference}`, { reference, what: 'otp' });
    },

    async waitingFor(userId) {
      return show(await deps.charges.all(chargeLists.codesOf(userId)));
    },

    inDoubt: () => chargesInDoubt(deps),

    async recent(userId, max) {
      return show(await deps.charges.list(chargeLists.of(userId), { max, newestFirst: true }));
    },
  };
}

/** However many colleagues look on, the last modal of whoever has it in hand is one of them. */
function newestViews(views: readonly ChargeView[], agent: string): ChargeView[] {
  const own = views.findLast(({ userId }) => userId === agent);
  const others = views.filter((view) => view !== own);
  return own ? [...others.slice(1 - mostViews), own] : others.slice(-mostViews);
}
