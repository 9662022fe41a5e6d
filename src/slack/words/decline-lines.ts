import { nextSteps, type KnownDecline } from '../../domain/decline-reason.ts';
import { bold, moment, words, type Run } from '../kit/blocks.ts';

/** "Next: …": what helps after this decline; nothing where the bank named no reason that says it. */
export function declineNext({ reason, nextTryFrom }: Pick<KnownDecline, 'reason' | 'nextTryFrom'>): Run[][] {
  const { text } = nextSteps[reason];
  if (text === '') return [];
  const [before = '', after] = text.split('{time}');
  const rest = after === undefined ? [] : [moment(nextTryFrom), words(after)];
  return [[bold('Next: '), words(before), ...rest]];
}
