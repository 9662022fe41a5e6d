// Other payments for the same money, for people about to begin or approve another.

import type { AlertTaken, OpenPayment } from '../../domain/alert.ts';
import type { Twin } from '../../domain/charge.ts';
import { counted } from '../../domain/wording.ts';
import { type Run, bold, context, person, plainText, richText, words } from '../kit/blocks.ts';
import type { ViewBlock } from '../kit/message.ts';
import { plain } from './charge-facts.ts';
import { referenceRun } from './payment-words.ts';

const mostTwins = 3;
const mostAccepted = 6;

/** Nothing without twins. `twins`: newest first. */
export function twinBlocks(twins: readonly Twin[], nowMs: number): ViewBlock[] {
  const [newest] = twins;
  if (!newest) return [];
  const often = twins.length === 1 ? '' : `${counted(twins.length, 'time')}, last `;
  return [
    richText(
      [bold(`⚠️ Same card and amount were charged ${often}${timeAgo(newest.at, nowMs)}`)],
      ...twins
        .slice(0, mostTwins)
        .map(({ reference, by, outcome }): Run[] => [
          words('by '),
          person(by),
          words(` (${twinWords[outcome]}), `),
          referenceRun(reference),
        ]),
      plain(`Charge ${twins.length === 1 ? 'a second' : 'another'} time?`),
    ),
    ...moreBlocks(twins, 'more charge'),
  ];
}

/** Names other payments for the same money that may be paid; nothing without one. `open`: newest first. */
export function openPaymentBlocks(open: readonly OpenPayment[], nowMs: number): ViewBlock[] {
  if (open.length === 0) return [];
  const isPaid = open.some(({ outcome }) => outcome === 'perhaps_paid');
  return [
    richText(
      [bold(`⚠️ A payment for this ${isPaid ? 'may be paid already' : 'isn’t settled yet'}`)],
      ...open
        .slice(0, mostTwins)
        .map(({ reference, by, atMs }) =>
          plain('by ', person(by), `, ${timeAgo(atMs, nowMs)}, `, referenceRun(reference)),
        ),
      plain('If that is paid too, one payment must be given back.'),
    ),
    ...moreBlocks(open, 'more payment'),
  ];
}

/** Why no payment may be begun for an alert, in plain text. */
export function alertTakenWords(taken: AlertTaken): string {
  if (taken.kind === 'ended')
    return 'Its alert was resolved meanwhile. Still owed? Start over with /pay charge or /pay link.';
  const { reference, needsReview } = taken.charge;
  return needsReview
    ? `The alert’s charge ${reference} needs review: money may have moved.`
    : `The alert of this payment is being charged: ${reference}. Wait for its result.`;
}

function moreBlocks({ length }: readonly unknown[], what: string): ViewBlock[] {
  const left = length - mostTwins;
  return left > 0 ? [context(plainText(`And ${counted(left, what)}.`))] : [];
}

/** "ORDER-1 (Paid), ORDER-2 (declined) and 3 more": what a person accepted; see `asAccepted`. */
export function acceptedRuns(accepted: readonly string[]): Run[] {
  const left = accepted.length - mostAccepted;
  const named = accepted.slice(0, mostAccepted).flatMap((one, index): Run[] => {
    const [, reference = one, outcome = ''] = /^(.*) \((\w+)\)$/u.exec(one) ?? [];
    const said = words(` (${acceptedWords[outcome] ?? outcome})`);
    return [...(index === 0 ? [] : [words(', ')]), referenceRun(reference), said];
  });
  return left > 0 ? [...named, words(` and ${left} more`)] : named;
}

const twinWords: Record<Twin['outcome'], string> = {
  approved: 'Paid',
  given_back: 'paid and given back',
  declined: 'declined',
  three_d_secure: 'declined, 3-D Secure',
  review: 'needs review: money may have moved, so don’t charge again before somebody has checked',
  cleared: 'no money known to have moved',
};

/** Shorter than on the screen that asks. */
const acceptedWords: Record<string, string> = {
  ...twinWords,
  review: 'needs review',
  unpaid: 'not settled yet',
  perhaps_paid: 'may be paid',
};

export function timeAgo(atMs: number, nowMs: number): string {
  const minutes = Math.floor((nowMs - atMs) / 60_000);
  if (minutes < 1) return 'just now';
  if (minutes < 120) return `${counted(minutes, 'minute')} ago`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${counted(hours, 'hour')} ago` : `${counted(Math.floor(hours / 24), 'day')} ago`;
}
