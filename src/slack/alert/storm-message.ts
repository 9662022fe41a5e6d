import type { RichTextBlock } from '@slack/types';
import type { MessagePlace } from '../../domain/delivery.ts';
import type { StormSeen } from '../../domain/storm-summary.ts';
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
} from '../blocks.ts';
import { repeatLine, type AboutMessage } from '../charge/repeat-line.ts';
import { placeAlone, placeLine } from '../evidence.ts';
import type { MessageBlock, SlackMessage } from '../message.ts';
import { whereItIs } from './card-lines.ts';
import { muteBlocks } from './mute-blocks.ts';
import { outsideText } from '../text.ts';
import { paymentsDigestMessage } from './payments-digest.ts';
import { stormActions } from './storm-actions.ts';
import {
  gathered,
  listButtons,
  mostMuted,
  mostSums,
  stateWords,
  stormEventType,
  sumWords,
  timeSpan,
} from './storm-facts.ts';

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
  const next = 'The digest lists them all. This message follows as more are paid.';
  return {
    text,
    blocks: [
      block,
      ...fields({ Storm: [moment(summary.firstMs), words(' to '), moment(summary.lastMs)] }),
      richText([words(next)]),
      ...whereItIs(about.place, 'the digest'),
      ...repeatLine(about.mayBeRepeat),
      placeLine({ environment, account, verb: 'last event', atMs: summary.lastMs }),
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
