import type { RichTextBlock } from '@slack/types';
import type { AlertNews } from '../../domain/alert.ts';
import { type Run, bold, person, rich, richText, words } from '../kit/blocks.ts';
import { outsideText } from '../kit/text.ts';
import { labelled } from './charge-facts.ts';
import { referenceRun } from './evidence.ts';

const longestWhy = 300;

/** `by`: the other payment's reference, named unless it is the failed order's own. */
export function alreadyPaid(failed: string, by: string): Run[] {
  const said = rich`${referenceRun(failed)} was already paid`;
  return by === failed ? said : [...said, ...rich` by ${referenceRun(by)}`];
}

/** What else ended the alert that a charge or a link is for: read before giving value or typing a code. */
export function alertNewsBlocks(news: AlertNews | undefined, isPaid: boolean): RichTextBlock[] {
  if (!news) return [];
  const ended =
    news.kind === 'paid'
      ? alreadyPaid(news.failed, news.reference)
      : rich`The alert of ${referenceRun(news.failed)} was resolved by ${person(news.by)} (“${outsideText(news.reason, longestWhy)}”)`;
  const next = isPaid ? ': one of them may need to be given back.' : '. Money may still move here.';
  return [
    richText(
      [
        bold('⚠️ '),
        ...ended,
        words(news.kind === 'closed' && isPaid ? '. If that was paid, one may need to be given back.' : next),
      ],
      ...(isPaid ? [labelled('Next', 'don’t deliver twice. Tell your payments lead.')] : []),
    ),
  ];
}
