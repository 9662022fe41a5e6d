import type { RichTextBlock } from '@slack/types';
import type { MessagePlace } from '../../../domain/delivery.ts';
import { counted } from '../../../domain/counted.ts';
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
import { repeatLine, type AboutMessage } from '../../../slack/kit/note.ts';
import { placeAlone, word } from '../../../slack/words/evidence.ts';
import type { MessageBlock, SlackMessage } from '../../../slack/kit/message.ts';
import { whereItIs } from '../alert-message.ts';
import { muteBlocks } from '../alert-rules-message.ts';
import { outsideText } from '../../../slack/kit/text.ts';

/** The buttons of a storm’s digest; each carries the storm’s id. */
export const stormActions = {
  acknowledgeAll: 'storm_acknowledge_all',
  showList: 'storm_show_list',
  csv: 'storm_csv',
  /** In the list: they carry the page they lead to, a bar and the storm’s id. */
  back: 'storm_list_back',
  next: 'storm_list_next',
} as const;

export function writeListPage(storm: string, page: number): string {
  return `${page}|${storm}`;
}

/** Undefined for a value that is not ours. */
export function readListPage(value: string): { storm: string; page: number } | undefined {
  const [, page, storm] = /^(\d{1,6})\|(.+)$/.exec(value) ?? [];
  return page === undefined || storm === undefined ? undefined : { storm, page: Number(page) };
}

const stormEventType = 'payops_storm';

const mostSums = 3;
const mostMuted = 5;
const minuteMs = 60_000;
const directEventType = 'payops_storm_direct';

/** More of them nobody takes in; the rest is counted, and the list has them all. */
const mostReasons = 3;
const longestReason = 120;

/**
 * One storm, in place of a message for each: payments in words of their own; of failed charges how many, why, how much,
 * from when to when. It is edited as they come, and a last time when it is over. What it counts is what the events
 * say: it is no proof that a charge failed.
 */
export function stormMessage(storm: StormSeen, about: AboutMessage): SlackMessage {
  if (storm.gathers === 'payment_success') return paymentsDigestMessage(storm, about);
  const { count, summary, isOver, environment, account } = storm;
  const state = isOver ? `☑️ Storm over: ${failures(count)}` : `🚨 Storm: ${failures(count)}`;
  const { text, block } = headline(state, summary.sums.length === 0 ? [] : [sumWords(summary)]);
  const blocks: MessageBlock[] = [
    block,
    richText([words(stateWords(storm, overWords, liveWords))]),
    ...fields({
      Time: timeSpan(summary),
      'By currency': summary.sums.length > mostSums ? sumWords(summary, Infinity) : undefined,
      'Amount not known': summary.unsummed === 0 ? undefined : failures(summary.unsummed),
      'Acknowledged by': takenBy(storm),
      Resolved: storm.recovered === 0 ? undefined : `${storm.recovered} by payment`,
    }),
    reasons(storm),
    ...muteBlocks(storm.muted, { environment, account }, mostMuted),
    ...repeatLine(about.mayBeRepeat),
    placeAlone(environment, account),
    buttons(storm),
  ];
  return { text, blocks, metadata: { event_type: stormEventType, event_payload: { key: about.key } } };
}

/** For the person who acknowledged the storm: how much of it payments have resolved. Edited as more do. */
export function stormDirectMessage(
  storm: StormSeen,
  about: AboutMessage & { place?: MessagePlace },
): SlackMessage {
  const { count, recovered, summary, environment, account } = storm;
  const { text, block } = headline(`✅ Resolved: ${recovered} of ${failures(count)}`, [
    'the storm you acknowledged',
  ]);
  const next = 'The digest lists them all.';
  return {
    text,
    blocks: [
      block,
      ...fields({ Storm: [moment(summary.firstMs), words(' to '), moment(summary.lastMs)] }),
      richText([words(next)]),
      ...whereItIs(about.place, 'the digest'),
      ...repeatLine(about.mayBeRepeat),
      placeAlone(environment, account),
    ],
    metadata: { event_type: directEventType, event_payload: { key: about.key } },
  };
}

const liveWords = 'Counting here until it calms down.';
const overWords = 'New failures are posted one by one again.';

function failures(count: number): string {
  return gathered('payment_failed', count);
}

function takenBy({ taken, isOver }: StormSeen): readonly Run[] | undefined {
  if (!taken) return undefined;
  return [person(taken.by), words(' '), moment(taken.at, '{time}'), words(isOver ? '' : ', new ones too')];
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

function buttons(storm: StormSeen): MessageBlock {
  const { id, taken } = storm;
  const acknowledge = button({
    actionId: stormActions.acknowledgeAll,
    text: 'Acknowledge all',
    value: id,
    style: 'primary',
  });
  return actions(...(taken ? [] : [acknowledge]), ...listButtons(storm));
}

/**
 * Many payments, in place of a message for each: how many, how much in each currency, from when to when, and how many
 * of them a look-up proved. No alarm, so nobody has anything to acknowledge; and no claim that all of it was paid,
 * because it counts what the events say.
 */
function paymentsDigestMessage(storm: StormSeen, about: AboutMessage): SlackMessage {
  const { count, summary, isOver, environment, account } = storm;
  const { text, block } = headline(`${isOver ? '☑️ Many payments, ended' : '📥 Many payments'}: ${count}`, [
    ...(summary.sums.length === 0 ? [] : [sumWords(summary)]),
    'as their events say',
  ]);
  return {
    text,
    blocks: [
      block,
      richText([words(stateWords(storm, paidOverWords, paidLiveWords))]),
      ...fields({
        Time: timeSpan(summary),
        'Proven by look-up': `${summary.confirmed ?? 0} of ${count}`,
        'Amount not known':
          summary.unsummed === 0 ? undefined : gathered('payment_success', summary.unsummed),
        'Cards saved': summary.cardsSaved === undefined ? undefined : String(summary.cardsSaved),
      }),
      ...currencies(summary),
      ...muteBlocks(storm.muted, { environment, account }, mostMuted),
      ...repeatLine(about.mayBeRepeat),
      placeAlone(environment, account),
      actions(...listButtons(storm)),
    ],
    metadata: { event_type: stormEventType, event_payload: { key: about.key } },
  };
}

const paidLiveWords = 'Nothing is wrong. Counting here until it calms down.';
const paidOverWords = 'New payments are posted one by one again.';

/** One alone stands in the first line already. */
function currencies({ sums }: StormSummary) {
  if (sums.length < 2) return [];
  return [richText([bold('By currency')], ...sums.map(lineOf))];
}

function lineOf(sum: StormSummary['sums'][number]): Run[] {
  return [bold(`${sum.count}×`), words(`  ${word(formatMoney(sum)) ?? ''}`)];
}

/** "12 failed charges", "12 payments". */
export function gathered(gathers: PaymentEventKind, count: number): string {
  return counted(count, gathers === 'payment_failed' ? 'failed charge' : 'payment');
}

/** What a digest says of itself, and how many of its alerts stand above it. */
function stateWords({ summary: { above = 0 }, isOver }: StormSeen, over: string, live: string): string {
  return `${above === 0 ? '' : `${above} of them above. `}${isOver ? over : live}`;
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

function listButtons({ id }: StormSeen) {
  return [
    button({ actionId: stormActions.showList, text: 'Show list', value: id }),
    button({ actionId: stormActions.csv, text: 'CSV', value: id }),
  ];
}
