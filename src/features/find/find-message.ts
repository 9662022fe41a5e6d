import type { ActionsBlock, Button } from '@slack/types';
import { z } from 'zod';
import type { FoundRecord } from '../../domain/found-record.ts';
import { counted } from '../../domain/wording.ts';
import {
  actions,
  bold,
  button,
  code,
  moment,
  rich,
  richText,
  words,
  type Run,
} from '../../slack/kit/blocks.ts';
import { codec } from '../../slack/kit/form.ts';
import type { SlackMessage } from '../../slack/kit/message.ts';
import { noteMessage } from '../../slack/kit/note.ts';
import { cardWords } from '../../slack/words/card-words.ts';
import { amountWord } from '../../slack/words/charge-facts.ts';
import { type ShownAccount, accountFoot } from '../../slack/words/account-foot.ts';
import {
  customerWord,
  openLookUpButton,
  referenceRun,
  storyButton,
} from '../../slack/words/payment-words.ts';
import { revealActionId } from '../../slack/words/transaction-message.ts';
import { type FoundPage, shownKinds, type ShownKind } from './find-records.ts';

export const findActions = {
  older: 'find_older',
  newest: 'find_newest',
  failed: 'find_failed',
  open: 'find_open',
  all: 'find_all',
} as const;

/**
 * A button's value, which says what page to show. `list`: the list's keyed hash. `whom`: the customer or card, masked.
 * `after`: where the page begins; `number`: how many records are newer. Has no e-mail address.
 */
export const pageValue = codec(
  z.object({
    list: z.string(),
    whom: z.string(),
    show: z.enum(shownKinds).exactOptional(),
    day: z.string().exactOptional(),
    after: z.string().exactOptional(),
    number: z.int().nonnegative(),
  }),
);
export type PageValue = NonNullable<ReturnType<typeof pageValue.read>>;

/** `at`: which page of which list. `since`: the date since which the bot has records. `may`: the buttons of a row. */
type FoundShown = {
  at: PageValue;
  page: FoundPage;
  since: string;
  /** How long alert details are kept; 0: as long as the rest. */
  alertDays: number;
  may: { lookUp: boolean; story: boolean; reveal: boolean };
};

/** One page of the records of a customer or a card, newest first. */
export function foundMessage(shown: FoundShown, account: ShownAccount): SlackMessage {
  const { at, page, may } = shown;
  return noteMessage({
    state: headWords(shown),
    about: [at.whom, ...(at.day === undefined ? [] : [at.day])],
    body: [
      ...page.records.flatMap((record) => [richText(...recordLines(record, at)), ...rowButtons(record, may)]),
      ...unreadWords(page).map((line) => rich`${line}`),
      ...pageButtons(shown),
      rich`${knownWords(shown)}`,
      ...(page.records.length === 0 ? [rich`By reference: ${code('/pay <reference>')}`] : []),
    ],
    foot: accountFoot(account),
  });
}

/** “🔎 3 records since 3 May”; the count is known only if all fit on one page. */
export function headWords({
  at: { show, number },
  page: { records, next },
  since,
}: Pick<FoundShown, 'at' | 'page' | 'since'>): string {
  const what = show === undefined ? 'record' : `${show} record`;
  if (number > 0 && records.length === 0) return `🔎 No older ${what}`;
  if (number > 0)
    return `🔎 ${what === 'record' ? 'Records' : `${what}s`} ${number + 1} to ${number + records.length}`;
  if (records.length === 0)
    return next === undefined ? `🔎 No ${what} since ${since}` : `🔎 No ${what} among the newest`;
  return next === undefined
    ? `🔎 ${counted(records.length, what)} since ${since}`
    : `🔎 The newest ${counted(records.length, what)} since ${since}`;
}

/** No line if every record could be read. */
export function unreadWords({ unread }: Pick<FoundPage, 'unread'>): string[] {
  return unread === 0 ? [] : [`${counted(unread, 'record')} can’t be read: a sealing key is missing.`];
}

/** How far back the bot's records go, and that the service itself can't be searched. */
export function knownWords({ since, alertDays }: Pick<FoundShown, 'since' | 'alertDays'>): string {
  const alerts = alertDays === 0 ? '' : `, alerts for ${counted(alertDays, 'day')}`;
  return `Known to this bot since ${since}${alerts}; the payments service can’t be searched.`;
}

/** State and amount, then the details. */
export function recordLines(
  { state, money, card = {}, reference, customerEmail, atMs }: FoundRecord,
  { whom }: Pick<PageValue, 'whom'>,
): Run[][] {
  const details: Run[][] = [
    isShown(card) ? [words(cardWords(card))] : [],
    // In a card's list, because payments of one card may belong to different customers.
    whom.startsWith('··') && customerEmail !== undefined ? [words(customerWord(customerEmail))] : [],
    reference === undefined ? [] : [referenceRun(reference)],
    [moment(atMs)],
  ];
  const present = details.filter((part) => part.length > 0);
  return [
    [bold(state), ...(money ? [words(` · ${amountWord(money)}`)] : [])],
    present.flatMap((part, index) => (index === 0 ? part : [words(' · '), ...part])),
  ];
}

function isShown({ cardType, lastFour }: NonNullable<FoundRecord['card']>): boolean {
  return cardType !== undefined || lastFour !== undefined;
}

function rowButtons(
  { reference, money, customerEmail }: FoundRecord,
  may: FoundShown['may'],
): ActionsBlock[] {
  if (reference === undefined) return [];
  const buttons = [
    ...(may.lookUp ? openLookUpButton(reference, money?.minor) : []),
    ...(may.story ? storyButton(reference) : []),
    ...(may.reveal && customerEmail?.trim()
      ? [button({ actionId: revealActionId, text: 'Reveal e-mail', value: reference })]
      : []),
  ];
  return buttons.length === 0 ? [] : [actions(...buttons)];
}

function pageButton(actionId: string, text: string, page: PageValue): Button {
  return button({ actionId, text, value: pageValue.write(page) });
}

function pageButtons({ at, page: { records, next } }: FoundShown): ActionsBlock[] {
  const { show, after: _after, number, ...first } = at;
  const newest = { ...first, number: 0 };
  const filters = shownKinds.map((kind: ShownKind) =>
    pageButton(findActions[kind], kind === 'failed' ? 'Failed' : 'Open', { ...newest, show: kind }),
  );
  const hasMany = records.length > 1 || next !== undefined || number > 0;
  const buttons = [
    ...(next === undefined
      ? []
      : [pageButton(findActions.older, 'Older', { ...at, after: next, number: number + records.length })]),
    ...(number > 0 ? [pageButton(findActions.newest, 'Newest', { ...newest, ...(show && { show }) })] : []),
    ...(show === undefined ? (hasMany ? filters : []) : [pageButton(findActions.all, 'All', newest)]),
  ];
  return buttons.length === 0 ? [] : [actions(...buttons)];
}
