// Other payments for the same money, for people about to begin or approve another.

import type { Twin } from '../../domain/charge.ts';
import { counted } from '../../domain/wording.ts';
import { type Run, bold, context, person, plainText, richText, words } from '../kit/blocks.ts';
import type { ViewBlock } from '../kit/message.ts';
import { plain } from './charge-facts.ts';
import { referenceRun } from './payment-words.ts';

const mostTwins = 3;

/** Nothing without twins. `twins`: newest first. */
export function twinBlocks(twins: readonly Twin[], nowMs: number): ViewBlock[] {
  const [newest] = twins;
  if (!newest) return [];
  const left = twins.length - mostTwins;
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
    ...(left > 0 ? [context(plainText(`And ${counted(left, 'more charge')}.`))] : []),
  ];
}

/** A payment link that may still be paid, or may be paid already. `by`: Slack user id. */
export type OpenLink = { reference: string; by: string; askedAtMs: number };

/** Names the newest open payment link of an alert; nothing without one. */
export function openLinkBlocks([newest]: readonly OpenLink[], nowMs: number): ViewBlock[] {
  if (!newest) return [];
  const { reference, by, askedAtMs } = newest;
  return [
    richText(
      [bold('⚠️ A payment link of this alert isn’t settled yet')],
      plain('by ', person(by), `, ${timeAgo(askedAtMs, nowMs)}, `, referenceRun(reference)),
      plain('If that is paid too, one payment must be given back.'),
    ),
  ];
}

const twinWords: Record<Twin['outcome'], string> = {
  approved: 'Paid',
  given_back: 'paid and given back',
  declined: 'declined',
  three_d_secure: 'declined, 3-D Secure',
  review: 'needs review: money may have moved, so don’t charge again before somebody has checked',
  cleared: 'no money known to have moved',
};

export function timeAgo(atMs: number, nowMs: number): string {
  const minutes = Math.floor((nowMs - atMs) / 60_000);
  if (minutes < 1) return 'just now';
  if (minutes < 120) return `${counted(minutes, 'minute')} ago`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${counted(hours, 'hour')} ago` : `${counted(Math.floor(hours / 24), 'day')} ago`;
}
