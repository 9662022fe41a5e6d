import type { Doubts } from './charges-in-doubt.ts';
import type { AlertTaken } from '../../domain/alert-card.ts';
import type { ApprovalNeeded } from '../../domain/approval-rules.ts';
import type { Approval } from '../../domain/approval.ts';
import type { CardHold, CardRefusal, Twin } from '../../domain/card-refusal.ts';
import type { LimitRefusal, OwnLimits, SeenLimits } from '../../domain/charge-limits.ts';
import type { ChargeSeen } from '../../domain/charge-seen.ts';
import type { ChargeTerms } from '../../domain/charge-terms.ts';

export type SubmitResult =
  /** Stored: whatever happens now, it is settled. `carryOn` sends it, and resolves when this process has done what it can. */
  | { kind: 'begun'; charge: ChargeSeen; carryOn: () => Promise<void> }
  /** This very dialogue has charged already: a double click, a repeated delivery. Nothing more happens. */
  | { kind: 'known'; charge: ChargeSeen }
  | { kind: 'refused'; refusal: CardRefusal }
  | { kind: 'twin'; twin: Twin }
  /** More than the person's roles let charge, by now: nothing was sent. */
  | { kind: 'over_limit'; refusal: LimitRefusal }
  /** A second person decides: nothing was sent, and this dialogue's charge is what they decide about, whatever it is asked again. */
  | { kind: 'awaiting_approval'; approval: Approval }
  /** The alert it was begun from is resolved, closed or being charged by now: nothing was sent. */
  | { kind: 'alert_taken'; taken: AlertTaken }
  /** The terms that were read back are gone (half an hour) or others by now: nothing was sent. */
  | { kind: 'stale' }
  /** The store stopped answering while the charge was being written: if it is there it will be charged, once. */
  | { kind: 'unsure'; reference: string };

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

export type SubmitRequest = {
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

export type CodeResult =
  /** The try is counted; `carryOn` sends the code, which nothing else keeps. */
  | { kind: 'checking'; charge: ChargeSeen; carryOn: () => Promise<void> }
  /** Somebody else has it in hand: only they may enter a code, or whoever takes it over. */
  | { kind: 'not_yours'; charge: ChargeSeen }
  /** No code is asked for now: one is being checked, the time is over, it is settled. */
  | { kind: 'not_open'; charge: ChargeSeen }
  | { kind: 'unknown_charge' };

export type ResendResult =
  | { kind: 'asked'; charge: ChargeSeen; carryOn: () => Promise<void> }
  /** Asked for less than half a minute ago. */
  | { kind: 'too_soon'; charge: ChargeSeen; againAt: number }
  | { kind: 'not_yours'; charge: ChargeSeen }
  | { kind: 'not_open'; charge: ChargeSeen }
  | { kind: 'unknown_charge' };

export type LinkResult =
  | { kind: 'created'; charge: ChargeSeen; link: string }
  /** The service refused it, or its outcome is unknown; nothing was charged either way. */
  | { kind: 'not_created'; why: string }
  | { kind: 'unknown_charge' };

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
