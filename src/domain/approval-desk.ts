import type { Approval, ApprovalTerms } from './approval.ts';
import type { Money } from './money.ts';
import type { ApprovalNeeded, ApprovalQuestion } from './approval-rules.ts';

export type DecideResult =
  /** This click was the one that counted; with more than one needed it may still be `waiting`. */
  | { kind: 'decided'; approval: Approval }
  /** Decided, expired or withdrawn before: nothing changed. */
  | { kind: 'over'; approval: Approval }
  | { kind: 'own_request'; approval: Approval }
  /** The same person has approved it before. */
  | { kind: 'approved_before'; approval: Approval }
  /** What was shown to them is not what is kept: nothing changed. */
  | { kind: 'other_terms'; approval: Approval }
  | { kind: 'unknown_approval' };

/** What a second person decides. All of it throws StoreUnavailable when the store is away; then nothing was decided. */
export type ApprovalDesk = {
  /** Written down, and told to whoever may decide. Asked again for the same id it gives what is kept. */
  request(request: {
    id: string;
    terms: ApprovalTerms;
    by: string;
    rule: string;
    needed: number;
  }): Promise<Approval>;
  find(id: string): Promise<Approval | undefined>;
  /** One atomic decision; whether the person may decide at all was asked just before, and is the caller's. */
  approve(request: { id: string; by: string; termsHash: string }): Promise<DecideResult>;
  refuse(request: { id: string; by: string; reason: string }): Promise<DecideResult>;
  /** Of whoever asked, while it waits. */
  withdraw(request: { id: string; by: string }): Promise<DecideResult>;
  /** Every open one, oldest first. */
  waiting(): Promise<readonly Approval[]>;
  /** This person's own requests, newest first. */
  askedBy(userId: string, max: number): Promise<readonly Approval[]>;
  /** How many people were asked to decide it; 0 while that could not be found out. */
  askedOf(id: string): Promise<number>;
  /** From now on this window is shown what becomes of the request, until something else takes its place. */
  watch(approval: Approval, view: ApprovalView): Promise<void>;
};

/** A window that waits for the decision, and whose it is. */
export type ApprovalView = { id: string; userId: string };

/** Asked by whatever may need a second person. Absent wherever `payops.yml` has no rule: then all is as without it. */
export type ApprovalGate = {
  /** Undefined: nobody else is needed. For `retry` it also says whether an override may be asked for at all. */
  needFor(question: ApprovalQuestion): ApprovalNeeded | undefined;
  /** From which amount a charge in this currency needs somebody. */
  chargesFrom(currency: string): Money | undefined;
  desk: Pick<ApprovalDesk, 'request' | 'find' | 'waiting'>;
  /** A charge has an outcome: the messages of its request, if it had one, show it. On record when it resolves. */
  charged(reference: string): Promise<void>;
};
