import type { Approval, ApprovalNote } from '../../domain/approval.ts';
import type { ChargeSeen } from '../../domain/charge-seen.ts';
import { historyKey, outboxKey, readOutboxRecord } from '../../messages/outbox.ts';
import { openBody } from '../../messages/outbox-bodies.ts';
import type { Work } from '../../messages/outbox-work.ts';
import {
  isRepeat,
  postOrEdit,
  postOrEditBelow,
  settle,
  waitForParent,
  waitForThread,
} from '../../messages/post-or-edit.ts';
import type { Composed, PrepareDeps, Prepared } from '../../messages/prepare-post.ts';

/** `charge`: what became of the charge that was approved. */
export type FoundApproval = { approval: Approval; asked: number; charge?: ChargeSeen };

export type ApprovalPostDeps = PrepareDeps & {
  /** A request, and how many people were asked to decide it; absent where nothing needs a second person. */
  findApproval?: (id: string) => Promise<FoundApproval | undefined>;
};

/** A request's card in one place. */
export async function prepareApproval(
  deps: ApprovalPostDeps,
  work: Work,
  mayBeRepeat: boolean,
): Promise<Prepared> {
  const { entry, record } = work;
  const { id, to } = openBody('approval', deps.sealer, work);
  const request = await requireApproval(deps, id);
  const key = historyKey(entry.key, record);
  const repeat = isRepeat(work, mayBeRepeat);
  const message = deps.compose({ kind: 'approval', ...request, to, key, mayBeRepeat: repeat });
  return await postOrEdit(deps, work, record.channel, message);
}

/** Below the card in the channel, once that stands; to a person by itself. Nothing is told that no longer holds. */
export async function prepareApprovalNote(
  deps: ApprovalPostDeps,
  work: Work,
  mayBeRepeat: boolean,
): Promise<Prepared> {
  const { entry, record } = work;
  const { id, to, what } = openBody('approval_note', deps.sealer, work);
  const request = await requireApproval(deps, id);
  if (!record.posted && !holds(what, request.approval)) return await settle(deps, work);
  const message = deps.compose({
    kind: 'approval',
    note: what,
    ...request,
    to,
    key: entry.key,
    mayBeRepeat: isRepeat(work, mayBeRepeat),
  });
  return await (to === 'channel'
    ? belowCard(deps, work, { parent: approvalCardKey(id, record.channel), message })
    : postOrEdit(deps, work, record.channel, message));
}

async function belowCard(
  deps: ApprovalPostDeps,
  work: Work,
  { parent: key, message }: { parent: string; message: Composed },
): Promise<Prepared> {
  const entry = await deps.store.read(key);
  if (!entry) return await waitForParent(deps, work);
  const parent = readOutboxRecord(entry.value);
  return (await waitForThread(deps, work, parent)) ?? (await postOrEditBelow(deps, work, parent, message));
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

async function requireApproval(deps: ApprovalPostDeps, id: string): Promise<FoundApproval> {
  const found = await deps.findApproval?.(id);
  if (!found) throw new Error('There is something to say of a request that is not in the store.');
  return found;
}
