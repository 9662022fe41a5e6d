// A stored request for approval: who may decide it, when it expires, which run carries it out, and its audit entries.
// All pure.

import { hash } from 'node:crypto';
import { z } from 'zod';
import type {
  Approval,
  ApprovalNeeded,
  ApprovalQuestion,
  ApprovalRule,
  ApprovalShown,
  ApprovalState,
  ApprovalTerms,
  Decision,
} from '../../domain/approval.ts';
import { type AuditEntry, stored } from '../../records/shapes.ts';
import { withoutUndefined } from '../../domain/json.ts';
import { formatMoney } from '../../domain/money.ts';
import { growingDelayMs } from '../../deadline.ts';
import type { CaseRules, Cases } from '../../records/cases.ts';
import type { Index } from '../../store/store.ts';

/**
 * Where a request is posted and to whom. Fixed when it is made, so that every copy is edited to the end even if
 * permissions or channels change. Each press checks again whether the person may decide.
 */
const copies = z.object({ channel: z.string().exactOptional(), approvers: z.array(z.string()) });
export type Copies = z.infer<typeof copies>;

/** The lease of a run, which carries out an approved request; another run may take over at `untilMs`. */
const run = z.object({ id: z.string(), untilMs: z.number() });

/** A request and how far its execution is. */
const approvalCase = z.object({
  approval: stored<Approval>('shown', 'termsHash', 'approvals', 'state'),
  /** The card's token key; removed once nothing is left to do. */
  tokenKey: z.string().exactOptional(),
  run: run.exactOptional(),
  /** A run is about to change the e-mail at the service, or has. No later run may repeat that call. */
  asked: z.literal(true).exactOptional(),
  /** How often in a row a run ended without effect (`put_off`). */
  misses: z.int(),
  copies,
});
export type ApprovalCase = z.infer<typeof approvalCase>;

type ApprovalCaseEvent =
  | ApprovalEvent
  /**
   * A run takes the lease, or renews its own before it expires. `callsOnce`: the run next makes a call that must not be
   * repeated.
   */
  | { kind: 'claimed'; run: z.infer<typeof run>; callsOnce?: boolean }
  /** The run's result; ignored if another run has taken over. */
  | { kind: 'ended'; runId: string; end: Extract<ApprovalEvent, { kind: 'executed' | 'stopped' }> }
  /** The run ends without effect; the next one starts after a growing delay. */
  | { kind: 'put_off'; runId: string };

export type ApprovalCases = Cases<ApprovalCase, ApprovalCaseEvent>;

export const approvalPrefix = 'approval:';
/** Where a stored reason begins with these words, screens show the requester’s name instead. */
export const theRequester = 'The requester';

/** Lists of requests by time: open ones (waiting or approved), and each person's own. */
export const approvalLists = { open: 'open-approvals', of: (userId: string) => `approvals-of:${userId}` };

function listsOf({ approval: { by, askedAtMs, state } }: ApprovalCase): Index {
  const isOpen = state.kind === 'waiting' || state.kind === 'approved';
  return { [approvalLists.of(by)]: askedAtMs, ...(isOpen ? { [approvalLists.open]: askedAtMs } : {}) };
}

export const approvalRules: CaseRules<ApprovalCase, ApprovalCaseEvent> = {
  prefix: approvalPrefix,
  schema: approvalCase,
  lists: listsOf,
  step,
  dueInMs,
  needsMessage: (before, after) => before.approval !== after.approval,
  shortened: ({ tokenKey, ...over }, isOver) => (tokenKey && !isOver ? { ...over, tokenKey } : over),
  auditEntries: ({ before, after }) =>
    auditOf(after.approval).slice(before ? auditOf(before.approval).length : 0),
};

/** Judges runs: one at a time may carry out an approved request. People's decisions are judged by `decide`. */
function step(before: ApprovalCase, event: ApprovalCaseEvent, nowMs: number): ApprovalCase | undefined {
  const { approval, run } = before;
  switch (event.kind) {
    case 'claimed': {
      // A run may renew its own lease only before it expires, and take another's only after.
      const isFree = !run || (run.id === event.run.id) === nowMs < run.untilMs;
      if (approval.state.kind !== 'approved' || !isFree || (event.callsOnce && before.asked))
        return undefined;
      return { ...before, run: event.run, ...(event.callsOnce ? { asked: true } : {}) };
    }
    case 'put_off':
      return run?.id === event.runId ? { ...withoutRun(before), misses: before.misses + 1 } : undefined;
    case 'ended':
      return run?.id === event.runId ? withDecision(withoutRun(before), event.end, nowMs) : undefined;
    default:
      return withDecision(before, event, nowMs);
  }
}

function withoutRun({ run: _over, ...others }: ApprovalCase): ApprovalCase {
  return others;
}

function withDecision(before: ApprovalCase, event: ApprovalEvent, nowMs: number): ApprovalCase | undefined {
  const { approval } = decide(before.approval, event, nowMs);
  return approval === before.approval ? undefined : { ...before, approval };
}

const firstRetryMs = 2_000;
const longestRetryMs = 60_000;

/** In how many ms the request is due again; undefined: never. */
function dueInMs({ approval, run, misses }: ApprovalCase, nowMs: number): number | undefined {
  const deadlineMs = nextDeadlineMs(approval);
  if (deadlineMs !== undefined) return Math.max(0, deadlineMs - nowMs);
  if (approval.state.kind !== 'approved') return undefined;
  if (run) return Math.max(0, run.untilMs - nowMs);
  return misses === 0 ? 0 : growingDelayMs(firstRetryMs, misses - 1, longestRetryMs);
}

export type Approving = { termsHash: string } & Omit<Decision, 'atMs'>;

/** A person's decision, a deadline, or the result of the execution. */
export type ApprovalEvent =
  | ({ kind: 'approve' } & Approving)
  | { kind: 'refuse'; by: string; reason: string }
  | { kind: 'withdraw'; by: string }
  /** It may be time to warn people, or to expire the request. */
  | { kind: 'due' }
  | { kind: 'executed'; result: string }
  | { kind: 'stopped'; why: string };

/**
 * `approval`: the request after the event; the same object if nothing changed. `decided`: the event took effect, but
 * the request may still need more approvals. The other kinds say why the event had no effect. `over`: the request had
 * ended; the first press after the deadline also expires it. `other_terms`: the person saw other terms than the stored
 * ones.
 */
export type Judged = {
  kind: 'decided' | 'over' | 'own_request' | 'approved_before' | 'other_terms' | 'not_theirs' | 'nothing_due';
  approval: Approval;
};

/** People are warned when this part of the request's time is over. */
const warnAfter = 0.75;
/** An approved request may be carried out until its deadline, and in any case for this long after the approval. */
export const executeWithinMs = 15 * 60_000;

/**
 * Judges one event. Without effect: the requester's own approval, a second approval by the same person, an approval of
 * other terms than shown, and any decision after the end. One refusal ends a request, even by a person who approved it
 * before. An ended request doesn't change, except that an approved one becomes executed or stopped, once.
 */
export function decide(approval: Approval, event: ApprovalEvent, nowMs: number): Judged {
  if (event.kind === 'executed' || event.kind === 'stopped') return conclude(approval, event, nowMs);
  const current = expireIfLate(approval, nowMs);
  if (event.kind === 'due') return warnOrExpire(approval, current, nowMs);
  if (current.state.kind !== 'waiting') return { kind: 'over', approval: current };
  switch (event.kind) {
    case 'approve':
      return approve(current, event, nowMs);
    case 'refuse': {
      const { by, reason } = event;
      if (by === current.by) return { kind: 'own_request', approval: current };
      return changed({ ...current, state: { kind: 'refused', atMs: nowMs, by, reason } });
    }
    case 'withdraw':
      return event.by === current.by
        ? changed({ ...current, state: { kind: 'withdrawn', atMs: nowMs } })
        : { kind: 'not_theirs', approval: current };
  }
}

function approve(
  approval: Approval,
  { by, termsHash, despite }: Extract<ApprovalEvent, { kind: 'approve' }>,
  nowMs: number,
): Judged {
  if (by === approval.by) return { kind: 'own_request', approval };
  if (approval.approvals.some((earlier) => earlier.by === by)) return { kind: 'approved_before', approval };
  if (termsHash !== approval.termsHash) return { kind: 'other_terms', approval };
  const decision: Decision = { by, atMs: nowMs, ...withoutUndefined({ despite }) };
  const approvals = [...approval.approvals, decision];
  const isEnough = approvals.length >= approval.needed;
  return changed({
    ...approval,
    approvals,
    state: isEnough ? { kind: 'approved', atMs: nowMs } : approval.state,
  });
}

function expireIfLate(approval: Approval, nowMs: number): Approval {
  const { state, expiresAtMs } = approval;
  if (state.kind !== 'waiting' || nowMs < expiresAtMs) return approval;
  return { ...approval, state: { kind: 'expired', atMs: nowMs } };
}

function warnOrExpire(before: Approval, current: Approval, nowMs: number): Judged {
  if (current !== before) return changed(current);
  const isNear = current.state.kind === 'waiting' && !current.isWarned && nowMs >= warnAtMs(current);
  return isNear ? changed({ ...current, isWarned: true }) : { kind: 'nothing_due', approval: current };
}

function conclude(
  approval: Approval,
  event: Extract<ApprovalEvent, { kind: 'executed' | 'stopped' }>,
  nowMs: number,
): Judged {
  if (approval.state.kind !== 'approved') return { kind: 'over', approval };
  return changed({ ...approval, state: { ...event, atMs: nowMs } });
}

function changed(approval: Approval): Judged {
  return { kind: 'decided', approval };
}

function warnAtMs({ askedAtMs, expiresAtMs }: Approval): number {
  return askedAtMs + Math.floor((expiresAtMs - askedAtMs) * warnAfter);
}

/** When to warn people or to expire the request, UTC ms; undefined: the request waits no more. */
export function nextDeadlineMs(approval: Approval): number | undefined {
  if (approval.state.kind !== 'waiting') return undefined;
  return approval.isWarned ? approval.expiresAtMs : warnAtMs(approval);
}

/**
 * Why a request must not be carried out, in words for people; undefined: it may. For the check right before the
 * execution: `termsHash` is of the terms that will be sent.
 */
export function whyNotExecute(approval: Approval, termsHash: string, nowMs: number): string | undefined {
  const { state, approvals, needed, by, expiresAtMs } = approval;
  if (state.kind !== 'approved') return 'It is not approved.';
  if (termsHash !== approval.termsHash) return 'The terms are not the ones that were approved.';
  const people = new Set(
    approvals.filter((each) => each.by !== by && each.atMs < expiresAtMs).map((each) => each.by),
  );
  if (people.size < needed) return 'It was not approved by enough different people in time.';
  return nowMs < Math.max(expiresAtMs, state.atMs + executeWithinMs)
    ? undefined
    : 'It was approved in time, and its time was over before the bot could do it.';
}

/**
 * The identity of what is approved: SHA-256 (hex) of account, card fingerprint, amount, currency, e-mail, reference,
 * and everything else that changes the effect. The same hash in the button, in the store and at execution proves that
 * the approver saw what is done. The token key enters only through the card's fingerprint. Left out, because they
 * change nothing that is sent: the agent's reason, the card's face and the modal's id.
 */
export function termsHash(accountId: string, terms: ApprovalShown): string {
  // A JSON list: two different lists never give the same text.
  const text = JSON.stringify(['payops approval 1', accountId.toLowerCase(), ...partsOf(terms)]);
  return hash('sha256', text);
}

function partsOf(approval: ApprovalShown): (string | number | boolean | null)[] {
  switch (approval.kind) {
    case 'charge': {
      const { card, reference, terms, despite, overridesRest = false } = approval;
      const { money, customerEmail, customerId = null, alert = null } = terms;
      const { minor, currency } = money;
      return [
        'charge',
        card,
        minor,
        currency,
        customerEmail,
        reference,
        customerId,
        alert,
        despite?.join(' ') ?? null,
        overridesRest,
      ];
    }
    case 'card_email': {
      const { card, terms } = approval;
      return ['card_email', card, terms.currentEmail, terms.newEmail];
    }
  }
}

/** Separates the terms that people may see from the token key. */
export function withoutTokenKey(all: ApprovalTerms): { shown: ApprovalShown; tokenKey: string } {
  const { tokenKey, ...terms } = all.terms;
  return { shown: { ...all, terms } as ApprovalShown, tokenKey };
}

/** The terms to send; undefined once the token key is removed. */
export function withTokenKey(shown: ApprovalShown, tokenKey: string | undefined): ApprovalTerms | undefined {
  return tokenKey === undefined
    ? undefined
    : ({ ...shown, terms: { ...shown.terms, tokenKey } } as ApprovalTerms);
}

/**
 * The request's history in order: requested, each approval, its end. An entry's id is its position, which later events
 * don't change, so an entry that is written again after a crash counts once.
 */
function auditOf(approval: Approval): AuditEntry[] {
  const { id, by, askedAtMs, approvals, needed, rule, shown } = approval;
  const reference = shown.kind === 'charge' ? shown.reference : id;
  const asked = {
    atMs: askedAtMs,
    who: by,
    what: 'step',
    after: auditState('waiting'),
    result: 'asked',
    reason: rule,
  } as const;
  const approved = approvals.map((one, index) => ({
    atMs: one.atMs,
    who: one.by,
    what: 'decision' as const,
    before: auditState('waiting'),
    after: auditState(index + 1 < needed ? 'waiting' : 'approved'),
    result: 'approved',
    reason: [`${index + 1} of ${needed}`, ...(one.despite ?? [])].join(', despite '),
  }));
  const end = endOf(approval);
  return [asked, ...approved, ...(end ? [end] : [])].map((entry, index) => ({
    id: `approval:${id}:${index}`,
    reference,
    ...entry,
  }));
}

function endOf({ state, by }: Approval): Omit<AuditEntry, 'id'> | undefined {
  switch (state.kind) {
    case 'waiting':
    case 'approved':
      return undefined;
    case 'refused':
      return { ...ended(state, 'waiting'), who: state.by, what: 'decision', reason: state.reason };
    case 'withdrawn':
      return { ...ended(state, 'waiting'), who: by, what: 'decision' };
    case 'expired':
      return { ...ended(state, 'waiting'), reason: 'nobody decided' };
    case 'stopped':
      return { ...ended(state, 'approved'), reason: state.why };
    case 'executed':
      return { ...ended(state, 'approved'), reason: state.result };
  }
}

function ended({ kind, atMs }: { kind: ApprovalState['kind']; atMs: number }, before: ApprovalState['kind']) {
  const [from, to] = [auditState(before), auditState(kind)];
  return { atMs, who: 'payops', what: 'step', before: from, after: to, result: kind } as const;
}

/** The prefix tells an approved request from an approved charge. */
function auditState(kind: ApprovalState['kind']): string {
  return `approval_${kind}`;
}

/**
 * How many people must approve, and by which rule; undefined: none. If several rules fit, the one that needs the most
 * people counts, then the rule for cards on hold, then the one with the highest amount. A charge of a card on hold must
 * also satisfy the charge rules: an override must not be an easier way to a large amount.
 */
export function needFor(
  rules: readonly ApprovalRule[],
  question: ApprovalQuestion,
): ApprovalNeeded | undefined {
  const fitting = rules.filter((rule) => isAbout(rule, question)).toSorted(strictestFirst);
  const [first] = fitting;
  return first && { rule: wordsOf(first), needed: first.needed };
}

function isAbout(rule: ApprovalRule, question: ApprovalQuestion): boolean {
  if (question.kind !== 'charge') return rule.what === question.kind;
  if (rule.what === 'retry') return question.overridesRest === true;
  const { minor, currency } = question.money;
  return rule.what === 'charge' && rule.currency === currency && minor >= rule.fromMinor;
}

function strictestFirst(one: ApprovalRule, other: ApprovalRule): number {
  const [from, otherFrom] = [one, other].map((rule) =>
    rule.what === 'charge' ? rule.fromMinor : Number.MAX_SAFE_INTEGER,
  );
  return other.needed - one.needed || (otherFrom ?? 0) - (from ?? 0);
}

function wordsOf(rule: ApprovalRule): string {
  const who = rule.needed === 1 ? 'one approver' : `${rule.needed} different approvers`;
  switch (rule.what) {
    case 'charge': {
      const { currency, fromMinor: minor } = rule;
      return minor === 0
        ? `Charges in ${currency} need ${who}`
        : `Charges from ${formatMoney({ minor, currency })} need ${who}`;
    }
    case 'retry':
      return `Charging a card on hold needs ${who}`;
    case 'card_email':
      return `Changing a saved card’s e-mail needs ${who}`;
  }
}
