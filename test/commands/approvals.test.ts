import { describe, expect, it } from 'vitest';
import type { Approval, ApprovalTerms } from '../../src/domain/approval.ts';
import { approvalsCommand } from '../../src/commands/approvals.ts';
import { shownOf } from '../../src/operations/approval/approval-record.ts';
import { referenceOf } from '../../src/operations/work/reference-of.ts';
import { approvalActions } from '../../src/slack/approval/approval-actions.ts';
import type { Caller } from '../../src/slack/command.ts';
import type { Modal, SlackMessage } from '../../src/slack/message.ts';
import { ada, terms } from '../operations/charge-house.ts';
import { textOf } from './shown-modal.ts';

const id = referenceOf('V0CHARGE1');

const charge: ApprovalTerms = { kind: 'charge', reference: id, terms, card: 'card', viewId: 'V0CHARGE1' };
const cardEmail: ApprovalTerms = {
  kind: 'card_email',
  card: 'card',
  terms: { tokenKey: 'tok', card: {}, currentEmail: 'old@example.com', newEmail: 'new@example.com' },
};

function expired(of: ApprovalTerms): Approval {
  return {
    id,
    shown: shownOf(of),
    termsHash: 'hash',
    rule: 'Charges from NGN 10,000.00 need one approver',
    by: ada,
    askedAtMs: 0,
    expiresAtMs: 1,
    needed: 1,
    approvals: [],
    isWarned: true,
    state: { kind: 'expired', atMs: 1 },
  };
}

const notHere = () => Promise.reject(new Error('not asked'));

/** *Ask again* below a request that ended; `allowed` is what the person may do there. */
async function asksAgain(of: ApprovalTerms, allowed: readonly string[]) {
  const opened: Modal[] = [];
  const replies: SlackMessage[] = [];
  const asked: [string, Caller][] = [];
  const command = approvalsCommand({
    environment: 'sandbox',
    account: 'main account',
    ledger: undefined,
    currencies: ['NGN'],
    now: () => 2,
    approvals: {
      request: notHere,
      find: async () => expired(of),
      approve: notHere,
      refuse: notHere,
      withdraw: notHere,
      waiting: notHere,
      askedBy: notHere,
    },
    async mayRun(permission, caller) {
      asked.push([permission, caller]);
      if (allowed.includes(permission)) return { kind: 'allowed' };
      return { kind: 'refused', rule: `It needs the permission “${permission}”`, whoCan: 'The lead' };
    },
  });
  const press = command.presses?.find(({ actionId }) => actionId === approvalActions.askAgain);
  const caller: Caller = { userId: ada, channelId: 'D0DIRECT1', from: 'message' };
  await press?.press({
    caller,
    value: id,
    openModal: async (modal) => {
      opened.push(modal);
      return 'V0NEW0001';
    },
    updateModal: notHere,
    reply: async (message) => void replies.push(message),
  });
  return { opened, replies, asked, caller };
}

describe('asking again', () => {
  it('for a charge that makes good a failed one keeps which, so that it is not paid twice', async () => {
    const { opened } = await asksAgain({ ...charge, terms: { ...terms, alert: 'alert-1' } }, ['charge']);
    expect(opened[0]).toMatchObject({ private_metadata: 'alert-1' });
  });

  it.each([
    ['charge', charge, 'charge'],
    ['card_email', cardEmail, 'card-email'],
  ])(
    'for a %s opens its form where the person may use it, and refuses it elsewhere',
    async (_, of, needs) => {
      const may = await asksAgain(of, [needs]);
      expect(may.opened).toHaveLength(1);
      expect(may.asked).toEqual([[needs, may.caller]]);

      const others = ['approve', 'charge', 'card-email', 'undelivered'].filter((one) => one !== needs);
      const refused = await asksAgain(of, others);
      expect(refused.opened).toEqual([]);
      expect(textOf(refused.replies[0])).toMatch(new RegExp(`Not allowed.*“${needs}”.*The lead`));
    },
  );
});
