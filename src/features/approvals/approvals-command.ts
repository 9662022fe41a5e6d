import { approvalActions } from './approval-actions.ts';
import { approvalsMessage, homeApprovals, openApprovals, type ApprovalsSeen } from './approval-list.ts';
import { refuseModalId } from './approval-modals.ts';
import { askedHereAlone } from '../../slack/words/charge-place.ts';
import { defineCommand, type Caller, type Command } from '../../slack/command.ts';
import type { ApprovalDeps } from './approval-deps.ts';
import { approve, askAgain, openRefusal, refuseRequest, withdraw } from './approval-presses.ts';
import { nothingAfter } from '../../slack/nothing-after.ts';

/** Of a person's own requests as many are listed. */
const askedShown = 10;
/** Deciding is asked for at each press; the list itself is of whoever can have something on it. */
const deciding = ['approve'];

/**
 * `/pay approvals`: what waits for the person's decision, and what they asked for. Everything a request's messages can do
 * is pressed here. Deciding is judged by the domain, once, on all replicas; whoever comes later is told who did.
 */
export function approvalsCommand(deps: ApprovalDeps): Command {
  return defineCommand<undefined>({
    verb: 'approvals',
    usage: '',
    summary: 'What waits for a decision',
    examples: ['approvals'],
    permission: 'approve',
    // Whoever can ask can see what became of it.
    orPermissions: ['charge', 'card-email', 'undelivered'],
    menu: { text: 'Approvals', opens: 'message' },
    effect: 'none',
    open: async (caller) => openApprovals(await seenBy(deps, caller)),
    parse: nothingAfter('Nothing follows “approvals”: it lists what waits for you and what you asked for.'),
    presses: [
      // What is approved may be done at once, and a failure from here on says so.
      {
        actionId: approvalActions.approve,
        press: (pressed) => approve(deps, pressed),
        permissions: deciding,
        effect: 'money',
      },
      {
        actionId: approvalActions.refuse,
        opensForm: true,
        press: (pressed) => openRefusal(deps, pressed),
        permissions: deciding,
      },
      { actionId: approvalActions.withdraw, press: (pressed) => withdraw(deps, pressed) },
      { actionId: approvalActions.askAgain, opensForm: true, press: (pressed) => askAgain(deps, pressed) },
    ],
    modals: [
      {
        callbackId: refuseModalId,
        effect: 'none',
        ifNoAnswer: 'If none comes, look at the request: it shows what was decided.',
        permissions: deciding,
        submit: (submission) => refuseRequest(deps, submission),
      },
    ],
    home: async (caller) => homeApprovals(await seenBy(deps, caller), deps, deps.now()),
    async run(_, { caller }) {
      const seen = await seenBy(deps, caller);
      const message = approvalsMessage(seen, deps, deps.now());
      return seen.waiting.length + seen.asked.length === 0 ? askedHereAlone(message, deps) : message;
    },
  });
}

/** Nobody decides their own, nor one they have approved. Who may not decide is shown none to be decided. */
async function seenBy({ approvals, mayRun }: ApprovalDeps, caller: Caller): Promise<ApprovalsSeen> {
  const { userId } = caller;
  const [permit, waiting, asked] = await Promise.all([
    mayRun('approve', caller),
    approvals.waiting(),
    approvals.askedBy(userId, askedShown),
  ]);
  return {
    waiting: permit.kind === 'allowed' ? waiting.filter((one) => isForThem(one, userId)) : [],
    asked,
  };
}

function isForThem({ by, approvals, state }: ApprovalsSeen['waiting'][number], userId: string): boolean {
  return state.kind === 'waiting' && by !== userId && !approvals.some((one) => one.by === userId);
}
