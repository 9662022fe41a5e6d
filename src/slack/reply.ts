import type { RespondFn } from '@slack/bolt';
import type { WebClient } from '@slack/web-api';
import type { Log } from '../log.ts';
import type { Caller } from './command.ts';
import type { SlackMessage } from './kit/message.ts';
import { fixFor, isAboutMessage, readSlackError, slackErrorWord } from './slack-error.ts';

/** Where an answer goes: the response_url of the command or press, if there is one, and whom it is for. */
export type ReplyAddress = {
  caller: Caller;
  respond: RespondFn | undefined;
  /**
   * What an answer takes the place of. `pressed`: the ephemeral message whose button was pressed. `earlier`:
   * the answer before it; on a slash command's response_url Slack may post a further message instead
   * (bolt-js #2287), so every message must be right when it stands alone. `nothing`: a message of a channel
   * must stay as it is.
   */
  replaces: 'pressed' | 'earlier' | 'nothing';
};

/**
 * Tells the caller alone. A direct message stays in Slack: `inDirect` is what it says in place of what may not. Never
 * throws: what could not be told is in the log.
 */
export type Reply = (message: SlackMessage, inDirect?: SlackMessage) => Promise<void>;

/**
 * Through the response_url, which also works where the bot is no member; refused, once more in plain text; then as an
 * ephemeral message, and at last as a direct one. That one stays, and is told again only where its blocks are refused:
 * after a lost answer it may stand there, and where Slack wants it slower words alone are no slower.
 */
export function createReply(address: ReplyAddress, client: WebClient, log: Log): Reply {
  const { respond, replaces } = address;
  const { userId, channelId } = address.caller;
  let isFirst = true;

  return async function reply({ text, blocks }, inDirect = { text, blocks }) {
    const answer = {
      response_type: 'ephemeral',
      replace_original: replaces === 'pressed' || (replaces === 'earlier' && !isFirst),
      ...noPreviews,
    } as const;
    isFirst = false;
    const direct = { channel: userId, ...noPreviews };
    const ways: (() => Promise<unknown>)[] = [
      ...(respond ? [() => respond({ ...answer, text, blocks }), () => respond({ ...answer, text })] : []),
      ...(channelId === undefined
        ? []
        : [() => client.chat.postEphemeral({ channel: channelId, user: userId, text, blocks })]),
      () =>
        client.chat
          .postMessage({ ...direct, text: inDirect.text, blocks: inDirect.blocks })
          .catch((error: unknown) => {
            if (!refusesBlocks(error)) throw error;
            return client.chat.postMessage({ ...direct, text: inDirect.text });
          }),
    ];
    for (const [index, way] of ways.entries()) {
      try {
        // oxlint-disable-next-line no-await-in-loop -- the next only where this one failed
        await way();
        return;
      } catch (error) {
        const slackError = slackErrorWord(readSlackError(error));
        const isLast = index === ways.length - 1;
        const said = isLast ? 'An answer could not be given' : 'An answer was refused; the next way is tried';
        log(isLast ? 'error' : 'warn', said, { userId, slackError, fix: fixFor(slackError) }, error);
      }
    }
  };
}

/** A link in an answer is text; Slack must not fetch it. */
const noPreviews = { unfurl_links: false, unfurl_media: false };

function refusesBlocks(error: unknown): boolean {
  const problem = readSlackError(error);
  return problem.kind === 'refused' && isAboutMessage(problem.slackError);
}
