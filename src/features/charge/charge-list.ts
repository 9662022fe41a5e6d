import type { Button } from '@slack/types';
import { type ChargeSeen, isClosed, isConcluded } from '../../domain/charge.ts';
import {
  type Run,
  actions,
  bold,
  code,
  divider,
  header,
  listBlocks,
  moment,
  person,
  richText,
  words,
} from '../../slack/kit/blocks.ts';
import { openLookUpButton, referenceWord } from '../../slack/words/payment-words.ts';
import { noteMessage } from '../../slack/kit/note.ts';
import type { MessageBlock, SlackMessage } from '../../slack/kit/message.ts';
import { counted } from '../../domain/wording.ts';
import { chargeHeadline, labelled, plain } from '../../slack/words/charge-facts.ts';
import {
  type ShownAccount,
  withOtherAccounts,
  homeFoot,
  checkedFoot,
} from '../../slack/words/account-foot.ts';
import { holdWords } from '../../slack/words/next-steps.ts';
import { isInDoubt } from '../../slack/words/state-words.ts';
import { type Command, type OpenItems, defineCommand } from '../../slack/command.ts';
import { nothingAfter } from '../../slack/command-text.ts';
import type { Account } from '../../account.ts';
import type { ChargeOperations } from './charge-operations.ts';
import type { Doubts } from './charge-record.ts';
import { checkButton, showButton } from './charge-modal.ts';
import { agentTypes, codeButtons, codeLine, agentSince, takeOverButton } from './code-modal.ts';

/** The most charges in a list: more than a person reads at once. */
const mostShown = 10;

/** Charges that wait for this person's code, each with its button. */
export function pendingCodesMessage(
  charges: readonly ChargeSeen[],
  account: ShownAccount,
  { nowMs, others = [] }: { nowMs: number; others?: readonly ChargeSeen[] },
): SlackMessage {
  const follow = 'They follow as these end.';
  const own = listBlocks(charges, mostShown, (charge) => homeItem(charge, nowMs), follow);
  const theirs = listBlocks(
    others,
    mostShown,
    (charge) => [
      chargeHeadline(charge).block,
      richText(agentSince(charge), codeLine(charge)),
      actions(takeOverButton(charge)),
    ],
    follow,
  );
  const body = [...own, ...(others.length === 0 ? [] : [header('Of colleagues'), ...theirs])];
  const state = charges.length === 0 ? 'No charge waits for a code from you' : waitingWords(charges);
  return noteMessage({ state, body, foot: checkedFoot(account, nowMs) });
}

/** The charges with an unknown outcome: who began each, what happens next and when, and what people must do. */
export function doubtMessage(
  { charges, unread }: Doubts,
  account: ShownAccount,
  nowMs: number,
): SlackMessage {
  const items = listBlocks(
    charges,
    mostShown,
    (charge) => [
      chargeHeadline(charge).block,
      richText(...doubtLines(charge, nowMs)),
      ...doubtButtons(charge),
    ],
    'They follow as these end; the bot checks all of them.',
  );
  const isNone = charges.length + unread.length === 0;
  return noteMessage({
    state: doubtTitle(charges.length, unread.length),
    body: isNone
      ? [plain('Every charge has its outcome, or waits for a code.')]
      : [...items, ...unopened(unread)],
    foot: checkedFoot(account, nowMs),
  });
}

export function doubtTitle(charges: number, unread: number): string {
  if (charges > 0) return `❔ ${counted(charges, 'charge', 'charges')} in doubt`;
  return unread > 0 ? `❔ ${counted(unread, 'charge', 'charges')} cannot be opened` : 'No charge is in doubt';
}

/**
 * Names the charges that can't be opened because their sealing key is missing. Without this they would seem settled.
 */
function unopened(unread: readonly string[]): MessageBlock[] {
  if (unread.length === 0) return [];
  const shown = unread
    .slice(0, mostShown)
    .flatMap((reference) => [words(' '), code(referenceWord(reference))]);
  const rest = unread.length > mostShown ? ` and ${unread.length - mostShown} more` : '';
  return [
    richText(
      [bold('Cannot be opened:'), ...shown, words(rest)],
      plain('A sealing key is missing, so the bot can’t read or check them.'),
      labelled('Next', 'don’t charge them again; tell the people who run this bot.'),
    ),
  ];
}

export function doubtLines(charge: ChargeSeen, nowMs: number): Run[][] {
  const { state, by, submittedAt, sends } = charge;
  const since = state.kind === 'confirming' ? state.since : submittedAt;
  const asked = sends > 1 ? `, sent ${counted(sends, 'time')}` : '';
  const who = labelled('By', person(by), ', since ', moment(since), asked);
  return [who, nextLine(charge, nowMs)];
}

function nextLine(charge: ChargeSeen, nowMs: number): Run[] {
  const { dueAt, state } = charge;
  if (state.kind === 'review') return labelled('Next', 'don’t charge again; ask the payments service.');
  if (isConcluded(state) || dueAt === undefined) return labelled('Next', 'nothing, it has its outcome.');
  const rest = isInDoubt(charge) ? ' Do not charge again.' : '';
  return dueAt <= nowMs
    ? labelled('Next', `checking now.${rest}`)
    : labelled('Next', 'the bot checks by ', moment(dueAt), `.${rest}`);
}

function doubtButtons({ state, reference }: ChargeSeen): MessageBlock[] {
  const mayCheck = state.kind === 'confirming' || state.kind === 'review';
  return mayCheck ? [actions(checkButton(reference))] : [];
}

/** A section of the App Home; empty without charges. */
export function homeCharges(
  title: string,
  charges: readonly ChargeSeen[],
  account: ShownAccount,
  nowMs: number,
): MessageBlock[] {
  if (charges.length === 0) return [];
  return [
    header(title),
    ...listBlocks(charges, mostShown, (one) => homeItem(one, nowMs), 'The others are not shown here.'),
    ...homeFoot(account),
    divider(),
  ];
}

function homeItem(charge: ChargeSeen, nowMs: number): MessageBlock[] {
  const lines = homeLines(charge, nowMs);
  return [
    chargeHeadline(charge).block,
    ...(lines.length === 0 ? [] : [richText(...lines)]),
    actions(...homeButtons(charge)),
  ];
}

/** Only absolute times, formatted by each reader's Slack: the Home stays on the screen for long. */
function homeLines(charge: ChargeSeen, nowMs: number): Run[][] {
  const { state } = charge;
  if (state.kind === 'otp') return [codeLine(charge)];
  if (!isClosed(charge)) return [nextLine(charge, nowMs)];
  const nextTry = state.kind === 'declined' ? holdWords(charge.nextTry) : undefined;
  return nextTry ? [labelled('Card', ...nextTry)] : [];
}

function homeButtons(charge: ChargeSeen): Button[] {
  const { state, reference, terms } = charge;
  if (state.kind === 'otp') return codeButtons(charge);
  return state.kind === 'approved' ? openLookUpButton(reference, terms.money.minor) : [showButton(reference)];
}

/** "2 charges wait for a code from you"; without *from you* if customers type some of the codes. */
function waitingWords(charges: readonly ChargeSeen[]): string {
  const from = charges.every(agentTypes) ? ' from you' : '';
  return `🔑 ${counted(charges.length, 'charge waits', 'charges wait')} for a code${from}`;
}

/** A person's menu entry for charges that wait for a code. */
export function openCodes(charges: readonly ChargeSeen[]): OpenItems | undefined {
  const count = charges.length;
  if (count === 0) return undefined;
  const waits = bold(waitingWords(charges));
  const ends = charges.flatMap(({ otp }) => otp?.until ?? []);
  if (ends.length === 0) return { count, line: [waits] };
  const untilMs = Math.min(...ends);
  const until = words(count === 1 ? ' · until ' : ' · the first until ');
  return { count, untilMs, line: [waits, until, moment(untilMs, '{time}')] };
}

/** A person's menu entry for charges with an unknown outcome. */
export function openDoubts(charges: readonly ChargeSeen[]): OpenItems | undefined {
  const count = charges.length;
  if (count === 0) return undefined;
  const review = charges.filter(({ state }) => state.kind === 'review').length;
  const todo =
    review === 0
      ? ' · the bot keeps checking; do not charge again'
      : ` · ${counted(review, 'needs review', 'need review')}`;
  return {
    count,
    line: [bold(`❔ ${counted(count, 'charge', 'charges')} of yours in doubt`), words(todo)],
  };
}

/** `/pay doubt`: lists every charge with an unknown outcome, and what the bot does about it. */
export function doubtCommand({ shownAccount, now }: Account, { inDoubt }: ChargeOperations): Command {
  return defineCommand<undefined>({
    verb: 'doubt',
    usage: '',
    summary: 'Charges in doubt',
    examples: ['doubt'],
    permission: 'doubt',
    menu: { actionId: 'menu.doubt', text: 'Doubts', opens: 'message' },
    open: async ({ userId }) => openDoubts((await inDoubt()).charges.filter(({ agent }) => agent === userId)),
    effect: 'none',
    parse: nothingAfter('Nothing follows “doubt”: it lists every charge in doubt.'),
    async run() {
      const found = await inDoubt();
      const message = doubtMessage(found, shownAccount, now());
      return found.charges.length === 0 ? withOtherAccounts(message, shownAccount) : message;
    },
    home: async () => homeCharges('In doubt', (await inDoubt()).charges, shownAccount, now()),
  });
}
