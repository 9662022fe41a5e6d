import type {
  ChargeSeen,
  ChargeTerms,
  ApprovedCharge,
  ApprovedEnd,
  SubmitResult,
  LimitRefusal,
} from '../../domain/charge.ts';
import { referenceOf } from '../../records/reference-of.ts';
import { step } from './machine.ts';
import { resendCode, submitCode, takeOver } from './otp.ts';
import {
  type ChargeRecord,
  type ChargeView,
  chargeLists,
  chargesInDoubt,
  restOfCharge,
  seenOf,
} from './charge-record.ts';
import { type ChargeDeps, advanceCharge, amendCharge, runCharge, see } from './run-charge.ts';
import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import type { ApprovalNeeded } from '../../domain/approval.ts';
import type { CardHold, CardRefusal, Twin } from '../../domain/decline-reason.ts';
import type { AlertTaken } from '../../domain/alert.ts';
import { limitProblem } from './limit-words.ts';
import { StoreUnavailable } from '../../domain/failure.ts';
import { withoutUndefined } from '../../domain/without-undefined.ts';
import { draftKeepMs } from '../../domain/saved-card.ts';
import { type RecordsDeps, createRecords } from '../../records/records.ts';
import type { CardClaim } from './card-history.ts';
import type { LimitedCharge } from './limit-claims.ts';
import { chargeTermsShape } from '../../records/shapes.ts';
import { tagLog } from '../../log.ts';

export type ChargeDesk = ReturnType<typeof createChargeDesk>;

/** A modal that is long closed is not worth a call. */
const mostViews = 5;

/**
 * Everything a person can do with a charge. Nothing here waits for the payments service except what `carryOn`
 * does, and `lookUpNow`; all of it throws StoreUnavailable when the store is away, and then nothing was sent. Only
 * `submit` tells of that by what it gives.
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

/** Looks a charge in doubt up now instead of later; resolves when the answer is stored. */
export async function lookUpNow(
  deps: ChargeDeps,
  { reference, by }: { reference: string; by: string },
): Promise<ChargeSeen | undefined> {
  const advanced = await advanceCharge(deps, reference, { kind: 'look_up_asked', by });
  if (advanced) await runCharge(deps, advanced);
  const record = await deps.charges.read(reference);
  return record && (await see(deps, record));
}

/** What a charge of these terms would meet now. */
export type ChargeReview =
  | { kind: 'over_limit'; refusal: LimitRefusal }
  | {
      kind: 'ready';
      /** The card can't be charged now; with `approval` a second person may decide that it is. */
      hold?: CardRefusal;
      twin?: Twin;
      /** Submitting asks a second person. */
      approval?: ApprovalNeeded;
    };

type SubmitRequest = {
  /** The dialogue: its reference is made of it, so that a double submit is the same charge. */
  viewId: string;
  /** What `keepDraft` gave for the terms the person has just read. */
  draft: string;
  by: string;
  /** The twin the person was shown and chose to charge beside. */
  despite?: string;
  /** A second person is asked whether the card is charged though it is on hold; why now, in the agent's words. */
  override?: string;
};

/**
 * Charges on the reviewed terms, at most once for a dialogue, if the card may be charged now. The intent is
 * stored before anything leaves: a crash from here on is found by its timer. A store that is away is `unsure`.
 */
export async function submitCharge(deps: ChargeDeps, request: SubmitRequest): Promise<SubmitResult> {
  try {
    return await submit(deps, request);
  } catch (error) {
    // This dialogue may have charged before: what is known of it is its reference, and nothing else.
    if (error instanceof StoreUnavailable) return { kind: 'unsure', reference: referenceOf(request.viewId) };
    throw error;
  }
}

async function submit(deps: ChargeDeps, request: SubmitRequest): Promise<SubmitResult> {
  const { viewId, draft, by, despite, override } = request;
  const reference = referenceOf(viewId);
  const known = await deps.charges.read(reference);
  if (known) return { kind: 'known', charge: await see(deps, known) };
  // One dialogue, one charge, and so one request for it, whatever its terms are by now.
  const asked = await deps.approvals?.desk.find(reference);
  if (asked) return { kind: 'awaiting_approval', approval: asked };
  const reviewed = await deps.drafts.read(viewId, draft);
  if (!reviewed) return { kind: 'stale' };
  const reason = [override, reviewed.reason].filter((part) => part !== undefined).join(' · ');
  const terms = override === undefined ? reviewed : { ...reviewed, reason };
  // Taken before anything is claimed: a process that sleeps on the way wakes up too late to charge.
  const nowMs = deps.now();
  const card = await deps.fingerprint(terms.tokenKey);
  const charge = { reference, terms, card, by, viewId, ...(despite === undefined ? {} : { despite }) };
  return (await askForApproval(deps, charge, request)) ?? (await claimAndBegin(deps, charge, nowMs));
}

/**
 * The same for terms that were approved: they come from the approval and not from a draft, and nobody is asked again.
 * Timed from `nowMs`, when the caller last knew that it may charge. Everything else holds as it does for any charge.
 * Again for the same reference it finds the charge. Throws StoreUnavailable, and may then be called again.
 */
export async function submitApproved(
  deps: ChargeDeps,
  charge: ApprovedCharge,
  nowMs: number,
): Promise<ApprovedEnd> {
  if (await deps.charges.read(charge.reference)) return { kind: 'begun' };
  const result = await claimAndBegin(deps, charge, nowMs);
  switch (result.kind) {
    case 'begun':
      deps.inBackground(result.carryOn());
      return { kind: 'begun' };
    case 'known':
      return { kind: 'begun' };
    case 'refused':
      return { kind: 'stopped', why: holdWords[result.refusal.kind] };
    case 'over_limit':
      // Four eyes lift no limit: what the requester could not have charged alone is not charged for them.
      return result.refusal.kind === 'unknown_standing'
        ? { kind: 'later' }
        : { kind: 'stopped', why: limitProblem(result.refusal, 'the requester’s') };
    case 'twin':
      return { kind: 'stopped', why: 'The card was charged the same amount meanwhile.' };
    case 'alert_taken':
      return { kind: 'stopped', why: takenWords(result.taken) };
  }
}

const holdWords: Record<CardRefusal['kind'], string> = {
  resting: 'The card is on hold after a decline.',
  stopped: 'The card has no attempts left.',
  save_again: 'The card must be saved again before it can be charged.',
  under_way: 'Another charge of the card is still open.',
};

function takenWords(taken: AlertTaken): string {
  return taken.kind === 'ended'
    ? 'The alert it was begun from was resolved or closed meanwhile.'
    : `Another charge of the same alert was begun meanwhile: ${taken.charge.reference}.`;
}

/** What a claim can come to: nobody is asked, and the store's own failure is thrown. */
type Claimed = Exclude<SubmitResult, { kind: 'awaiting_approval' | 'stale' | 'unsure' }>;

async function claimAndBegin(deps: ChargeDeps, charge: ApprovedCharge, nowMs: number): Promise<Claimed> {
  const { reference, terms, card, by, viewId } = charge;
  const alert = terms.alert === undefined ? noAlert : await deps.alerts.claim(terms.alert, { reference, by });
  if (alert.kind === 'taken') return { kind: 'alert_taken', taken: alert.taken };
  const refused = await claimLimitAndCard(deps, charge, nowMs);
  if (!refused) return await begin(deps, { reference, terms, card, by, viewId, nowMs });
  await alert.release();
  return refused;
}

/** Both are judged before either is claimed: what is refused takes nothing of a limit, unless two submits race. */
async function claimLimitAndCard(
  deps: ChargeDeps,
  charge: ApprovedCharge,
  atMs: number,
): Promise<Claimed | undefined> {
  const refused = await refusalOf(deps, charge, atMs);
  if (refused) return refused;
  const limit = await deps.limits.claim(limitedOf(charge, atMs));
  if (limit.kind === 'refused') return { kind: 'over_limit', refusal: limit.refusal };
  const claimed = await deps.cards.claim(claimOf(charge));
  return claimed.kind === 'claimed' ? undefined : claimed;
}

/** Why it could not be charged as things are. Claims nothing. */
async function refusalOf(
  { limits, cards }: ChargeDeps,
  charge: ApprovedCharge,
  atMs: number,
): Promise<Claimed | undefined> {
  const limit = await limits.check(limitedOf(charge, atMs));
  if (limit.kind === 'refused') return { kind: 'over_limit', refusal: limit.refusal };
  const judged = await cards.judge(claimOf(charge));
  return judged.kind === 'claimed' ? undefined : judged;
}

/** A charge that was not begun from an alert claims none. */
const noAlert = { kind: 'claimed', release: () => Promise.resolve() } as const;

function limitedOf({ reference, by, card, terms }: ApprovedCharge, atMs: number): LimitedCharge {
  return { reference, by, card, money: terms.money, atMs };
}

function claimOf({ reference, terms, card, by, despite, overridesRest }: ApprovedCharge): CardClaim {
  return withoutUndefined({ card, reference, money: terms.money, by, despite, overridesRest });
}

/**
 * Undefined: nobody else is needed. Nobody is asked about a charge that could not be made as things are: alert and card
 * are looked at first, and neither claimed nor changed.
 */
async function askForApproval(
  deps: ChargeDeps,
  given: ApprovedCharge,
  { override }: SubmitRequest,
): Promise<SubmitResult | undefined> {
  const { approvals, alerts } = deps;
  // Whoever asks for an override is asked about it, also when the rest has just ended: that is what they pressed.
  const overrides = override !== undefined && approvals?.needFor({ kind: 'retry' }) !== undefined;
  const overriding: { overridesRest?: true } = overrides ? { overridesRest: true } : {};
  const charge = { ...given, ...overriding };
  const { terms, by, reference: id } = charge;
  const need = approvals?.needFor({ kind: 'charge', money: terms.money, ...overriding });
  if (!approvals || !need) return undefined;
  const taken = terms.alert === undefined ? undefined : await alerts.taken(terms.alert, id);
  if (taken) return { kind: 'alert_taken', taken };
  const refused = await refusalOf(deps, charge, deps.now());
  if (refused) return refused;
  const { by: _by, ...kept } = charge;
  const approval = await approvals.desk.request({ id, terms: { kind: 'charge', ...kept }, by, ...need });
  return { kind: 'awaiting_approval', approval };
}

type ReviewDeps = Pick<ChargeDeps, 'limits' | 'cards' | 'approvals' | 'fingerprint' | 'now'>;

/** Every restriction on these terms, before anybody presses. Counts and claims nothing: `submitCharge` decides. */
export async function reviewCharge(
  { limits, cards, approvals, fingerprint, now }: ReviewDeps,
  { viewId, terms, by }: { viewId: string; terms: ChargeTerms; by: string },
): Promise<ChargeReview> {
  const { money } = terms;
  const card = await fingerprint(terms.tokenKey);
  const reference = referenceOf(viewId);
  const limit = await limits.check({ reference, by, card, money, atMs: now() });
  if (limit.kind === 'refused') return { kind: 'over_limit', refusal: limit.refusal };
  const claim = { card, reference, money, by };
  const verdict = await cards.judge(claim);
  const hold = verdict.kind === 'refused' ? verdict.refusal : undefined;
  const mayOverride = hold?.kind === 'resting' && approvals?.needFor({ kind: 'retry' }) !== undefined;
  const overriding: { overridesRest?: true } = mayOverride ? { overridesRest: true } : {};
  // What stands in the way besides the hold is seen with it, or asking for approval would lead back to here.
  const beside = mayOverride ? await cards.judge({ ...claim, ...overriding }) : verdict;
  const twin = beside.kind === 'twin' ? beside.twin : undefined;
  const approval =
    hold && !mayOverride ? undefined : approvals?.needFor({ kind: 'charge', money, ...overriding });
  return { kind: 'ready', ...withoutUndefined({ hold, twin, approval }) };
}

/** The same of a card alone, by its fingerprint. */
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

type Beginning = Omit<ApprovedCharge, 'despite' | 'overridesRest'> & { nowMs: number };

async function begin(deps: ChargeDeps, beginning: Beginning): Promise<Claimed> {
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
    auditedAt: 0,
  };
  const rest = restOfCharge(record, deps.now(), deps.rememberMs);
  const known = await deps.charges.change<ChargeRecord | undefined>(reference, (before) =>
    before ? { kind: 'keep', result: before } : { kind: 'write', value: record, rest, result: undefined },
  );
  if (known) return { kind: 'known', charge: await see(deps, known) };
  tagLog({ orderReference: reference });
  deps.log('info', 'charge stored', { orderReference: reference, userId: by });
  return {
    kind: 'begun',
    charge: seenOf(record),
    carryOn: () => runCharge(deps, { record, effect: first.effect }),
  };
}

const chargeDraft = z.object({ word: z.string(), terms: chargeTermsShape });

export type ChargeDrafts = ReturnType<typeof createChargeDrafts>;

/** The terms of a charge under review, until they are submitted. All of it throws StoreUnavailable. */
export function createChargeDrafts(deps: RecordsDeps) {
  const records = createRecords<z.infer<typeof chargeDraft>>(deps, {
    prefix: 'draft:',
    schema: chargeDraft,
  });
  return {
    /**
     * Keeps the terms for half an hour in place of the dialogue's earlier ones, and gives a word for exactly them:
     * the same terms kept again give the same word. It reveals nothing of them, so it may stand in a view.
     */
    async keep(viewId: string, given: ChargeTerms): Promise<string> {
      // In the order of the schema, whatever order they come in.
      const terms = chargeTermsShape.parse(given);
      const newWord = randomBytes(16).toString('hex');
      return await records.change(viewId, (before) => {
        const isSame = before && JSON.stringify(before.terms) === JSON.stringify(terms);
        const word = isSame ? before.word : newWord;
        return { kind: 'write', value: { word, terms }, rest: { ttlMs: draftKeepMs }, result: word };
      });
    },
    /** The terms, if they are the ones this word was given for; undefined when they are gone or others by now. */
    async read(viewId: string, word: string): Promise<ChargeTerms | undefined> {
      const draft = await records.read(viewId);
      return draft?.word === word ? draft.terms : undefined;
    },
  };
}
