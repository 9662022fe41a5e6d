import type { Approval, Decision } from './approval.ts';

/** What a person decided, or what became of it. Times are given by whoever calls. */
export type ApprovalEvent =
  | { kind: 'approve'; by: string; termsHash: string }
  | { kind: 'refuse'; by: string; reason: string }
  | { kind: 'withdraw'; by: string }
  /** Its clock: a warning, or its end. */
  | { kind: 'due' }
  | { kind: 'executed'; result: string }
  | { kind: 'stopped'; why: string };

/**
 * `approval` is what is to be kept, and is the one given where nothing changed. Only `decided` carried the event out;
 * every other verdict says why not. `over` may change the approval too: whoever comes after its end ends it.
 */
export type Judged = {
  verdict:
    | 'decided'
    | 'over'
    | 'own_request'
    | 'approved_before'
    | 'other_terms'
    | 'not_theirs'
    | 'nothing_due';
  approval: Approval;
};

/** Everybody is warned when this much of its time is over. */
const warnAfter = 0.75;
/** What was approved in time may still be done this long after the decision, or until the request's own end. */
export const executeWithinMs = 15 * 60_000;

/**
 * One event of one request for a second person, judged by the clock at the decision. Never the requester; never the
 * same person for two approvals; nothing by other terms than were shown, and nothing after its end. A single refusal
 * ends it, also one of somebody who has approved it before. What is ended stays as it is, except that what was
 * approved is executed or stopped, once.
 */
export function decide(approval: Approval, event: ApprovalEvent, nowMs: number): Judged {
  if (event.kind === 'executed' || event.kind === 'stopped') return concluded(approval, event, nowMs);
  const current = expired(approval, nowMs);
  if (event.kind === 'due') return dueNow(approval, current, nowMs);
  if (current.state.kind !== 'waiting') return { verdict: 'over', approval: current };
  switch (event.kind) {
    case 'approve':
      return approved(current, event, nowMs);
    case 'refuse': {
      const { by, reason } = event;
      if (by === current.by) return { verdict: 'own_request', approval: current };
      return decided({ ...current, state: { kind: 'refused', atMs: nowMs, by, reason } });
    }
    case 'withdraw':
      return event.by === current.by
        ? decided({ ...current, state: { kind: 'withdrawn', atMs: nowMs } })
        : { verdict: 'not_theirs', approval: current };
  }
}

function approved(
  approval: Approval,
  { by, termsHash }: Extract<ApprovalEvent, { kind: 'approve' }>,
  nowMs: number,
): Judged {
  if (by === approval.by) return { verdict: 'own_request', approval };
  if (approval.approvals.some((earlier) => earlier.by === by))
    return { verdict: 'approved_before', approval };
  if (termsHash !== approval.termsHash) return { verdict: 'other_terms', approval };
  const approvals: Decision[] = [...approval.approvals, { by, atMs: nowMs }];
  const isEnough = approvals.length >= approval.needed;
  return decided({
    ...approval,
    approvals,
    state: isEnough ? { kind: 'approved', atMs: nowMs } : approval.state,
  });
}

function expired(approval: Approval, nowMs: number): Approval {
  const { state, expiresAtMs } = approval;
  if (state.kind !== 'waiting' || nowMs < expiresAtMs) return approval;
  return { ...approval, state: { kind: 'expired', atMs: nowMs } };
}

function dueNow(before: Approval, approval: Approval, nowMs: number): Judged {
  if (approval !== before) return decided(approval);
  const isNear = approval.state.kind === 'waiting' && !approval.isWarned && nowMs >= warnAtMs(approval);
  return isNear ? decided({ ...approval, isWarned: true }) : { verdict: 'nothing_due', approval };
}

function concluded(
  approval: Approval,
  event: Extract<ApprovalEvent, { kind: 'executed' | 'stopped' }>,
  nowMs: number,
): Judged {
  if (approval.state.kind !== 'approved') return { verdict: 'over', approval };
  return decided({ ...approval, state: { ...event, atMs: nowMs } });
}

function decided(approval: Approval): Judged {
  return { verdict: 'decided', approval };
}

function warnAtMs({ askedAtMs, expiresAtMs }: Approval): number {
  return askedAtMs + Math.floor((expiresAtMs - askedAtMs) * warnAfter);
}

/** When its clock is looked at next; undefined when it no longer waits for anybody. */
export function nextLookAtMs(approval: Approval): number | undefined {
  if (approval.state.kind !== 'waiting') return undefined;
  return approval.isWarned ? approval.expiresAtMs : warnAtMs(approval);
}

/**
 * Why what was approved must not be done, in words for people; undefined when the decision itself holds. Asked once
 * more before anything is done, of what is kept and of the terms as they will be executed.
 */
export function whyNotExecute(approval: Approval, termsHash: string, nowMs: number): string | undefined {
  const { state, approvals, needed, by, expiresAtMs } = approval;
  if (state.kind !== 'approved') return 'It is not approved.';
  if (termsHash !== approval.termsHash) return 'The terms are not the ones that were approved.';
  const people = new Set(
    approvals.filter((one) => one.by !== by && one.atMs < expiresAtMs).map((one) => one.by),
  );
  if (people.size < needed) return 'It was not approved by enough different people in time.';
  return nowMs < Math.max(expiresAtMs, state.atMs + executeWithinMs)
    ? undefined
    : 'It was approved in time, and its time was over before the bot could do it.';
}
