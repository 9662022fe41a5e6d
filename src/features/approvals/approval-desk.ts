import { withoutUndefined } from '../../domain/without-undefined.ts';
import type { Approval, ApprovalRequest } from '../../domain/approval.ts';
import { StoreUnavailable } from '../../domain/failure.ts';
import { createCases, type CasesDeps } from '../../records/cases.ts';
import type { Entry } from '../../store/store.ts';
import type { Messages } from '../../messages/messages.ts';
import { messageKey } from '../../messages/message-record.ts';
import type { Views, Words } from '../../messages/views.ts';
import type { ChargePlace } from '../../slack/words/charge-place.ts';
import {
  approvalRules,
  asShown,
  decide,
  lists,
  type ApprovalCase,
  type ApprovalCases,
  type ApprovalEvent,
  type Copies,
  type DecideResult,
} from './approval-case.ts';
import {
  type ApprovalNote,
  type ApprovalPost,
  type ApprovalSeen,
  approvalMessage,
  approvalNoteMessage,
} from './approval-screens.ts';
import { executeApproval, type ExecuteDeps } from './execute-approval.ts';

export type ApprovalsDeps = CasesDeps &
  Omit<ExecuteDeps, 'approvals'> & {
    /** How long a request waits for a decision. */
    expireMs: number;
    messages: Messages<ApprovalBodies>;
    /** The approvals channel. */
    channel: string | undefined;
    /** Who may decide, by user id, as far as Slack tells. Never throws. */
    approvers: () => Promise<readonly string[]>;
  };

/** A company with more approvers than this has the channel. */
const mostApprovers = 50;

export type Approvals = ReturnType<typeof createApprovals>;

/**
 * Four eyes: requests, their one atomic decision, and what is done once enough people have approved. All of it throws
 * StoreUnavailable when the store is away; then nothing was decided.
 */
export function createApprovals(deps: ApprovalsDeps) {
  const { messages, log, now, inBackground } = deps;
  const approvals: ApprovalCases = createCases(deps, approvalRules, {
    due: async () => ({ event: { kind: 'due' } }),
    tell,
  });

  /** Does what was approved, and tells what became of it. A bank may take its time, and nobody waits for this. */
  function execute({ id, state }: Approval): void {
    if (state.kind !== 'approved') return;
    async function executed(): Promise<void> {
      const ended = await executeApproval({ ...deps, approvals }, id);
      if (ended) await approvals.settle(id, ended);
    }
    inBackground(executed());
  }

  /** Whether the person may decide at all was asked just before, and is the caller's. */
  async function decideNow(id: string, event: ApprovalEvent): Promise<DecideResult> {
    const applied = await approvals.apply(id, event);
    if (!applied) return { kind: 'unknown_approval' };
    const { isMoved } = applied;
    const { approval } = applied.state;
    if (isMoved) inBackground(approvals.settle(id, applied));
    // Whoever comes after its end ends it, and decides nothing.
    if (!isMoved || approval.state.kind === 'expired') return decide(approval, event, now());
    execute(approval);
    return { kind: 'decided', approval };
  }

  async function tell(told: ApprovalCase): Promise<void> {
    const { approval, copies } = await address(told);
    await keepCopies(messages, approval, copies);
    for (const what of notesOf(approval)) {
      const places = placesOf(approval, copies).filter((place) => hears(place, what, approval));
      // oxlint-disable-next-line no-await-in-loop -- in the order in which it happened
      await Promise.all(places.map((place) => postNote(messages, approval, what, place)));
    }
  }

  /** Approvers are asked for again at each step until there is somebody: Slack may have been away. */
  async function address(told: ApprovalCase): Promise<ApprovalCase> {
    const { approval, copies } = told;
    const channel = copies.channel === undefined ? deps.channel : undefined;
    const isUnknown = copies.approvers === undefined && approval.state.kind === 'waiting';
    const all = isUnknown ? await deps.approvers() : [];
    const approvers = all.filter((userId) => userId !== approval.by).slice(0, mostApprovers);
    const more = withoutUndefined({ channel, approvers: approvers.length === 0 ? undefined : approvers });
    if (Object.keys(more).length === 0) return told;
    const addressed = await approvals.apply(approval.id, { kind: 'addressed', copies: more });
    return { ...told, copies: addressed?.state.copies ?? copies };
  }

  const desk = {
    /** Written down, and told to whoever may decide. Asked again for the same id it gives what is kept. */
    async request({ id, terms, by, rule, needed }: ApprovalRequest): Promise<Approval> {
      const askedAtMs = now();
      const { shown, ...secret } = asShown(terms);
      const approval: Approval = {
        id,
        shown,
        termsHash: deps.termsHash(terms),
        rule,
        by,
        askedAtMs,
        expiresAtMs: askedAtMs + deps.expireMs,
        needed,
        approvals: [],
        isWarned: false,
        state: { kind: 'waiting' },
      };
      const asked = { approval, ...secret, misses: 0, copies: {} };
      const begun = await approvals.begin(id, asked, { untold: true });
      if (begun.kind === 'known') return begun.state.approval;
      // Whoever asked is told how many were asked; that it could not be told now is no reason to call it not asked for.
      await approvals.settle(id, begun.kept).catch((error: unknown) => {
        if (!(error instanceof StoreUnavailable)) throw error;
        log('warn', 'a request for approval is not told yet', { key: id }, error);
      });
      return approval;
    },
    find: async (id: string) => (await approvals.find(id))?.approval,
    approve: ({ id, ...given }: { id: string; by: string; termsHash: string }) =>
      decideNow(id, { kind: 'approve', ...given }),
    refuse: ({ id, ...given }: { id: string; by: string; reason: string }) =>
      decideNow(id, { kind: 'refuse', ...given }),
    /** Of whoever asked, while it waits. */
    withdraw: ({ id, by }: { id: string; by: string }) => decideNow(id, { kind: 'withdraw', by }),
    /** Every open one, oldest first. */
    async waiting(): Promise<Approval[]> {
      const open = await approvals.all(lists.open);
      return open
        .map(({ approval }) => approval)
        .filter(({ state, expiresAtMs }) => state.kind === 'waiting' && now() < expiresAtMs);
    },
    /** This person's own requests, newest first. */
    async askedBy(userId: string, max: number): Promise<Approval[]> {
      const asked = await approvals.list(lists.of(userId), { max, newestFirst: true });
      return asked.map(({ approval }) => approval);
    },
  };

  return {
    desk,
    /** What is shown of this request besides the decision has changed: its copies show it. On record when it resolves. */
    async refresh(id: string): Promise<void> {
      const state = await approvals.find(id);
      if (state) await keepCopies(messages, state.approval, state.copies);
    },
    /** For work of the prefix `approvalPrefix`. */
    async work(entry: Entry): Promise<void> {
      execute((await approvals.work(entry)).approval);
    },
  };
}

/** Whose copy of a request it is: everybody’s in the channel, an approver’s, or that of whoever asked, who cannot decide. */
type Place = { channel: string; to: 'channel' | 'approver' | 'requester' };

/** A request in one of its places, and what is said beside it. */
export type ApprovalBodies = {
  approval: { id: string; to: Place['to'] };
  approval_note: { id: string; to: Place['to']; what: ApprovalNote };
};

export function approvalViews(
  findApproval: (id: string) => Promise<Omit<ApprovalSeen, 'to'> | undefined>,
): Views<ApprovalBodies, ApprovalPost> {
  async function postOf(id: string, to: Place['to'], note?: ApprovalNote): Promise<ApprovalPost> {
    const found = await findApproval(id);
    if (!found) throw new Error('There is something to say of a request that is not in the store.');
    return { kind: 'approval', ...found, to, ...(note ? { note } : {}) };
  }
  return {
    approval: async ({ id, to }) => ({ kind: 'shown', post: await postOf(id, to) }),
    /** Below the request in the channel, once that stands; to a person by itself. Nothing is told that no longer holds. */
    async approval_note({ id, to, what }, { record: { posted, channel } }) {
      const post = await postOf(id, to, what);
      if (!posted && !holds(what, post.approval)) return { kind: 'nothing' };
      return { kind: 'shown', post, ...(to === 'channel' ? { below: { key: copyKey(id, channel) } } : {}) };
    },
  };
}

export function approvalWords(place: ChargePlace): Words<ApprovalPost> {
  return {
    approval: (post) => ({
      message:
        post.note === undefined
          ? approvalMessage(post, place, post)
          : approvalNoteMessage(post.note, post, place, post),
    }),
  };
}

/** A step that was overtaken is told by the note of the later one. An approval is told whatever came of it. */
function holds(what: ApprovalNote, { state: { kind } }: Approval): boolean {
  if (what === 'approved_one' || what === 'expires_soon') return kind === 'waiting';
  return kind === what || (what === 'approved' && kind === 'executed');
}

/** One copy for each place, a channel or a person. */
function copyKey(id: string, place: string): string {
  return messageKey('approval', `${place}:${id}`);
}

/** On record when it resolves, and again is the same as once. */
async function keepCopies(
  messages: Messages<ApprovalBodies>,
  approval: Approval,
  copies: Copies,
): Promise<void> {
  const { id } = approval;
  await Promise.all(
    placesOf(approval, copies).map(({ channel, to }) =>
      messages.keep(copyKey(id, channel), { kind: 'approval', channel, body: { id, to } }),
    ),
  );
}

/** What was said before is not said again. */
function notesOf({ state: { kind }, approvals, isWarned }: Approval): ApprovalNote[] {
  if (kind !== 'waiting') return [kind];
  return [
    ...(approvals.length === 0 ? [] : ['approved_one' as const]),
    ...(isWarned ? ['expires_soon' as const] : []),
  ];
}

function placesOf({ by }: Approval, { channel, approvers = [] }: Copies): Place[] {
  return [
    ...(channel === undefined ? [] : [{ channel, to: 'channel' as const }]),
    ...approvers.map((userId) => ({ channel: userId, to: 'approver' as const })),
    { channel: by, to: 'requester' },
  ];
}

/**
 * Whoever asked is told what they cannot see by themselves, and never what they have just done; the thread in the channel
 * has every step. An approver hears again only that time runs out.
 */
function hears({ to, channel }: Place, what: ApprovalNote, { shown, approvals }: Approval): boolean {
  switch (to) {
    case 'channel':
      return true;
    case 'approver':
      return what === 'expires_soon' && !approvals.some(({ by }) => by === channel);
    case 'requester':
      if (what === 'executed') return shown.kind !== 'charge';
      return what !== 'approved_one' && what !== 'withdrawn';
  }
}

async function postNote(
  messages: Messages<ApprovalBodies>,
  { id, approvals }: Approval,
  what: ApprovalNote,
  { channel, to }: Place,
): Promise<void> {
  // Of three who must approve, two are told of as one each.
  const step = what === 'approved_one' ? `${what}-${approvals.length}` : what;
  const key = messageKey('approval_note', `${step}:${channel}:${id}`);
  await messages.post(key, { kind: 'approval_note', channel, body: { id, to, what } });
}
