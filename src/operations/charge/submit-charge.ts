import { randomUUID } from 'node:crypto';
import type { CardHold } from '../../domain/card-refusal.ts';
import { step } from '../../domain/charge.ts';
import type { ChargeTerms } from '../../domain/charge-terms.ts';
import type { OrderReference } from '../../domain/order-reference.ts';
import { StoreUnavailable } from '../../domain/store-unavailable.ts';
import { withoutUndefined } from '../../domain/without-undefined.ts';
import type { Store } from '../../store/store.ts';
import { readCharge } from './advance-charge.ts';
import type { AlertClaims } from '../alert/alert-claims.ts';
import type { CardClaim, CardHistory } from './card-history.ts';
import type { ChargeReview, SubmitRequest, SubmitResult } from './charge-desk.ts';
import type { ChargeDrafts } from './charge-drafts.ts';
import type { LimitClaims } from './limit-claims.ts';
import {
  chargeKey,
  keepUntilDue,
  listsOfCharge,
  sealCharge,
  seenOf,
  type ChargeRecord,
} from './charge-record.ts';
import { referenceOf } from '../work/reference-of.ts';
import { agentsOf, runCharge, see, type RunDeps } from './run-charge.ts';

export type SubmitDeps = Omit<RunDeps, 'store' | 'cards' | 'limits' | 'alerts'> & {
  store: Pick<Store, 'create' | 'read' | 'write' | 'list'>;
  cards: CardHistory;
  limits: LimitClaims;
  alerts: AlertClaims & RunDeps['alerts'];
  drafts: ChargeDrafts;
  fingerprint: (tokenKey: string) => Promise<string>;
};

/** The desk's message comes before the call, but a Slack that is slow does not keep the customer waiting. */
const deskPatienceMs = 800;
/** How often a lost answer of the store is asked again before a person is told that nobody knows. */
const createAttempts = 3;
const createAgainMs = 100;

/** See `ChargeDesk.submit`. The intent is stored before anything leaves: a crash from here on is found by its timer. */
export async function submitCharge(deps: SubmitDeps, request: SubmitRequest): Promise<SubmitResult> {
  try {
    return await submit(deps, request);
  } catch (error) {
    // This dialogue may have charged before: what is known of it is its reference, and nothing else.
    if (error instanceof StoreUnavailable) return { kind: 'unsure', reference: referenceOf(request.viewId) };
    throw error;
  }
}

async function submit(deps: SubmitDeps, request: SubmitRequest): Promise<SubmitResult> {
  const { viewId, draft, by, despite } = request;
  const reference = referenceOf(viewId);
  const known = await readCharge(deps, reference);
  if (known) return { kind: 'known', charge: await see(deps, known) };
  // One dialogue, one charge, and so one request for it, whatever its terms are by now.
  const asked = await deps.approvals?.desk.find(reference);
  if (asked) return { kind: 'awaiting_approval', approval: asked };
  const terms = await deps.drafts.read(viewId, draft);
  if (!terms) return { kind: 'stale' };
  // Taken before anything is claimed: a process that sleeps on the way wakes up too late to charge.
  const nowMs = deps.now();
  const card = await deps.fingerprint(terms.tokenKey);
  const charge = { reference, terms, card, by, viewId, ...(despite === undefined ? {} : { despite }) };
  return (await askForApproval(deps, charge, request)) ?? (await claimAndBegin(deps, charge, nowMs));
}

/** What is charged, once enough people have approved exactly this. */
export type ApprovedCharge = Omit<Beginning, 'nowMs'> & Pick<CardClaim, 'despite' | 'overridesRest'>;

/**
 * The same for terms that were approved: they come from the approval and not from a draft, and nobody is asked again.
 * Timed from `nowMs`, when the caller last knew that it may charge. Everything else holds as it does for any charge.
 * Again for the same reference it finds the charge: `known`. Throws StoreUnavailable, and may then be called again.
 */
export async function submitApproved(
  deps: SubmitDeps,
  charge: ApprovedCharge,
  nowMs: number,
): Promise<SubmitResult> {
  const known = await readCharge(deps, charge.reference);
  if (known) return { kind: 'known', charge: await see(deps, known) };
  return await claimAndBegin(deps, charge, nowMs);
}

async function claimAndBegin(deps: SubmitDeps, charge: ApprovedCharge, nowMs: number): Promise<SubmitResult> {
  const { reference, terms, card, by, viewId } = charge;
  const alert = terms.alert === undefined ? noAlert : await deps.alerts.claim(terms.alert, { reference, by });
  if (alert.kind === 'taken') return { kind: 'alert_taken', taken: alert.taken };
  const limit = await deps.limits.claim({ reference, by, card, money: terms.money, atMs: nowMs });
  if (limit.kind !== 'claimed') {
    await alert.release();
    return { kind: 'over_limit', refusal: limit.refusal };
  }
  const claimed = await deps.cards.claim(claimOf(charge));
  if (claimed.kind !== 'claimed') {
    await limit.release();
    await alert.release();
    return claimed;
  }
  return await begin(deps, { reference, terms, card, by, viewId, nowMs });
}

/** A charge that was not begun from an alert claims none. */
const noAlert = { kind: 'claimed', release: () => Promise.resolve() } as const;

function claimOf({ reference, terms, card, by, despite, overridesRest }: ApprovedCharge): CardClaim {
  return withoutUndefined({ card, reference, money: terms.money, by, despite, overridesRest });
}

/**
 * Undefined: nobody else is needed. Nobody is asked about a charge that could not be made as things are: alert and card
 * are looked at first, and neither claimed nor changed.
 */
async function askForApproval(
  { approvals, alerts, cards, limits, now }: SubmitDeps,
  given: ApprovedCharge,
  { override }: SubmitRequest,
): Promise<SubmitResult | undefined> {
  // Whoever asks for an override is asked about it, also when the rest has just ended: that is what they pressed.
  const overrides = override === true && approvals?.needFor({ kind: 'retry' }) !== undefined;
  const overriding: { overridesRest?: true } = overrides ? { overridesRest: true } : {};
  const charge = { ...given, ...overriding };
  const { terms, by, reference: id } = charge;
  const need = approvals?.needFor({ kind: 'charge', money: terms.money, ...overriding });
  if (!approvals || !need) return undefined;
  const taken = terms.alert === undefined ? undefined : await alerts.taken(terms.alert, id);
  if (taken) return { kind: 'alert_taken', taken };
  const limited = { reference: id, by, card: charge.card, money: terms.money, atMs: now() };
  const limit = await limits.check(limited);
  if (limit.kind === 'refused') return { kind: 'over_limit', refusal: limit.refusal };
  const verdict = await cards.judge(claimOf(charge));
  if (verdict.kind !== 'claimed') return verdict;
  const { by: _by, ...kept } = charge;
  const approval = await approvals.desk.request({ id, terms: { kind: 'charge', ...kept }, by, ...need });
  return { kind: 'awaiting_approval', approval };
}

type ReviewDeps = Pick<SubmitDeps, 'limits' | 'cards' | 'approvals' | 'fingerprint' | 'now'>;

/** See `ChargeDesk.review`. */
export async function reviewCharge(
  { limits, cards, approvals, fingerprint, now }: ReviewDeps,
  { viewId, terms, by }: { viewId: string; terms: ChargeTerms; by: string },
): Promise<ChargeReview> {
  const { money } = terms;
  const card = await fingerprint(terms.tokenKey);
  const reference = referenceOf(viewId);
  const limit = await limits.check({ reference, by, card, money, atMs: now() });
  if (limit.kind === 'refused') return { kind: 'over_limit', refusal: limit.refusal };
  const verdict = await cards.judge({ card, reference, money, by });
  const hold = verdict.kind === 'refused' ? verdict.refusal : undefined;
  const twin = verdict.kind === 'twin' ? verdict.twin : undefined;
  const mayOverride = hold?.kind === 'resting' && approvals?.needFor({ kind: 'retry' }) !== undefined;
  const overriding: { overridesRest?: true } = mayOverride ? { overridesRest: true } : {};
  const approval =
    hold && !mayOverride ? undefined : approvals?.needFor({ kind: 'charge', money, ...overriding });
  return { kind: 'ready', ...withoutUndefined({ limits: limit.seen, hold, twin, approval }) };
}

/** See `ChargeDesk.holdOf`. */
export async function holdOf(
  { limits, cards, now }: ReviewDeps,
  { card, by, currency }: { card: string; by: string; currency: string },
): Promise<CardHold | undefined> {
  const verdict = await cards.mayTry(card);
  if (verdict.kind !== 'allowed') return verdict;
  // The smallest charge there is: what refuses it refuses all.
  const money = { minor: 1, currency };
  const limit = await limits.check({ reference: '', by, card, money, atMs: now() });
  return limit.kind === 'refused' && limit.refusal.kind === 'over'
    ? { kind: 'limit', limit: limit.refusal.limit }
    : undefined;
}

type Beginning = {
  reference: OrderReference;
  terms: ChargeTerms;
  card: string;
  by: string;
  viewId: string;
  nowMs: number;
};

async function begin(deps: SubmitDeps, beginning: Beginning): Promise<SubmitResult> {
  const { reference, terms, card, by, viewId, nowMs } = beginning;
  const first = step(undefined, { kind: 'submitted', reference, money: terms.money, by }, nowMs);
  if (!first) throw new Error('a submitted charge always has a first step');
  const record: ChargeRecord = {
    intent: first.next,
    terms,
    card,
    by,
    agent: by,
    handOvers: [],
    resends: [],
    views: [{ id: viewId, userId: by }],
    birth: randomUUID(),
  };
  const created = await createOnce(deps, record);
  if (created !== 'ours') return { kind: 'known', charge: await see(deps, created) };
  deps.audit?.stored(record);
  deps.log('info', 'charge stored', { orderReference: reference, userId: by });
  return {
    kind: 'begun',
    charge: seenOf(record),
    async carryOn() {
      await announce(deps, record);
      await runCharge(deps, { record, effect: first.effect });
    },
  };
}

/**
 * Whose charge the store now holds. Throws StoreUnavailable when it does not say: it may have created the charge
 * all the same, and then it is charged.
 */
async function createOnce(deps: SubmitDeps, record: ChargeRecord): Promise<'ours' | ChargeRecord> {
  const { reference, dueAt = deps.now() } = record.intent;
  const { delayMs = 0 } = keepUntilDue({ ...record.intent, dueAt }, deps.now(), deps.rememberMs);
  let failure: StoreUnavailable | undefined;
  for (let attempt = 1; attempt <= createAttempts; attempt += 1) {
    try {
      // oxlint-disable-next-line no-await-in-loop -- one attempt after the other is the point
      const isNew = await deps.store.create(chargeKey(reference), sealCharge(deps.sealer, record), {
        delayMs,
        index: listsOfCharge(record),
      });
      if (isNew) return 'ours';
      // oxlint-disable-next-line no-await-in-loop
      const held = await readCharge(deps, reference);
      if (held) return held.birth === record.birth ? 'ours' : held;
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      failure = error;
      // oxlint-disable-next-line no-await-in-loop
      await deps.wait(createAgainMs);
    }
  }
  throw failure ?? new Error('a charge that is there could not be read');
}

async function announce(deps: SubmitDeps, record: ChargeRecord): Promise<void> {
  const { reference } = record.intent;
  try {
    await deps.tell.refresh(reference, agentsOf(record));
    await deps.tell.deskPosted(reference, deskPatienceMs);
  } catch (error) {
    // The charge is stored and agreed to; its message follows with its next step.
    deps.log('warn', 'a charge’s message is not on record yet', { orderReference: reference }, error);
  }
}
