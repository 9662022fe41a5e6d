import type { ChargeSeen } from '../../domain/charge-seen.ts';
import type { ChargeTerms } from '../../domain/charge-terms.ts';
import { referenceOf } from '../../records/reference-of.ts';
import { lookUpNow, resendCode, submitCode, takeOver } from './charge-code.ts';
import { chargeLists, chargesInDoubt, type ChargeRecord, type ChargeView } from './charge-record.ts';
import { makeSavingLink } from './make-saving-link.ts';
import { amendCharge, see, type ChargeDeps } from './run-charge.ts';
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
