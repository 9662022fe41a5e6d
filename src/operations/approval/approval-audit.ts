import type { Approval, ApprovalState } from '../../domain/approval.ts';
import type { AuditEntry } from '../../domain/audit-entry.ts';

/**
 * What happened with a request so far, in order: asked for, each approval, its end. An entry keeps its place and so its
 * id whatever comes after it, so that written again after a crash it is the same one.
 */
export function auditOfApproval(approval: Approval, account: string | undefined): AuditEntry[] {
  const { id, by, askedAtMs, approvals, needed, rule, shown } = approval;
  const about = {
    reference: shown.kind === 'charge' ? shown.reference : id,
    ...(account === undefined ? {} : { account }),
  };
  const asked = {
    atMs: askedAtMs,
    who: by,
    what: 'step',
    after: stateOf('waiting'),
    result: 'asked',
    reason: rule,
  } as const;
  const approved = approvals.map((one, index) => ({
    atMs: one.atMs,
    who: one.by,
    what: 'decision' as const,
    before: stateOf('waiting'),
    after: stateOf(index + 1 < needed ? 'waiting' : 'approved'),
    result: 'approved',
    reason: `${index + 1} of ${needed}`,
  }));
  const end = endOf(approval);
  return [asked, ...approved, ...(end ? [end] : [])].map((entry, index) => ({
    id: `approval:${id}:${index}`,
    ...about,
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
  const [from, to] = [stateOf(before), stateOf(kind)];
  return { atMs, who: 'payops', what: 'step', before: from, after: to, result: kind } as const;
}

/** A charge has an `approved` too, which means another thing. */
function stateOf(kind: ApprovalState['kind']): string {
  return `approval_${kind}`;
}
