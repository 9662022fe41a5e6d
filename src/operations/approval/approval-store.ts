import { decide, type ApprovalEvent, type Judged } from '../../domain/approval-decision.ts';
import type { Approval } from '../../domain/approval.ts';
import { StoreUnavailable } from '../../domain/store-unavailable.ts';
import {
  approvalKey,
  listsOfApproval,
  openApproval,
  restOf,
  sealApproval,
  type ApprovalRecord,
} from './approval-record.ts';
import { createChangeRecord, type Change, type RecordStore } from '../work/change-record.ts';
import type { Sealer } from '../../domain/sealer.ts';

export type ApprovalStoreDeps = {
  store: RecordStore;
  sealer: Sealer;
  /** How long a request is remembered once nothing is left to do about it. */
  rememberMs: number;
  now: () => number;
  wait: (ms: number) => Promise<unknown>;
};

export type Applied = { verdict: Judged['verdict']; record: ApprovalRecord };

/** All of it throws StoreUnavailable. */
export type ApprovalStore = {
  read(id: string): Promise<ApprovalRecord | undefined>;
  /** The one that is kept: this one, if there was none. */
  begin(record: ApprovalRecord): Promise<ApprovalRecord>;
  /**
   * One event, judged and kept in one compare-and-swap: of two that come at once on two replicas the second is judged
   * by what the first left. What it changed is work at once, so that a crash before it was told tells it. Undefined:
   * there is no such request.
   */
  apply(id: string, event: ApprovalEvent): Promise<Applied | undefined>;
  /**
   * From now on this run alone does what was approved, for so long. Undefined: another does, or it is not approved.
   */
  claimRun(id: string, run: NonNullable<ApprovalRecord['run']>): Promise<ApprovalRecord | undefined>;
  /** As long again for this run; false: its time was over, another may have taken its turn, and it does nothing. */
  renewRun(id: string, run: NonNullable<ApprovalRecord['run']>): Promise<boolean>;
  /** What cannot be asked twice is asked now, by this run; false: it has lost its turn, and asks nothing. */
  markAsked(id: string, runId: string): Promise<boolean>;
  /** The end that this run came to; undefined when another has taken over meanwhile, and then it is that one's. */
  endRun(
    id: string,
    runId: string,
    event: Extract<ApprovalEvent, { kind: 'executed' | 'stopped' }>,
  ): Promise<ApprovalRecord | undefined>;
  /** This run is over and did nothing; it is tried again, ever more rarely. */
  putOff(id: string, runId: string): Promise<void>;
  /** All of this record was told: it is work again when it is due. One that went on meanwhile stays as it is. */
  rest(record: ApprovalRecord, audited: number): Promise<ApprovalRecord>;
};

/** Whoever changed it tells it at once; a crash leaves that to a worker. */
const tellAgainMs = 2_000;
/** How often a lost answer of the store is asked again before a person is told that nobody knows. */
const attempts = 3;
const againMs = 100;

export function createApprovalStore(deps: ApprovalStoreDeps): ApprovalStore {
  const { store, sealer, now } = deps;
  const changeRecord = createChangeRecord(store);

  function change<Result>(
    id: string,
    judge: (record: ApprovalRecord | undefined) => Changed<Result>,
  ): Promise<Result> {
    const key = approvalKey(id);
    return changeRecord<Result>(key, (value): Change<Result> => {
      const record = value === undefined ? undefined : openApproval(sealer, { key, value });
      const { next, result, restMs } = judge(record);
      if (!next) return { kind: 'keep', result };
      const text = sealApproval(sealer, next);
      const written = { kind: 'write', value: text, index: listsOfApproval(next), result } as const;
      return restMs === undefined ? { ...written, ttlMs: deps.rememberMs } : { ...written, delayMs: restMs };
    });
  }

  return {
    async read(id) {
      const key = approvalKey(id);
      const entry = await store.read(key);
      return entry && openApproval(sealer, { key, value: entry.value });
    },
    begin: (record) =>
      change(record.approval.id, (kept) =>
        kept ? { result: kept } : { next: record, restMs: tellAgainMs, result: record },
      ),
    apply: (id, event) => {
      const nowMs = now();
      return askAgain(deps, async (isRepeat) => {
        const result = await change(id, (record) => applied(record, event, nowMs));
        // Written by the attempt before, and only the store's answer was lost.
        const isWritten = isRepeat && result && isOwn(result.record.approval, event, nowMs);
        return isWritten ? { ...result, verdict: 'decided' } : result;
      });
    },
    claimRun: (id, run) => change(id, (record) => claimed(record, run, now())),
    renewRun: (id, run) => change(id, (record) => renewed(record, run, now())),
    markAsked: (id, runId) =>
      change(id, (record) => {
        if (!isRunBy(record, runId) || record.asked) return { result: false };
        return { next: { ...record, asked: true }, restMs: runLeftMs(record, now()), result: true };
      }),
    endRun: (id, runId, event) =>
      change<ApprovalRecord | undefined>(id, (record) => {
        if (!isRunBy(record, runId)) return { result: undefined };
        const { run: _over, ...rest } = record;
        const done = applied(rest, event, now());
        return { ...done, result: done.result?.record };
      }),
    putOff: (id, runId) =>
      change<undefined>(id, (record) => {
        if (!isRunBy(record, runId)) return { result: undefined };
        const { run: _over, ...rest } = record;
        const next = { ...rest, misses: record.misses + 1 };
        return { next, restMs: restOf(next, now()), result: undefined };
      }),
    rest: (record, audited) =>
      change(record.approval.id, (kept) => {
        if (kept?.turn !== record.turn) return { result: kept ?? record };
        const restMs = restOf(kept, now());
        const { terms, ...told } = { ...kept, told: kept.turn, audited };
        const next = restMs === undefined ? told : { ...told, ...(terms ? { terms } : {}) };
        return { next, restMs, result: next };
      }),
  };
}

/** With `next` it is written: work after `restMs`, or without it done and remembered. */
type Changed<Result> = { next?: ApprovalRecord; restMs?: number | undefined; result: Result };

function applied(
  record: ApprovalRecord | undefined,
  event: ApprovalEvent,
  nowMs: number,
): Changed<Applied | undefined> {
  if (!record) return { result: undefined };
  const { verdict, approval } = decide(record.approval, event, nowMs);
  if (approval === record.approval) return { result: { verdict, record } };
  const next = { ...record, approval, turn: record.turn + 1 };
  return { next, restMs: tellAgainMs, result: { verdict, record: next } };
}

/** What this very call would have written. */
function isOwn({ approvals, state }: Approval, event: ApprovalEvent, nowMs: number): boolean {
  switch (event.kind) {
    case 'approve':
      return approvals.some(({ by, atMs }) => by === event.by && atMs === nowMs);
    case 'refuse':
      return state.kind === 'refused' && state.by === event.by && state.atMs === nowMs;
    case 'withdraw':
      return state.kind === 'withdrawn' && state.atMs === nowMs;
    default:
      return false;
  }
}

/** A decision whose answer was lost is not called undecided: it is looked at once more. */
async function askAgain<T>(
  { wait }: Pick<ApprovalStoreDeps, 'wait'>,
  work: (isRepeat: boolean) => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      // oxlint-disable-next-line no-await-in-loop -- one attempt after the other is the point
      return await work(attempt > 1);
    } catch (error) {
      if (!(error instanceof StoreUnavailable) || attempt >= attempts) throw error;
      // oxlint-disable-next-line no-await-in-loop
      await wait(againMs);
    }
  }
}

function claimed(
  record: ApprovalRecord | undefined,
  run: NonNullable<ApprovalRecord['run']>,
  nowMs: number,
): Changed<ApprovalRecord | undefined> {
  const isFree = !record?.run || record.run.untilMs <= nowMs;
  if (record?.approval.state.kind !== 'approved' || !isFree) return { result: undefined };
  const next = { ...record, run };
  return { next, restMs: runLeftMs(next, nowMs), result: next };
}

function renewed(
  record: ApprovalRecord | undefined,
  run: NonNullable<ApprovalRecord['run']>,
  nowMs: number,
): Changed<boolean> {
  if (!isRunBy(record, run.id) || runLeftMs(record, nowMs) === 0) return { result: false };
  const next = { ...record, run };
  return { next, restMs: runLeftMs(next, nowMs), result: true };
}

function isRunBy(record: ApprovalRecord | undefined, runId: string): record is ApprovalRecord {
  return record?.run?.id === runId;
}

function runLeftMs({ run }: ApprovalRecord, nowMs: number): number {
  return Math.max(0, (run?.untilMs ?? nowMs) - nowMs);
}
