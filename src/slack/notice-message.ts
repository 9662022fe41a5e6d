import type { Notice } from '../domain/notice.ts';
import { alarmSentences, type AlarmSentences } from './alarm-sentences.ts';
import { channelName, context, headline, plainText, richText, words, type Run } from './blocks.ts';
import type { SlackMessage } from './message.ts';
import { outsideText } from './text.ts';

export type NoticeView = {
  notice: Notice;
  key: string;
  mayBeRepeat: boolean;
  /** "LIVE · lagos": whose it is, where the bot has several merchant accounts. */
  place?: string | undefined;
};

const longestDetail = 80;

/** One sentence on what came, one on what it means and what to do. No customer data: the channel may be wide. */
export function noticeMessage(view: NoticeView): SlackMessage {
  const { state, details, advice, rest = [] } = sentences(view.notice);
  const first = headline(
    `⚠️ ${state}`,
    details.map((detail) => outsideText(detail, longestDetail)),
  );
  const place = view.place === undefined ? [] : [context(plainText(view.place))];
  const repeat = view.mayBeRepeat ? [context(plainText('May be a repeat of an earlier notice.'))] : [];
  return {
    text: first.text,
    blocks: [first.block, richText([words(advice), ...rest]), ...place, ...repeat],
    metadata: { event_type: 'payops_notice', event_payload: { key: view.key } },
  };
}

function sentences(notice: Notice): AlarmSentences {
  switch (notice.kind) {
    case 'webhooks_silent':
    case 'deliveries_refused':
    case 'events_missing':
      return alarmSentences(notice);
    case 'event_differs':
      return {
        state: 'A repeated event differs from the first',
        details: [notice.eventKind, notice.orderReference ?? 'no reference'],
        advice:
          'Its amount or outcome is another one. The first alert stands; look the reference up before acting on either.',
      };
    case 'unknown_event':
      return {
        state: 'A signed event of unknown kind arrived',
        details: [notice.eventKind],
        advice:
          'It was answered 2xx, and is kept for as long as WEBHOOK_REMEMBER_DAYS says; until then events of this kind are not told again. If it should be an alert, check where the kind stands in the payload (WEBHOOK_EVENT_POINTERS).',
      };
    case 'stuck':
      return {
        state: 'A message cannot be posted and waits',
        details: [notice.record],
        advice: `It is kept and tried again, ever more rarely. The log says why under ${notice.errorId}. After a change of SEALING_KEYS, put the old key back behind the new one.`,
      };
    case 'refused': {
      const { channel, slackError, fix, giveUpHours, gathered = 0 } = notice;
      const storm =
        gathered === 0
          ? ''
          : ` Among them is a digest: it counted ${gathered} when this was told, goes on counting, and nobody sees it.`;
      const hours = giveUpHours === 1 ? 'an hour' : `${giveUpHours} hours`;
      return {
        state: 'Slack refuses the messages for a channel or person',
        details: [channel, slackError],
        advice: `${fix} Nothing is lost: each message is tried again for ${hours}, and then kept. /pay undelivered lists what is kept and delivers it again.${storm}`,
        rest: channelRuns(channel),
      };
    }
  }
}

/** Its name, for whoever may see it. A person is not named: that would ping them here. */
function channelRuns(channel: string): Run[] {
  return /^[CG][A-Z0-9]+$/.test(channel) ? [words(' The channel is '), channelName(channel), words('.')] : [];
}
