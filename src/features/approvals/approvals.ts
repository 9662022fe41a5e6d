import type { Account } from '../../account.ts';
import type { Approval, ApprovalGate } from '../../domain/approval.ts';
import { notAccepted } from '../../domain/charge.ts';
import { withoutUndefined } from '../../domain/json.ts';
import type { Modal, SlackMessage } from '../../slack/kit/message.ts';
import { withOtherAccounts } from '../../slack/words/account-foot.ts';
import {
  type Caller,
  type Command,
  type Pressed,
  type Submission,
  type ViewAnswer,
  defineCommand,
} from '../../slack/command.ts';
import { oneLine } from '../../slack/kit/text.ts';
import { nothingAfter } from '../../slack/command-text.ts';
import { messageModal } from '../../slack/kit/modals.ts';
import { decide, needFor } from './approval-case.ts';
import {
  type ApprovalRequests,
  type ApprovalsNeeds,
  approvalRenders,
  createApprovalRequests,
} from './approval-requests.ts';
import {
  type ApprovalItem,
  type PersonsApprovals,
  approvalActions,
  approvalsMessage,
  answerMessage,
  homeApprovals,
  openApprovals,
  refuseField,
  refuseModal,
  refuseModalId,
  requestModal,
  emailsModal,
  approveModalId,
  requestValue,
  type RequestValue,
  twinsModal,
} from './approval-screens.ts';

/** At most this many of a person's own requests are listed. */
const askedShown = 10;
/** Checked at each press that decides. */
const mayApprove = ['approve'];

export type Approvals = ReturnType<typeof createApprovals>;

/**
 * An action that a rule of `payops.yml` covers waits until enough other people have approved exactly its terms.
 * `approval-case.ts` has the rules of a request; `approval-requests.ts` stores, posts and carries it out.
 */
export function createApprovals(account: Account, needs: ApprovalsNeeds) {
  const { rules, shownAccount } = account;
  const { requests, refresh, cases, drained } = createApprovalRequests(account, needs);
  const gate: ApprovalGate = {
    needFor: (question) => needFor(rules.approvals, question),
    request: (request) => requests.request(request),
    find: requests.find,
    charged: refresh,
  };
  const hidden = rules.approvals.length === 0 ? ({ hidden: true } as const) : {};
  async function withCharge(approval: Approval): Promise<ApprovalItem> {
    const charge = approval.shown.kind === 'charge' ? await needs.findCharge(approval.id) : undefined;
    return { approval, ...withoutUndefined({ charge }) };
  }
  async function find(id: string): Promise<ApprovalItem | undefined> {
    const approval = await requests.find(id);
    return approval && (await withCharge(approval));
  }
  return {
    messages: approvalRenders(find, shownAccount),
    gate,
    // Not listed without a rule; but requests that were made under one still wait for their buttons.
    verbs: [{ ...approvalsCommand(account, requests, withCharge), ...hidden }],
    cases,
    /** For tests. */
    requests,
    /** Says that the request was sent for approval. Once a charge begins, the charge's own modal replaces it. */
    requestModal: (approval: Approval): Modal => requestModal(approval, shownAccount),
    drained,
  };
}

/**
 * `/pay approvals`: requests that wait for the person, and their own. Also handles every button of a request's
 * messages.
 */
function approvalsCommand(
  { shownAccount, people, audit, name, now }: Account,
  requests: ApprovalRequests['requests'],
  withCharge: (approval: Approval) => Promise<ApprovalItem>,
): Command {
  async function approvalsOf(caller: Caller): Promise<PersonsApprovals> {
    const { userId } = caller;
    const [permit, waiting, asked] = await Promise.all([
      people.mayRun('approve', caller),
      requests.waiting(),
      requests.askedBy(userId, askedShown),
    ]);
    const canDecide = ({ by, approvals }: Approval): boolean =>
      by !== userId && !approvals.some((each) => each.by === userId);
    const theirs = permit.kind === 'allowed' ? waiting.filter(canDecide) : [];
    return {
      waiting: theirs.map((approval) => ({ approval })),
      asked: await Promise.all(asked.map(withCharge)),
    };
  }

  /** The value of a button or a modal, and the request that it names. */
  async function namedIn(text: string) {
    const value = requestValue.read(text);
    return { value, approval: value && (await requests.find(value.id)) };
  }

  /**
   * Approves the terms that the person saw; if the stored terms differ, nothing is approved. Returns a modal if they must see
   * other charges first. `isLinked`: the answer links to the request's message.
   */
  async function approve(
    text: string,
    by: string,
    isLinked: boolean,
  ): Promise<{ unseen: Modal } | { message: SlackMessage }> {
    const { value, approval } = await namedIn(text);
    if (!value || !approval) return { message: answerMessage(undefined, value?.id) };
    const unseen = await askAboutTwins(approval, value, by);
    if (unseen) return { unseen };
    // Read it before deciding: an error after the decision would look like a failed decision.
    const copy = isLinked ? await requests.copyFor(value.id, by) : undefined;
    return { message: answerMessage(await requests.approve({ ...value, by }), value.id, copy) };
  }

  async function pressApprove(pressed: Pressed): Promise<void> {
    const done = await approve(pressed.value, pressed.caller.userId, !pressed.message);
    if ('unseen' in done) await pressed.openModal(done.unseen);
    else await show(pressed, done.message);
  }

  /** Approves in the modal with the whole e-mails, or with the twins. */
  async function submitApproval({ caller, privateMetadata }: Submission): Promise<ViewAnswer> {
    const done = await approve(privateMetadata, caller.userId, true);
    return 'unseen' in done ? { kind: 'update', modal: done.unseen } : update(done.message);
  }

  /**
   * A modal with other charges of the same card and amount since the request. Undefined if the approver has seen them
   * all, or can't approve. Throws StoreUnavailable.
   */
  async function askAboutTwins(
    approval: Approval,
    { despite, ...value }: RequestValue,
    by: string,
  ): Promise<Modal | undefined> {
    if (decide(approval, { kind: 'approve', by, ...value }, now()).kind !== 'decided') return undefined;
    const twins = await requests.twinsOf(approval);
    return notAccepted(twins, despite).length > 0 ? twinsModal(approval, twins, now()) : undefined;
  }

  /**
   * A change of a card's e-mail is approved only in a modal with both whole addresses. It opens after the audit has
   * recorded who sees them. Throws StoreUnavailable; then nothing is shown.
   */
  async function openEmails(pressed: Pressed): Promise<void> {
    const { value, approval } = await namedIn(pressed.value);
    const by = pressed.caller.userId;
    const event = { kind: 'approve', by, termsHash: value?.termsHash ?? '' } as const;
    const judged = approval && decide(approval, event, now());
    if (approval?.shown.kind !== 'card_email' || judged?.kind !== 'decided')
      return await show(pressed, answerMessage(judged, value?.id));
    const atMs = now();
    const id = `reveal:${by}:${approval.id}:${atMs}`;
    const about = { reference: approval.id, where: 'modal', ...withoutUndefined({ account: name }) };
    await audit.append({ id, atMs, who: by, what: 'reveal', result: 'revealed', ...about });
    await pressed.openModal(emailsModal(approval, approval.shown.terms));
  }

  /** Opens the form for the reason, unless the person can't refuse any more. */
  async function openRefusal(pressed: Pressed): Promise<void> {
    const { value, approval } = await namedIn(pressed.value);
    const event = { kind: 'refuse', by: pressed.caller.userId, reason: '' } as const;
    const judged = approval && decide(approval, event, now());
    if (!approval || judged?.kind !== 'decided') return await show(pressed, answerMessage(judged, value?.id));
    await pressed.openModal(refuseModal(approval, shownAccount));
  }

  async function refuse({ caller, values, privateMetadata }: Submission): Promise<ViewAnswer> {
    const reason = oneLine(values[refuseField] ?? '');
    if (reason === '') return { kind: 'errors', errors: { [refuseField]: 'Say why in a few words.' } };
    const value = requestValue.read(privateMetadata);
    const judged = value && (await requests.refuse({ id: value.id, by: caller.userId, reason }));
    return update(answerMessage(judged, value?.id));
  }

  async function withdraw(pressed: Pressed): Promise<void> {
    const { caller, value: id } = pressed;
    await show(pressed, answerMessage(await requests.withdraw({ id, by: caller.userId }), id));
  }

  return defineCommand<undefined>({
    verb: 'approvals',
    usage: '',
    summary: 'Approvals',
    examples: ['approvals'],
    // Anybody who can make requests can see how they end.
    permission: ['approve', 'charge', 'card-email'],
    menu: { actionId: 'menu.approvals', text: 'Approvals', opens: 'message' },
    effect: 'none',
    open: async (caller) => openApprovals(await approvalsOf(caller)),
    parse: nothingAfter('Nothing follows “approvals”: it lists what waits for you and what you asked for.'),
    presses: [
      // The approval may be carried out at once, so after an error the person reads that money may have moved.
      { actionId: approvalActions.approve, press: pressApprove, permissions: mayApprove, effect: 'money' },
      { actionId: approvalActions.openEmails, opensForm: true, press: openEmails, permissions: mayApprove },
      { actionId: approvalActions.refuse, opensForm: true, press: openRefusal, permissions: mayApprove },
      { actionId: approvalActions.withdraw, press: withdraw },
    ],
    modals: [
      {
        callbackId: approveModalId,
        effect: 'money',
        ifNoAnswer: 'If none comes, look at the request: it shows what was decided.',
        permissions: mayApprove,
        submit: submitApproval,
      },
      {
        callbackId: refuseModalId,
        effect: 'none',
        ifNoAnswer: 'If none comes, look at the request: it shows what was decided.',
        permissions: mayApprove,
        submit: refuse,
      },
    ],
    isUrgent: true,
    home: async (caller) => homeApprovals(await approvalsOf(caller), shownAccount),
    async run(_, { caller }) {
      const approvals = await approvalsOf(caller);
      const message = approvalsMessage(approvals, shownAccount);
      return approvals.waiting.length + approvals.asked.length === 0
        ? withOtherAccounts(message, shownAccount)
        : message;
    },
  });
}

function update(message: SlackMessage): ViewAnswer {
  return { kind: 'update', modal: messageModal('Approval', message) };
}

/** Shows the answer in the modal with the button, or, for a button in a message, to the person alone. */
async function show({ view, updateModal, reply }: Pressed, message: SlackMessage): Promise<void> {
  await (view ? updateModal(messageModal('Approval', message)) : reply(message));
}
