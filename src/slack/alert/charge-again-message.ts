import type { RetryVerdict } from '../../domain/retry-rule.ts';
import { headline, moment, richText } from '../blocks.ts';
import { labelled, plain } from '../charge/charge-facts.ts';
import { retryLines } from '../charge/retry-lines.ts';
import type { SlackMessage } from '../message.ts';

/** Why the charge is not tried again now, and when. */
export type NotAgain =
  | { kind: 'resting'; nextTryFrom: number }
  | { kind: 'refused'; verdict: RetryVerdict }
  | { kind: 'no_card' }
  | { kind: 'details_gone' }
  | { kind: 'not_declined' };

export function notAgainMessage(why: NotAgain): SlackMessage {
  const { text, block } = headline(
    why.kind === 'resting' ? '⏳ Not charged again yet' : '🚫 Not charged again',
    [],
  );
  return { text, blocks: [block, richText(...lines(why), labelled('Money', 'none was moved by this.'))] };
}

function lines(why: NotAgain): ReturnType<typeof retryLines> {
  switch (why.kind) {
    case 'resting':
      return [
        labelled(
          'Next try from',
          moment(why.nextTryFrom),
          '. After a decline a card rests: asking again sooner only uses up an attempt.',
        ),
      ];
    case 'refused':
      return retryLines(why.verdict);
    case 'no_card':
      return [plain('The bot remembers no saved card of this customer any more.')];
    case 'details_gone':
      return [
        plain('The alert is so old that the bot no longer keeps whose payment it was.'),
        labelled('Next', 'type /pay charge, if the customer is still to be charged.'),
      ];
    case 'not_declined':
      return [
        plain('The look-up does not say that the bank declined it, so money may have moved.'),
        labelled('Next', 'look it up before anything else.'),
      ];
  }
}
