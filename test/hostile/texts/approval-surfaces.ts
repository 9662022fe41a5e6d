// Every message, window and list of a request for a second person, with outside words wherever some can stand: the
// customer's, the requester's and the refuser's own.

import type { Approval, ApprovalShown, ApprovalState } from '../../../src/domain/approval.ts';
import type { OrderReference } from '../../../src/domain/order-reference.ts';
import {
  type ApprovalNote,
  approvalMessage,
  approvalNoteMessage,
  approvalsMessage,
  answerMessage,
  homeApprovals,
  refuseModal,
  requestModal,
  twinsModal,
} from '../../../src/features/approvals/approval-screens.ts';
import { placeOf } from './alert-surfaces.ts';
import { homeOf, messageOf, modalOf, type Outside, type Surface } from './surface.ts';

const at = Date.UTC(2026, 8, 14, 13, 37);
const [ada, bola] = ['U0OWN00001', 'U0OWN00002'];

const notes: readonly ApprovalNote[] = [
  'approved_one',
  'expires_soon',
  'approved',
  'executed',
  'stopped',
  'refused',
  'expired',
  'withdrawn',
];

const answers = ['decided', 'over', 'own_request', 'approved_before', 'other_terms', 'not_theirs'] as const;

export const approvalSurfaces: readonly Surface[] = [
  messageOf('a request’s card', (outside) =>
    approvalMessage(seenOf(outside), placeOf(outside), aboutOf(outside)),
  ),
  messageOf('a note about a request', (outside) =>
    approvalNoteMessage(outside.random.pick(notes), seenOf(outside), placeOf(outside), aboutOf(outside)),
  ),
  messageOf('an answer to a decision', (outside) =>
    answerMessage(
      outside.random.chance(0.1)
        ? undefined
        : { kind: outside.random.pick(answers), approval: approvalOf(outside) },
      outside.text(),
      outside.random.chance(0.5) ? { channel: 'C0OWN00001', ts: '1700000000.000100' } : undefined,
    ),
  ),
  messageOf('the list of requests', (outside) =>
    approvalsMessage({ waiting: several(outside), asked: several(outside) }, placeOf(outside)),
  ),
  homeOf('the requests of an App Home', (outside) =>
    homeApprovals({ waiting: several(outside), asked: several(outside) }, placeOf(outside)),
  ),
  modalOf('why a request is refused', (outside) => refuseModal(approvalOf(outside), placeOf(outside))),
  modalOf('what was charged since a request', (outside) =>
    twinsModal(
      approvalOf(outside),
      [{ reference: 'pay-mfrggzdfmztwq2lknnwg23tpob' as OrderReference, by: bola, at, outcome: 'review' }],
      at,
    ),
  ),
  modalOf('the window of a request', (outside) => requestModal(approvalOf(outside), placeOf(outside))),
];

function several(outside: Outside): { approval: Approval }[] {
  return Array.from({ length: outside.random.below(9) }, () => ({ approval: approvalOf(outside) }));
}

function approvalOf(outside: Outside): Approval {
  const { random, text } = outside;
  const needed = random.pick([1, 2, 5]);
  const people = [bola, ada].slice(0, random.below(3));
  return {
    // The bot's own, always.
    id: 'apr-mfrggzdfmztwq2lknnwg23tpob',
    shown: shownOf(outside),
    termsHash: 'a1'.repeat(32),
    rule: text(),
    by: ada,
    askedAtMs: at,
    expiresAtMs: at + 60_000,
    needed,
    approvals: people.map((by) => ({ by, atMs: at })),
    isWarned: random.chance(0.5),
    state: stateOf(outside),
  };
}

function stateOf({ random, text }: Outside): ApprovalState {
  const atMs = at;
  return random.pick<ApprovalState>([
    { kind: 'waiting' },
    { kind: 'approved', atMs },
    { kind: 'executed', atMs, result: text() },
    { kind: 'stopped', atMs, why: text() },
    { kind: 'refused', atMs, by: bola, reason: text() },
    { kind: 'expired', atMs },
    { kind: 'withdrawn', atMs },
  ]);
}

function shownOf({ random, text }: Outside): ApprovalShown {
  const card = { cardType: text(), lastFour: text() };
  return random.pick<() => ApprovalShown>([
    () => ({
      kind: 'charge',
      reference: text() as OrderReference,
      terms: {
        money: { minor: random.pick([1, 900_000_000_000]), currency: text() },
        card,
        customerEmail: random.pick([text(), `${text()}@${text()}`]),
        customerId: text(),
        reason: text(),
      },
      card: 'b2'.repeat(16),
      viewId: 'V1',
      ...(random.chance(0.5) ? { overridesRest: true as const } : {}),
    }),
    () => ({
      kind: 'card_email',
      terms: { card, currentEmail: `${text()}@${text()}`, newEmail: text() },
      card: 'b2'.repeat(16),
    }),
  ])();
}

function seenOf(outside: Outside) {
  const { random } = outside;
  return {
    approval: approvalOf(outside),
    to: random.pick(['channel', 'approver', 'requester'] as const),
  };
}

function aboutOf({ random }: Outside) {
  return { key: 'message:approval:1', mayBeRepeat: random.chance(0.5) };
}
