import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import type { ApprovalNeeded } from '../../domain/approval-rules.ts';
import type { CardHold, CardRefusal, Twin } from '../../domain/card-refusal.ts';
import type { LimitRefusal, SeenLimits } from '../../domain/charge-limits.ts';
import { step } from '../../domain/charge.ts';
import type { ApprovedCharge, SubmitResult } from '../../domain/submit-result.ts';
import type { ChargeTerms } from '../../domain/charge-terms.ts';
import { StoreUnavailable } from '../../domain/store-unavailable.ts';
import { withoutUndefined } from '../../domain/without-undefined.ts';
import { referenceOf } from '../../records/reference-of.ts';
import { draftKeepMs, draftsOfCard } from '../../domain/card-drafts.ts';
import { type RecordsDeps, createRecords } from '../../records/records.ts';
import type { Fingerprint } from '../../records/fingerprint.ts';
import type { CardClaim } from './card-history.ts';
import { chargeTermsShape } from '../../records/shapes.ts';
import { type ChargeRecord, restOfCharge, seenOf } from './charge-record.ts';
import { type ChargeDeps, agentsOf, runCharge, see } from './run-charge.ts';

/** What a charge of these terms would meet now. */
export type ChargeReview =
  | { kind: 'over_limit'; refusal: LimitRefusal }
  | {
      kind: 'ready';
      limits?: SeenLimits;
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
  /** A second person is asked whether the card is charged though it is on hold. */
  override?: true;
};

/** The desk's message comes before the call, but a Slack that is slow does not keep the customer waiting. */
const deskPatienceMs = 800;

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
  const { viewId, draft, by, despite } = request;
  const reference = referenceOf(viewId);
  const known = await deps.charges.read(reference);
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

/**
 * The same for terms that were approved: they come from the approval and not from a draft, and nobody is asked again.
 * Timed from `nowMs`, when the caller last knew that it may charge. Everything else holds as it does for any charge.
 * Again for the same reference it finds the charge: `known`. Throws StoreUnavailable, and may then be called again.
 */
export async function submitApproved(
  deps: ChargeDeps,
  charge: ApprovedCharge,
  nowMs: number,
): Promise<SubmitResult> {
  const known = await deps.charges.read(charge.reference);
  if (known) return { kind: 'known', charge: await see(deps, known) };
  return await claimAndBegin(deps, charge, nowMs);
}

async function claimAndBegin(deps: ChargeDeps, charge: ApprovedCharge, nowMs: number): Promise<SubmitResult> {
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
  { approvals, alerts, cards, limits, now }: ChargeDeps,
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
  const verdict = await cards.judge({ card, reference, money, by });
  const hold = verdict.kind === 'refused' ? verdict.refusal : undefined;
  const twin = verdict.kind === 'twin' ? verdict.twin : undefined;
  const mayOverride = hold?.kind === 'resting' && approvals?.needFor({ kind: 'retry' }) !== undefined;
  const overriding: { overridesRest?: true } = mayOverride ? { overridesRest: true } : {};
  const approval =
    hold && !mayOverride ? undefined : approvals?.needFor({ kind: 'charge', money, ...overriding });
  return { kind: 'ready', ...withoutUndefined({ limits: limit.seen, hold, twin, approval }) };
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

async function begin(deps: ChargeDeps, beginning: Beginning): Promise<SubmitResult> {
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

async function announce(deps: ChargeDeps, record: ChargeRecord): Promise<void> {
  const { reference } = record.intent;
  try {
    await deps.tell.refresh(reference, agentsOf(record));
    await deps.tell.deskPosted(reference, deskPatienceMs);
  } catch (error) {
    // The charge is stored and agreed to; its message follows with its next step.
    deps.log('warn', 'a charge’s message is not on record yet', { orderReference: reference }, error);
  }
}

/** The terms of a charge under review, until they are submitted. All of it throws StoreUnavailable. */
export type ChargeDrafts = {
  /**
   * Keeps the terms for half an hour in place of the dialogue's earlier ones, and gives a word for exactly them:
   * the same terms kept again give the same word. It reveals nothing of them, so it may stand in a view.
   */
  keep(viewId: string, terms: ChargeTerms): Promise<string>;
  /** The terms, if they are the ones this word was given for; undefined when they are gone or others by now. */
  read(viewId: string, word: string): Promise<ChargeTerms | undefined>;
};

const chargeDraft = z.object({ word: z.string(), card: z.string(), terms: chargeTermsShape });

export function createChargeDrafts(deps: RecordsDeps & { fingerprint: Fingerprint }): ChargeDrafts {
  const records = createRecords<z.infer<typeof chargeDraft>>(deps, {
    prefix: 'draft:',
    schema: chargeDraft,
    lists: ({ card }) => ({ [draftsOfCard(card)]: 0 }),
  });
  return {
    async keep(viewId, given) {
      // In the order of the schema, whatever order they come in.
      const terms = chargeTermsShape.parse(given);
      const card = await deps.fingerprint(terms.tokenKey);
      const newWord = randomBytes(16).toString('hex');
      return await records.change(viewId, (before) => {
        const isSame = before && JSON.stringify(before.terms) === JSON.stringify(terms);
        const word = isSame ? before.word : newWord;
        return { kind: 'write', value: { word, card, terms }, rest: { ttlMs: draftKeepMs }, result: word };
      });
    },
    async read(viewId, word) {
      const draft = await records.read(viewId);
      return draft?.word === word ? draft.terms : undefined;
    },
  };
}
