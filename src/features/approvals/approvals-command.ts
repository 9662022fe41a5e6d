import type { Account } from '../../account.ts';
import type { ApprovalGate } from '../../domain/approval-desk.ts';
import { chargesFrom, needFor } from '../../domain/approval-rules.ts';
import type { Approval } from '../../domain/approval.ts';
import { createMessages } from '../../messages/messages.ts';
import type { SlackMessage } from '../../slack/kit/message.ts';
import type { Entry } from '../../store/store.ts';
import { createBackground } from '../../under-way.ts';
import { approvalActions } from './approval-actions.ts';
import { approvalsMessage, homeApprovals, openApprovals, type ApprovalsSeen } from './approval-list.ts';
import { refuseModalId, requestModal } from './approval-modals.ts';
import { askedHereAlone } from '../../slack/words/charge-place.ts';
import { defineCommand, type Caller, type Command, type ViewAnswer } from '../../slack/command.ts';
import { sentMessage } from './approval-answers.ts';
import {
  approve,
  askAgain,
  openRefusal,
  refuseRequest,
  withdraw,
  type ApprovalScreens,
} from './approval-presses.ts';
import { createApprovals, type ApprovalsDeps } from './approvals.ts';
import { askToRedrive } from './ask-to-redrive.ts';
import { createShowApproval } from './show-approval.ts';
import { termsHash } from './terms-hash.ts';
import { nothingAfter } from '../../slack/nothing-after.ts';

/** Of a person's own requests as many are listed. */
const askedShown = 10;
/** Deciding is asked for at each press; the list itself is of whoever can have something on it. */
const deciding = ['approve'];

/** What is approved is done by other features, and asked for anew in their forms. */
type Hands = Pick<ApprovalsDeps, 'chargeExists' | 'submitApproved' | 'changeCardEmail' | 'deliverAgain'> &
  Pick<ApprovalScreens, 'formAgain'>;

export type Approvals = ReturnType<typeof createFourEyes>;

/** What is decided when the policy file says nothing of it: a request of earlier may still wait. */
const usualExpireMinutes = 240;

/**
 * Four eyes: what `payops.yml` has a rule for waits until enough other people have approved exactly that. The case
 * stands in `approvals.ts`; what is approved is done, once, by `execute-approval.ts`.
 */
export function createFourEyes(account: Account, hands: Hands) {
  const { settings, rules, place, people, slack, audit, log, now } = account;
  const { approvals: policy } = settings.policy;
  const background = createBackground(log, 'what was approved');
  const accountId = settings.paymentsAccountId ?? '';
  const deciding = createApprovals({
    ...account,
    ...hands,
    expireMs: (policy?.expire_minutes ?? usualExpireMinutes) * 60_000,
    termsHash: (terms) => termsHash(accountId, terms),
    standingOf: people.standingOf,
    messages: createMessages(account),
    channel: policy?.channel,
    approvers: () => people.holdersOf('approve'),
    show: createShowApproval({ client: slack.interactive, place, log }),
    audit: audit.write,
    inBackground: background.add,
  });
  const { desk } = deciding;
  const gate: ApprovalGate = {
    needFor: (question) => needFor(rules.approvals, question),
    chargesFrom: (currency) => chargesFrom(rules.approvals, currency),
    desk,
    charged: (reference) => deciding.refresh(reference),
  };
  const isAsked = rules.approvals.length > 0;
  const screens = { ...place, ...hands, approvals: desk, mayRun: people.mayRun, now };
  return {
    desk,
    /** Undefined: `payops.yml` has no rule for this account, and nothing needs a second person. */
    gate: isAsked ? gate : undefined,
    verbs: isAsked ? [approvalsCommand(screens)] : [],
    work: (entry: Entry) => deciding.work(entry),
    /**
     * The window says that it was sent for approval, and from then on what is decided; once a charge is begun it becomes
     * the charge's own. It watches only once Slack has this answer, which would overwrite what came meanwhile.
     */
    awaitDecision: async (approval: Approval, { viewId, caller }: Window): Promise<ViewAnswer> => {
      const modal = requestModal(approval, await desk.askedOf(approval.id), place);
      return {
        kind: 'update',
        modal,
        carryOn: () => desk.watch(approval, { id: viewId, userId: caller.userId }),
      };
    },
    /** For whoever presses in Slack; the operator's command line is at the server, and is not asked. */
    async deliverAgain(channel: string, by: string): Promise<Redelivery> {
      const asked = await askToRedrive(
        { approvals: isAsked ? gate : undefined, deliverAgain: hands.deliverAgain },
        channel,
        by,
      );
      return asked.kind === 'again' ? asked : { kind: asked.kind, said: sentMessage(asked.approval) };
    },
    /** Resolves when nothing that was approved is being done in this process. */
    drained: background.drained,
  };
}

type Window = { viewId: string; caller: Caller };

type Redelivery = { kind: 'again'; messages: number } | { kind: 'awaiting_approval'; said: SlackMessage };

/**
 * `/pay approvals`: what waits for the person's decision, and what they asked for. Everything a request's messages can do
 * is pressed here. Deciding is judged by the domain, once, on all replicas; whoever comes later is told who did.
 */
function approvalsCommand(deps: ApprovalScreens): Command {
  return defineCommand<undefined>({
    verb: 'approvals',
    usage: '',
    summary: 'Approval requests',
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
    home: async (caller) => homeApprovals(await seenBy(deps, caller), deps),
    async run(_, { caller }) {
      const seen = await seenBy(deps, caller);
      const message = approvalsMessage(seen, deps);
      return seen.waiting.length + seen.asked.length === 0 ? askedHereAlone(message, deps) : message;
    },
  });
}

/** Nobody decides their own, nor one they have approved. Who may not decide is shown none to be decided. */
async function seenBy({ approvals, mayRun }: ApprovalScreens, caller: Caller): Promise<ApprovalsSeen> {
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
