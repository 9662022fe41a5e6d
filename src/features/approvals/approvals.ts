import type { Account } from '../../account.ts';
import type { ChargeSeen } from '../../domain/charge.ts';
import { withoutUndefined } from '../../domain/without-undefined.ts';
import { needFor } from './approval-need.ts';
import type { Approval, ApprovalGate } from '../../domain/approval.ts';
import { createMessages } from '../../messages/messages.ts';
import type { Modal, SlackMessage } from '../../slack/kit/message.ts';
import type { Entry } from '../../store/store.ts';
import { createBackground } from '../../under-way.ts';
import { type ChargePlace, askedHereAlone } from '../../slack/words/charge-place.ts';
import {
  type Caller,
  type Command,
  type MayRun,
  type Pressed,
  type Submission,
  type ViewAnswer,
  defineCommand,
} from '../../slack/command.ts';
import { oneLine } from '../../slack/kit/text.ts';
import { nothingAfter } from '../../slack/command-text.ts';
import { wordsModal } from '../../slack/kit/modals.ts';
import { approvalPrefix, decide, termsHash } from './approval-case.ts';
import {
  type ApprovalsDeps,
  createApprovals,
  type Approvals as Deciding,
  approvalViews,
  approvalWords,
} from './approval-desk.ts';
import {
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
  seenRequest,
} from './approval-screens.ts';

/** Of a person's own requests as many are listed. */
const askedShown = 10;
/** Deciding is asked for at each press; the list itself is of whoever can have something on it. */
const deciding = ['approve'];

/** What is approved is done by other features. */
type Hands = Pick<ApprovalsDeps, 'submitApproved' | 'changeCardEmail'> & {
  findCharge: (reference: string) => Promise<ChargeSeen | undefined>;
};

export type Approvals = ReturnType<typeof createFourEyes>;

/** What is decided when the policy file says nothing of it: a request of earlier may still wait. */
const usualExpireMinutes = 240;

/**
 * Four eyes: what `payops.yml` has a rule for waits until enough other people have approved exactly that. The case
 * stands in `approval-case.ts`, what is told of it in `approval-desk.ts`; what is approved is done, once, by
 * `execute-approval.ts`.
 */
export function createFourEyes(account: Account, hands: Hands) {
  const { settings, rules, place, people, audit, log, now } = account;
  const { approvals: policy } = settings.policy;
  const background = createBackground(log, 'what was approved');
  const accountId = settings.paymentsAccountId ?? '';
  const deciding = createApprovals({
    ...account,
    ...hands,
    chargeExists: async (reference) => (await hands.findCharge(reference)) !== undefined,
    expireMs: (policy?.expire_minutes ?? usualExpireMinutes) * 60_000,
    termsHash: (terms) => termsHash(accountId, terms),
    standingOf: people.standingOf,
    messages: createMessages(account),
    channel: policy?.channel,
    approvers: () => people.holdersOf('approve'),
    audit: audit.write,
    inBackground: background.add,
  });
  const { desk } = deciding;
  const gate: ApprovalGate = {
    needFor: (question) => needFor(rules.approvals, question),
    desk,
    charged: (reference) => deciding.refresh(reference),
  };
  const isAsked = rules.approvals.length > 0;
  const screens = { ...place, approvals: desk, mayRun: people.mayRun, now };
  async function find(id: string) {
    const approval = await desk.find(id);
    if (!approval) return undefined;
    const charge = approval.shown.kind === 'charge' ? await hands.findCharge(id) : undefined;
    return { approval, ...withoutUndefined({ charge }) };
  }
  return {
    desk,
    messages: { views: approvalViews(find), words: approvalWords(place) },
    /** Undefined: `payops.yml` has no rule for this account, and nothing needs a second person. */
    gate: isAsked ? gate : undefined,
    verbs: isAsked ? [approvalsCommand(screens)] : [],
    cases: [{ prefix: approvalPrefix, work: (entry: Entry) => deciding.work(entry) }],
    /** The window says that it was sent for approval; a charge that is begun takes its place. */
    requestModal: (approval: Approval): Modal => requestModal(approval, place),
    /** Resolves when nothing that was approved is being done in this process. */
    drained: background.drained,
  };
}

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
    orPermissions: ['charge', 'card-email'],
    menu: { actionId: 'menu.approvals', text: 'Approvals', opens: 'message' },
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

/** What is pressed and shown works with this. */
type ApprovalScreens = ChargePlace & {
  approvals: Deciding['desk'];
  mayRun: MayRun;
  now: () => number;
};

/** Decides by what stood above the button: with other terms in the store nothing is approved. */
export async function approve({ approvals }: ApprovalScreens, pressed: Pressed): Promise<void> {
  const { caller, value } = pressed;
  const seen = seenRequest.read(value);
  if (!seen) return await tell(pressed, answerMessage({ kind: 'unknown_approval' }, value));
  const result = await approvals.approve({ ...seen, by: caller.userId });
  await tell(pressed, answerMessage(result, seen.id));
}

/** The form asks why; who cannot refuse it any more is told so before they type. */
async function openRefusal(deps: ApprovalScreens, pressed: Pressed): Promise<void> {
  const { caller, value } = pressed;
  const seen = seenRequest.read(value);
  const approval = seen && (await deps.approvals.find(seen.id));
  if (!seen || !approval) {
    return await tell(pressed, answerMessage({ kind: 'unknown_approval' }, seen?.id ?? ''));
  }
  const judged = decide(approval, { kind: 'refuse', by: caller.userId, reason: '' }, deps.now());
  if (judged.kind !== 'decided') return await tell(pressed, answerMessage(judged, seen.id));
  await pressed.openModal(refuseModal(approval, deps));
}

/** The reason is read beside its fields; whether it can still be refused is the store's to say. */
async function refuseRequest(
  { approvals }: ApprovalScreens,
  { caller, values, privateMetadata }: Submission,
): Promise<ViewAnswer> {
  const reason = oneLine(values[refuseField] ?? '');
  if (reason === '') return { kind: 'errors', errors: { [refuseField]: 'Say why in a few words.' } };
  const seen = seenRequest.read(privateMetadata);
  if (!seen) return words(answerMessage({ kind: 'unknown_approval' }, ''));
  const result = await approvals.refuse({ id: seen.id, by: caller.userId, reason });
  return words(answerMessage(result, seen.id));
}

function words(message: SlackMessage): ViewAnswer {
  return { kind: 'update', modal: wordsModal('Approval', message) };
}

/** Only by whoever asked. */
export async function withdraw({ approvals }: ApprovalScreens, pressed: Pressed): Promise<void> {
  const { caller, value: id } = pressed;
  await tell(pressed, answerMessage(await approvals.withdraw({ id, by: caller.userId }), id));
}

/** In the window it was pressed in, else to the person alone. */
async function tell({ view, updateModal, reply }: Pressed, message: SlackMessage): Promise<void> {
  await (view ? updateModal(wordsModal('Approval', message)) : reply(message));
}
