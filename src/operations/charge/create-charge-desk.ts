import type { ChargeSeen } from '../../domain/charge-seen.ts';
import { amendCharge, readCharge } from './advance-charge.ts';
import type { ChargeDesk } from './charge-desk.ts';
import type { DeskDeps } from './charge-desk-deps.ts';
import { chargeLists, type ChargeRecord, type ChargeView } from './charge-record.ts';
import { lookUpNow, resendCode, submitCode, takeOver } from './charge-code.ts';
import { entriesOf } from '../work/change-record.ts';
import { chargesInDoubt, openCharges } from './charges-in-doubt.ts';
import { makeSavingLink } from './make-saving-link.ts';
import { see } from './run-charge.ts';
import { referenceOf } from '../work/reference-of.ts';
import { holdOf, reviewCharge, submitCharge } from './submit-charge.ts';

/** A modal that is long closed is not worth a call. */
const mostViews = 5;

/** Everything a person can do with a charge: see `ChargeDesk`. */
export function createChargeDesk(deps: DeskDeps): ChargeDesk {
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
      const record = await readCharge(deps, reference);
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
      const record = await readCharge(deps, reference);
      if (record?.agent !== by || record.intent.state.kind !== 'otp') return;
      await deps.tell.direct(by, `reminded:${reference}`, { reference, what: 'otp' });
    },

    async waitingFor(userId) {
      return show(openCharges(deps, await entriesOf(deps.store, chargeLists.codesOf(userId))));
    },

    inDoubt: () => chargesInDoubt(deps),

    async recent(userId, max) {
      const { entries } = await deps.store.list(chargeLists.of(userId), { max, newestFirst: true });
      return show(openCharges(deps, entries));
    },
  };
}

/** However many colleagues look on, the last modal of whoever has it in hand is one of them. */
function newestViews(views: readonly ChargeView[], agent: string): ChargeView[] {
  const own = views.findLast(({ userId }) => userId === agent);
  const others = views.filter((view) => view !== own);
  return own ? [...others.slice(1 - mostViews), own] : others.slice(-mostViews);
}
