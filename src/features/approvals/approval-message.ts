import type { ActionsBlock, Button, RichTextBlock } from '@slack/types';
import type { Approval, ApprovalNote } from '../../domain/approval.ts';
import type { ChargeSeen } from '../../domain/charge-seen.ts';
import {
  type Run,
  actions,
  button,
  code,
  confirmDialog,
  context,
  fields,
  moment,
  person,
  plainText,
  richText,
} from '../../slack/kit/blocks.ts';
import { counted } from '../../domain/counted.ts';
import { labelled, plain } from '../../slack/words/charge-facts.ts';
import { stateWord } from '../../slack/words/state-words.ts';
import type { ChargePlace } from '../../slack/words/charge-place.ts';
import { type AboutMessage, repeatLine } from '../../slack/words/repeat-line.ts';
import { moneyPlaceWords, placeAlone, quoted } from '../../slack/words/evidence.ts';
import type { MessageBlock, SlackMessage } from '../../slack/kit/message.ts';
import { outsideText } from '../../slack/kit/text.ts';
import { messageKey } from '../../messages/message-record.ts';
import type { Views } from '../../messages/views.ts';
import type { Messages } from '../../messages/messages.ts';
import {
  approvalActions,
  approvalHeadline,
  approvalState,
  approveWords,
  decidedLine,
  nothingBefore,
  nothingDone,
  people,
  reasonQuoted,
  requestValue,
  restOfWhat,
  ruleWords,
  whatSentence,
} from './approval-words.ts';

const eventType = 'payops_approval';
const longestResult = 300;

/**
 * Whose copy of the card it is: everybody’s in the channel, one of an approver, or that of whoever asked, who cannot
 * decide. `asked`: how many people can; 0 where that could not be found out.
 */
export type ApprovalCopy = { to: 'channel' | 'approver' | 'requester'; asked: number };

/**
 * The card of a request, in one of its places; the same request gives the same card. A closed one has neither buttons
 * nor the details of how to decide.
 */
export function approvalMessage(
  approval: Approval,
  place: ChargePlace,
  about: AboutMessage & ApprovalCopy & { charge?: ChargeSeen },
): SlackMessage {
  const { charge } = about;
  const { text, block } = charge ? approvalHeadline(approval, stateWord(charge)) : approvalHeadline(approval);
  return {
    text,
    blocks: [
      block,
      ...approvalBody(approval, about),
      ...approvalButtons(approval, about.to),
      approvalFoot(approval, place),
      ...repeatLine(about.mayBeRepeat),
    ],
    metadata: { event_type: eventType, event_payload: { key: about.key } },
  };
}

/** What stands below the first line, wherever it is shown. */
export function approvalBody(
  approval: Approval,
  { to, asked, charge }: ApprovalCopy & { charge?: ChargeSeen },
): RichTextBlock[] {
  const isOpen = approval.state.kind === 'waiting';
  return [
    ...(isOpen
      ? openLines(approval, { to, asked })
      : [richText(...(charge ? decidedLines(approval) : closedLines(approval)))]),
    ...closedReason(approval),
    ...(isOpen ? openFields(approval, to) : charge ? [] : closedFields(approval, to)),
    ...(isOpen && to !== 'requester' ? reasonQuoted(approval.shown) : []),
  ];
}

function openLines(approval: Approval, { to, asked }: ApprovalCopy): RichTextBlock[] {
  if (to !== 'requester') return [];
  const { shown, needed } = approval;
  const who = asked === 0 ? 'the approvers' : counted(asked, 'approver');
  const enough = needed > 1 ? `; ${needed} must approve` : '';
  return [
    richText(
      plain(`Sent to ${who}${enough}. ${nothingBefore(shown)} Expires `, moment(approval.expiresAtMs), '.'),
    ),
  ];
}

/** What decides. Whoever asked knows it, and reads who has approved. */
function openFields(approval: Approval, to: ApprovalCopy['to']): RichTextBlock[] {
  const { approvals, expiresAtMs } = approval;
  const approvedBy = approvals.length === 0 ? undefined : people(approvals.map(({ by }) => by));
  if (to === 'requester') return fields({ 'Approved by': approvedBy });
  return fields({
    ...restOfWhat(approval.shown),
    'Asked by': [person(approval.by)],
    Rule: ruleWords(approval),
    'Approved by': approvedBy,
    Expires: [moment(expiresAtMs)],
  });
}

function closedFields(approval: Approval, to: ApprovalCopy['to']): RichTextBlock[] {
  return fields({ 'Asked by': to === 'requester' ? undefined : [person(approval.by)] });
}

/** Who decided; what came of the charge stands in the first line. */
function decidedLines(approval: Approval): Run[][] {
  return [[...decidedLine(approval), ...plain('; asked by ', person(approval.by), '.')]];
}

/** What became of it, who decided, and what happens next. */
export function closedLines(approval: Approval): Run[][] {
  const { state, shown } = approval;
  const decided = [decidedLine(approval)].filter((line) => line.length > 0);
  switch (state.kind) {
    case 'waiting':
      return [];
    case 'approved':
      return [...decided, plain('It starts now.')];
    case 'executed':
      return [...decided, ...executedLines(approval, state.result)];
    case 'stopped':
      return [
        ...decided,
        plain(nothingDone(shown)),
        labelled('Why', outsideText(state.why, longestResult) || '–'),
      ];
    case 'refused':
    case 'expired':
    case 'withdrawn':
      return [...decided, plain(nothingDone(shown))];
  }
}

function executedLines({ shown }: Approval, result: string): Run[][] {
  const said = outsideText(result, longestResult);
  const became = said === '' ? [] : [labelled('Result', said)];
  if (shown.kind !== 'charge') return became;
  return [plain('The charge was started. Look its reference up.')];
}

function closedReason({ state }: Approval): RichTextBlock[] {
  return state.kind === 'refused' ? quoted('Why:', state.reason) : [];
}

/** Only while it waits; of whoever asked their own. */
function approvalButtons(approval: Approval, to: ApprovalCopy['to']): ActionsBlock[] {
  if (approval.state.kind === 'waiting') {
    return [to === 'requester' ? actions(withdrawButton(approval)) : actions(...decideButtons(approval))];
  }
  return approval.state.kind === 'expired' && to === 'requester' ? [actions(askAgainButton(approval))] : [];
}

/** *Approve* asks once more, in words that name amount and object. */
export function decideButtons(approval: Approval): Button[] {
  const { shown, needed, approvals } = approval;
  const value = requestValue(approval);
  const left = needed - approvals.length - 1;
  const next = left > 0 ? ` ${counted(left, 'more approval')} needed after yours.` : ' It starts at once.';
  return [
    button({
      actionId: approvalActions.approve,
      text: approveWords(shown),
      value,
      style: 'primary',
      confirm: confirmDialog({
        title: `${approveWords(shown)}?`,
        text: `${whatSentence(shown)}${next}`,
        confirm: 'Approve',
        deny: 'Not now',
      }),
    }),
    button({ actionId: approvalActions.refuse, text: 'Refuse…', value }),
  ];
}

export function withdrawButton({ id }: Approval): Button {
  return button({ actionId: approvalActions.withdraw, text: 'Withdraw', value: id });
}

export function askAgainButton({ id }: Approval): Button {
  return button({ actionId: approvalActions.askAgain, text: 'Ask again', value: id });
}

/** While it waits for a press that moves money, it says so. */
function approvalFoot(
  { state, shown }: Approval,
  { environment, account }: ChargePlace,
): ReturnType<typeof placeAlone> {
  const movesMoney = state.kind === 'waiting' && shown.kind === 'charge';
  return movesMoney
    ? context(plainText(moneyPlaceWords(environment, account)))
    : placeAlone(environment, account);
}

const noteEventType = 'payops_approval_note';

/** One step of a request: a line below its card, or for one person. */
export function approvalNoteMessage(
  what: ApprovalNote,
  approval: Approval,
  place: ChargePlace,
  about: AboutMessage & ApprovalCopy,
): SlackMessage {
  const { text, block } = approvalHeadline(approval, noteState(what, approval));
  return {
    text,
    blocks: [
      block,
      ...noteLines(what, approval, about.asked),
      ...noteButtons(what, approval, about.to),
      approvalFoot(approval, place),
      ...repeatLine(about.mayBeRepeat),
    ],
    metadata: { event_type: noteEventType, event_payload: { key: about.key } },
  };
}

/** In the words of then: it may have gone on since. */
function noteState(what: ApprovalNote, approval: Approval): string {
  switch (what) {
    case 'asked':
    case 'waiting':
      return '🟡 Sent for approval';
    case 'approved_one':
      return `🟡 ${approval.approvals.length} of ${approval.needed} approved`;
    case 'approved':
      return '🔵 Approved';
    case 'expires_soon':
      return '⏰ Expires soon, not decided yet';
    default:
      return approvalState(approval);
  }
}

function noteLines(what: ApprovalNote, approval: Approval, asked: number): MessageBlock[] {
  const { state, shown, approvals, needed, expiresAtMs } = approval;
  switch (what) {
    case 'asked':
    case 'waiting': {
      const who = asked === 0 ? '' : ` to ${counted(asked, 'approver')}`;
      return lines(plain(`Sent${who}. ${nothingBefore(shown)} Expires `, moment(expiresAtMs), '.'));
    }
    case 'approved_one':
      return lines(
        by(approvals.slice(-1).map(({ by: one }) => one)),
        plain(`${counted(needed - approvals.length, 'more approval')} needed, from somebody else.`),
      );
    case 'approved':
      return lines(by(approvals.map(({ by: one }) => one)), plain('It starts now.'));
    case 'expires_soon':
      return lines(
        labelled('Expires', moment(expiresAtMs), '. ', nothingBefore(shown)),
        labelled('Next', code('/pay approvals')),
      );
    case 'refused':
      if (state.kind !== 'refused') return [];
      return [...lines(by([state.by])), ...quoted('Why:', state.reason)];
    default:
      return lines(...closedLines(approval));
  }
}

function by(userIds: readonly string[]): Run[] {
  return plain('By ', ...people(userIds), '.');
}

function lines(...all: Run[][]): MessageBlock[] {
  const filled = all.filter((line) => line.length > 0);
  return filled.length === 0 ? [] : [richText(...filled)];
}

/** *Ask again* stands where whoever asked is told that nobody decided. */
function noteButtons(what: ApprovalNote, approval: Approval, to: ApprovalCopy['to']): ActionsBlock[] {
  return what === 'expired' && to === 'requester' ? [actions(askAgainButton(approval))] : [];
}

/** Whose copy of a request’s card it is: the channel’s, an approver’s, or that of whoever asked. */
type ApprovalAddress = 'channel' | 'approver' | 'requester';

/** A request’s card in one of its places, and what is said beside it. */
export type ApprovalBodies = {
  approval: { id: string; to: ApprovalAddress };
  approval_note: { id: string; to: ApprovalAddress; what: ApprovalNote };
};

export type ApprovalShown = FoundApproval & { kind: 'approval'; note?: ApprovalNote; to: ApprovalAddress };

/** `asked`: how many people can decide. `charge`: what became of the charge that was approved. */
type FoundApproval = { approval: Approval; asked: number; charge?: ChargeSeen };

export type ApprovalPostDeps = {
  /** A request, and how many people were asked to decide it; absent where nothing needs a second person. */
  findApproval?: (id: string) => Promise<FoundApproval | undefined>;
};

export function approvalViews({ findApproval }: ApprovalPostDeps): Views<ApprovalBodies, ApprovalShown> {
  async function requireApproval(id: string): Promise<FoundApproval> {
    const found = await findApproval?.(id);
    if (!found) throw new Error('There is something to say of a request that is not in the store.');
    return found;
  }
  return {
    /** A request's card in one place. */
    async approval({ id, to }) {
      return { kind: 'shown', post: { kind: 'approval', ...(await requireApproval(id)), to } };
    },
    /** Below the card in the channel, once that stands; to a person by itself. Nothing is told that no longer holds. */
    async approval_note({ id, to, what: note }, { record: { posted, channel } }) {
      const request = await requireApproval(id);
      if (!posted && !holds(note, request.approval)) return { kind: 'nothing' };
      const post = { kind: 'approval', note, ...request, to } as const;
      if (to !== 'channel') return { kind: 'shown', post };
      return { kind: 'shown', post, below: { key: approvalCardKey(id, channel) } };
    },
  };
}

/** A step that was overtaken is told by the note of the later one. An approval is told whatever came of it. */
function holds(what: ApprovalNote, { state }: Approval): boolean {
  switch (what) {
    case 'asked':
    case 'approved_one':
    case 'expires_soon':
      return state.kind === 'waiting';
    case 'approved':
      return state.kind === 'approved' || state.kind === 'executed';
    default:
      return state.kind === what;
  }
}

/** One card for each place, a channel or a person. */
function approvalCardKey(id: string, place: string): string {
  return messageKey('approval', `${place}:${id}`);
}

/**
 * Where and to whom a request is told: fixed when it is first told, so that every copy is edited to the end, whoever is
 * given or loses the permission meanwhile, and whatever channel the policy file names by then. That they may decide is
 * asked anew at each press.
 */
export type Copies = { channel?: string; approvers?: readonly string[] };

type Place = { channel: string; to: ApprovalAddress };

/**
 * Card in the approvals channel, direct messages, and every copy edited; then what there is to say of it as it stands.
 * On record when it resolves, and again is the same as once.
 */
export async function tellApproval(
  messages: Messages<ApprovalBodies>,
  approval: Approval,
  copies: Copies,
): Promise<void> {
  await keepApproval(messages, approval, copies);
  for (const what of notesOf(approval)) {
    const places = placesOf(approval, copies).filter((place) => hears(place, what, approval));
    // oxlint-disable-next-line no-await-in-loop -- in the order in which it happened
    await Promise.all(places.map((place) => postNote(messages, approval, what, place)));
  }
}

/** The copies alone: what is shown of it may have changed though nobody decided, as with the charge it is for. */
export async function keepApproval(
  messages: Messages<ApprovalBodies>,
  approval: Approval,
  copies: Copies,
): Promise<void> {
  const { id } = approval;
  await Promise.all(
    placesOf(approval, copies).map(({ channel, to }) =>
      messages.keep(approvalCardKey(id, channel), { kind: 'approval', channel, body: { id, to } }),
    ),
  );
}

/** What was said before is not said again. */
function notesOf({ state: { kind }, approvals, isWarned }: Approval): ApprovalNote[] {
  if (kind !== 'waiting') return [kind];
  return [approvals.length === 0 ? 'asked' : 'approved_one', ...(isWarned ? ['expires_soon' as const] : [])];
}

function placesOf({ by }: Approval, { channel, approvers = [] }: Copies): Place[] {
  return [
    ...(channel === undefined ? [] : [{ channel, to: 'channel' as const }]),
    ...approvers.map((userId) => ({ channel: userId, to: 'approver' as const })),
    { channel: by, to: 'requester' },
  ];
}

/**
 * Whoever asked is told what they cannot see by themselves, and never what they have just done; the thread in the channel
 * has every step. An approver hears again only that time runs out.
 */
function hears({ to, channel }: Place, what: ApprovalNote, { shown, approvals }: Approval): boolean {
  switch (to) {
    case 'channel':
      return what !== 'asked' && what !== 'waiting';
    case 'approver':
      return what === 'expires_soon' && !approvals.some(({ by }) => by === channel);
    case 'requester':
      if (what === 'executed') return shown.kind !== 'charge';
      return what !== 'asked' && what !== 'waiting' && what !== 'approved_one' && what !== 'withdrawn';
  }
}

async function postNote(
  messages: Messages<ApprovalBodies>,
  { id, approvals }: Approval,
  what: ApprovalNote,
  { channel, to }: Place,
): Promise<void> {
  // Of three who must approve, two are told of as one each.
  const step = what === 'approved_one' ? `${what}-${approvals.length}` : what;
  const key = messageKey('approval_note', `${step}:${channel}:${id}`);
  const body = { id, to, what };
  await messages.post(key, { kind: 'approval_note', channel, body });
}
