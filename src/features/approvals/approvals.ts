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
  type Hands,
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

/** Of a person's own requests as many are listed. */
const askedShown = 10;
/** Each press checks the permission to decide. Anybody who may have a request on the list may read the list. */
const deciding = ['approve'];

type Desk = Deciding['desk'];

export type Approvals = ReturnType<typeof createFourEyes>;

/**
 * Four eyes: what `payops.yml` has a rule for waits until enough other people have approved exactly that. The case
 * stands in `approval-case.ts`; what is told of it, and how what is approved is done, once, in `approval-desk.ts`.
 */
export function createFourEyes(account: Account, hands: Hands) {
  const { rules, place } = account;
  const { desk, refresh, cases, drained } = createApprovals(account, hands);
  const gate: ApprovalGate = {
    needFor: (question) => needFor(rules.approvals, question),
    desk,
    charged: refresh,
  };
  const isAsked = rules.approvals.length > 0;
  async function withCharge(approval: Approval): Promise<ApprovalItem> {
    const charge = approval.shown.kind === 'charge' ? await hands.findCharge(approval.id) : undefined;
    return { approval, ...withoutUndefined({ charge }) };
  }
  async function find(id: string): Promise<ApprovalItem | undefined> {
    const approval = await desk.find(id);
    return approval && (await withCharge(approval));
  }
  return {
    desk,
    messages: { views: approvalViews(find), words: approvalWords(place) },
    /** Undefined: `payops.yml` has no rule for this account, and nothing needs a second person. */
    gate: isAsked ? gate : undefined,
    verbs: isAsked ? [approvalsCommand(account, desk, withCharge)] : [],
    cases,
    /** The window says that it was sent for approval; a charge that is begun takes its place. */
    requestModal: (approval: Approval): Modal => requestModal(approval, place),
    drained,
  };
}

/**
 * `/pay approvals`: what waits for the person's decision, and what they asked for. Everything a request's messages can do
 * is pressed here. Deciding is judged by the domain, once, on all replicas; later people read who decided.
 */
function approvalsCommand(
  { place, people, audit, name, now }: Account,
  desk: Desk,
  withCharge: (approval: Approval) => Promise<ApprovalItem>,
): Command {
  /** Nobody decides their own, nor one they have approved. Who may not decide is shown none to be decided. */
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

  /** Decides by what stood above the button: with other terms in the store nothing is approved. */
  async function approve(pressed: Pressed): Promise<void> {
    const seen = seenRequest.read(pressed.value);
    const approval = seen && (await desk.find(seen.id));
    // A message of an earlier release has this button for what a window shows by now.
    if (approval?.shown.kind === 'card_email') return await openWhole(pressed);
    const by = pressed.caller.userId;
    const asks = approval && seen && (await askAboutTwins(approval, seen, by));
    if (asks) return void (await pressed.openModal(asks));
    // Read first: what fails after the decision would be told as a failure of it. Who decides on the message needs no link.
    const stands = seen && !pressed.message ? await desk.copyFor(seen.id, by) : undefined;
    const result = seen && (await desk.approve({ ...seen, by }));
    await tell(pressed, result, seen?.id, stands);
  }

  /**
   * The window that names what the same card and amount did since the request; undefined where the approver has seen each
   * of them, or can't approve it: the desk says why not. Throws StoreUnavailable.
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
   * A card's e-mail is decided about by who has read both addresses whole: in a window for them alone, once the audit has
   * that they did. Throws StoreUnavailable, and then nothing is shown.
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

  /** In the window that showed an e-mail whole, or the twins; the store decides. */
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

  /** The form asks why; who cannot refuse it any more is told so before they type. */
  async function openRefusal(pressed: Pressed): Promise<void> {
    const seen = seenRequest.read(pressed.value);
    const approval = seen && (await desk.find(seen.id));
    const event = { kind: 'refuse', by: pressed.caller.userId, reason: '' } as const;
    const judged = approval && decide(approval, event, now());
    if (!approval || judged?.kind !== 'decided') return await tell(pressed, judged, seen?.id);
    await pressed.openModal(refuseModal(approval, place));
  }

  /** The reason is read beside its fields; whether it can still be refused is the store's to say. */
  async function refuse({ caller, values, privateMetadata }: Submission): Promise<ViewAnswer> {
    const reason = oneLine(values[refuseField] ?? '');
    if (reason === '') return { kind: 'errors', errors: { [refuseField]: 'Say why in a few words.' } };
    const seen = seenRequest.read(privateMetadata);
    const result = seen && (await desk.refuse({ id: seen.id, by: caller.userId, reason }));
    return { kind: 'update', modal: wordsModal('Approval', answerMessage(result, seen?.id)) };
  }

  /** By the requester only. */
  async function withdraw(pressed: Pressed): Promise<void> {
    const { caller, value: id } = pressed;
    await tell(pressed, await desk.withdraw({ id, by: caller.userId }), id);
  }

  return defineCommand<undefined>({
    verb: 'approvals',
    usage: '',
    summary: 'Approvals',
    examples: ['approvals'],
    // People who can ask can see what became of it.
    permission: ['approve', 'charge', 'card-email'],
    menu: { actionId: 'menu.approvals', text: 'Approvals', opens: 'message' },
    effect: 'none',
    open: async (caller) => openApprovals(await seenBy(caller)),
    parse: nothingAfter('Nothing follows “approvals”: it lists what waits for you and what you asked for.'),
    presses: [
      // What is approved may be done at once, and a failure from here on says so.
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

/** In the window it was pressed in, else to the person alone. */
async function tell(
  { view, updateModal, reply }: Pressed,
  result: Judged | undefined,
  id: string | undefined,
  stands?: { channel: string; ts: string },
): Promise<void> {
  const message = answerMessage(result, id, stands);
  await (view ? updateModal(wordsModal('Approval', message)) : reply(message));
}
