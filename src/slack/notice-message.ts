import { context, plainText, richText, words } from './blocks.ts';
import type { SlackMessage } from './message.ts';
import { cut } from './text.ts';

/** What the people who run the bot must know, in domain words; the sender's own kind names stay quoted. */
export type NoticeView = {
  notice:
    | { kind: 'event_differs'; eventKind: string; orderReference?: string | undefined }
    | { kind: 'unknown_event'; eventKind: string };
  key: string;
  mayBeRepeat: boolean;
};

const longestKind = 60;

/** One sentence on what came, one on what it means and what to do. No customer data: the channel may be wide. */
export function noticeMessage(view: NoticeView): SlackMessage {
  const { headline, advice } = sentences(view.notice);
  const repeat = view.mayBeRepeat ? [context(plainText('May be a repeat of an earlier notice.'))] : [];
  return {
    text: headline,
    blocks: [richText([words(headline)], [words(advice)]), ...repeat],
    metadata: { event_type: 'payops_notice', event_payload: { key: view.key } },
  };
}

function sentences(notice: NoticeView['notice']): { headline: string; advice: string } {
  const kind = cut(notice.eventKind, longestKind);
  switch (notice.kind) {
    case 'event_differs':
      return {
        headline: `⚠️ A repeated ${kind} event differs from the first · ${notice.orderReference ?? 'no reference'}`,
        advice:
          'Its amount or outcome is another one. The first alert stands; look the reference up before acting on either.',
      };
    case 'unknown_event':
      return {
        headline: `⚠️ A signed event of unknown kind arrived · ${kind}`,
        advice:
          'It was kept and answered 2xx; events of this kind are not told again. If it should be an alert, check where the kind stands in the payload (WEBHOOK_EVENT_POINTERS).',
      };
  }
}
