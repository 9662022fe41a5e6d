import type { EmailChange, CardFace } from './card.ts';
import type { ChargeTerms, ShownTerms } from './charge.ts';
import type { Money } from './money.ts';
import type { OrderReference } from './order-reference.ts';

/**
 * What an approval allows, exactly: approvers see these terms, and the hash covers them. E-mail addresses are whole;
 * screens mask them. `card`: its fingerprint. `despite`: equal recent charges, and other open payments, that the
 * requester saw and accepted (see `asAccepted`). `overridesRest`: the card is on hold after a decline, and the approval
 * lifts that hold.
 */
export type ApprovalShown = ChargeAsked<ShownTerms> | EmailAsked<ShownCardEmail>;

/** `ApprovalShown` with the card's token key, for the stored request and the charge. */
export type ApprovalTerms = ChargeAsked<ChargeTerms> | EmailAsked<CardEmailTerms>;

type ChargeAsked<Terms> = {
  kind: 'charge';
  reference: OrderReference;
  terms: Terms;
  card: string;
  viewId: string;
  despite?: readonly string[];
  overridesRest?: true;
};

/** An approved charge. `readAtMs`: when the requester saw the terms, UTC ms. */
export type ApprovedCharge = Omit<ChargeAsked<ChargeTerms>, 'kind'> & { by: string; readAtMs: number };

/** `ApprovedCharge` without the token key. */
export type ShownCharge = Omit<ApprovedCharge, 'terms'> & { terms: ShownTerms };

/** The result of charging approved terms. `later`: a check couldn't be made, so try again. `why` is for people. */
export type ApprovedEnd = { kind: 'begun' } | { kind: 'stopped'; why: string } | { kind: 'later' };

type EmailAsked<Terms> = { kind: 'card_email'; terms: Terms; card: string };

/** A week: the longest time that the policy may let a request wait for a decision. */
export const longestRequestMinutes = 7 * 24 * 60;

/** `despite`: equal charges made since the request, which the approver saw and accepted (see `asAccepted`). */
export type Decision = { by: string; atMs: number; despite?: readonly string[] };

export type ApprovalState =
  | { kind: 'waiting' }
  /** Enough people have approved; a worker now carries it out. */
  | { kind: 'approved'; atMs: number }
  /** Carried out: the e-mail was changed, or the charge was begun (its outcome is posted later). */
  | { kind: 'executed'; atMs: number; result: string }
  /** Approved but not carried out, because a check failed. `why` is a sentence for people. */
  | { kind: 'stopped'; atMs: number; why: string }
  | { kind: 'refused'; atMs: number; by: string; reason: string }
  | { kind: 'expired'; atMs: number }
  | { kind: 'withdrawn'; atMs: number };

/** One request for a second person, without secrets. Times are UTC ms. */
export type Approval = {
  /** The charge's order reference; for a change of an e-mail `apr-` and 26 base32 characters. */
  id: string;
  shown: ApprovalShown;
  /**
   * Hash of account, card, amount, currency, e-mail and reference. It is compared before the action, so that only
   * approved terms are carried out.
   */
  termsHash: string;
  /** Why a second person is needed: *Charges from NGN 50,000.00 need one approver*. */
  rule: string;
  by: string;
  askedAtMs: number;
  expiresAtMs: number;
  needed: number;
  /** By different people, never by the requester; oldest first. */
  approvals: readonly Decision[];
  /** The reminder that the request expires soon was posted. */
  isWarned: boolean;
  state: ApprovalState;
};

/** Requests for a second person's approval. There is no gate if `payops.yml` has no approval rules. */
export type ApprovalGate = {
  /**
   * How many people must approve an action; undefined: none. For `retry`, undefined: nobody can ask to charge a card on
   * hold.
   */
  needFor(question: ApprovalQuestion): ApprovalNeeded | undefined;
  /**
   * Stores the request and asks its approvers. For a known id it returns the stored request. Throws StoreUnavailable.
   */
  request(request: ApprovalRequest): Promise<Approval>;
  /** Throws StoreUnavailable. */
  find(id: string): Promise<Approval | undefined>;
  /**
   * Updates the messages of the charge's approval request, if there was one, with the charge's outcome. Resolves once
   * stored.
   */
  charged(reference: string): Promise<void>;
};

export type ApprovalRequest = { id: string; terms: ApprovalTerms; by: string } & ApprovalNeeded;

/** One line of `approvals.rules`, for one merchant account. */
export type ApprovalRule =
  | { what: 'charge'; currency: string; fromMinor: number; needed: number }
  | { what: 'retry' | 'card_email'; needed: number };

/**
 * The action in question. `retry`: whether people may ask to charge a card on hold at all. `overridesRest`: this charge
 * is of a card on hold.
 */
export type ApprovalQuestion =
  | { kind: 'charge'; money: Money; overridesRest?: true }
  | { kind: 'retry' | 'card_email' };

/** `rule` is a sentence for people: *Charges from NGN 50,000.00 need one approver*. */
export type ApprovalNeeded = { rule: string; needed: number };

/** A change of a saved card's e-mail, as reviewed. `tokenKey` is a secret, stored sealed. */
export type CardEmailTerms = EmailChange & { card: CardFace };

/** `CardEmailTerms` without the token key, for people who may change the e-mail. */
export type ShownCardEmail = Omit<CardEmailTerms, 'tokenKey'>;

/**
 * Results of changing a card's e-mail. Only `changed` is certain to have changed it. After `unknown` the e-mail may
 * have been changed: the answer was lost, or the process died.
 */
export const cardEmailEnds = [
  'changed',
  /** The current e-mail that was given is not the card's. */
  'not_linked',
  'no_such_card',
  'email_invalid',
  'refused',
  'invalid_request',
  'unauthorized',
  'forbidden',
  'rate_limited',
  'unknown',
] as const;

/** The result as it is shown and stored. `message`: the service's own words. */
export type CardEmailEnd = {
  kind: (typeof cardEmailEnds)[number];
  message?: string;
};
