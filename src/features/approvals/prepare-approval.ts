import type { Approval, ApprovalNote } from '../../domain/approval.ts';
import type { ChargeSeen } from '../../domain/charge-seen.ts';
import { outboxKey } from '../../messages/message-record.ts';
import type { Views } from '../../messages/views.ts';

/** Whose copy of a request’s card it is: the channel’s, an approver’s, or that of whoever asked. */
export type ApprovalAddress = 'channel' | 'approver' | 'requester';

/** A request’s card in one of its places, and what is said beside it. */
export type ApprovalBodies = {
  approval: { id: string; to: ApprovalAddress };
  approval_note: { id: string; to: ApprovalAddress; what: ApprovalNote };
};

export type ApprovalShown = FoundApproval & { kind: 'approval'; note?: ApprovalNote; to: ApprovalAddress };

/** `asked`: how many people can decide. `charge`: what became of the charge that was approved. */
export type FoundApproval = { approval: Approval; asked: number; charge?: ChargeSeen };

export type ApprovalPostDeps = {
  /** A request, and how many people were asked to decide it; absent where nothing needs a second person. */
  findApproval?: (id: string) => Promise<FoundApproval | undefined>;
};

export function approvalViews({ findApproval }: ApprovalPostDeps): Views<ApprovalBodies, ApprovalShown> {
  async function requireApproval(id: string): Promise<FoundApproval> {
    const found = await findApproval?.(id);
    if (!found) throw new Error('There is something to say of a request that is not in the store.');
    return found;
  }
  return {
    /** A request's card in one place. */
    async approval({ id, to }) {
      return { kind: 'shown', post: { kind: 'approval', ...(await requireApproval(id)), to } };
    },
    /** Below the card in the channel, once that stands; to a person by itself. Nothing is told that no longer holds. */
    async approval_note({ id, to, what: note }, { record: { posted, channel } }) {
      const request = await requireApproval(id);
      if (!posted && !holds(note, request.approval)) return { kind: 'nothing' };
      const post = { kind: 'approval', note, ...request, to } as const;
      if (to !== 'channel') return { kind: 'shown', post };
      return { kind: 'shown', post, below: { key: approvalCardKey(id, channel) } };
    },
  };
}

/** A step that was overtaken is told by the note of the later one. An approval is told whatever came of it. */
function holds(what: ApprovalNote, { state }: Approval): boolean {
  switch (what) {
    case 'asked':
    case 'approved_one':
    case 'expires_soon':
      return state.kind === 'waiting';
    case 'approved':
      return state.kind === 'approved' || state.kind === 'executed';
    default:
      return state.kind === what;
  }
}

/** One card for each place, a channel or a person. */
export function approvalCardKey(id: string, place: string): string {
  return outboxKey('approval', `${place}:${id}`);
}
