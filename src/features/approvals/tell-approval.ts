import type { Approval, ApprovalNote } from '../../domain/approval.ts';
import type { Messages } from '../../messages/messages.ts';
import { outboxKey } from '../../messages/message-record.ts';
import { approvalCardKey, type ApprovalAddress, type ApprovalBodies } from './prepare-approval.ts';

/**
 * Where and to whom a request is told: fixed when it is first told, so that every copy is edited to the end, whoever is
 * given or loses the permission meanwhile, and whatever channel the policy file names by then. That they may decide is
 * asked anew at each press.
 */
export type Copies = { channel?: string; approvers?: readonly string[] };

type Place = { channel: string; to: ApprovalAddress };

/**
 * Card in the approvals channel, direct messages, and every copy edited; then what there is to say of it as it stands.
 * On record when it resolves, and again is the same as once.
 */
export async function tellApproval(
  messages: Messages<ApprovalBodies>,
  approval: Approval,
  copies: Copies,
): Promise<void> {
  await keepApproval(messages, approval, copies);
  for (const what of notesOf(approval)) {
    const places = placesOf(approval, copies).filter((place) => hears(place, what, approval));
    // oxlint-disable-next-line no-await-in-loop -- in the order in which it happened
    await Promise.all(places.map((place) => postNote(messages, approval, what, place)));
  }
}

/** The copies alone: what is shown of it may have changed though nobody decided, as with the charge it is for. */
export async function keepApproval(
  messages: Messages<ApprovalBodies>,
  approval: Approval,
  copies: Copies,
): Promise<void> {
  const { id } = approval;
  await Promise.all(
    placesOf(approval, copies).map(({ channel, to }) =>
      messages.keep(approvalCardKey(id, channel), { kind: 'approval', channel, body: { id, to } }),
    ),
  );
}

/** What was said before is not said again. */
function notesOf({ state: { kind }, approvals, isWarned }: Approval): ApprovalNote[] {
  if (kind !== 'waiting') return [kind];
  return [approvals.length === 0 ? 'asked' : 'approved_one', ...(isWarned ? ['expires_soon' as const] : [])];
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
      return what !== 'asked' && what !== 'waiting';
    case 'approver':
      return what === 'expires_soon' && !approvals.some(({ by }) => by === channel);
    case 'requester':
      if (what === 'executed') return shown.kind !== 'charge';
      return what !== 'asked' && what !== 'waiting' && what !== 'approved_one' && what !== 'withdrawn';
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
  const key = outboxKey('approval_note', `${step}:${channel}:${id}`);
  const body = { id, to, what };
  await messages.post(key, { kind: 'approval_note', channel, body });
}
