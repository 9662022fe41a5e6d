import type { RetryVerdict } from '../../domain/retry-rule.ts';
import { moment, type Run } from '../blocks.ts';
import { referenceWord } from '../evidence.ts';
import { counted } from '../../domain/counted.ts';
import { labelled, plain } from './charge-facts.ts';

/** Whether and when the card may be charged next, and what to do until then. */
export function retryLines(verdict: RetryVerdict): Run[][] {
  switch (verdict.kind) {
    case 'allowed':
      return [labelled('Next', `the card may be charged now; ${attempts(verdict.attemptsLeft)}.`)];
    case 'resting':
      return [
        labelled(
          'Next try from',
          moment(verdict.nextTryFrom),
          `; ${attempts(verdict.attemptsLeft)}. After a decline a card rests: asking again sooner only uses up an attempt.`,
        ),
        labelled('Next', 'ask the customer for another card, or wait. The next try gets a new reference.'),
      ];
    case 'under_way':
      return [
        labelled(
          'Next',
          `another charge of this card is not settled yet (${referenceWord(verdict.reference)}); wait for it.`,
        ),
      ];
    case 'stopped':
      return [
        labelled(
          'Next try from',
          moment(verdict.nextTryFrom),
          `. The bank declined this card ${counted(verdict.declines, 'time')}, and no attempt is left until then.`,
        ),
        labelled('Next', 'ask the customer for another card.'),
      ];
    case 'save_again':
      return [
        labelled(
          'Why',
          'the bank wants 3-D Secure, which cannot be completed on a saved card. Trying again will not help.',
        ),
        labelled(
          'Next',
          'send the customer a card-saving link: they complete 3-D Secure on the checkout page, and the card is saved anew.',
        ),
      ];
  }
}

/** The same in a few words, for a channel. */
export function nextTryWords(verdict: RetryVerdict | undefined): Run[] | undefined {
  switch (verdict?.kind) {
    case 'resting':
      return [moment(verdict.nextTryFrom), ...plain(`, ${attempts(verdict.attemptsLeft)}`)];
    case 'stopped':
      return [moment(verdict.nextTryFrom), ...plain(', no attempt left until then')];
    case 'save_again':
      return plain('not with this saved card: the bank wants 3-D Secure');
    default:
      return undefined;
  }
}

function attempts(left: number): string {
  return `${counted(left, 'attempt')} left`;
}
