import type { Account } from '../../account.ts';
import type { Approval, ApprovalGate } from '../../domain/approval.ts';
import { withoutUndefined } from '../../domain/json.ts';
import type { Modal } from '../../slack/kit/message.ts';
import { askedHereAlone } from '../../slack/words/charge-place.ts';
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
import { wordsModal } from '../../slack/kit/modals.ts';
import { decide, type Judged, needFor } from './approval-case.ts';
import {
  approvalViews,
  approvalWords,
  createApprovals,
  type Approvals as Deciding,
  type CarryOut,
} from './approval-desk.ts';
import {
  type ApprovalItem,
  type ApprovalsSeen,
  approvalActions,
  approvalsMessage,
  answerMessage,
  homeApprovals,
  openApprovals,
  refuseField,
  refuseModal,
  refuseModalId,
  requestModal,
  seeModal,
  seeModalId,
  seenRequest,
  type Seen,
  twinsModal,
} from './approval-screens.ts';

/** At most this many of a person's own requests are listed. */
const askedShown = 10;
/** Deciding needs this permission at each press. The list is open to anybody who may make requests. */
const deciding = ['approve'];

type Desk = Deciding['desk'];

export type Approvals = ReturnType<typeof createFourEyes>;

/**
 * Four eyes: a request that a rule of `payops.yml` covers waits until enough other people have approved exactly its
 * terms. `approval-case.ts` has the stored case; `approval-desk.ts` posts it, and carries it out once.
 */
export function createFourEyes(account: Account, actions: CarryOut) {
  const { rules, place } = account;
  const { desk, refresh, cases, drained } = createApprovals(account, actions);
  const gate: ApprovalGate = {
    needFor: (question) => needFor(rules.approvals, question),
    desk,
    charged: refresh,
  };
  const isAsked = rules.approvals.length > 0;
  async function withCharge(approval: Approval): Promise<ApprovalItem> {
    const charge = approval.shown.kind === 'charge' ? await actions.findCharge(approval.id) : undefined;
    return { approval, ...withoutUndefined({ charge }) };
  }
  async function find(id: string): Promise<ApprovalItem | undefined> {
    const approval = await desk.find(id);
    return approval && (await withCharge(approval));
  }
  return {
    desk,
    messages: { views: approvalViews(find), words: approvalWords(place) },
    /** Undefined if `payops.yml` has no rule for this account. */
    gate: isAsked ? gate : undefined,
    verbs: isAsked ? [approvalsCommand(account, desk, withCharge)] : [],
    cases,
    /**
     * The window says that the request was sent for approval; once a charge begins, the charge's own modal replaces it.
     */
    requestModal: (approval: Approval): Modal => requestModal(approval, place),
    drained,
  };
}

/**
 * `/pay approvals`: requests that wait for the person, and their own. Also handles every button of a request's messages.
 * The desk decides once across replicas; a late press is told who decided.
 */
function approvalsCommand(
  { place, people, audit, name, now }: Account,
  desk: Desk,
  withCharge: (approval: Approval) => Promise<ApprovalItem>,
): Command {
  /** Requests to decide: none of the person's own, none that they approved already, none without the permission. */
  async function seenBy(caller: Caller): Promise<ApprovalsSeen> {
    const { userId } = caller;
    const [permit, waiting, asked] = await Promise.all([
      people.mayRun('approve', caller),
      desk.waiting(),
      desk.askedBy(userId, askedShown),
    ]);
    const isForThem = ({ by, approvals }: Approval): boolean =>
      by !== userId && !approvals.some((one) => one.by === userId);
    const theirs = permit.kind === 'allowed' ? waiting.filter(isForThem) : [];
    return {
      waiting: theirs.map((approval) => ({ approval })),
      asked: await Promise.all(asked.map(withCharge)),
    };
  }

  /** Approves the terms above the button; if the stored terms differ, nothing is approved. */
  async function approve(pressed: Pressed): Promise<void> {
    const seen = seenRequest.read(pressed.value);
    const approval = seen && (await desk.find(seen.id));
    // Requests of earlier releases have *Approve* where only a window may now.
    if (approval?.shown.kind === 'card_email') return await openWhole(pressed);
    const by = pressed.caller.userId;
    const asks = approval && seen && (await askAboutTwins(approval, seen, by));
    if (asks) return void (await pressed.openModal(asks));
    // Read it before deciding: an error after the decision would look like a failed decision. On the request's own
    // message no link is needed.
    const stands = seen && !pressed.message ? await desk.copyFor(seen.id, by) : undefined;
    const result = seen && (await desk.approve({ ...seen, by }));
    await tell(pressed, result, seen?.id, stands);
  }

  /**
   * The window with other charges of the same card and amount since the request. Undefined if the approver has seen them
   * all, or can't approve: the desk then says why. Throws StoreUnavailable.
   */
  async function askAboutTwins(
    approval: Approval,
    { despite = [], ...seen }: Seen,
    by: string,
  ): Promise<Modal | undefined> {
    if (decide(approval, { kind: 'approve', by, ...seen }, now()).kind !== 'decided') return undefined;
    const twins = await desk.twinsOf(approval);
    const isNew = twins.some(({ reference }) => !despite.includes(reference));
    return isNew ? twinsModal(approval, twins, now()) : undefined;
  }

  /**
   * A change of a card's e-mail is decided only in a window with both whole addresses, opened after the audit recorded
   * who reads them. Throws StoreUnavailable; then nothing is shown.
   */
  async function openWhole(pressed: Pressed): Promise<void> {
    const seen = seenRequest.read(pressed.value);
    const approval = seen && (await desk.find(seen.id));
    const by = pressed.caller.userId;
    const judged = approval && decide(approval, { kind: 'approve', by, termsHash: seen.termsHash }, now());
    if (approval?.shown.kind !== 'card_email' || judged?.kind !== 'decided')
      return await tell(pressed, judged, seen?.id);
    const atMs = now();
    const id = `reveal:${by}:${approval.id}:${atMs}`;
    const about = { reference: approval.id, where: 'modal', ...withoutUndefined({ account: name }) };
    await audit.append({ id, atMs, who: by, what: 'reveal', result: 'revealed', ...about });
    await pressed.openModal(seeModal(approval, approval.shown.terms));
  }

  /** Submits the window with the whole e-mails, or with the twins. */
  async function approveSeen({ caller, privateMetadata }: Submission): Promise<ViewAnswer> {
    const seen = seenRequest.read(privateMetadata);
    const by = caller.userId;
    const approval = seen && (await desk.find(seen.id));
    const asks = approval && seen && (await askAboutTwins(approval, seen, by));
    if (asks) return { kind: 'update', modal: asks };
    const stands = seen && (await desk.copyFor(seen.id, by));
    const result = seen && (await desk.approve({ ...seen, by }));
    return { kind: 'update', modal: wordsModal('Approval', answerMessage(result, seen?.id, stands)) };
  }

  /** Opens the form for the reason, unless the person can't refuse any more. */
  async function openRefusal(pressed: Pressed): Promise<void> {
    const seen = seenRequest.read(pressed.value);
    const approval = seen && (await desk.find(seen.id));
    const event = { kind: 'refuse', by: pressed.caller.userId, reason: '' } as const;
    const judged = approval && decide(approval, event, now());
    if (!approval || judged?.kind !== 'decided') return await tell(pressed, judged, seen?.id);
    await pressed.openModal(refuseModal(approval, place));
  }

  /** Validates the reason; the desk decides whether refusing is still possible. */
  async function refuse({ caller, values, privateMetadata }: Submission): Promise<ViewAnswer> {
    const reason = oneLine(values[refuseField] ?? '');
    if (reason === '') return { kind: 'errors', errors: { [refuseField]: 'Say why in a few words.' } };
    const seen = seenRequest.read(privateMetadata);
    const result = seen && (await desk.refuse({ id: seen.id, by: caller.userId, reason }));
    return { kind: 'update', modal: wordsModal('Approval', answerMessage(result, seen?.id)) };
  }

  /** Only the requester may. */
  async function withdraw(pressed: Pressed): Promise<void> {
    const { caller, value: id } = pressed;
    await tell(pressed, await desk.withdraw({ id, by: caller.userId }), id);
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
    open: async (caller) => openApprovals(await seenBy(caller)),
    parse: nothingAfter('Nothing follows “approvals”: it lists what waits for you and what you asked for.'),
    presses: [
      // The approval may be carried out at once, so an error from here on says that money may have moved.
      { actionId: approvalActions.approve, press: approve, permissions: deciding, effect: 'money' },
      { actionId: approvalActions.see, opensForm: true, press: openWhole, permissions: deciding },
      { actionId: approvalActions.refuse, opensForm: true, press: openRefusal, permissions: deciding },
      { actionId: approvalActions.withdraw, press: withdraw },
    ],
    modals: [
      {
        callbackId: seeModalId,
        effect: 'money',
        ifNoAnswer: 'If none comes, look at the request: it shows what was decided.',
        permissions: deciding,
        submit: approveSeen,
      },
      {
        callbackId: refuseModalId,
        effect: 'none',
        ifNoAnswer: 'If none comes, look at the request: it shows what was decided.',
        permissions: deciding,
        submit: refuse,
      },
    ],
    isUrgent: true,
    home: async (caller) => homeApprovals(await seenBy(caller), place),
    async run(_, { caller }) {
      const seen = await seenBy(caller);
      const message = approvalsMessage(seen, place);
      return seen.waiting.length + seen.asked.length === 0 ? askedHereAlone(message, place) : message;
    },
  });
}

/** Answers in the window that was pressed in, else to the person alone. */
async function tell(
  { view, updateModal, reply }: Pressed,
  result: Judged | undefined,
  id: string | undefined,
  stands?: { channel: string; ts: string },
): Promise<void> {
  const message = answerMessage(result, id, stands);
  await (view ? updateModal(wordsModal('Approval', message)) : reply(message));
}
