import type { RichTextBlock } from '@slack/types';
import type { AlertNews } from '../../domain/alert.ts';
import { bold, person, rich, richText, words } from '../kit/blocks.ts';
import { outsideText } from '../kit/text.ts';
import { labelled } from './charge-facts.ts';
import { referenceRun } from './evidence.ts';

const longestWhy = 300;

/** What else ended the alert that a charge or a link is for: read before giving value or typing a code. */
export function alertNewsBlocks(news: AlertNews | undefined, isPaid: boolean): RichTextBlock[] {
  if (!news) return [];
  const failed = referenceRun(news.failed);
  const ended =
    news.kind === 'paid'
      ? rich`${failed} was already paid by ${referenceRun(news.reference)}`
      : rich`The alert of ${failed} was resolved by ${person(news.by)} (“${outsideText(news.reason, longestWhy)}”)`;
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
