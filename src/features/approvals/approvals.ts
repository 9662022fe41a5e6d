import { z } from 'zod';
import { decide, nextLookAtMs, type ApprovalEvent } from '../../domain/approval-decision.ts';
import type { Approval, ApprovalShown, ApprovalState, ApprovalTerms } from '../../domain/approval.ts';
import type { AuditEntry } from '../../domain/audit-entry.ts';
import { growingDelayMs } from '../../domain/growing-delay.ts';
import { StoreUnavailable } from '../../domain/store-unavailable.ts';
import { withoutUndefined } from '../../domain/without-undefined.ts';
import type { Log } from '../../log.ts';
import { createCases, type Cases, type CasesDeps } from '../../records/cases.ts';
import type { Entry, Index } from '../../store/store.ts';
import type { Messages } from '../../messages/messages.ts';
import type { ApprovalDesk, ApprovalView, DecideResult } from '../../domain/approval-desk.ts';
import { executeApproval, type ExecuteDeps } from './execute-approval.ts';
import { type ApprovalBodies, type Copies, keepApproval, tellApproval } from './approval-message.ts';
import { cardFaceShape, chargeTermsShape, referenceShape, shownTerms } from '../../records/shapes.ts';

export const approvalPrefix = 'approval:';

/** A request, what is to be done once it is approved, and how far that is. */
export type ApprovalCase = {
  approval: Approval;
  /** Gone once nothing more is to be done: they hold a token key. */
  terms?: ApprovalTerms;
  /** Who is doing what was approved; another may take over when `untilMs` is over. */
  run?: Run;
  /** What cannot be asked twice was asked: from here on nobody asks again. */
  asked?: true;
  /** How often doing it was put off in a row. */
  misses: number;
  /** Where and to whom it is told. */
  copies: Copies;
  /** The windows that wait for the decision, newest last. */
  views: readonly ApprovalView[];
};

type Run = { id: string; untilMs: number };

type ApprovalCaseEvent =
  | ApprovalEvent
  /** From now on this run alone does what was approved, until then. */
  | { kind: 'claimed'; run: Run }
  /** As long again; not once its time is over and another may have taken its turn. */
  | { kind: 'renewed'; run: Run }
  /** What cannot be asked twice is asked now, by this run. */
  | { kind: 'asked'; runId: string }
  /** The end that this run came to; not when another has taken over meanwhile. */
  | { kind: 'ended'; runId: string; end: Extract<ApprovalEvent, { kind: 'executed' | 'stopped' }> }
  /** This run is over and did nothing; it is tried again, ever more rarely. */
  | { kind: 'put_off'; runId: string }
  /** It is told there from now on; a place that is known already stays. */
  | { kind: 'addressed'; copies: Copies }
  | { kind: 'watched'; view: ApprovalView };

export type ApprovalCases = Cases<ApprovalCase, ApprovalCaseEvent>;

export type ApprovalsDeps = CasesDeps &
  Omit<ExecuteDeps, 'approvals'> & {
    /** How long a request waits for a decision. */
    expireMs: number;
    messages: Messages<ApprovalBodies>;
    /** The approvals channel. */
    channel: string | undefined;
    /** Who may decide, by user id, as far as Slack tells. Never throws. */
    approvers: () => Promise<readonly string[]>;
    /** Puts a request as it is into the windows that wait for it. Never throws. */
    show: (approval: Approval, asked: number, views: readonly ApprovalView[]) => Promise<void>;
    /** Work that nobody waits for; the process does, before it ends. */
    inBackground: (work: Promise<unknown>) => void;
    log: Log;
  };

export type Approvals = {
  desk: ApprovalDesk;
  /** What is shown of this request besides the decision has changed: its copies show it. On record when it resolves. */
  refresh(id: string): Promise<void>;
  /** For work of the prefix `approvalPrefix`. */
  work(entry: Entry): Promise<void>;
};

const optional = z.string().exactOptional();
const overridesRest = z.literal(true).exactOptional();
const at = { atMs: z.number() };
const approvalCase: z.ZodType<ApprovalCase> = z.object({
  approval: z.object({
    id: z.string(),
    shown: z.discriminatedUnion('kind', [
      z.object({
        kind: z.literal('charge'),
        reference: referenceShape,
        cardFingerprint: z.string(),
        overridesRest,
        ...shownTerms,
      }),
      z.object({
        kind: z.literal('card_email'),
        card: cardFaceShape,
        cardFingerprint: z.string(),
        currentEmail: z.string(),
        newEmail: z.string(),
      }),
      z.object({ kind: z.literal('redrive'), channel: z.string() }),
    ]),
    termsHash: z.string(),
    rule: z.string(),
    by: z.string(),
    askedAtMs: z.number(),
    expiresAtMs: z.number(),
    needed: z.int(),
    approvals: z.array(z.object({ by: z.string(), ...at })),
    isWarned: z.boolean(),
    state: z.discriminatedUnion('kind', [
      z.object({ kind: z.literal('waiting') }),
      z.object({ kind: z.enum(['approved', 'expired', 'withdrawn']), ...at }),
      z.object({ kind: z.literal('executed'), result: z.string(), ...at }),
      z.object({ kind: z.literal('stopped'), why: z.string(), ...at }),
      z.object({ kind: z.literal('refused'), by: z.string(), reason: z.string(), ...at }),
    ]),
  }),
  terms: z
    .discriminatedUnion('kind', [
      z.object({
        kind: z.literal('charge'),
        reference: referenceShape,
        terms: chargeTermsShape,
        card: z.string(),
        viewId: z.string(),
        despite: optional,
        overridesRest,
      }),
      z.object({
        kind: z.literal('card_email'),
        card: z.string(),
        terms: z.object({
          tokenKey: z.string(),
          currentEmail: z.string(),
          newEmail: z.string(),
          card: cardFaceShape,
        }),
      }),
      z.object({ kind: z.literal('redrive'), channel: z.string() }),
    ])
    .exactOptional(),
  run: z.object({ id: z.string(), untilMs: z.number() }).exactOptional(),
  asked: z.literal(true).exactOptional(),
  misses: z.int(),
  copies: z.object({ channel: optional, approvers: z.array(z.string()).exactOptional() }),
  views: z.array(z.object({ id: z.string(), userId: z.string() })),
});

/** The lists of requests: those not decided and done yet, and each person's own, in the order they were asked for. */
const lists = { open: 'open-approvals', of: (userId: string) => `approvals-of:${userId}` };

function listsOf({ approval: { by, askedAtMs, state } }: ApprovalCase): Index {
  const isOpen = state.kind === 'waiting' || state.kind === 'approved';
  return { [lists.of(by)]: askedAtMs, ...(isOpen ? { [lists.open]: askedAtMs } : {}) };
}

/** A company with more approvers than this has the channel. */
const mostApprovers = 50;
const mostViews = 5;

/** One run at a time does what was approved, and what people decide is `decide`'s. */
function step(before: ApprovalCase, event: ApprovalCaseEvent, nowMs: number): ApprovalCase | undefined {
  const { approval, run } = before;
  switch (event.kind) {
    case 'claimed':
      return approval.state.kind === 'approved' && isFree(run, nowMs)
        ? { ...before, run: event.run }
        : undefined;
    case 'renewed':
      return run?.id === event.run.id && nowMs < run.untilMs ? { ...before, run: event.run } : undefined;
    case 'asked':
      return run?.id === event.runId && !before.asked ? { ...before, asked: true } : undefined;
    case 'put_off':
      return run?.id === event.runId ? { ...withoutRun(before), misses: before.misses + 1 } : undefined;
    case 'ended':
      return run?.id === event.runId ? decided(withoutRun(before), event.end, nowMs) : undefined;
    case 'addressed':
      return { ...before, copies: { ...event.copies, ...before.copies } };
    case 'watched':
      return { ...before, views: withView(before.views, event.view) };
    default:
      return decided(before, event, nowMs);
  }
}

function isFree(run: Run | undefined, nowMs: number): boolean {
  return !run || run.untilMs <= nowMs;
}

function withView(views: readonly ApprovalView[], view: ApprovalView): ApprovalView[] {
  return [...views.filter(({ id }) => id !== view.id), view].slice(-mostViews);
}

function withoutTerms({ terms: _over, ...others }: ApprovalCase): ApprovalCase {
  return others;
}

function withoutRun({ run: _over, ...others }: ApprovalCase): ApprovalCase {
  return others;
}

function decided(before: ApprovalCase, event: ApprovalEvent, nowMs: number): ApprovalCase | undefined {
  const { approval } = decide(before.approval, event, nowMs);
  return approval === before.approval ? undefined : { ...before, approval };
}

const firstAgainMs = 2_000;
const longestAgainMs = 60_000;

/** How long it rests once all of it is told; undefined when nothing is left to do but to remember it. */
function restMs({ approval, run, misses }: ApprovalCase, nowMs: number): number | undefined {
  const lookAtMs = nextLookAtMs(approval);
  if (lookAtMs !== undefined) return Math.max(0, lookAtMs - nowMs);
  if (approval.state.kind !== 'approved') return undefined;
  if (run) return Math.max(0, run.untilMs - nowMs);
  return misses === 0 ? 0 : growingDelayMs(firstAgainMs, misses - 1, longestAgainMs);
}

type Deciding = ApprovalsDeps & { approvals: ApprovalCases };

/** Four eyes: requests, their one atomic decision, and what is done once enough people have approved. */
export function createApprovals(deps: ApprovalsDeps): Approvals {
  const approvals: ApprovalCases = createCases<ApprovalCase, ApprovalCaseEvent>(
    deps,
    {
      prefix: approvalPrefix,
      schema: approvalCase,
      lists: listsOf,
      step,
      restMs,
      isTold: (before, after) => before.approval !== after.approval,
      settled: (state, isOver) => (isOver ? withoutTerms(state) : state),
      history({ before, after }) {
        return auditOf(after.approval).slice(before ? auditOf(before.approval).length : 0);
      },
    },
    {
      due: async () => ({ event: { kind: 'due' } }),
      tell: (state) => tell(deciding, state),
    },
  );
  const deciding: Deciding = { ...deps, approvals };
  return {
    desk: createDesk(deciding),
    async refresh(id) {
      const state = await approvals.find(id);
      if (state) await keepApproval(deps.messages, state.approval, state.copies);
    },
    async work(entry) {
      const { approval } = await approvals.work(entry);
      // A bank may take its time, and the worker has alerts to deliver.
      if (approval.state.kind === 'approved') deps.inBackground(execute(deciding, approval.id));
    },
  };
}

function createDesk(deciding: Deciding): ApprovalDesk {
  const { approvals, now } = deciding;

  return {
    request: (request) => ask(deciding, request),
    find: async (id) => (await approvals.find(id))?.approval,
    approve: ({ id, by, termsHash }) => decideNow(deciding, id, { kind: 'approve', by, termsHash }),
    refuse: ({ id, by, reason }) => decideNow(deciding, id, { kind: 'refuse', by, reason }),
    withdraw: ({ id, by }) => decideNow(deciding, id, { kind: 'withdraw', by }),
    async waiting() {
      const open = await approvals.all(lists.open);
      return open
        .map(({ approval }) => approval)
        .filter(({ state, expiresAtMs }) => state.kind === 'waiting' && now() < expiresAtMs);
    },
    async askedBy(userId, max) {
      const asked = await approvals.list(lists.of(userId), { max, newestFirst: true });
      return asked.map(({ approval }) => approval);
    },
    askedOf: async (id) => (await approvals.find(id))?.copies.approvers?.length ?? 0,
    async watch({ id, state, approvals: given }, view) {
      const watched = await approvals.apply(id, { kind: 'watched', view });
      const now = watched?.state.approval;
      // What was decided before it watched was shown without it.
      const isNews = now && (now.state.kind !== state.kind || now.approvals.length !== given.length);
      if (isNews) await showIn(deciding, watched.state, [view]);
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
  const asked = { approval, terms, misses: 0, copies: {}, views: [] };
  const begun = await deciding.approvals.begin(id, asked, { untold: true });
  if (begun.kind === 'known') return begun.state.approval;
  // Whoever asked is told how many were asked; that it could not be told now is no reason to call it not asked for.
  await deciding.approvals.settle(id, begun.kept).catch((error: unknown) => {
    if (!(error instanceof StoreUnavailable)) throw error;
    deciding.log('warn', 'a request for approval is not told yet', { key: id }, error);
  });
  return approval;
}

async function decideNow(deciding: Deciding, id: string, event: ApprovalEvent): Promise<DecideResult> {
  const applied = await deciding.approvals.apply(id, event);
  if (!applied) return { kind: 'unknown_approval' };
  const { state, isMoved } = applied;
  const { approval } = state;
  if (isMoved) deciding.inBackground(deciding.approvals.settle(id, applied));
  // Whoever comes after its end ends it, and decides nothing.
  const isOver = isMoved && approval.state.kind === 'expired';
  const verdict = isMoved && !isOver ? 'decided' : decide(approval, event, deciding.now()).verdict;
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

/** Does what was approved, and tells what became of it. */
async function execute(deciding: Deciding, id: string): Promise<void> {
  const ended = await executeApproval(deciding, id);
  if (ended) await deciding.approvals.settle(id, ended);
}

async function tell(deciding: Deciding, told: ApprovalCase): Promise<void> {
  const { approval, copies } = await address(deciding, told);
  await tellApproval(deciding.messages, approval, copies);
  if (told.views.length === 0) return;
  // As it is by now: another replica may have decided, and once it is being done, what does it shows it.
  const now = await deciding.approvals.find(approval.id);
  if (now) await showIn(deciding, now, now.views);
}

/** Approvers are asked for again at each step until there is somebody: Slack may have been away. */
async function address(deciding: Deciding, told: ApprovalCase): Promise<ApprovalCase> {
  const { approval, copies } = told;
  const channel = copies.channel === undefined ? deciding.channel : undefined;
  const approvers =
    copies.approvers === undefined && approval.state.kind === 'waiting'
      ? (await deciding.approvers()).filter((userId) => userId !== approval.by).slice(0, mostApprovers)
      : [];
  const more = withoutUndefined({ channel, approvers: approvers.length === 0 ? undefined : approvers });
  if (Object.keys(more).length === 0) return told;
  const addressed = await deciding.approvals.apply(approval.id, { kind: 'addressed', copies: more });
  return { ...told, copies: addressed?.state.copies ?? copies };
}

/** A charge that was begun has messages and a window of its own, and what an approval did has the service's answer. */
async function showIn(
  { show }: Deciding,
  { approval, copies }: ApprovalCase,
  views: readonly ApprovalView[],
): Promise<void> {
  const { state, shown } = approval;
  const isBegun = shown.kind === 'charge' && (state.kind === 'approved' || state.kind === 'executed');
  if (!isBegun) await show(approval, copies.approvers?.length ?? 0, views);
}

/** Without the token key: what goes to Slack is made of this alone. */
export function shownOf(terms: ApprovalTerms): ApprovalShown {
  switch (terms.kind) {
    case 'charge': {
      const { reference, card: cardFingerprint, overridesRest, terms: agreed } = terms;
      const { money, card, customerEmail, customerId, reason, alert } = agreed;
      return {
        kind: 'charge',
        reference,
        money,
        card,
        cardFingerprint,
        customerEmail,
        ...withoutUndefined({ customerId, reason, alert, overridesRest }),
      };
    }
    case 'card_email': {
      const { card, currentEmail, newEmail } = terms.terms;
      return { kind: 'card_email', card, cardFingerprint: terms.card, currentEmail, newEmail };
    }
    case 'redrive':
      return terms;
  }
}

/**
 * What happened with a request so far, in order: asked for, each approval, its end. An entry keeps its place and so its
 * id whatever comes after it, so that written again after a crash it is the same one.
 */
function auditOf(approval: Approval): AuditEntry[] {
  const { id, by, askedAtMs, approvals, needed, rule, shown } = approval;
  const reference = shown.kind === 'charge' ? shown.reference : id;
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
  const [from, to] = [stateOf(before), stateOf(kind)];
  return { atMs, who: 'payops', what: 'step', before: from, after: to, result: kind } as const;
}

/** A charge has an `approved` too, which means another thing. */
function stateOf(kind: ApprovalState['kind']): string {
  return `approval_${kind}`;
}
