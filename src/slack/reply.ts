import type { RespondFn } from '@slack/bolt';
import type { WebClient } from '@slack/web-api';
import type { Log } from '../log.ts';
import type { Caller } from './command.ts';
import type { SlackMessage } from './message.ts';
import { hasTable, tablesAsLines, withoutTables } from './table-fallback.ts';
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

/** Tells the caller alone. Never throws: what could not be told is in the log. */
export type Reply = (message: SlackMessage) => Promise<void>;

export function createReply(address: ReplyAddress, client: WebClient, log: Log): Reply {
  const { caller, respond } = address;
  const { userId } = caller;
  let isFirst = true;

  async function throughResponseUrl({ text, blocks }: SlackMessage): Promise<boolean> {
    if (!respond) return false;
    const replaces = address.replaces === 'pressed' || (address.replaces === 'earlier' && !isFirst);
    isFirst = false;
    try {
      await respond({ response_type: 'ephemeral', replace_original: replaces, text, blocks, ...noPreviews });
      return true;
    } catch (error) {
      log('warn', 'An answer could not be given through its response_url', { userId }, error);
      return false;
    }
  }

  async function throughApi(content: Pick<SlackMessage, 'text'> & Partial<SlackMessage>): Promise<void> {
    // Without a channel (App Home) the bot's own conversation with the person is the private place.
    await (caller.channelId === undefined
      ? client.chat.postMessage({ channel: userId, ...content, ...noPreviews })
      : client.chat.postEphemeral({ channel: caller.channelId, user: userId, ...content }));
  }

  /** Without its tables, when it has some and this workspace refuses the message with them. */
  async function asLines(message: SlackMessage, error: unknown): Promise<void> {
    if (!hasTable(message) || !refusesBlocks(error)) throw error;
    const { text, blocks } = tablesAsLines(message);
    await throughApi({ text, blocks });
    withoutTables.add(client);
  }

  return async function reply(given) {
    const message = withoutTables.has(client) ? tablesAsLines(given) : given;
    if (await throughResponseUrl(message)) return;
    const { text, blocks } = message;
    try {
      await throughApi({ text, blocks })
        .catch((error: unknown) => asLines(message, error))
        .catch((error: unknown) => {
          if (refusesBlocks(error)) return throughApi({ text });
          throw error;
        });
    } catch (error) {
      const slackError = slackErrorWord(readSlackError(error));
      log('error', 'An answer could not be given', { userId, slackError, fix: fixFor(slackError) });
    }
  };
}

/** A link in an answer is text; Slack must not fetch it. */
const noPreviews = { unfurl_links: false, unfurl_media: false };

/** Newer block kinds are not everywhere yet; the words alone always are. */
function refusesBlocks(error: unknown): boolean {
  const problem = readSlackError(error);
  return problem.kind === 'refused' && isAboutMessage(problem.slackError);
}
