import type { Alarm } from '../domain/notice.ts';
import { code, moment, words, type Run } from './blocks.ts';
import { outsideText } from './text.ts';

export type AlarmSentences = { state: string; details: string[]; advice: string; rest?: readonly Run[] };

const longestReference = 80;

/** What came, what it means for charges and alerts, and what to look at. */
export function alarmSentences(alarm: Alarm): AlarmSentences {
  switch (alarm.kind) {
    case 'webhooks_silent':
      return {
        state: 'No webhook comes though charges ran',
        details: [`none for ${spoken(alarm.minutes)}`, `${counted(alarm.approvals, 'charge')} processed`],
        advice:
          'The payments service may have stopped sending, or what it sends does not reach this bot: check the address that is set there and the proxy in between. Charges are confirmed by look-up all the same, but charges that fail elsewhere are not alerted. Told once, until a webhook comes.',
        rest: [words(' First charge processed: '), moment(alarm.sinceMs), words('.')],
      };
    case 'deliveries_refused':
      return {
        state: 'Webhook deliveries are refused',
        details: [refusedWords(alarm)],
        advice: `Likely cause of the last one: ${alarm.cause} Each was answered 401, and the sender may give up on repeating it. npm run explain-delivery explains one captured delivery.`,
        rest: [words(' Since '), moment(alarm.sinceMs), words('.')],
      };
    case 'events_missing':
      return {
        state: 'Charges are paid, but their events never came',
        details: [counted(alarm.references.length + alarm.more, 'charge')],
        advice: `Each was approved by look-up more than ${spoken(alarm.minutes)} ago, without a signed payment_success since. The charges stand. Look at the payments service whether the events were sent and how they were answered; an event that names another reference than the charge’s counts as none.`,
        rest: referenceRuns(alarm),
      };
  }
}

function refusedWords({ refusals, accepted }: Extract<Alarm, { kind: 'deliveries_refused' }>): string {
  const of = accepted === undefined ? 'in a row' : `of ${refusals + accepted}`;
  return `${refusals} ${of} within 10 minutes`;
}

function referenceRuns({ references, more }: Extract<Alarm, { kind: 'events_missing' }>): Run[] {
  const runs = references.flatMap((reference, index) => [
    words(index === 0 ? ' They are: ' : ', '),
    code(outsideText(reference, longestReference)),
  ]);
  return [...runs, words(more > 0 ? ` and ${more} more.` : '.')];
}

function counted(count: number, thing: string): string {
  return `${count} ${thing}${count === 1 ? '' : 's'}`;
}

function spoken(minutes: number): string {
  return minutes % 60 === 0 ? counted(minutes / 60, 'hour') : counted(minutes, 'minute');
}
