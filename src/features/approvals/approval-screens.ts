import type { Button } from '@slack/types';
import { z } from 'zod';
import { maskedApart } from '../../domain/outside-text.ts';
import type { Approval, ApprovalShown, ApprovalState, ShownCardEmail } from '../../domain/approval.ts';
import { asAccepted, type ChargeSeen, type Twin } from '../../domain/charge.ts';
import { counted } from '../../domain/wording.ts';
import type { OpenItems } from '../../slack/command.ts';
import {
  type Run,
  bold,
  button,
  code,
  confirmDialog,
  context,
  divider,
  fields,
  header,
  headline,
  listBlocks,
  messageLink,
  modal,
  moment,
  mrkdwn,
  person,
  plainLine,
  plainText,
  rich,
  richText,
  textInput,
  words,
} from '../../slack/kit/blocks.ts';
import { codec } from '../../slack/kit/form.ts';
import type { MessageBlock, Modal, ViewBlock, SlackMessage } from '../../slack/kit/message.ts';
import { type PostAttempt, type Note, noteMessage, noteModal, forPosting } from '../../slack/kit/note.ts';
import { cut, oneLine, outsideText } from '../../slack/kit/text.ts';
import { cardWords } from '../../slack/words/card-words.ts';
import { amountWord, labelled } from '../../slack/words/charge-facts.ts';
import { alertRuns } from '../../slack/words/alert-news.ts';
import { type ShownAccount, homeFoot, accountFoot } from '../../slack/words/account-foot.ts';
import {
  customerWord,
  openLookUpButton,
  quoted,
  referenceWord,
  word,
} from '../../slack/words/payment-words.ts';
import { stateWord } from '../../slack/words/state-words.ts';
import { acceptedRuns, twinBlocks } from '../../slack/words/twins.ts';
import { type Judged, theRequester } from './approval-case.ts';

// Every message, modal and answer about a request for approval. E-mails are masked in all but `emailsModal`.

type Body = NonNullable<Note['body']>;

/** A request for one reader. The requester can't decide. `charge`: the approved charge, once there is one. */
export type ApprovalView = {
  approval: Approval;
  to: 'channel' | 'approver' | 'requester';
  charge?: ChargeSeen;
};

/** A note about a request; each is posted once. */
export type ApprovalNote = 'approved_one' | 'expires_soon' | Exclude<ApprovalState['kind'], 'waiting'>;

const longestReason = 300;
const mostPeople = 10;

/** Words for each kind of request: on the button, while it waits, when it was carried out, and when it wasn't. */
const kindWords: Record<
  ApprovalShown['kind'],
  { approve: string; before: string; executed: string; stopped: string; not: string }
> = {
  charge: {
    approve: 'Approve',
    before: 'Nothing is charged until it’s approved.',
    executed: '☑️ Approved, charge started',
    stopped: '🛑 Approved, but not charged',
    not: 'Nothing was charged.',
  },
  card_email: {
    approve: 'Approve the new e-mail…',
    before: 'Nothing is changed until it’s approved.',
    executed: '☑️ Approved, done',
    stopped: '🛑 Approved, but not changed',
    not: 'Nothing was changed.',
  },
};

/**
 * Symbol and word for a request's state. None is green, which means a proven payment: an approval says who decided, not
 * what happened to the money.
 */
function approvalState({ state: { kind }, approvals, needed, shown }: Approval): string {
  if (kind === 'executed' || kind === 'stopped') return kindWords[shown.kind][kind];
  if (kind !== 'waiting') return stateWords[kind];
  return approvals.length === 0 ? '🟡 Needs approval' : `🟡 ${approvals.length} of ${needed} approved`;
}

const stateWords = {
  approved: '🔵 Approved, starting',
  refused: '🚫 Refused',
  expired: '⌛ Expired, nobody decided',
  withdrawn: '↩️ Withdrawn',
};

/** The first line: the state, then the request in short. */
function headOf(approval: Approval): { state: string; about: string[] } {
  return { state: approvalState(approval), about: aboutOf(approval.shown) };
}

function aboutOf(shown: ApprovalShown): string[] {
  switch (shown.kind) {
    case 'charge': {
      const { money, customerEmail } = shown.terms;
      return [amountWord(money), customerWord(customerEmail), referenceWord(shown.reference)];
    }
    case 'card_email':
      return ['Card e-mail change', cardWords(shown.terms.card), emailChange(shown.terms)];
  }
}

function emailChange({ currentEmail, newEmail }: ShownCardEmail): string {
  const [old, now] = maskedApart(currentEmail, newEmail);
  return `${outsideText(old, longestReason)} → ${outsideText(now, longestReason)}`;
}

function idWords({ customerId }: { customerId?: string }): string {
  const id = word(customerId);
  return id === undefined ? '' : ` (customer id ${id})`;
}

/** Exactly what the bot does after the approval. */
function whatLine(shown: ApprovalShown): Run[] {
  switch (shown.kind) {
    case 'charge': {
      const { money, card, customerEmail } = shown.terms;
      const charge = rich`Charge ${bold(amountWord(money))} to ${bold(cardWords(card))} of ${customerWord(customerEmail)}${idWords(shown.terms)}`;
      return shown.overridesRest ? [...charge, ...rich`, ${bold('although the card is on hold')}`] : charge;
    }
    case 'card_email':
      return rich`Link ${bold(cardWords(shown.terms.card))} with another e-mail: ${emailChange(shown.terms)}`;
  }
}

/** The facts for the decision; amount and customer are in the first line already. */
function factsOf({ shown, by, rule }: Approval): Record<string, string | Run[] | undefined> {
  const asked = { 'Asked by': [person(by)], Rule: outsideText(rule, longestReason) };
  if (shown.kind !== 'charge') return asked;
  const onHold = shown.overridesRest ? [words(', '), bold('on hold')] : [];
  return {
    Card: [words(cardWords(shown.terms.card)), ...onHold, words(idWords(shown.terms))],
    'Other payments': shown.despite && acceptedRuns(shown.despite),
    ...asked,
  };
}

/** Those who approved, with commas between; at most `mostPeople`. */
function people(approvals: Approval['approvals']): Run[] {
  const shown = approvals.slice(0, mostPeople);
  const runs = shown.flatMap(({ by }, index) => [...(index === 0 ? [] : [words(', ')]), person(by)]);
  return approvals.length > mostPeople
    ? [...runs, words(` and ${approvals.length - mostPeople} more`)]
    : runs;
}

function moreNeeded({ needed, approvals }: Approval): string {
  return `${counted(needed - approvals.length, 'more approval')} needed, from somebody else.`;
}

/** Who decided and when; empty while the request waits. */
function decidedLine(approval: Approval): Run[] {
  const { state, approvals } = approval;
  const last = approvals.at(-1);
  switch (state.kind) {
    case 'waiting':
      return [];
    case 'approved':
    case 'executed':
    case 'stopped':
      return last ? [words('Approved by '), ...people(approvals), ...rich`, ${moment(last.atMs)}`] : [];
    case 'refused':
      return rich`Refused by ${person(state.by)}, ${moment(state.atMs)}`;
    case 'expired':
      return rich`Expired ${moment(state.atMs)}`;
    case 'withdrawn':
      return rich`Withdrawn by the requester, ${moment(state.atMs)}`;
  }
}

/** Below the first line, after the decision: who decided, what happens next, or why nothing does. */
function closedBody(approval: Approval): Body {
  const { shown } = approval;
  const alert = shown.kind === 'charge' ? shown.terms.alert : undefined;
  return [...endBody(approval), ...fields({ 'Asked from': alert && alertRuns(alert) })];
}

function endBody(approval: Approval): Body {
  const { state, shown } = approval;
  const decided = decidedLine(approval);
  const notDone = [...decided, ...rich`. ${kindWords[shown.kind].not}`];
  switch (state.kind) {
    case 'waiting':
      return [];
    case 'approved':
      return [decided, rich`It starts now.`];
    case 'executed': {
      const result = outsideText(state.result, longestReason);
      return [decided, shown.kind === 'charge' || result === '' ? [] : rich`${result}`];
    }
    case 'stopped':
      return [decided, whyStopped(state.why, approval.by)];
    case 'refused':
      return [notDone, ...quoted('Why:', state.reason)];
    case 'expired':
    case 'withdrawn':
      return [notDone];
  }
}

/** Why an approved request was not carried out; names the requester. */
function whyStopped(why: string, by: string): Run[] {
  const said = outsideText(why, longestReason) || '–';
  return said.startsWith(theRequester)
    ? labelled('Why', person(by), said.slice(theRequester.length))
    : labelled('Why', said);
}

function bodyOf({ approval, to, charge }: ApprovalView): Body {
  const { state, shown, needed, approvals, by, expiresAtMs } = approval;
  const isOwn = to === 'requester';
  if (state.kind !== 'waiting') {
    // The first line already has the charge's result.
    if (charge) return [[...decidedLine(approval), ...rich`; asked by ${person(by)}.`]];
    return [...closedBody(approval), ...(isOwn ? [] : fields({ 'Asked by': [person(by)] }))];
  }
  const approved = { 'Approved by': approvals.length === 0 ? undefined : people(approvals) };
  if (!isOwn) {
    const all = { ...factsOf(approval), ...approved, Expires: [moment(expiresAtMs)] };
    const reason = shown.kind === 'charge' ? quoted('Reason:', shown.terms.reason) : [];
    return [...fields(all), ...reason];
  }
  const enough = needed > 1 ? `; ${needed} must approve` : '';
  const sent = `Sent to the approvers${enough}. ${kindWords[shown.kind].before}`;
  return [rich`${sent} Expires ${moment(expiresAtMs)}.`, ...fields(approved)];
}

/** The buttons of a request. Their values have its id, and for a decision also the hash of the shown terms. */
export const approvalActions = {
  approve: 'approval_approve',
  /** Opens a modal with the whole e-mail addresses, which a message must not show. */
  openEmails: 'approval_see',
  refuse: 'approval_refuse',
  withdraw: 'approval_withdraw',
} as const;

function buttonsOf(approval: Approval, isOwn: boolean): Button[] {
  if (approval.state.kind !== 'waiting') return [];
  return isOwn
    ? [button({ actionId: approvalActions.withdraw, text: 'Withdraw', value: approval.id })]
    : decideButtons(approval);
}

function decideButtons(approval: Approval): Button[] {
  const { shown } = approval;
  const value = requestValue.write({ id: approval.id, termsHash: approval.termsHash });
  const refuse = button({ actionId: approvalActions.refuse, text: 'Refuse…', value, style: 'danger' });
  if (shown.kind === 'card_email') {
    const { approve: text } = kindWords[shown.kind];
    return [button({ actionId: approvalActions.openEmails, text, value, style: 'primary' }), refuse];
  }
  const text = `${kindWords[shown.kind].approve} ${amountWord(shown.terms.money)}`;
  const confirm = confirmDialog({
    title: `${text}?`,
    text: `${plainLine(whatLine(shown))}. ${afterYours(approval) ?? startsAtOnce}`,
    confirm: 'Approve',
    deny: 'Not now',
  });
  return [button({ actionId: approvalActions.approve, text, value, style: 'primary', confirm }), refuse];
}

/**
 * A button's value: the request, the hash of the terms shown above the button, and the equal charges shown (`despite`,
 * see `asAccepted`). An approval counts for exactly these.
 */
export const requestValue = codec(
  z.object({ id: z.string(), termsHash: z.string(), despite: z.array(z.string()).exactOptional() }),
);

export type RequestValue = NonNullable<ReturnType<typeof requestValue.read>>;

/** A request's copy for one recipient. Pure: equal requests give equal messages. */
export function approvalMessage(view: ApprovalView, account: ShownAccount, about: PostAttempt): SlackMessage {
  return forPosting(noteMessage({ ...noteOf(view), foot: accountFoot(account) }), 'payops_approval', about);
}

function noteOf(view: ApprovalView): Note {
  const { approval, to, charge } = view;
  const head = headOf(approval);
  return {
    ...head,
    state: charge ? stateWord(charge) : head.state,
    body: bodyOf(view),
    buttons: buttonsOf(approval, to === 'requester'),
  };
}

/** A note about one step, for the request's thread or for one person. */
export function approvalNoteMessage(
  what: ApprovalNote,
  { approval }: ApprovalView,
  account: ShownAccount,
  about: PostAttempt,
): SlackMessage {
  const note: Note = {
    ...headOf(approval),
    ...noteHeads[what],
    body: noteBody(what, approval),
    foot: accountFoot(account),
  };
  return forPosting(noteMessage(note), 'payops_approval_note', about);
}

/** Notes whose first line doesn't show the request's present state. */
const noteHeads: Partial<Record<ApprovalNote, { state: string }>> = {
  approved: { state: '🔵 Approved' },
  expires_soon: { state: '⏰ Expires soon, not decided yet' },
};

function noteBody(what: ApprovalNote, approval: Approval): Body {
  const { shown, approvals, expiresAtMs } = approval;
  switch (what) {
    case 'approved_one':
      return [byLine(approvals.slice(-1)), rich`${moreNeeded(approval)}`];
    case 'approved':
      return [byLine(approvals), rich`It starts now.`];
    case 'expires_soon':
      return [
        labelled('Expires', moment(expiresAtMs), `. ${kindWords[shown.kind].before}`),
        labelled('Next', code('/pay approvals')),
      ];
    default:
      return closedBody(approval);
  }
}

function byLine(approvals: Approval['approvals']): Run[] {
  return [words('By '), ...people(approvals), words('.')];
}

/** Shown to the requester right after the request. */
export function requestModal(approval: Approval, account: ShownAccount): Modal {
  const canClose = rich`You may close this: the decision comes as a direct message.`;
  const note: Note = {
    ...headOf(approval),
    body: [
      ...bodyOf({ approval, to: 'requester' }),
      ...(approval.state.kind === 'waiting' ? [richText(canClose)] : []),
    ],
    buttons: buttonsOf(approval, true),
    foot: accountFoot(account),
  };
  return noteModal(note, { callbackId: 'approval_request', title: 'Approval' });
}

export const refuseModalId = 'approval_refuse';
export const refuseField = 'approval_refuse_words';

export function refuseModal(approval: Approval, account: ShownAccount): Modal {
  const { state, about } = headOf(approval);
  const { Card, 'Asked by': asker } = factsOf(approval);
  return modal({
    callbackId: refuseModalId,
    title: 'Refuse',
    submit: 'Refuse it',
    privateMetadata: requestValue.write({ id: approval.id, termsHash: approval.termsHash }),
    blocks: [
      headline(state, about).block,
      ...fields({ Card, 'Asked by': asker }),
      richText(rich`Nobody can approve it after that.`),
      textInput({
        id: refuseField,
        label: 'Reason',
        placeholder: 'The order was cancelled this morning',
        hint: 'Everybody who sees the request reads it.',
        maxLength: longestReason,
      }),
      accountFoot(account),
    ],
  });
}

export const approveModalId = 'approval_see';

/** The longest possible address. */
const longestEmail = 320;

function whole(email: string): Run {
  return bold(cut(oneLine(email), longestEmail));
}

/**
 * Shows both addresses whole to the person who decides. Call this only after the audit has recorded that they see them.
 */
export function emailsModal(approval: Approval, { currentEmail, newEmail, card }: ShownCardEmail): Modal {
  const change = rich`Change the e-mail of ${bold(cardWords(card))} from ${whole(currentEmail)} to ${whole(newEmail)}.`;
  const atOnce = 'It’s done at once; charges with the old e-mail are refused from then on.';
  return approveModal(approval, {}, [
    richText(change, rich`${afterYours(approval) ?? atOnce}`),
    ...askedFields(approval),
    context(plainText('The audit trail says that you saw both addresses.')),
  ]);
}

/**
 * Lists other charges of the same card and amount since the request, newest first. Approving here accepts all of them.
 */
export function twinsModal(approval: Approval, twins: readonly Twin[], nowMs: number): Modal {
  const despite = twins.map(asAccepted);
  return approveModal(approval, { despite }, [
    ...twinBlocks(twins, nowMs),
    richText([...whatLine(approval.shown), words('.')], rich`${afterYours(approval) ?? startsAtOnce}`),
    ...askedFields(approval),
  ]);
}

function approveModal(
  { id, termsHash }: Approval,
  twins: Pick<RequestValue, 'despite'>,
  blocks: ViewBlock[],
): Modal {
  return modal({
    callbackId: approveModalId,
    title: 'Approve',
    submit: 'Approve',
    privateMetadata: requestValue.write({ id, termsHash, ...twins }),
    blocks,
  });
}

function askedFields({ by, rule }: Approval): ViewBlock[] {
  return fields({ 'Asked by': [person(by)], Rule: outsideText(rule, longestReason) });
}

const startsAtOnce = 'It starts at once.';

/** Undefined if this is the last approval needed. */
function afterYours({ needed, approvals }: Approval): string | undefined {
  const left = needed - approvals.length - 1;
  return left > 0 ? `${counted(left, 'more approval')} needed after yours.` : undefined;
}

/**
 * The answer to a press: the decision, or why it had no effect. `copy`: the request's message, if pressed elsewhere.
 */
export function answerMessage(
  judged: Judged | undefined,
  id = '',
  copy?: { channel: string; ts: string },
): SlackMessage {
  if (!judged) {
    const body = [rich`It was decided long ago.`];
    return noteMessage({ state: 'This request is gone', about: [referenceWord(id)], body });
  }
  const { kind, approval } = judged;
  const { shown, by } = approval;
  switch (kind) {
    case 'decided':
      return noteMessage({ ...headOf(approval), body: decidedNext(approval, copy) });
    case 'over':
    case 'nothing_due':
      return noteMessage({ ...headOf(approval), body: [decidedLine(approval)] });
    case 'not_theirs':
      return noteMessage({
        state: '⛔ Only the requester can do this',
        body: [rich`Asked by ${person(by)}.`],
      });
    case 'own_request':
      return noteMessage({
        state: '⛔ You asked for this, so somebody else decides',
        body: [rich`${kindWords[shown.kind].before} Withdraw it with ${code('/pay approvals')}.`],
      });
    case 'approved_before':
      return noteMessage({ state: '🟡 You already approved this', body: [rich`${moreNeeded(approval)}`] });
    case 'other_terms':
      // People must not approve terms that they didn't see.
      return noteMessage({
        state: '⛔ This request has changed',
        body: [
          rich`Nothing was approved. It now asks for:`,
          whatLine(shown),
          rich`Decide it with ${code('/pay approvals')}.`,
        ],
      });
  }
}

function decidedNext(approval: Approval, copy: { channel: string; ts: string } | undefined): Body {
  switch (approval.state.kind) {
    case 'waiting':
      return [rich`You approved it. ${moreNeeded(approval)}`];
    case 'refused':
      return [rich`You refused it. The requester is told why.`];
    case 'withdrawn':
      return [rich`You withdrew it. Nobody can approve it any more.`];
    default:
      return copy
        ? [rich`You approved it.`, context(mrkdwn(`${messageLink(copy, 'Its message')} says how it ends.`))]
        : [rich`You approved it. Its message says how it ends.`];
  }
}

/** `waiting`: other people's requests that this person can decide. `asked`: the person's own. */
export type PersonsApprovals = { waiting: readonly ApprovalItem[]; asked: readonly ApprovalItem[] };

export type ApprovalItem = Omit<ApprovalView, 'to'>;

/** Of both lists so many fit in one message, each request with up to four blocks. */
const mostShown = 5;
const nextShown = 'They show up as these are decided.';

/** `/pay approvals`: first requests that wait for this person, then their own. */
export function approvalsMessage({ waiting, asked }: PersonsApprovals, account: ShownAccount): SlackMessage {
  const none = waiting.length === 0 && asked.length === 0 ? [rich`You asked for nothing.`] : [];
  return noteMessage({
    state: waiting.length > 0 ? waitingWords(waiting.length) : 'Nothing waits for your decision',
    about: asked.length === 0 ? [] : [`${asked.length} asked by you`],
    body: [
      ...itemsOf(waiting, 'approver', nextShown),
      ...none,
      ...(asked.length === 0 ? [] : [header('Asked by you')]),
      ...itemsOf(asked, 'requester', 'Older ones are not shown here.'),
    ],
    foot: accountFoot(account),
  });
}

function waitingWords(count: number): string {
  return `🟡 ${counted(count, 'request waits', 'requests wait')} for your decision`;
}

/** A person's requests on the App Home; empty if there are none. */
export function homeApprovals({ waiting, asked }: PersonsApprovals, account: ShownAccount): MessageBlock[] {
  const open = asked.filter(
    ({ approval: { state } }) => state.kind === 'waiting' || state.kind === 'approved',
  );
  if (waiting.length === 0 && open.length === 0) return [];
  return [
    ...(waiting.length === 0 ? [] : [header('Waiting for your decision')]),
    ...itemsOf(waiting, 'approver', nextShown),
    ...(open.length === 0 ? [] : [header('Asked by you, not decided yet')]),
    ...itemsOf(open, 'requester', '/pay approvals lists them.'),
    ...homeFoot(account),
    divider(),
  ];
}

/** The menu's line; undefined if no request waits for the person. */
export function openApprovals({ waiting }: PersonsApprovals): OpenItems | undefined {
  const count = waiting.length;
  if (count === 0) return undefined;
  const untilMs = Math.min(...waiting.map(({ approval }) => approval.expiresAtMs));
  const until = count === 1 ? ' · until ' : ' · the first until ';
  return { count, untilMs, line: rich`${bold(waitingWords(count))}${until}${moment(untilMs, '{time}')}` };
}

/**
 * Each request as in its own message; an executed one with a look-up of its charge. `more`: what to say if some are
 * left out.
 */
function itemsOf(all: readonly ApprovalItem[], to: 'approver' | 'requester', more: string): MessageBlock[] {
  const blocksOf = (item: ApprovalItem): MessageBlock[] => {
    const note = noteOf({ ...item, to });
    const { shown, state } = item.approval;
    const lookUp =
      shown.kind === 'charge' && state.kind === 'executed'
        ? openLookUpButton(shown.reference, shown.terms.money.minor)
        : [];
    return noteMessage({ ...note, buttons: [...(note.buttons ?? []), ...lookUp] }).blocks;
  };
  return listBlocks(all, mostShown, blocksOf, more);
}
