import type { RichTextBlock } from '@slack/types';
import type { AlertNews } from '../../domain/alert.ts';
import { type Run, bold, person, rich, richText, words } from '../kit/blocks.ts';
import { referenceOfEventKey } from '../../domain/payment-event.ts';
import { outsideText } from '../kit/text.ts';
import { labelled } from './charge-facts.ts';
import { referenceRun } from './payment-words.ts';

const longestWhy = 300;

/** `by`: the payment's reference, named only if it differs from the failed order's. */
export function alreadyPaid(failed: string, by: string): Run[] {
  const said = rich`${referenceRun(failed)} was already paid`;
  return by === failed ? said : [...said, ...rich` by ${referenceRun(by)}`];
}

/** Names an alert by its order: *the alert of ORDER-1*. */
export function alertRuns(alert: string): Run[] {
  const reference = referenceOfEventKey(alert);
  return reference === undefined ? rich`its alert` : rich`the alert of ${referenceRun(reference)}`;
}

/** "was resolved by @Ada (“paid in cash”)". */
export function wasResolved({ by, reason }: { by: string; reason: string }): Run[] {
  return rich`was resolved by ${person(by)} (“${outsideText(reason, longestWhy)}”)`;
}

/**
 * For a charge or link made from an alert: what ended that alert meanwhile. People read this before they deliver or type a code.
 * `money`: `none` if it takes no money any more.
 */
export function alertNewsBlocks(
  news: AlertNews | undefined,
  money: 'paid' | 'may_move' | 'none',
): RichTextBlock[] {
  if (!news) return [];
  const ended =
    news.kind === 'paid'
      ? alreadyPaid(news.failed, news.reference)
      : [...rich`The alert of ${referenceRun(news.failed)} `, ...wasResolved(news)];
  return [
    richText(
      [bold('⚠️ '), ...ended, words(moneyWords[money][news.kind])],
      ...(money === 'paid' ? [labelled('Next', 'don’t deliver twice. Tell your payments lead.')] : []),
    ),
  ];
}

const mayMove = '. Money may still move here.';
const moneyWords = {
  paid: {
    paid: ': one of them may need to be given back.',
    closed: '. If that was paid, one may need to be given back.',
  },
  may_move: { paid: mayMove, closed: mayMove },
  none: { paid: '.', closed: '.' },
};
