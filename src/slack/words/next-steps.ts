// What helps after a decline, and why a card can't be charged now.

import { counted } from '../../domain/wording.ts';
import { nextSteps, reasonAfter, type KnownDecline, type RetryVerdict } from '../../domain/decline-reason.ts';
import type { AlertTaken } from '../../domain/alert.ts';
import { alreadyPaid, wasResolved } from './alert-news.ts';
import { bold, moment, person, words, type Run } from '../kit/blocks.ts';
import { referenceRun } from './payment-words.ts';
import { labelled, plain } from './charge-facts.ts';

/** "Next: …": what helps after this failure; nothing if the bank's reason doesn't say. */
export function declineNext({ reason, nextTryFrom }: Pick<KnownDecline, 'reason' | 'nextTryFrom'>): Run[][] {
  const { text } = nextSteps[reason];
  if (text === '') return [];
  const said = `${text.charAt(0).toLowerCase()}${text.slice(1)}`;
  if (nextTryFrom === undefined) return [[bold('Next: '), words(said.replace(' from {time}', ''))]];
  const [before = '', after] = said.split('{time}');
  const rest = after === undefined ? [] : [moment(nextTryFrom), words(after)];
  return [[bold('Next: '), words(before), ...rest]];
}

/** Why nobody may charge it again now. `failed`: the failed order's reference. */
export function takenLines(taken: AlertTaken, failed: string): Run[][] {
  if (taken.kind === 'charging') {
    const { by, reference, needsReview } = taken.charge;
    const what = needsReview ? 'has a charge under review: money may have moved' : 'is charging it';
    return [
      plain(person(by), ` ${what}: `, referenceRun(reference)),
      labelled('Next', needsReview ? 'don’t charge it. Ask your payments lead.' : 'wait for its result.'),
    ];
  }
  const { state } = taken;
  return state.kind === 'recovered'
    ? [
        [...alreadyPaid(failed, state.payment.reference), words('.')],
        labelled('Next', 'don’t charge it again.'),
      ]
    : [
        [words('Its alert '), ...wasResolved(state), words('.')],
        labelled('Next', 'charge only what is still owed.'),
      ];
}

/** What helps after a decline, by the bank's reason; else when the card may be charged next. */
export function nextAfterDecline(bankWords: string | undefined, verdict: RetryVerdict): Run[][] {
  const reason = reasonAfter(bankWords, verdict);
  const { kind, text } = nextSteps[reason];
  if (kind === 'do_not_retry' || kind === 'payment_link' || kind === 'another_card') {
    return declineNext({ reason });
  }
  switch (verdict.kind) {
    case 'allowed':
      return [labelled('Next', `you can charge it again now; ${attempts(verdict.attemptsLeft)}.`)];
    case 'on_hold': {
      const { nextTryFrom, attemptsLeft } = verdict;
      if (text === '') return [[...heldUntil(nextTryFrom), words(`; ${attempts(attemptsLeft)}.`)]];
      const [line = []] = declineNext({ reason, nextTryFrom });
      return [[...line, ...plain(` ${attempts(attemptsLeft)}.`)]];
    }
    default:
      return holdLines(verdict);
  }
}

/** Why a card can't be charged now, shown before the button. `mayAsk`: a second person may allow it. */
export function holdLines(
  verdict: Exclude<RetryVerdict, { kind: 'allowed' }>,
  { mayAsk = false }: { mayAsk?: boolean } = {},
): Run[][] {
  switch (verdict.kind) {
    case 'on_hold':
      return [
        [
          ...heldUntil(verdict.nextTryFrom),
          words(` after a decline.${mayAsk ? '' : ' Retrying earlier would waste an attempt.'}`),
        ],
      ];
    case 'stopped':
      return [
        [
          ...heldUntil(verdict.nextTryFrom),
          words(`: the bank declined it ${counted(verdict.declines, 'time')}. Use another card.`),
        ],
      ];
    case 'save_again':
      return [
        labelled('This card can’t be charged', 'the bank wants 3-D Secure. ', nextSteps.three_d_secure.text),
      ];
    case 'under_way':
      return [
        plain(bold('Another charge of this card is still open: '), 'wait for its result.'),
        [referenceRun(verdict.reference)],
      ];
  }
}

function heldUntil(ms: number): Run[] {
  return [bold('Card on hold until '), moment(ms)];
}

/** A hold in short, for a channel; undefined without a hold. */
export function holdWords(verdict: RetryVerdict | undefined): Run[] | undefined {
  switch (verdict?.kind) {
    case 'on_hold':
      return plain('on hold until ', moment(verdict.nextTryFrom), `, ${attempts(verdict.attemptsLeft)}`);
    case 'stopped':
      return plain('on hold until ', moment(verdict.nextTryFrom), ', no attempts left');
    case 'save_again':
      return plain('needs a payment link (3-D Secure)');
    default:
      return undefined;
  }
}

function attempts(left: number): string {
  return `${counted(left, 'attempt')} left`;
}
