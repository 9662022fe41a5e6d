import { expect, it } from 'vitest';
import type { Approval, ApprovalTerms, CardEmailEnd } from '../../../src/domain/approval.ts';
import type { ChargeSeen } from '../../../src/domain/charge.ts';
import type { OrderReference } from '../../../src/domain/order-reference.ts';
import {
  approvalPrefix,
  termsHash,
  type ApprovalCase,
} from '../../../src/features/approvals/approval-case.ts';
import {
  createApprovalRequests,
  type ApprovalRequests,
} from '../../../src/features/approvals/approval-requests.ts';
import { messageKey } from '../../../src/messages/message-record.ts';
import type { HeldRoles } from '../../../src/slack/people/role.ts';
import {
  auditOf,
  driveWorlds,
  readCase,
  wrongOfCase,
  type Driven,
  type World,
} from '../../records/two-processes.ts';
import { accountOf } from '../../support/account.ts';

const reference = 'CHARGE-1' as OrderReference;
const money = { minor: 15_000, currency: 'NGN' };
const card = { tokenKey: 'token', card: {}, customerEmail: 'a@example.com' };
const change = { tokenKey: 'token', card: {}, currentEmail: 'a@example.com', newEmail: 'b@example.com' };
const whatIsAsked: ApprovalTerms[] = [
  { kind: 'charge', reference, terms: { ...card, money }, card: 'card', viewId: 'V1' },
  { kind: 'card_email', terms: change, card: 'card' },
];

const fourEyes = {
  channels: { alerts: 'C0ALERTS01' },
  roles: {},
  timezone: 'UTC',
  approvals: { channel: 'C0APPROVE1', expire_minutes: 240, rules: [] },
};

/**
 * Approvals. An action that enough different people have approved, none of them the requester, is carried out once. A
 * request that was refused, withdrawn or not decided in time is never carried out. If a person was told that their
 * decision counts, the record has it.
 */
function approvals(world: World): Driven {
  const { clock, store, sealer, random } = world;
  const id = 'apr-1';
  const terms = random.pick(whatIsAsked);
  const needed = random.pick([1, 2]);
  const hash = termsHash('account', terms);
  const done = { charges: 0, changes: 0 };
  const counted = new Set<string>();
  const audited = new Map<string, string[]>();
  const all: ApprovalRequests[] = [];
  return {
    start(process, index) {
      const account = accountOf({
        store: process.store,
        sealer,
        now: () => clock.nowMs,
        wait: (ms: number) => process.wait(ms),
        settings: { paymentsAccountId: 'account', policy: fourEyes },
        people: {
          rolesOf: () =>
            process.call<HeldRoles>(
              () => ({ kind: 'known', roles: random.chance(0.8) ? ['support-agent'] : [] }),
              () => ({ kind: 'unknown' }),
            ),
          holdersOf: () =>
            process.call(
              () => ['U0BOLA0001'],
              () => [],
            ),
        },
        audit: { write: auditOf(process, audited) },
      });
      const one = createApprovalRequests(account, {
        findCharge: () => process.call(() => (done.charges > 0 ? ({} as ChargeSeen) : undefined)),
        submitApproved: (_charge, atMs) =>
          process.call(() => {
            // Like a real charge: nothing is sent once its time is over, and a reference is charged once.
            if (done.charges === 0 && clock.nowMs > atMs + 145_000) throw new Error('too late to charge');
            done.charges = 1;
            return { kind: 'begun' } as const;
          }),
        twinsOf: async () => [],
        isAlertPaid: async () => false,
        changeCardEmail: () =>
          process.call<CardEmailEnd>(
            () => {
              done.changes += 1;
              return { kind: 'changed' } as const;
            },
            () => ({ kind: 'unknown' }),
          ),
      });
      all[index] = one;
      return { prefix: approvalPrefix, work: async (entry) => await one.cases[0]?.work(entry) };
    },
    act(at, index) {
      const { requests } = all[index] as ApprovalRequests;
      const by = at.pick(['U0BOLA0001', 'U0CHIDI001', 'U0ADA00001']);
      const decided = async (decision: ReturnType<typeof requests.approve>, what: string): Promise<void> => {
        if ((await decision)?.kind === 'decided') counted.add(`${what}:${by}`);
      };
      return at.pick([
        () => requests.request({ id, terms, by: 'U0ADA00001', rule: 'all', needed }),
        () => decided(requests.approve({ id, by, termsHash: hash }), 'approve'),
        () => decided(requests.approve({ id, by, termsHash: hash }), 'approve'),
        () =>
          at.chance(0.2) ? decided(requests.refuse({ id, by, reason: 'no' }), 'refuse') : requests.waiting(),
        () => (at.chance(0.1) ? requests.withdraw({ id, by }) : requests.find(id)),
      ]);
    },
    async wrongs() {
      const kept = await readCase<ApprovalCase>(world, approvalPrefix + id);
      const sum = done.charges + done.changes;
      if (!kept) return sum > 0 ? ['done, and never asked for'] : [];
      const { approval } = kept.state;
      const { state } = approval;
      const entries =
        1 + approval.approvals.length + (state.kind === 'waiting' || state.kind === 'approved' ? 0 : 1);
      const ids = Array.from({ length: entries }, (_, index) => `approval:${id}:${index}`);
      const people = new Set(approval.approvals.map(({ by }) => by));
      return [
        ...wrongOfCase(kept, audited, ids),
        ...wrongOfDone(approval, terms.kind, done),
        ...(kept.state.tokenKey === undefined ? [] : ['its token key is kept']),
        ...(people.size === approval.approvals.length && !people.has(approval.by) ? [] : ['approved by few']),
        ...[
          messageKey('approval', `C0APPROVE1:${id}`),
          messageKey('approval_note', `${state.kind}:C0APPROVE1:${id}`),
        ]
          .filter((key) => !store.keys().includes(key))
          .map((key) => `${key} is not told`),
        ...[...counted]
          .filter((one) => !isKept(approval, one))
          .map((one) => `${one} counted, and is not kept`),
      ];
    },
  };
}

function wrongOfDone(
  { state, approvals: given, needed }: Approval,
  what: ApprovalTerms['kind'],
  { charges, changes }: { charges: number; changes: number },
): string[] {
  const times = what === 'charge' ? charges : changes;
  switch (state.kind) {
    case 'executed': {
      // The answer may be lost because the call never left.
      const least = state.result.startsWith('The service’s answer was lost') ? 0 : 1;
      const isOnce = times >= least && times <= 1;
      return [
        ...(isOnce ? [] : [`${what} was done ${times} times`]),
        ...(given.length >= needed ? [] : ['by too few']),
      ];
    }
    case 'waiting':
    case 'approved':
      return [`it is ${state.kind} for ever`];
    default:
      return times === 0 ? [] : [`${what} was done though ${state.kind}`];
  }
}

function isKept({ approvals: given, state }: Approval, counted: string): boolean {
  const [what, by] = counted.split(':');
  return what === 'approve'
    ? given.some((one) => one.by === by)
    : state.kind === 'refused' && state.by === by;
}

it('an approval breaks no rule through crashes, lost answers, repeats, suspended processes and clock changes', async () => {
  expect(await driveWorlds(approvals)).toEqual([]);
});
