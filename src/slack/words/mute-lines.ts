import type { AlertMute, NotPosted } from '../../domain/alert.ts';
import { bold, moment, person, words, type Run } from '../kit/blocks.ts';
import { referenceRun, word } from './payment-words.ts';

/** "Everything here", or "rule big-ones · reason “insufficient funds”". */
export function mutedWords(
  { rule, match: { reasonPart, customer } }: AlertMute,
  everything = 'Everything here',
): string {
  const parts = [
    ...(rule === undefined ? [] : [`rule ${word(rule)}`]),
    ...(reasonPart === undefined ? [] : [`reason “${word(reasonPart)}”`]),
    ...(customer === undefined ? [] : [`customer ${word(customer.text)}`]),
  ];
  return parts.length === 0 ? everything : parts.join(' · ');
}

/** "Everything here until Nov 23 14:05, by Ada: the bank is down". */
export function muteLine(mute: AlertMute): Run[] {
  const { by, why, untilMs } = mute;
  return [
    words(`${mutedWords(mute)} until `),
    moment(untilMs),
    words(', by '),
    person(by),
    words(`: ${word(why)}`),
  ];
}

/** "12 not posted: ORD-1, ORD-2 ✓ and 10 earlier."; ✓: resolved since. */
export function notPostedLine({ count, newest }: NotPosted): Run[] {
  if (count === 0) return [words('Nothing was held back.')];
  const named = newest.flatMap(({ orderReference, isOver }, index): Run[] => [
    words(index === 0 ? ' ' : ', '),
    orderReference === undefined ? words('one without a reference') : referenceRun(orderReference),
    ...(isOver ? [words(' ✓')] : []),
  ]);
  const more = count - newest.length;
  return [bold(`${count} not posted:`), ...named, words(more > 0 ? ` and ${more} earlier.` : '.')];
}
