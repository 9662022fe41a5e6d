// What every message and window of a request for a second person says of it. E-mails are masked in all of them:
import type { RichTextBlock } from '@slack/types';
import type { Approval, ApprovalShown } from '../../domain/approval.ts';
import { type Run, bold, headline, moment, person, personOrChannel, words } from '../../slack/kit/blocks.ts';
import { cardWords } from '../../slack/words/card-words.ts';
import { amountWord, plain } from '../../slack/words/charge-facts.ts';
import { customerWord, quoted, referenceWord, word } from '../../slack/words/evidence.ts';
import { outsideText } from '../../slack/kit/text.ts';

const longestReason = 300;

/**
 * Symbol and word of where a request stands. None is green: that is for what is proven to be paid. An approval says
 * who decided, never what became of the money.
 */
export function approvalState({ state, approvals, needed, shown }: Approval): string {
  switch (state.kind) {
    case 'waiting':
      return approvals.length === 0 ? '🟡 Needs approval' : `🟡 ${approvals.length} of ${needed} approved`;
    case 'approved':
      return '🔵 Approved, starting';
    case 'executed':
      return doneWords[shown.kind];
    case 'stopped':
      return '🛑 Approved, but not done';
    case 'refused':
      return '🚫 Refused';
    case 'expired':
      return '⌛ Expired, nobody decided';
    case 'withdrawn':
      return '↩️ Withdrawn';
  }
}

const doneWords: Record<ApprovalShown['kind'], string> = {
  charge: '☑️ Approved, charge started',
  card_email: '☑️ Approved, done',
  redrive: '☑️ Approved, on its way again',
};

/** The first line: state, then what is asked for in the words of its kind. */
export function approvalHeadline(
  approval: Approval,
  state = approvalState(approval),
): { text: string; block: RichTextBlock } {
  return headline(state, objectWords(approval.shown));
}

function objectWords(shown: ApprovalShown): string[] {
  switch (shown.kind) {
    case 'charge':
      return [amountWord(shown.money), customerWord(shown.customerEmail), referenceWord(shown.reference)];
    case 'card_email':
      return ['Card e-mail change', cardWords(shown.card), emailChange(shown)];
    case 'redrive':
      return ['Deliver again what Slack refused', word(shown.channel) ?? ''];
  }
}

function emailChange(shown: Extract<ApprovalShown, { kind: 'card_email' }>): string {
  return `${customerWord(shown.currentEmail)} → ${customerWord(shown.newEmail)}`;
}

/** The same below a first line that has its amount and customer already. */
export function restOfWhat(shown: ApprovalShown): Record<string, readonly Run[]> {
  if (shown.kind !== 'charge') return { What: whatLine(shown) };
  const id = word(shown.customerId);
  const onHold = shown.overridesRest === true ? [', ', bold('on hold')] : [];
  return { Card: plain(bold(cardWords(shown.card)), ...onHold, ...(id ? [` (customer id ${id})`] : [])) };
}

/** What exactly is done once it is approved. */
export function whatLine(shown: ApprovalShown): Run[] {
  switch (shown.kind) {
    case 'charge': {
      const id = word(shown.customerId);
      return plain(
        'Charge ',
        bold(amountWord(shown.money)),
        ' to ',
        bold(cardWords(shown.card)),
        ' of ',
        customerWord(shown.customerEmail),
        ...(id === undefined ? [] : [` (customer id ${id})`]),
        ...(shown.overridesRest === true ? [', ', bold('although the card is on hold')] : []),
      );
    }
    case 'card_email':
      return plain('Link ', bold(cardWords(shown.card)), ' with another e-mail: ', emailChange(shown));
    case 'redrive':
      return plain('Deliver again what Slack refused for ', placeOf(shown.channel));
  }
}

/** The same in one plain sentence, for a confirm dialog: amount and object first, in case it is cut. */
export function whatSentence(shown: ApprovalShown): string {
  switch (shown.kind) {
    case 'charge':
      return `${amountWord(shown.money)} from ${cardWords(shown.card)} of ${customerWord(shown.customerEmail)}.${shown.overridesRest === true ? ' The card is on hold.' : ''}`;
    case 'card_email':
      return `${cardWords(shown.card)}: ${emailChange(shown)}. Charges with the old address are rejected from then on.`;
    case 'redrive':
      return `What Slack refused for ${word(shown.channel) ?? ''} is delivered again, about one a second.`;
  }
}

/** Names of channels and people that only those see who may. */
function placeOf(channel: string): Run {
  if (!/^[A-Z0-9]{3,}$/.test(channel)) return words(word(channel) ?? '');
  return personOrChannel(channel);
}

/** The requester’s own words, set apart as theirs. */
export function reasonQuoted(shown: ApprovalShown): RichTextBlock[] {
  return shown.kind === 'charge' ? quoted('Reason:', shown.reason) : [];
}

/** "Approve NGN 12,500.00": what the button does, within what a button holds. */
export function approveWords(shown: ApprovalShown): string {
  switch (shown.kind) {
    case 'charge':
      return `Approve ${amountWord(shown.money)}`;
    case 'card_email':
      return 'Approve the new e-mail';
    case 'redrive':
      return 'Approve delivering again';
  }
}

/** Who approved so far, and how many it takes. */
export function approvedLine({ approvals, needed }: Approval): Run[] {
  const count = `${approvals.length} of ${needed} approved`;
  if (approvals.length === 0) return [words(count)];
  return [words(`${count}: `), ...people(approvals.map(({ by }) => by))];
}

/** People, parted by commas. Many approvals of one request would be a setting nobody has; a message holds so many. */
export function people(userIds: readonly string[]): Run[] {
  const shown = userIds.slice(0, mostPeople);
  const runs = shown.flatMap((userId, index) => [...(index === 0 ? [] : [words(', ')]), person(userId)]);
  return userIds.length > mostPeople ? [...runs, words(` and ${userIds.length - mostPeople} more`)] : runs;
}

const mostPeople = 10;

export function ruleWords({ rule }: Approval): string {
  return outsideText(rule, longestReason);
}

/** Said where money could be thought to have moved before the decision. */
export function nothingBefore({ kind }: ApprovalShown): string {
  switch (kind) {
    case 'charge':
      return 'Nothing is charged until it’s approved.';
    case 'card_email':
      return 'Nothing is changed until it’s approved.';
    case 'redrive':
      return 'Nothing is delivered until it’s approved.';
  }
}

/** Of what was refused, expired or withdrawn. */
export function nothingDone({ kind }: ApprovalShown): string {
  switch (kind) {
    case 'charge':
      return 'Nothing was charged.';
    case 'card_email':
      return 'Nothing was changed.';
    case 'redrive':
      return 'Nothing was delivered again.';
  }
}

/** Who decided and when; nothing while nobody did. */
export function decidedLine({ state, approvals }: Approval): Run[] {
  const last = approvals.at(-1);
  switch (state.kind) {
    case 'waiting':
      return [];
    case 'approved':
    case 'executed':
    case 'stopped':
      return last
        ? [words('Approved by '), ...people(approvals.map(({ by }) => by)), words(', '), moment(last.atMs)]
        : [];
    case 'refused':
      return [words('Refused by '), person(state.by), words(', '), moment(state.atMs)];
    case 'expired':
      return [words('Nobody decided until '), moment(state.atMs)];
    case 'withdrawn':
      return [words('Withdrawn by the requester, '), moment(state.atMs)];
  }
}

/** The buttons of a request. Each carries its id; `approve` and `refuse` carry the hash of the terms that were shown too. */
export const approvalActions = {
  approve: 'approval_approve',
  refuse: 'approval_refuse',
  withdraw: 'approval_withdraw',
  /** The form once more, filled in as it was, after nobody decided. */
  askAgain: 'approval_ask_again',
  show: 'approval_show',
} as const;

/** Which request, and what was to be seen of it: what is approved is what stood above the button. */
type SeenRequest = { id: string; termsHash: string };

export function requestValue({ id, termsHash }: SeenRequest): string {
  return JSON.stringify([id, termsHash]);
}

/** Undefined for a value that is not ours. */
export function readRequestValue(value: string): SeenRequest | undefined {
  try {
    const read: unknown = JSON.parse(value);
    if (!Array.isArray(read)) return undefined;
    const [id, termsHash]: unknown[] = read;
    return typeof id === 'string' && typeof termsHash === 'string' ? { id, termsHash } : undefined;
  } catch {
    return undefined;
  }
}
