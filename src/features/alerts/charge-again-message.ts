import type { RetryVerdict } from '../../domain/retry-rule.ts';
import { headline, richText } from '../../slack/kit/blocks.ts';
import { labelled, plain } from '../../slack/words/charge-facts.ts';
import { holdLines } from '../../slack/words/next-steps.ts';
import type { SlackMessage } from '../../slack/kit/message.ts';

/** Why the charge is not tried again now, and when. */
type NotAgain =
  | { kind: 'resting'; nextTryFrom: number }
  | { kind: 'refused'; verdict: Exclude<RetryVerdict, { kind: 'allowed' }> }
  | { kind: 'no_card' }
  | { kind: 'details_gone' }
  | { kind: 'not_declined' };

export function notAgainMessage(why: NotAgain): SlackMessage {
  const { text, block } = headline(why.kind === 'resting' ? '⏳ Card on hold' : '🚫 Not charged again', []);
  return { text, blocks: [block, richText(...lines(why))] };
}

function lines(why: NotAgain): ReturnType<typeof holdLines> {
  switch (why.kind) {
    case 'resting':
      return holdLines({ ...why, attemptsLeft: 1 });
    case 'refused':
      return holdLines(why.verdict);
    case 'no_card':
      return [plain('The bot knows no saved card of this customer.')];
    case 'details_gone':
      return [
        plain('This alert is too old: its customer was erased.'),
        labelled('Next', 'use /pay charge if the customer still owes it.'),
      ];
    case 'not_declined':
      return [
        plain('The look-up doesn’t say declined, so money may have moved.'),
        labelled('Next', 'look it up first.'),
      ];
  }
}
