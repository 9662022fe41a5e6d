import { randomBytes } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { Account } from '../../account.ts';
import type { AlertClaims, AlertTaken, OpenPayment } from '../../domain/alert.ts';
import type {
  Approval,
  ApprovalGate,
  ApprovalNeeded,
  ApprovedCharge,
  ApprovedEnd,
  ShownCharge,
} from '../../domain/approval.ts';
import {
  notAccepted,
  type CardHold,
  type ChargeSeen,
  type ChargeTerms,
  type ShownTerms,
  type Twin,
} from '../../domain/charge.ts';
import type { LimitRefusal, LimitClaims, LimitedCharge } from './charge-limits.ts';
import type { CardRefusal, CardClaim, CardHistory } from './card-history.ts';
import { StoreUnavailable } from '../../domain/failure.ts';
import { draftKeepMs } from '../../domain/card.ts';
import { withoutUndefined } from '../../domain/json.ts';
import { tagLog } from '../../log.ts';
import { createRecords, undefinedIfUnreadable } from '../../records/records.ts';
import { derivedReference } from '../../records/derived-reference.ts';
import { chargeTermsShape } from '../../records/shapes.ts';
import { alertTakenWords } from '../../slack/words/twins.ts';
import { type ChargeBook, type ChargeRecord } from './charge-record.ts';
import { limitProblem } from './limit-words.ts';
import { step } from './machine.ts';
import type { ChargeRunner } from './run-charge.ts';

/** What would happen to these terms now. */
type ChargeReview =
  | { kind: 'over_limit'; refusal: LimitRefusal }
  | {
      kind: 'ready';
      /** Why the card can't be charged now; with `approval` a second person may allow it. */
      hold?: CardRefusal;
      twins?: readonly Twin[];
      /** Submitting asks a second person. */
      approval?: ApprovalNeeded;
    };

type Claimed =
  /**
   * The charge is stored, so it will be settled. `carryOn` sends it, and resolves when this process has nothing more to
   * do.
   */
  | { kind: 'begun'; charge: ChargeSeen; carryOn: () => Promise<void> }
  /** The dialogue has charged already: a double click, or a repeated delivery. */
  | { kind: 'known'; charge: ChargeSeen }
  | { kind: 'refused'; refusal: CardRefusal }
  /** Equal charges, or other payments for the same money, that the person hasn't accepted. Nothing was sent. */
  | { kind: 'twin'; twins: readonly { reference: string; outcome: string }[] }
  /** The amount now exceeds the person's limits. Nothing was sent. */
  | { kind: 'over_limit'; refusal: LimitRefusal }
  /** The alert is resolved, closed or being charged by now. Nothing was sent. */
  | { kind: 'alert_taken'; taken: AlertTaken };

export type SubmitResult =
  | Claimed
  /** A second person decides. Nothing was sent. Later submits of this dialogue return the same request. */
  | { kind: 'awaiting_approval'; approval: Approval }
  /** The reviewed terms are gone (after half an hour) or were changed. Nothing was sent. */
  | { kind: 'stale' }
  /** The store failed while the charge was written. If it was stored, it will be sent once. */
  | { kind: 'unsure'; reference: string };

type SubmitRequest = {
  /** The dialogue's id. The reference is made from it, so a double submit is one charge. */
  viewId: string;
  /** The id of the reviewed terms, from `keepDraft`. */
  draft: string;
  by: string;
  /** The twins (equal recent charges) and open payments that the person saw and accepted; see `asAccepted`. */
  despite?: readonly string[];
  /** Why to charge a card on hold now, in the agent's words; given if a second person is to allow that. */
  override?: string;
};

/** A charge as limits and card history check it (`judge`) or count it (`claim`). */
type Claim = CardClaim & LimitedCharge;

/** `readAtMs`: when the person first saw the terms; absent: they see them now. */
type UnclaimedCharge = Omit<ShownCharge, 'viewId' | 'readAtMs'> & { readAtMs?: number };

export type SubmitNeeds = {
  alerts: AlertClaims;
  /** Other payments for the same money that may be paid, newest first. */
  openPayments: (terms: ShownTerms) => Promise<readonly OpenPayment[]>;
  approvals: ApprovalGate;
};

export type SubmitParts = {
  charges: ChargeBook;
  cards: CardHistory;
  limits: LimitClaims;
  runner: Pick<ChargeRunner, 'run' | 'toSeen' | 'background'>;
  needs: SubmitNeeds;
};

/** From reviewed terms to the stored charge: checks, and the claims on alert, limits and card. */
export function createSubmits(account: Account, parts: SubmitParts) {
  const { charges, cards, limits, runner, needs } = parts;
  const drafts = createDrafts(account);

  /** The charge as limits and card judge it, with the failure that it retries, if that counts for this card. */
  async function claimOf(charge: UnclaimedCharge, atMs: number): Promise<Claim> {
    const { reference, card, by, readAtMs, despite, overridesRest, terms } = charge;
    const { money, alert } = terms;
    const outside = alert === undefined ? undefined : await needs.alerts.declined(alert, card);
    const known = withoutUndefined({ readAtMs, despite, overridesRest, outside });
    return { reference, card, by, money, atMs, ...known };
  }

  /**
   * Why limits or card refuse the charge now; undefined: they allow it and, with `claim`, it is counted. `countedAtMs`: a
   * time of the day whose limits count it.
   */
  async function findObstacle(claim: Claim, how: 'judge' | 'claim', countedAtMs = claim.atMs) {
    const refusal = await limits[how]({ ...claim, atMs: countedAtMs });
    if (refusal) return { kind: 'over_limit', refusal } as const;
    const card = await cards[how](claim);
    return card.kind === 'claimed' ? undefined : card;
  }

  /**
   * Other payments for the same money that the person hasn't accepted. Read after the alert is claimed: a link begun
   * later finds that claim, and is refused.
   */
  async function findOpenPayments({ terms, despite }: UnclaimedCharge) {
    const twins = notAccepted(await needs.openPayments(terms), despite);
    return twins.length > 0 ? ({ kind: 'twin', twins } as const) : undefined;
  }

  /** All restrictions on these terms, to show before the button is pressed. Claims nothing: `submit` decides. */
  async function review(given: { viewId: string; terms: ChargeTerms; by: string }): Promise<ChargeReview> {
    const { viewId, terms, by } = given;
    const card = await account.fingerprint(terms.tokenKey);
    const readAtMs = await drafts.shownSince(viewId, terms);
    const charge = {
      reference: derivedReference(viewId),
      card,
      by,
      terms,
      ...withoutUndefined({ readAtMs }),
    };
    const claim = await claimOf(charge, account.now());
    const obstacle = await findObstacle(claim, 'judge');
    if (obstacle?.kind === 'over_limit') return obstacle;
    const hold = obstacle?.kind === 'refused' ? obstacle.refusal : undefined;
    const mayOverride = hold?.kind === 'on_hold' && needs.approvals.needFor({ kind: 'retry' }) !== undefined;
    const overriding: { overridesRest?: true } = mayOverride ? { overridesRest: true } : {};
    // Show twins together with the hold; otherwise submitting would only lead back to a review with the twins.
    const twinCheck = mayOverride ? await cards.judge({ ...claim, ...overriding }) : obstacle;
    const twins = twinCheck?.kind === 'twin' ? twinCheck.twins : undefined;
    const question = { kind: 'charge', money: terms.money, ...overriding } as const;
    const approval = hold && !mayOverride ? undefined : needs.approvals.needFor(question);
    return { kind: 'ready', ...withoutUndefined({ hold, twins, approval }) };
  }

  /** Why a card can't be charged now, at any amount; undefined: it can. `card`: its fingerprint. */
  async function holdOf(
    given: Pick<Claim, 'card' | 'by'> & { currency: string },
  ): Promise<CardHold | undefined> {
    const { card, by, currency } = given;
    // One unreadable card must not hide the others that are suggested; a charge of it is refused.
    const verdict = await cards.mayTry(card).catch(undefinedIfUnreadable);
    if (verdict && verdict.kind !== 'allowed') return verdict;
    // Probe with the smallest amount: if that is refused, any amount is.
    const money = { minor: 1, currency };
    const refusal = await limits.judge({ reference: '', by, card, money, atMs: account.now() });
    return refusal?.kind === 'over' ? { kind: 'limit', limit: refusal.limit } : undefined;
  }

  async function submit(request: SubmitRequest): Promise<SubmitResult> {
    const { viewId, draft, by, despite, override } = request;
    const reference = derivedReference(viewId);
    const known = await charges.read(reference);
    if (known) return { kind: 'known', charge: await runner.toSeen(known) };
    // A dialogue has one charge and so one request, also after its terms were changed.
    const requested = await needs.approvals.find(reference);
    if (requested) return { kind: 'awaiting_approval', approval: requested };
    const stored = await drafts.readDraft(viewId, draft);
    if (!stored) return { kind: 'stale' };
    const { terms: reviewed, readAtMs } = stored;
    const reason = [override, reviewed.reason].filter((part) => part !== undefined).join(' · ');
    const terms = override === undefined ? reviewed : { ...reviewed, reason };
    // Read the clock before claiming: if the process is suspended in between, it is then too late to send the charge.
    const nowMs = account.now();
    const card = await account.fingerprint(terms.tokenKey);
    const charge = { reference, terms, card, by, viewId, readAtMs, ...withoutUndefined({ despite }) };
    return (await askForApproval(charge, override)) ?? (await claimAndBegin(charge, nowMs));
  }

  /**
   * Requests approval if it is needed; undefined: it isn't. A charge that can't be made now isn't requested, so alert
   * and card are checked first, without claiming.
   */
  async function askForApproval(
    unapproved: ApprovedCharge,
    override: string | undefined,
  ): Promise<SubmitResult | undefined> {
    const { approvals, alerts } = needs;
    // Ask for override approval even if the hold has just ended: that is the button they pressed.
    const overrides = override !== undefined && approvals.needFor({ kind: 'retry' }) !== undefined;
    const charge: ApprovedCharge = overrides ? { ...unapproved, overridesRest: true } : unapproved;
    const { by, readAtMs: _notRequested, ...requested } = charge;
    const { terms, reference: id, overridesRest } = requested;
    const { money, alert } = terms;
    const need = approvals.needFor({ kind: 'charge', money, ...withoutUndefined({ overridesRest }) });
    if (!need) return undefined;
    const taken = alert === undefined ? undefined : await alerts.taken(alert, id);
    if (taken) return { kind: 'alert_taken', taken };
    const obstacle =
      (await findOpenPayments(charge)) ?? (await findObstacle(await claimOf(charge, account.now()), 'judge'));
    if (obstacle) return obstacle;
    const approval = await approvals.request({ id, terms: { kind: 'charge', ...requested }, by, ...need });
    return { kind: 'awaiting_approval', approval };
  }

  async function claimAndBegin(charge: ApprovedCharge, nowMs: number, countedAtMs = nowMs): Promise<Claimed> {
    const { reference, by, terms } = charge;
    const alert =
      terms.alert === undefined ? undefined : await needs.alerts.claim(terms.alert, { reference, by });
    if (alert?.kind === 'taken') return { kind: 'alert_taken', taken: alert.taken };
    const claim = await claimOf(charge, nowMs);
    // Check before claiming, so that a refused charge uses up no limit (unless two submits race).
    const obstacle =
      (await findOpenPayments(charge)) ??
      (await findObstacle(claim, 'judge', countedAtMs)) ??
      (await findObstacle(claim, 'claim', countedAtMs));
    if (!obstacle) return await begin(charge, nowMs);
    await alert?.release();
    return obstacle;
  }

  async function begin(charge: ApprovedCharge, nowMs: number): Promise<Claimed> {
    const first = firstStep(charge, nowMs, account.settings.chargeRepeatLost === 'off');
    const known = await charges.add(first.record);
    if (known) return { kind: 'known', charge: await runner.toSeen(known) };
    const { reference, by } = charge;
    tagLog({ orderReference: reference });
    account.log('info', 'charge stored', { orderReference: reference, userId: by });
    return { kind: 'begun', charge: await runner.toSeen(first.record), carryOn: () => runner.run(first) };
  }

  /**
   * Twins (equal charges) since the terms were read, without those in `despite`; none if the card refuses the charge.
   */
  async function twinsOf(charge: ShownCharge): Promise<readonly Twin[]> {
    const judged = await cards.judge(await claimOf(charge, account.now()));
    return judged.kind === 'twin' ? judged.twins : [];
  }

  /**
   * Charges the terms of an approval. No approval is requested again, and limits count the charge for the day of the
   * request, as its approvers were told; all other rules apply. `nowMs`: when the caller last checked that it may
   * charge. Idempotent for a reference. Throws StoreUnavailable; then call it again.
   */
  async function submitApproved(charge: ApprovedCharge, nowMs: number): Promise<ApprovedEnd> {
    if (await charges.read(charge.reference)) return { kind: 'begun' };
    const result = await claimAndBegin(charge, nowMs, charge.readAtMs);
    if (result.kind === 'begun') runner.background.add(result.carryOn());
    return approvedEnd(result);
  }

  return {
    ...drafts,
    review,
    holdOf,
    submitApproved,
    twinsOf,

    /**
     * Charges the reviewed terms if limits, alert and card allow it, at most once per dialogue. The intent is stored
     * before anything is sent, so that after a crash its timer leads to a look-up. Returns `unsure` if the store is
     * away.
     */
    async submit(request: SubmitRequest): Promise<SubmitResult> {
      try {
        return await submit(request);
      } catch (error) {
        if (!(error instanceof StoreUnavailable)) throw error;
        // An earlier submit of this dialogue may have charged; only the reference is known.
        return { kind: 'unsure', reference: derivedReference(request.viewId) };
      }
    },
  };
}

/** The charge to store, and its first effect. */
function firstStep(
  { reference, terms, card, by, viewId }: ApprovedCharge,
  nowMs: number,
  sendsOnce: boolean,
) {
  const submitted = { kind: 'submitted', reference, money: terms.money, by } as const;
  const first = step(undefined, sendsOnce ? { ...submitted, sendsOnce } : submitted, nowMs);
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
  return { record, effect: first.effect };
}

function approvedEnd(result: Claimed): ApprovedEnd {
  switch (result.kind) {
    case 'begun':
    case 'known':
      return { kind: 'begun' };
    case 'refused':
      return { kind: 'stopped', why: holdWords[result.refusal.kind] };
    case 'over_limit':
      // Approval lifts no limit: what the requester can't charge, they can't charge with approval either.
      return result.refusal.kind === 'roles_unknown'
        ? { kind: 'later' }
        : { kind: 'stopped', why: limitProblem(result.refusal, 'the requester’s') };
    case 'twin': {
      const others = result.twins.map(({ reference }) => reference).join(', ');
      return {
        kind: 'stopped',
        why: `Since then, another payment of the same was begun or changed: ${others}. Still owed? Ask again.`,
      };
    }
    case 'alert_taken':
      return { kind: 'stopped', why: alertTakenWords(result.taken) };
  }
}

const holdWords: Record<CardRefusal['kind'], string> = {
  on_hold: 'The card is on hold after a decline.',
  stopped: 'The card has no attempts left.',
  save_again: 'The card must be saved again before it can be charged.',
  under_way: 'Another charge of the card is still open.',
};

/** `word`: the draft's id. `readAtMs`: when the terms were first shown, UTC ms; if it is missing, every twin is shown. */
const chargeDraft = z.object({ word: z.string(), terms: chargeTermsShape, readAtMs: z.number().default(0) });

type ChargeDraft = z.infer<typeof chargeDraft>;

/** Stores terms under review until they are submitted. Methods throw StoreUnavailable. */
function createDrafts(account: Account) {
  const kind = { prefix: 'draft:', schema: chargeDraft };
  const records = createRecords<ChargeDraft>(account, kind);
  return {
    /**
     * Stores the dialogue's terms for half an hour, in place of earlier ones. Returns an id for exactly these terms;
     * the same terms keep their id. The id is random, so a view may contain it.
     */
    async keepDraft(viewId: string, terms: ChargeTerms): Promise<string> {
      const newId = randomBytes(16).toString('hex');
      return await records.change(viewId, (before) => {
        const isKnown = before && isDeepStrictEqual(before.terms, terms);
        const value = isKnown ? before : { word: newId, terms, readAtMs: account.now() };
        return { kind: 'write', value, schedule: { ttlMs: draftKeepMs }, result: value.word };
      });
    },
    /** The terms with this id, and when they were first shown; undefined if they are gone or were changed. */
    async readDraft(viewId: string, id: string): Promise<ChargeDraft | undefined> {
      const draft = await records.read(viewId);
      return draft?.word === id ? draft : undefined;
    },
    /** When this dialogue first showed these terms, UTC ms; undefined: it has not. */
    async shownSince(viewId: string, terms: ChargeTerms): Promise<number | undefined> {
      const draft = await records.read(viewId);
      return draft && isDeepStrictEqual(draft.terms, terms) ? draft.readAtMs : undefined;
    },
  };
}
