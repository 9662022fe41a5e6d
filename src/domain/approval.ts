import type { EmailChange, CardFace } from './card.ts';
import type { ChargeTerms, ShownTerms } from './charge.ts';
import type { Money } from './money.ts';
import type { OrderReference } from './order-reference.ts';

/**
 * Exactly what is to be done once it is approved, as approvers read it: one copy is shown, hashed and done. E-mails are in
 * full, and each screen masks them. `card`: its fingerprint. `despite`: the twins that the requester was shown and
 * chose to charge beside. `overridesRest`: the card is on hold after a decline, and the approval is for charging it all
 * the same.
 */
export type ApprovalShown = ChargeAsked<ShownTerms> | EmailAsked<ShownCardEmail>;

/** The same with the card's token key, as it is asked for and done. */
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

/** What is charged, once enough people have approved exactly this. `readAtMs`: when the requester read the terms, UTC ms. */
export type ApprovedCharge = Omit<ChargeAsked<ChargeTerms>, 'kind'> & { by: string; readAtMs: number };

/** The same without the card's token key. */
export type ShownCharge = Omit<ApprovedCharge, 'terms'> & { terms: ShownTerms };

/** What comes of one that was approved. `later`: what it must be judged by cannot be asked now. `why` is for people. */
export type ApprovedEnd = { kind: 'begun' } | { kind: 'stopped'; why: string } | { kind: 'later' };

type EmailAsked<Terms> = { kind: 'card_email'; terms: Terms; card: string };

/** A request waits no longer than a week, whatever the policy says. */
export const longestRequestMinutes = 7 * 24 * 60;

/** `despite`: the twins since the request that they were shown, and approved beside. */
export type Decision = { by: string; atMs: number; despite?: readonly string[] };

export type ApprovalState =
  | { kind: 'waiting' }
  /** Enough people approved; it is being done, or will be as soon as a worker has it. */
  | { kind: 'approved'; atMs: number }
  /** Done: a charge was begun (its own message tells what became of it), an e-mail changed. */
  | { kind: 'executed'; atMs: number; result: string }
  /** Approved, and yet not done: what it was judged by no longer held. `why` is a sentence for people. */
  | { kind: 'stopped'; atMs: number; why: string }
  | { kind: 'refused'; atMs: number; by: string; reason: string }
  | { kind: 'expired'; atMs: number }
  /** Taken back by whoever asked. */
  | { kind: 'withdrawn'; atMs: number };

/** One request for a second person's decision, as it may be shown. Times are UTC ms. */
export type Approval = {
  /** Of a charge its reference; else `apr-` and 26 base32 characters. */
  id: string;
  shown: ApprovalShown;
  /** Hash of account, card fingerprint, amount, currency, e-mail and reference: what is approved and what is done are one. */
  termsHash: string;
  /** Why it needs a second person, a sentence: *Charges from NGN 50,000.00 need one approver*. */
  rule: string;
  by: string;
  askedAtMs: number;
  expiresAtMs: number;
  needed: number;
  /** Of different people, none of them `by`; the oldest first. */
  approvals: readonly Decision[];
  /** Its end was near, and everybody was told so. */
  isWarned: boolean;
  state: ApprovalState;
};

/** Asked by whatever may need a second person. Absent wherever `payops.yml` has no rule: then all is as without it. */
export type ApprovalGate = {
  /** Undefined: nobody else is needed. For `retry` it also says whether an override may be asked for at all. */
  needFor(question: ApprovalQuestion): ApprovalNeeded | undefined;
  /** Both throw StoreUnavailable. */
  desk: {
    /** Written down, and told to whoever may decide. Asked again for the same id it gives what is kept. */
    request(request: ApprovalRequest): Promise<Approval>;
    find(id: string): Promise<Approval | undefined>;
  };
  /** A charge has an outcome: the messages of its request, if it had one, show it. On record when it resolves. */
  charged(reference: string): Promise<void>;
};

export type ApprovalRequest = { id: string; terms: ApprovalTerms; by: string } & ApprovalNeeded;

/** One line of `approvals.rules`, for one merchant account. */
export type ApprovalRule =
  | { what: 'charge'; currency: string; fromMinor: number; needed: number }
  | { what: 'retry' | 'card_email'; needed: number };

/** What is about to be done. `retry` alone asks whether a card that rests may be charged at all with a second person. */
export type ApprovalQuestion =
  | { kind: 'charge'; money: Money; overridesRest?: true }
  | { kind: 'retry' | 'card_email' };

/** `rule` is a sentence for people: *Charges from NGN 50,000.00 need one approver*. */
export type ApprovalNeeded = { rule: string; needed: number };

/** A change of a saved card's e-mail, whole, as a person agreed to it. `tokenKey` is a secret: it is kept sealed. */
export type CardEmailTerms = EmailChange & { card: CardFace };

/** The same as it may be read out to whoever is allowed to change it. */
export type ShownCardEmail = Omit<CardEmailTerms, 'tokenKey'>;

/**
 * What may become of a change. Only `changed` changes anything; after `unknown` it may have been changed: the answer was
 * lost, or the process that asked has died.
 */
export const cardEmailEnds = [
  'changed',
  /** The current e-mail that was given is not the one linked to the card. */
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

/** As people are told it and as it is kept; the message is the service's own. */
export type CardEmailEnd = {
  kind: (typeof cardEmailEnds)[number];
  message?: string;
};
