import { counted } from '../../domain/counted.ts';
import type { Alarm } from '../../domain/notice.ts';
import { bold, code, moment, words, type Run } from '../kit/blocks.ts';
import { outsideText } from '../kit/text.ts';

/** `lines`: what it means, and what to do, each a line of its own. */
export type NoticeSentences = { state: string; details: string[]; lines: readonly (readonly Run[])[] };

const longestReference = 80;

/** What came, what it means for charges and alerts, and what to look at. */
export function alarmSentences(alarm: Alarm): NoticeSentences {
  switch (alarm.kind) {
    case 'webhooks_silent':
      return {
        state: 'No webhook comes though charges ran',
        details: [`none for ${spoken(alarm.minutes)}`, `${counted(alarm.approvals, 'charge')} processed`],
        lines: [
          [
            words(
              'The payments service may have stopped sending, or what it sends does not reach this bot: check the address that is set there and the proxy in between.',
            ),
          ],
          [
            words(
              'Charges are confirmed by look-up all the same, but charges that fail elsewhere are not alerted. Told once, until a webhook comes.',
            ),
          ],
          [words('First charge processed: '), moment(alarm.sinceMs), words('.')],
        ],
      };
    case 'deliveries_refused':
      return {
        state: 'Webhook deliveries are refused',
        details: [refusedWords(alarm)],
        lines: [
          [bold('The last one: '), words(alarm.cause)],
          [
            words('Each was answered 401 since '),
            moment(alarm.sinceMs),
            words('; the sender may stop repeating them. Capture one and run '),
            code('npm run explain-delivery'),
            words('.'),
          ],
        ],
      };
    case 'events_missing':
      return eventsMissing(alarm);
  }
}

function eventsMissing(alarm: Extract<Alarm, { kind: 'events_missing' }>): NoticeSentences {
  const count = alarm.references.length + alarm.more;
  const is = count === 1;
  return {
    state: is
      ? 'A charge is paid, but its event never came'
      : 'Charges are paid, but their events never came',
    details: is ? [...alarm.references] : [`${count} charges`],
    lines: [
      ...(is ? [] : [[words('They are: '), ...referenceRuns(alarm)]]),
      [
        words(
          `${is ? 'It' : 'Each'} was approved by look-up more than ${spoken(alarm.minutes)} ago, without a signed payment_success since. The ${is ? 'charge stands' : 'charges stand'}.`,
        ),
      ],
      [
        words(
          `Look at the payments service whether the ${is ? 'event was sent and how it was' : 'events were sent and how they were'} answered; an event that names another reference than the charge’s counts as none.`,
        ),
      ],
    ],
  };
}

function refusedWords({ refusals, accepted }: Extract<Alarm, { kind: 'deliveries_refused' }>): string {
  const of = accepted === undefined ? 'in a row' : `of ${refusals + accepted}`;
  return `${refusals} ${of} within 10 minutes`;
}

function referenceRuns({ references, more }: Extract<Alarm, { kind: 'events_missing' }>): Run[] {
  const runs = references.flatMap((reference, index) => [
    ...(index === 0 ? [] : [words(', ')]),
    code(outsideText(reference, longestReference)),
  ]);
  return [...runs, words(more > 0 ? ` and ${more} more.` : '.')];
}

function spoken(minutes: number): string {
  return minutes % 60 === 0 ? counted(minutes / 60, 'hour') : counted(minutes, 'minute');
}
