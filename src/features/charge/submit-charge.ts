import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import type { Account } from '../../account.ts';
import type { AlertClaims, AlertTaken } from '../../domain/alert.ts';
import type {
  Approval,
  ApprovalGate,
  ApprovalNeeded,
  ApprovedCharge,
  ApprovedEnd,
  ShownCharge,
} from '../../domain/approval.ts';
import type { CardHold, ChargeSeen, ChargeTerms, ShownTerms, Twin } from '../../domain/charge.ts';
import type { LimitRefusal, LimitClaims, LimitedCharge } from './charge-limits.ts';
import type { CardRefusal, CardClaim, CardHistory } from './card-history.ts';
import { StoreUnavailable } from '../../domain/failure.ts';
import { draftKeepMs } from '../../domain/card.ts';
import { withoutUndefined } from '../../domain/json.ts';
import { tagLog } from '../../log.ts';
import { createRecords } from '../../records/records.ts';
import { referenceOf } from '../../records/reference-of.ts';
import { chargeTermsShape } from '../../records/shapes.ts';
import { type ChargeBook, type ChargeRecord, seenOf } from './charge-record.ts';
import { limitProblem } from './limit-words.ts';
import { step } from './machine.ts';
import type { ChargeRunner } from './run-charge.ts';

/** What a charge of these terms would meet now. */
type ChargeReview =
  | { kind: 'over_limit'; refusal: LimitRefusal }
  | {
      kind: 'ready';
      /** The card can't be charged now; with `approval` a second person may decide that it is. */
      hold?: CardRefusal;
      twins?: readonly Twin[];
      /** Submitting asks a second person. */
      approval?: ApprovalNeeded;
    };

/** What claims can come to: nobody is asked, and the store's own failure is thrown. */
type Claimed =
  /** Stored: whatever happens now, it is settled. `carryOn` sends it, and resolves when this process has done what it can. */
  | { kind: 'begun'; charge: ChargeSeen; carryOn: () => Promise<void> }
  /** This very dialogue has charged already: a double click, a repeated delivery. Nothing more happens. */
  | { kind: 'known'; charge: ChargeSeen }
  | { kind: 'refused'; refusal: CardRefusal }
  | { kind: 'twin'; twins: readonly Twin[] }
  /** More than the person's roles let charge, by now: nothing was sent. */
  | { kind: 'over_limit'; refusal: LimitRefusal }
  /** The alert it was begun from is resolved, closed or being charged by now: nothing was sent. */
  | { kind: 'alert_taken'; taken: AlertTaken };

/** What became of a charge that was agreed to. */
export type SubmitResult =
  | Claimed
  /** A second person decides: nothing was sent, and this dialogue's charge is what they decide about, whatever it is asked again. */
  | { kind: 'awaiting_approval'; approval: Approval }
  /** The reviewed terms are gone (half an hour) or different by now: nothing was sent. */
  | { kind: 'stale' }
  /** The store stopped answering while the charge was being written: if it is there it will be charged, once. */
  | { kind: 'unsure'; reference: string };

type SubmitRequest = {
  /** The dialogue: its reference is made of it, so that a double submit is the same charge. */
  viewId: string;
  /** What `keepDraft` gave for the terms the person has just read. */
  draft: string;
  by: string;
  /** The twins the person was shown and chose to charge beside. */
  despite?: readonly string[];
  /** A second person is asked whether the card is charged though it is on hold; why now, in the agent's words. */
  override?: string;
};

/** What the limits and the card are asked about one charge. */
type Asked = CardClaim & LimitedCharge;

/** What other features hand over to submit a charge. */
export type ForSubmits = {
  alerts: AlertClaims;
  /** Absent: no charge needs a second person. */
  approvals?: ApprovalGate | undefined;
};

/** From the reviewed terms to the stored charge: what stands in its way, and the claims on alert, limits and card. */
export function createSubmits(
  account: Account,
  own: {
    charges: ChargeBook;
    cards: CardHistory;
    limits: LimitClaims;
    runner: Pick<ChargeRunner, 'run' | 'see' | 'background'>;
    around: ForSubmits;
  },
) {
  const { charges, cards, limits, runner, around } = own;
  const drafts = createDrafts(account);

  /** The failure it is charged again for, as an attempt of this card. */
  async function outsideOf({ alert }: ShownTerms, card: string): Promise<Pick<CardClaim, 'outside'>> {
    const outside = alert === undefined ? undefined : await around.alerts.declined(alert, card);
    return withoutUndefined({ outside });
  }

  async function askedFor(charge: ShownCharge, atMs: number): Promise<Asked> {
    return { ...askedOf(charge, atMs), ...(await outsideOf(charge.terms, charge.card)) };
  }

  /**
   * Why it could not be charged as things are; undefined: nothing stands in its way, or `claim` has it claimed. `ofMs`: the
   * day it counts for.
   */
  async function meet(asked: Asked, how: 'judge' | 'claim', ofMs = asked.atMs) {
    const limit = await limits[how]({ ...asked, atMs: ofMs });
    if (limit.kind === 'refused') return { kind: 'over_limit', refusal: limit.refusal } as const;
    const card = await cards[how](asked);
    return card.kind === 'claimed' ? undefined : card;
  }

  /** Every restriction on these terms, before anybody presses. Counts and claims nothing: `submit` decides. */
  async function review(of: { viewId: string; terms: ChargeTerms; by: string }): Promise<ChargeReview> {
    const { viewId, terms, by } = of;
    const { money } = terms;
    const card = await account.fingerprint(terms.tokenKey);
    const outside = await outsideOf(terms, card);
    const atMs = account.now();
    const readAtMs = await drafts.readSince(viewId, terms);
    const asked: Asked = {
      card,
      reference: referenceOf(viewId),
      money,
      by,
      atMs,
      ...withoutUndefined({ readAtMs }),
      ...outside,
    };
    const met = await meet(asked, 'judge');
    if (met?.kind === 'over_limit') return met;
    const hold = met?.kind === 'refused' ? met.refusal : undefined;
    const mayOverride =
      hold?.kind === 'resting' && around.approvals?.needFor({ kind: 'retry' }) !== undefined;
    const overriding: { overridesRest?: true } = mayOverride ? { overridesRest: true } : {};
    // What stands in the way besides the hold is seen with it, or asking for approval would lead back to here.
    const beside = mayOverride ? await cards.judge({ ...asked, ...overriding }) : met;
    const twins = beside?.kind === 'twin' ? beside.twins : undefined;
    const approval =
      hold && !mayOverride ? undefined : around.approvals?.needFor({ kind: 'charge', money, ...overriding });
    return { kind: 'ready', ...withoutUndefined({ hold, twins, approval }) };
  }

  /** The same of a card alone, by its fingerprint. */
  async function holdOf(of: { card: string; by: string; currency: string }): Promise<CardHold | undefined> {
    const { card, by, currency } = of;
    const verdict = await cards.mayTry(card);
    if (verdict.kind !== 'allowed') return verdict;
    // The smallest charge there is: what refuses it refuses all.
    const money = { minor: 1, currency };
    const limit = await limits.judge({ reference: '', by, card, money, atMs: account.now() });
    return limit.kind === 'refused' && limit.refusal.kind === 'over'
      ? { kind: 'limit', limit: limit.refusal.limit }
      : undefined;
  }

  async function submit(request: SubmitRequest): Promise<SubmitResult> {
    const { viewId, draft, by, despite, override } = request;
    const reference = referenceOf(viewId);
    const known = await charges.read(reference);
    if (known) return { kind: 'known', charge: await runner.see(known) };
    // One dialogue, one charge, and so one request for it, whatever its terms are by now.
    const asked = await around.approvals?.desk.find(reference);
    if (asked) return { kind: 'awaiting_approval', approval: asked };
    const kept = await drafts.readDraft(viewId, draft);
    if (!kept) return { kind: 'stale' };
    const { terms: reviewed, readAtMs } = kept;
    const reason = [override, reviewed.reason].filter((part) => part !== undefined).join(' · ');
    const terms = override === undefined ? reviewed : { ...reviewed, reason };
    // Taken before anything is claimed: a process that sleeps on the way wakes up too late to charge.
    const nowMs = account.now();
    const card = await account.fingerprint(terms.tokenKey);
    const charge = { reference, terms, card, by, viewId, readAtMs, ...withoutUndefined({ despite }) };
    return (await askForApproval(charge, override)) ?? (await claimAndBegin(charge, nowMs));
  }

  /**
   * Undefined: nobody else is needed. Nobody is asked about a charge that could not be made as things are: alert and card
   * are looked at first, and neither claimed nor changed.
   */
  async function askForApproval(
    given: ApprovedCharge,
    override: string | undefined,
  ): Promise<SubmitResult | undefined> {
    const { approvals, alerts } = around;
    if (!approvals) return undefined;
    // Whoever asks for an override is asked about it, also when the rest has just ended: that is what they pressed.
    const overrides = override !== undefined && approvals.needFor({ kind: 'retry' }) !== undefined;
    const charge: ApprovedCharge = overrides ? { ...given, overridesRest: true } : given;
    const { by, readAtMs: _ofTheDraft, ...kept } = charge;
    const { terms, reference: id, overridesRest } = kept;
    const question = { money: terms.money, ...withoutUndefined({ overridesRest }) };
    const need = approvals.needFor({ kind: 'charge', ...question });
    if (!need) return undefined;
    const taken = terms.alert === undefined ? undefined : await alerts.taken(terms.alert, id);
    if (taken) return { kind: 'alert_taken', taken };
    const met = await meet(await askedFor(charge, account.now()), 'judge');
    if (met) return met;
    const approval = await approvals.desk.request({ id, terms: { kind: 'charge', ...kept }, by, ...need });
    return { kind: 'awaiting_approval', approval };
  }

  async function claimAndBegin(charge: ApprovedCharge, nowMs: number, ofMs = nowMs): Promise<Claimed> {
    const { reference, by, terms } = charge;
    const alert =
      terms.alert === undefined ? undefined : await around.alerts.claim(terms.alert, { reference, by });
    if (alert?.kind === 'taken') return { kind: 'alert_taken', taken: alert.taken };
    const asked = await askedFor(charge, nowMs);
    // Judged before anything is claimed: what is refused takes nothing of a limit, unless two submits race.
    const met = (await meet(asked, 'judge', ofMs)) ?? (await meet(asked, 'claim', ofMs));
    if (!met) return await begin(charge, nowMs);
    await alert?.release();
    return met;
  }

  async function begin(charge: ApprovedCharge, nowMs: number): Promise<Claimed> {
    const record = firstOf(charge, nowMs, account.settings.chargeRepeatLost === 'off');
    const known = await charges.add(record.record);
    if (known) return { kind: 'known', charge: await runner.see(known) };
    const { reference, by } = charge;
    tagLog({ orderReference: reference });
    account.log('info', 'charge stored', { orderReference: reference, userId: by });
    return { kind: 'begun', charge: seenOf(record.record), carryOn: () => runner.run(record) };
  }

  /** What the same card and amount did since the terms were read, besides `despite`: nothing where the card refuses the charge. */
  async function twinsOf(charge: ShownCharge): Promise<readonly Twin[]> {
    const judged = await cards.judge(await askedFor(charge, account.now()));
    return judged.kind === 'twin' ? judged.twins : [];
  }

  /**
   * The same for terms that were approved: they come from the approval and not from a draft, and nobody is asked again.
   * Timed from `nowMs`, when the caller last knew that it may charge; it counts for the day it was asked for, as its
   * approvers were told. Everything else holds as it does for any charge.
   * Again for the same reference it finds the charge. Throws StoreUnavailable, and may then be called again.
   */
  async function submitApproved(charge: ApprovedCharge, nowMs: number): Promise<ApprovedEnd> {
    if (await charges.read(charge.reference)) return { kind: 'begun' };
    const result = await claimAndBegin(charge, nowMs, charge.readAtMs);
    if (result.kind === 'begun') runner.background.add(result.carryOn());
    return endOf(result);
  }

  return {
    ...drafts,
    review,
    holdOf,
    submitApproved,
    twinsOf,

    /**
     * Charges on the reviewed terms, at most once for a dialogue, if the card may be charged now. The intent is
     * stored before anything leaves: a crash from here on is found by its timer. A store that is away is `unsure`.
     */
    async submit(request: SubmitRequest): Promise<SubmitResult> {
      try {
        return await submit(request);
      } catch (error) {
        if (!(error instanceof StoreUnavailable)) throw error;
        // This dialogue may have charged before: what is known of it is its reference, and nothing else.
        return { kind: 'unsure', reference: referenceOf(request.viewId) };
      }
    },
  };
}

function askedOf({ terms, ...charge }: ShownCharge, atMs: number): Asked {
  const { reference, card, by, readAtMs, despite, overridesRest } = charge;
  const { money } = terms;
  return { reference, card, by, money, atMs, readAtMs, ...withoutUndefined({ despite, overridesRest }) };
}

/** The charge as it is stored before anything of it leaves, and what leaves then. */
function firstOf({ reference, terms, card, by, viewId }: ApprovedCharge, nowMs: number, sendsOnce: boolean) {
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

function endOf(result: Claimed): ApprovedEnd {
  switch (result.kind) {
    case 'begun':
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
      return {
        kind: 'stopped',
        why: `Since then, ${twinReferences(result.twins)} charged this card the same. Still owed? Ask again.`,
      };
    case 'alert_taken':
      return { kind: 'stopped', why: takenWords(result.taken) };
  }
}

function twinReferences(twins: readonly Twin[]): string {
  return twins.map(({ reference }) => reference).join(', ');
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

/** Of a draft of an earlier release nobody knows when it was read: it asks about every twin there was. */
const chargeDraft = z.object({ word: z.string(), terms: chargeTermsShape, readAtMs: z.number().default(0) });

type ChargeDraft = z.infer<typeof chargeDraft>;

function isSame(one: ChargeTerms, other: ChargeTerms): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** The terms of a charge under review, until they are submitted. All of it throws StoreUnavailable. */
function createDrafts(account: Account) {
  const kind = { prefix: 'draft:', schema: chargeDraft };
  const records = createRecords<ChargeDraft>(account, kind);
  return {
    /**
     * Keeps the terms for half an hour in place of the dialogue's earlier ones, and gives a word for exactly them:
     * the same terms kept again give the same word. It reveals nothing of them, so it may stand in a view.
     */
    async keepDraft(viewId: string, given: ChargeTerms): Promise<string> {
      // In the order of the schema, whatever order they come in.
      const terms = chargeTermsShape.parse(given);
      const newWord = randomBytes(16).toString('hex');
      return await records.change(viewId, (before) => {
        const { word, readAtMs } =
          before && isSame(before.terms, terms) ? before : { word: newWord, readAtMs: account.now() };
        return {
          kind: 'write',
          value: { word, terms, readAtMs },
          rest: { ttlMs: draftKeepMs },
          result: word,
        };
      });
    },
    /** The terms and when they were read first, if they are the ones this word was given for; undefined when they are gone or others by now. */
    async readDraft(viewId: string, word: string): Promise<ChargeDraft | undefined> {
      const draft = await records.read(viewId);
      return draft?.word === word ? draft : undefined;
    },
    /** When this dialogue was shown these very terms first, UTC ms; undefined: it was not. */
    async readSince(viewId: string, given: ChargeTerms): Promise<number | undefined> {
      const draft = await records.read(viewId);
      return draft && isSame(draft.terms, chargeTermsShape.parse(given)) ? draft.readAtMs : undefined;
    },
  };
}
