import { outsideText } from '../domain/outside-text.ts';
import { withoutUndefined } from '../domain/json.ts';
import { context, plainText, type Run } from '../slack/kit/blocks.ts';
import type { SlackMessage } from '../slack/kit/message.ts';
import { type PostAttempt, noteMessage, forPosting } from '../slack/kit/note.ts';

/**
 * A notice to operators: short, rare, once per name. No secret and no customer data: many people may read the channel.
 * `state`: its headline. `lines`: what it means, and what to do. `about` may be outside text.
 */
export type Notice = {
  state: string;
  /** A channel id, shown right after the state. */
  channel?: string;
  about: readonly string[];
  lines: readonly (readonly Run[])[];
};

const longestDetail = 80;

/** `accountLabel`: environment and account, if the bot has several. */
export function noticeMessage(
  post: PostAttempt & { notice: Notice; accountLabel?: string | undefined },
): SlackMessage {
  const { state, about, lines, channel } = post.notice;
  const message = noteMessage({
    state: `⚠️ ${state}`,
    ...withoutUndefined({ channel }),
    about: about.map((detail) => outsideText(detail, longestDetail)),
    body: lines,
    ...(post.accountLabel === undefined ? {} : { foot: context(plainText(post.accountLabel)) }),
  });
  return forPosting(message, 'payops_notice', post);
}

export function noticeRenders(accountLabel: string | undefined) {
  return {
    async notice(notice: Notice, _work: unknown, about: PostAttempt) {
      return { kind: 'shown' as const, message: noticeMessage({ ...about, notice, accountLabel }) };
    },
  };
}
