import type { RichTextBlock } from '@slack/types';
import type { AlertMute, EventAccount } from '../../../domain/alert.ts';
import { counted, duration } from '../../../domain/wording.ts';
import { type DailySummary, type OpenAlert, successRate } from './daily-summary.ts';
import { type Tally, sumWords } from '../tally.ts';
import { formatMoney } from '../../../domain/money.ts';
import { outcomeWords } from '../../../slack/words/state-words.ts';
import { bold, moment, richText, words, type Run } from '../../../slack/kit/blocks.ts';
import { type PostAttempt, forPosting, noteMessage } from '../../../slack/kit/note.ts';
import { accountFoot } from '../../../slack/words/account-foot.ts';
import { referenceWord, word } from '../../../slack/words/payment-words.ts';
import type { SlackMessage } from '../../../slack/kit/message.ts';
import { muteBlocks } from '../alert-rules-message.ts';

const mostOpen = 5;

/** Names no person, so it pings nobody. `muted`: the current mutes of all channels. */
export function dailySummaryMessage(
  { summary, muted, ...about }: PostAttempt & { summary: DailySummary; muted: readonly AlertMute[] },
  account: EventAccount,
): SlackMessage {
  const { failed, paid } = summary;
  const rate = successRate(summary);
  const message = noteMessage({
    state: '📋 Daily summary',
    about: [
      counted(failed.count, 'failed charge'),
      counted(paid.count, 'successful payment'),
      rate === undefined ? '' : `${rate} % succeeded`,
    ],
    body: [
      [bold('From '), moment(summary.fromMs), bold(' to '), moment(summary.untilMs)],
      line('Failed', failed),
      line('Paid, by the events', paid, provenWords(summary)),
      ...(summary.givenBack.count > 0 ? [line('Given back, by the events', summary.givenBack)] : []),
      ...disputedLines(summary),
      [bold('Posted here: '), words(String(summary.postedHere))],
      ...reasonBlocks(summary),
      openBlock(summary),
      ...muteBlocks(muted),
    ],
    foot: accountFoot(account),
  });
  return forPosting(message, 'payops_daily_summary', about);
}

function line(label: string, tally: Tally, more = ''): Run[] {
  const { count, unsummed } = tally;
  const without = unsummed === 0 || count === 0 ? '' : `${unsummed} of them without an amount`;
  const parts = [String(count), ...sumWords(tally), without, more];
  return [bold(`${label}: `), words(parts.filter((part) => part !== '').join(' · '))];
}

function provenWords({ paid, proven }: DailySummary): string {
  return paid.count === 0 ? '' : `${proven} of them proven by look-up`;
}

/** The events in no number above, because their look-up contradicts them. */
function disputedLines({ disputed: { failed, paid, givenBack } }: DailySummary): Run[][] {
  return [
    ...disputedLine(failed, '🚨', 'failed', outcomeWords.paid),
    ...disputedLine(paid, '⚠️', 'paid', 'not confirmed'),
    ...disputedLine(givenBack, '↩️', 'failed or paid', outcomeWords.givenBack),
  ];
}

function disputedLine(count: number, symbol: string, said: string, found: string): Run[][] {
  if (count === 0) return [];
  return [[words(`${symbol} ${counted(count, 'event')} said ${said}, the look-up ${found}: not counted.`)]];
}

function reasonBlocks({ failed: { reasons } }: DailySummary): RichTextBlock[] {
  if (reasons.length === 0) return [];
  const lines = reasons.map(({ reason, count }): Run[] => [words(`${count} × ${word(reason) || '–'}`)]);
  return [richText([bold('Top reasons')], ...lines)];
}

function openBlock({ alerts, nowMs }: DailySummary): RichTextBlock {
  const { open, acknowledged, snoozed, leftOut } = alerts;
  const state = [
    `${open.length} open`,
    `${acknowledged} acknowledged`,
    ...(snoozed > 0 ? [`${snoozed} snoozed`] : []),
    ...(leftOut > 0 ? [`${leftOut} more`] : []),
  ].join(' · ');
  const shown = open.slice(0, mostOpen);
  const left = open.length - shown.length;
  return richText(
    [bold('Alerts here, last 7 days: '), words(state)],
    ...shown.map((alert) => [words(openWords(alert, nowMs))]),
    ...(left > 0 ? [[words(`… and ${left} that came later.`)]] : []),
  );
}

function openWords({ orderReference, money, receivedAtMs }: OpenAlert, nowMs: number): string {
  const name = orderReference === undefined ? 'no reference' : (word(referenceWord(orderReference)) ?? '');
  const parts = [name, ...(money ? [word(formatMoney(money)) ?? ''] : [])];
  return `${parts.join(' · ')} · open for ${duration(nowMs - receivedAtMs)}`;
}
