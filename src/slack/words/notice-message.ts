import { unreadableKind, type Notice } from '../../domain/notice.ts';
import { counted } from '../../domain/wording.ts';
import { channelName, code, context, moment, plainText, words, type Run } from '../kit/blocks.ts';
import type { SlackMessage } from '../kit/message.ts';
import { noteMessage, posted, type AboutMessage } from '../kit/note.ts';
import { outsideText } from '../kit/text.ts';

type NoticeView = AboutMessage & {
  notice: Notice;
  /** "LIVE · lagos": whose it is, where the bot has several merchant accounts. */
  place?: string | undefined;
};

/** `lines`: what it means, and what to do, each a line of its own. */
type NoticeSentences = { state: string; details: string[]; lines: readonly (readonly Run[])[] };

const longestDetail = 80;

/** One line on what came, then what it means and what to do. No customer data: the channel may be wide. */
export function noticeMessage(view: NoticeView): SlackMessage {
  const { state, details, lines } = sentences(view.notice);
  const message = noteMessage({
    state: `⚠️ ${state}`,
    about: details.map((detail) => outsideText(detail, longestDetail)),
    body: [...lines, ...(view.place === undefined ? [] : [context(plainText(view.place))])],
  });
  return posted(message, 'payops_notice', view);
}

function sentences(notice: Notice): NoticeSentences {
  switch (notice.kind) {
    case 'events_missing':
      return eventsMissing(notice);
    case 'event_differs':
      return eventDiffers(notice);
    case 'unknown_event':
      return unknownEvent(notice);
    case 'stuck':
      return {
        state: 'A record was put aside',
        details: [notice.record],
        lines: [
          [words(`The bot can’t work on it. The log says why under ${notice.errorId}.`)],
          [
            words('It’s kept and retried at the next start. If '),
            code('SEALING_KEYS'),
            words(' changed, put the old key back behind the new one and restart.'),
          ],
        ],
      };
    case 'refused':
      return refused(notice);
  }
}

type Of<Kind extends Notice['kind']> = Extract<Notice, { kind: Kind }>;

function eventDiffers({ eventKind, orderReference }: Of<'event_differs'>): NoticeSentences {
  return {
    state: 'A repeated event differs from the first',
    details: [eventKind, orderReference ?? 'no reference'],
    lines: [
      [words('Its amount or outcome is different. The first alert stays as it was.')],
      orderReference === undefined
        ? [words('Look the order up before acting on either.')]
        : [
            words('Look it up before acting on either: '),
            code(`/pay ${outsideText(orderReference, longestDetail)}`),
          ],
    ],
  };
}

function unknownEvent({ eventKind, keptDays }: Of<'unknown_event'>): NoticeSentences {
  const isUnreadable = eventKind === unreadableKind;
  const kept = keptDays === undefined ? 'for as long as WEBHOOK_REMEMBER_DAYS says' : `for ${days(keptDays)}`;
  return {
    state: isUnreadable
      ? 'A signed delivery without an event kind arrived'
      : 'A signed event of unknown kind arrived',
    details: isUnreadable ? [] : [eventKind],
    lines: [
      [words(`It’s kept ${kept}. ${isUnreadable ? 'Others like it' : 'Others of this kind'} aren’t told.`)],
      [
        words('Should it be an alert? Check '),
        code('WEBHOOK_EVENT_POINTERS'),
        words('; '),
        code('npm run explain-delivery'),
        words(' shows how a captured one is read.'),
      ],
    ],
  };
}

function eventsMissing({ reference, minutes, isSilent }: Of<'events_missing'>): NoticeSentences {
  const waited = minutes % 60 === 0 ? counted(minutes / 60, 'hour') : counted(minutes, 'minute');
  return {
    state: 'A charge is paid, but its event never came',
    details: [reference],
    lines: [
      [
        words(
          `It was approved by look-up more than ${waited} ago, without a signed payment_success since. The charge stands. More of this hour are in the log.`,
        ),
      ],
      [
        words(
          isSilent
            ? 'No webhook has come at all since. Check the address at the payments service, the proxy and the certificate: charges that fail elsewhere are not told meanwhile.'
            : 'Look at the payments service whether the event was sent and how it was answered; an event that names another reference than the charge’s counts as none.',
        ),
      ],
    ],
  };
}

function days(count: number): string {
  return count === 1 ? 'one day' : `${count} days`;
}

function refused(notice: Of<'refused'>): NoticeSentences {
  const { channel, slackError, fix, giveUpHours, sinceMs } = notice;
  const isChannel = /^[CG]/.test(channel);
  const hours = giveUpHours === 1 ? 'an hour' : `${giveUpHours} hours`;
  const since = sinceMs === undefined ? [] : [words(' Refused since '), moment(sinceMs), words('.')];
  return {
    state: `Slack refuses the messages for a ${isChannel ? 'channel' : 'person'}`,
    details: [channel, slackError],
    lines: [
      [...channelRuns(channel), words(fix), ...since],
      [
        words(`Nothing is lost: the bot keeps trying for ${hours}, then they wait in `),
        code('/pay undelivered'),
        words('.'),
      ],
    ],
  };
}

/** Its name, for whoever may see it. A person is not named: that would ping them here. */
function channelRuns(channel: string): Run[] {
  return /^[CG][A-Z0-9]+$/.test(channel) ? [channelName(channel), words(': ')] : [];
}
