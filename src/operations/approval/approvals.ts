import type { ApprovalEvent } from '../../domain/approval-decision.ts';
import type { Approval, ApprovalTerms } from '../../domain/approval.ts';
import type { Audit } from '../../domain/audit-entry.ts';
import { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type { Log } from '../../log.ts';
import type { Entry, Store } from '../../store/store.ts';
import { auditOfApproval } from './approval-audit.ts';
import type { ApprovalDesk, DecideResult, TellApproval } from './approval-desk.ts';
import { approvalLists, openApproval, shownOf, type ApprovalRecord } from './approval-record.ts';
import { createApprovalStore, type ApprovalStore, type ApprovalStoreDeps } from './approval-store.ts';
import { executeApproval, type ExecuteDeps } from './execute-approval.ts';
import { entriesOf } from '../work/change-record.ts';

export type ApprovalsDeps = ApprovalStoreDeps &
  Omit<ExecuteDeps, 'approvals'> & {
    store: Pick<Store, 'list'>;
    /** How long a request waits for a decision. */
    expireMs: number;
    tell: TellApproval;
    /** Undefined: nothing is audited. */
    audit?: Audit | undefined;
    /** The merchant account's name, for the audit; absent in a bot that knows one alone. */
    account?: string | undefined;
    /** Work that nobody waits for; the process does, before it ends. */
    inBackground: (work: Promise<unknown>) => void;
    log: Log;
  };

export type Approvals = {
  desk: ApprovalDesk;
  /** For work of the prefix `approvalPrefix`. */
  work(entry: Entry): Promise<void>;
};

type Deciding = ApprovalsDeps & { approvals: ApprovalStore };

/** Four eyes: requests, their one atomic decision, and what is done once enough people have approved. */
export function createApprovals(deps: ApprovalsDeps): Approvals {
  const deciding: Deciding = { ...deps, approvals: createApprovalStore(deps) };
  return { desk: createDesk(deciding), work: (entry) => work(deciding, entry) };
}

function createDesk(deciding: Deciding): ApprovalDesk {
  const { store, sealer, approvals, now } = deciding;

  return {
    request: (request) => ask(deciding, request),
    find: async (id) => (await approvals.read(id))?.approval,
    approve: ({ id, by, termsHash }) => decideNow(deciding, id, { kind: 'approve', by, termsHash }),
    refuse: ({ id, by, reason }) => decideNow(deciding, id, { kind: 'refuse', by, reason }),
    withdraw: ({ id, by }) => decideNow(deciding, id, { kind: 'withdraw', by }),
    async waiting() {
      const entries = await entriesOf(store, approvalLists.open);
      return entries
        .map((entry) => openApproval(sealer, entry).approval)
        .filter(({ state, expiresAtMs }) => state.kind === 'waiting' && now() < expiresAtMs);
    },
    async askedBy(userId, max) {
      const { entries } = await store.list(approvalLists.of(userId), { max, newestFirst: true });
      return entries.map((entry) => openApproval(sealer, entry).approval);
    },
  };
}

type Request = { id: string; terms: ApprovalTerms; by: string; rule: string; needed: number };

async function ask(deciding: Deciding, { id, terms, by, rule, needed }: Request): Promise<Approval> {
  const nowMs = deciding.now();
  const approval: Approval = {
    id,
    shown: shownOf(terms),
    termsHash: deciding.termsHash(terms),
    rule,
    by,
    askedAtMs: nowMs,
    expiresAtMs: nowMs + deciding.expireMs,
    needed,
    approvals: [],
    isWarned: false,
    state: { kind: 'waiting' },
  };
  const record = await deciding.approvals.begin({ approval, terms, turn: 1, told: 0, audited: 0, misses: 0 });
  if (record.told < record.turn) await tellKept(deciding, record);
  return record.approval;
}

async function decideNow(deciding: Deciding, id: string, event: ApprovalEvent): Promise<DecideResult> {
  const applied = await deciding.approvals.apply(id, event);
  if (!applied) return { kind: 'unknown_approval' };
  const { verdict, record } = applied;
  if (record.told < record.turn) await tellKept(deciding, record);
  const { approval } = record;
  switch (verdict) {
    case 'decided':
      if (approval.state.kind === 'approved') deciding.inBackground(execute(deciding, approval.id));
      return { kind: 'decided', approval };
    case 'not_theirs':
      return { kind: 'unknown_approval' };
    case 'nothing_due':
      throw new Error('A decision was judged as if it were the clock.');
    default:
      return { kind: verdict, approval };
  }
}

/** The decision is kept: that it could not be told now is no reason to call it undecided, and a worker tells it. */
async function tellKept(deciding: Deciding, record: ApprovalRecord): Promise<void> {
  try {
    await conclude(deciding, record);
  } catch (error) {
    const level = error instanceof StoreUnavailable ? 'warn' : 'error';
    deciding.log(level, 'a request for approval is not told yet', { key: record.approval.id }, error);
  }
}

/** Does what was approved, and tells what became of it. */
async function execute(deciding: Deciding, id: string): Promise<void> {
  const ended = await executeApproval(deciding, id);
  if (ended) await conclude(deciding, ended);
}

/**
 * Tells what is new of it, everywhere it is shown, and lets it rest until it is due. All of it may be done again: each
 * step is told once, and has one line in the audit.
 */
async function conclude(deciding: Deciding, record: ApprovalRecord): Promise<ApprovalRecord> {
  const { approval, told, turn, audited } = record;
  const lines = auditOfApproval(approval, deciding.account);
  if (told < turn) {
    for (const line of lines.slice(audited)) {
      // oxlint-disable-next-line no-await-in-loop -- in the order in which it happened
      await deciding.audit?.(line);
    }
    await deciding.tell.refresh(approval);
    for (const note of notesOf(approval)) {
      // oxlint-disable-next-line no-await-in-loop
      await deciding.tell.note(approval, note);
    }
  }
  return await deciding.approvals.rest(record, told < turn ? lines.length : audited);
}

/** What there is to say of it as it stands; what was said before is not said again. */
function notesOf({ state: { kind }, approvals, isWarned }: Approval): Parameters<TellApproval['note']>[1][] {
  if (kind !== 'waiting') return [kind];
  return [approvals.length === 0 ? 'asked' : 'approved_one', ...(isWarned ? ['expires_soon' as const] : [])];
}

async function work(deciding: Deciding, entry: Entry): Promise<void> {
  const record = openApproval(deciding.sealer, entry);
  const { id } = record.approval;
  const applied = await deciding.approvals.apply(id, { kind: 'due' });
  const { approval } = await conclude(deciding, applied?.record ?? record);
  // A bank may take its time, and the worker has alerts to deliver.
  if (approval.state.kind === 'approved') deciding.inBackground(execute(deciding, id));
}
