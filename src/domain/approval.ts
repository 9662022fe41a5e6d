import type { EmailChange, CardFace } from './card.ts';
import type { ChargeTerms, ShownTerms } from './charge.ts';
import type { Money } from './money.ts';
import type { OrderReference } from './order-reference.ts';

/**
 * Exactly what an approval allows, as approvers read it: one copy is shown, hashed and done. E-mails are whole; screens
 * mask them. `card`: its fingerprint. `despite`: twins that the requester saw and charges beside. `overridesRest`: the card
 * is on hold, and approval lifts that.
 */
export type ApprovalShown = ChargeAsked<ShownTerms> | EmailAsked<ShownCardEmail>;

/** The same with the card's token key, for the request and the charge. */
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

/** An approved charge. `readAtMs`: when the requester read the terms, UTC ms. */
export type ApprovedCharge = Omit<ChargeAsked<ChargeTerms>, 'kind'> & { by: string; readAtMs: number };

/** The same without the token key. */
export type ShownCharge = Omit<ApprovedCharge, 'terms'> & { terms: ShownTerms };

/** The result of an approved charge. `later`: a check can't be made now. `why` is for people. */
export type ApprovedEnd = { kind: 'begun' } | { kind: 'stopped'; why: string } | { kind: 'later' };

type EmailAsked<Terms> = { kind: 'card_email'; terms: Terms; card: string };

/** No request waits longer than a week, even if the policy allows more. */
export const longestRequestMinutes = 7 * 24 * 60;

/** `despite`: twins since the request that the approver saw and approved beside. */
export type Decision = { by: string; atMs: number; despite?: readonly string[] };

export type ApprovalState =
  | { kind: 'waiting' }
  /** Enough people approved; a worker does it. */
  | { kind: 'approved'; atMs: number }
  /** Done: the e-mail changed, or a charge began, which posts its own result. */
  | { kind: 'executed'; atMs: number; result: string }
  /** Approved and not done: a check failed by then. `why` is a sentence for people. */
  | { kind: 'stopped'; atMs: number; why: string }
  | { kind: 'refused'; atMs: number; by: string; reason: string }
  | { kind: 'expired'; atMs: number }
  /** Taken back by the requester. */
  | { kind: 'withdrawn'; atMs: number };

/** One request for a second person, without secrets. Times are UTC ms. */
export type Approval = {
  /** The charge's reference; for an e-mail `apr-` and 26 base32 characters. */
  id: string;
  shown: ApprovalShown;
  /** Hash of account, card, amount, currency, e-mail and reference: the approved terms are the ones done. */
  termsHash: string;
  /** Why a second person is needed: *Charges from NGN 50,000.00 need one approver*. */
  rule: string;
  by: string;
  askedAtMs: number;
  expiresAtMs: number;
  needed: number;
  /** Different people, never the requester; oldest first. */
  approvals: readonly Decision[];
  /** People were told that it expires soon. */
  isWarned: boolean;
  state: ApprovalState;
};

/** Decides whether an action needs a second person. Absent if `payops.yml` has no rule. */
export type ApprovalGate = {
  /** Undefined: nobody else is needed. For `retry` it also says whether an override may be asked for at all. */
  needFor(question: ApprovalQuestion): ApprovalNeeded | undefined;
  /** All methods throw StoreUnavailable. */
  desk: {
    /** Stores the request and asks its approvers. A repeat with the same id returns the stored one. */
    request(request: ApprovalRequest): Promise<Approval>;
    find(id: string): Promise<Approval | undefined>;
  };
  /** Shows a charge's outcome in its request's messages, if there are any. Resolves once stored. */
  charged(reference: string): Promise<void>;
};

export type ApprovalRequest = { id: string; terms: ApprovalTerms; by: string } & ApprovalNeeded;

/** One line of `approvals.rules`, for one merchant account. */
export type ApprovalRule =
  | { what: 'charge'; currency: string; fromMinor: number; needed: number }
  | { what: 'retry' | 'card_email'; needed: number };

/** The action in question. Only `retry` asks to charge a card on hold. */
export type ApprovalQuestion =
  | { kind: 'charge'; money: Money; overridesRest?: true }
  | { kind: 'retry' | 'card_email' };

/** `rule` is a sentence for people: *Charges from NGN 50,000.00 need one approver*. */
export type ApprovalNeeded = { rule: string; needed: number };

/** A change of a saved card's e-mail, as reviewed. `tokenKey` is a secret, stored sealed. */
export type CardEmailTerms = EmailChange & { card: CardFace };

/** The same for people who may change it. */
export type ShownCardEmail = Omit<CardEmailTerms, 'tokenKey'>;

/**
 * The result of a change. Only `changed` is certain to have changed anything. After `unknown` the e-mail may be changed:
 * the answer was lost, or the process died.
 */
export const cardEmailEnds = [
  'changed',
  /** The given current e-mail is not the card's. */
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

/** Shown and stored; the message is the service's own. */
export type CardEmailEnd = {
  kind: (typeof cardEmailEnds)[number];
  message?: string;
};
