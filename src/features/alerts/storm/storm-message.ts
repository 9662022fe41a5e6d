import type { RichTextBlock } from '@slack/types';
import { counted } from '../../../domain/wording.ts';
import { formatMoney } from '../../../domain/money.ts';
import type { PaymentEventKind } from '../../../domain/payment-event.ts';
import type { StormSeen, StormSummary } from './storm.ts';
import {
  actions,
  bold,
  button,
  fields,
  headline,
  moment,
  person,
  richText,
  words,
  type Run,
} from '../../../slack/kit/blocks.ts';
import { posted, type AboutMessage } from '../../../slack/kit/note.ts';
import { placeAlone, word } from '../../../slack/words/evidence.ts';
import type { MessageBlock, SlackMessage } from '../../../slack/kit/message.ts';
import { muteBlocks } from '../alert-rules-message.ts';
import { outsideText } from '../../../slack/kit/text.ts';

/** The buttons of a storm’s digest; each carries the storm’s id. */
export const stormActions = {
  acknowledgeAll: 'storm_acknowledge_all',
  showList: 'storm_show_list',
  csv: 'storm_csv',
} as const;

const mostSums = 3;
const minuteMs = 60_000;

/** More of them nobody takes in; the rest is counted, and the list has them all. */
const mostReasons = 3;
const longestReason = 120;

/**
 * One storm, in place of a message for each: how many, how much, from when to when. Of failed charges it says why, and
 * somebody takes them; many payments are no alarm, and it says how many a look-up proved. It is edited as they come, and
 * a last time when it is over. What it counts is what the events say: no proof that a charge failed, or was paid.
 */
export function stormMessage(storm: StormSeen, about: AboutMessage): SlackMessage {
  const { id, gathers, count, summary, isOver, taken, environment, account } = storm;
  const isPaid = gathers === 'payment_success';
  const { over, live, overNext, liveNext } = isPaid ? paymentWords : failureWords;
  const state = `${isOver ? over : live}: ${isPaid ? count : gathered(gathers, count)}`;
  const sums = summary.sums.length === 0 ? [] : [sumWords(summary)];
  const { text, block } = headline(state, [...sums, ...(isPaid ? ['as their events say'] : [])]);
  const blocks: MessageBlock[] = [
    block,
    richText([words(isOver ? overNext : liveNext)]),
    ...fields({
      Time: timeSpan(summary),
      'By currency': summary.sums.length > mostSums ? sumWords(summary, Infinity) : undefined,
      'Amount not known': summary.unsummed === 0 ? undefined : gathered(gathers, summary.unsummed),
      ...(isPaid ? { 'Proven by look-up': `${summary.confirmed} of ${count}` } : caseFields(storm)),
    }),
    ...(isPaid ? [] : [reasons(storm)]),
    ...muteBlocks(storm.muted, { environment, account }),
    placeAlone(environment, account),
    actions(
      ...(isPaid || taken ? [] : [acknowledgeButton(id)]),
      button({ actionId: stormActions.showList, text: 'Show list', value: id }),
      button({ actionId: stormActions.csv, text: 'CSV', value: id }),
    ),
  ];
  return posted({ text, blocks }, 'payops_storm', about);
}

const failureWords = {
  live: '🚨 Storm',
  liveNext: 'Counting here until it calms down.',
  over: '☑️ Storm over',
  overNext: 'New failures are posted one by one again.',
};
const paymentWords = {
  live: '📥 Many payments',
  liveNext: 'Nothing is wrong. Counting here until it calms down.',
  over: '☑️ Many payments, ended',
  overNext: 'New payments are posted one by one again.',
};

type Fields = Parameters<typeof fields>[0];

function caseFields({ taken, isOver, recovered }: StormSeen): Fields {
  const more = words(isOver ? '' : ', new ones too');
  return {
    'Acknowledged by': taken && [person(taken.by), words(' '), moment(taken.at, '{time}'), more],
    Resolved: recovered === 0 ? undefined : `${recovered} by payment`,
  };
}

function reasons({ summary }: StormSeen): RichTextBlock {
  const { otherReasons, noReason } = summary;
  const byCount = summary.reasons.toSorted((a, b) => b.count - a.count);
  const shown = byCount.slice(0, mostReasons);
  const others = byCount.slice(mostReasons).reduce((sum, { count }) => sum + count, otherReasons);
  return richText(
    ...shown.map(({ reason, count }) => line(count, outsideText(reason, longestReason) || '–')),
    ...(others === 0 ? [] : [line(others, 'other reasons')]),
    ...(noReason === 0 ? [] : [line(noReason, 'no reason given')]),
  );
}

function line(count: number, text: string): Run[] {
  return [bold(`${count}×`), words(`  ${text}`)];
}

function acknowledgeButton(id: string) {
  return button({
    actionId: stormActions.acknowledgeAll,
    text: 'Acknowledge all',
    value: id,
    style: 'primary',
  });
}

/** "12 failed charges", "12 payments". */
export function gathered(gathers: PaymentEventKind, count: number): string {
  return counted(count, gathers === 'payment_failed' ? 'failed charge' : 'payment');
}

function sumWords({ sums }: StormSummary, most = mostSums): string {
  const shown = sums.slice(0, most).map((sum) => word(formatMoney(sum)) ?? '');
  const left = sums.length - shown.length;
  return [...shown, ...(left > 0 ? [counted(left, 'more currency', 'more currencies')] : [])].join(', ');
}

/** From the first to the last; one time where both fall into the same minute, which is all that is shown. */
function timeSpan({ firstMs, lastMs }: StormSummary): Run[] {
  const isOneMinute = Math.floor(firstMs / minuteMs) === Math.floor(lastMs / minuteMs);
  return isOneMinute ? [moment(firstMs)] : [moment(firstMs), words(' to '), moment(lastMs)];
}
