import type { Account, Feature, Finder } from '../../account.ts';
import { dayNamed } from '../../domain/local-day.ts';
import { amountOnly, parseAmount } from '../../domain/money.ts';
import { parsed, problem, type Parsed } from '../../domain/wording.ts';
import { type FoundBy, isSearchList } from '../../records/found-by.ts';
import { defineCommand, type Caller } from '../../slack/command.ts';
import { emailFormProblem, hasEmailForm } from '../../slack/kit/form.ts';
import type { SlackMessage } from '../../slack/kit/message.ts';
import { oneLine } from '../../slack/kit/text.ts';
import { withOtherAccounts } from '../../slack/words/account-foot.ts';
import { customerWord } from '../../slack/words/payment-words.ts';
import { findActions, pageValue, type PageValue, foundMessage } from './find-message.ts';
import { openFoundRecords, shownKinds, type ShownKind } from './find-records.ts';

/**
 * A record is three lines and a row of buttons on a phone (390 px), so ten records are three screens, and stay below
 * Slack's limit of fifty blocks.
 */
const recordsPerPage = 10;

/** The first word of a button's press, which arrives as command words. People never type it. */
const pressedWord = '--found';

type Question = { typed: TypedQuestion } | { pressed: PageValue };

/** `whom`: the customer masked, or the card and amount. `day`: a date. */
export type TypedQuestion = { by: FoundBy; whom: string; show?: ShownKind; day?: string };

/**
 * `/pay find <e-mail>`, `/pay find <last four> <amount>`, and an e-mail without a verb: the bot's records of a customer
 * or card, newest first. Calls no service: shows each record as last known.
 */
export function createFind(account: Account, finders: readonly Finder[]): Feature {
  const { shownAccount, settings, people, now } = account;
  const records = openFoundRecords(account, finders);
  const timeZone = settings.policy.timezone;

  async function permissionsOf(caller: Caller) {
    const can = async (permission: string): Promise<boolean> =>
      (await people.mayRun(permission, caller)).kind === 'allowed';
    const [lookUp, story, reveal] = await Promise.all(['lookup', 'story', 'reveal'].map(can));
    return { lookUp: lookUp === true, story: story === true, reveal: reveal === true };
  }

  async function pageOf(question: Question): Promise<PageValue> {
    if ('pressed' in question) return question.pressed;
    const { by, ...typed } = question.typed;
    return { ...typed, list: await records.listOf(by), number: 0 };
  }

  async function answer(question: Question, caller: Caller): Promise<SlackMessage> {
    const at = await pageOf(question);
    const day = at.day === undefined ? undefined : dayNamed(timeZone, at.day);
    const [page, sinceMs, may] = await Promise.all([
      records.page({ ...at, day }, recordsPerPage),
      records.since(),
      permissionsOf(caller),
    ]);
    const since = dateWords(sinceMs, now(), timeZone);
    const shown = { at, page, since, alertDays: settings.alertDetailsDays, may };
    const message = foundMessage(shown, shownAccount);
    return page.records.length === 0 ? withOtherAccounts(message, shownAccount) : message;
  }

  const verb = defineCommand<Question>({
    verb: 'find',
    usage: '<e-mail or card>',
    summary: 'Payments',
    examples: ['find ada@example.com', 'find 4242 12,500', 'find ada@example.com failed', 'ada@example.com'],
    permission: 'find',
    effect: 'none',
    takesBareWords: ([first = '']) => hasEmailForm(first),
    buttons: Object.values(findActions).map((actionId) => ({
      actionId,
      words: (value) => [pressedWord, value],
    })),
    parse: parseQuestion,
    run: (question, { caller }) => answer(question, caller),
  });
  return {
    verbs: [verb],
    // The first start stores the date; if the store is away, a later start or the first search does.
    start: () => void records.since().catch(() => undefined),
  };
}

function parseQuestion(words: readonly string[]): Parsed<Question> {
  const [first, value = ''] = words;
  if (first !== pressedWord) {
    const typed = parseFind(words);
    return typed.ok ? parsed({ typed: typed.value }) : typed;
  }
  const pressed = pageValue.read(value);
  return pressed && isSearchList(pressed.list)
    ? parsed({ pressed })
    : problem('This button has expired. Type the command instead.');
}

/** Never repeats the typed words: they may hold an e-mail address. */
export function parseFind(words: readonly string[]): Parsed<TypedQuestion> {
  const [first = '', second = ''] = words.map(oneLine);
  if (/^\d{4}$/.test(first)) {
    const amount = parseAmount(second);
    if (!amount.ok) return problem(`After the card’s last four digits, give the amount. ${amount.problem}`);
    const by = { lastFour: first, amountMinor: amount.value };
    return withFilters({ by, whom: `·· ${first}, ${amountOnly(amount.value)}` }, words.slice(2));
  }
  const wrong = emailFormProblem(first);
  if (wrong !== undefined) {
    const wanted = 'Give the customer’s e-mail, or the card’s last four digits and the amount.';
    return problem(first === '' ? wanted : `${wanted} ${wrong}`);
  }
  return withFilters(
    { by: { customerEmail: first }, whom: customerWord(first.toLowerCase()) },
    words.slice(1),
  );
}

function withFilters(question: TypedQuestion, words: readonly string[]): Parsed<TypedQuestion> {
  const filtered = { ...question };
  for (const word of words) {
    const show = shownKinds.find((kind) => kind === word.toLowerCase());
    if (show && !filtered.show) filtered.show = show;
    else if (!filtered.day && dayNamed('UTC', word)) filtered.day = word;
    else return problem('You can add failed or open, and a day like 2026-11-20.');
  }
  return parsed(filtered);
}

/** “3 May”; with the year if that is not the present one. */
export function dateWords(atMs: number, nowMs: number, timeZone: string): string {
  const year = new Intl.DateTimeFormat('en-GB', { timeZone, year: 'numeric' });
  const isOther = year.format(atMs) !== year.format(nowMs);
  const day = { timeZone, day: 'numeric', month: 'short' } as const;
  return new Intl.DateTimeFormat('en-GB', isOther ? { ...day, year: 'numeric' } : day).format(atMs);
}
