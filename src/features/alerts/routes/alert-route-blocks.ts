import type { RichTextBlock } from '@slack/types';
import type { AlertRoute, Mention, Severity } from '../../../domain/alert.ts';
import { bold, person, richText, userGroup, words, type Run } from '../../../slack/kit/blocks.ts';
import { word } from '../../../slack/words/evidence.ts';

export const severityWords: Record<Severity, string> = {
  low: 'Low severity',
  normal: 'Normal severity',
  high: 'High severity',
};

/** Calls them, where it stands in a message that is newly posted. */
export function mentioned({ kind, id }: Mention): Run {
  return kind === 'group' ? userGroup(id) : person(id);
}

/** Who is called, how much it matters, and the rule that says so; no block where no rule does. */
export function routeBlocks(route: AlertRoute | undefined): RichTextBlock[] {
  if (!route) return [];
  const { mention, severity, rule } = route;
  const isAlone = mention === undefined && severity === undefined;
  const line: Run[] = [
    ...(mention ? [mentioned(mention), words(' · ')] : []),
    ...(severity === undefined ? [] : [bold(severityWords[severity]), words(' · ')]),
    words(`${isAlone ? 'Sent here by rule' : 'by rule'} ${word(rule) ?? ''}`),
  ];
  return [richText(line)];
}
