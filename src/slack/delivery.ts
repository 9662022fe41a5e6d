import type { ChatPostMessageArguments, WebClient } from '@slack/web-api';
import { withDeadline } from '../deadline.ts';
import type { HistoryAnswer, PostOutcome } from '../domain/delivery.ts';
import type { SlackMessage } from './message.ts';
import { fixFor, isAboutMessage, readSlackError, slackErrorWord } from './slack-error.ts';

export type Delivery = {
  /** Posts once, without a retry, and says what became of it. Never throws for anything Slack or the network does. */
  post(channel: string, message: SlackMessage): Promise<PostOutcome>;
  /**
   * Looks for the message that carries the key in its metadata, among those posted since shortly before
   * `sinceMs` (UTC milliseconds of the first attempt). `absent` only when the whole span was read.
   */
  findByKey(channel: string, key: string, sinceMs: number): Promise<HistoryAnswer>;
};

/** How much the clocks of the bot, of the replica that posted and of Slack may differ. */
const clockSlackMs = 15 * 60_000;
/** For all pages together: a lease counts on it. */
const usualHistoryTimeoutMs = 10_000;
const pageSize = 200;
const mostPages = 20;

/** Needs the delivery client: its timeout is long, and a 429 there must not hold up a modal. */
export function createDelivery(client: WebClient, historyTimeoutMs = usualHistoryTimeoutMs): Delivery {
  async function attempt(content: ChatPostMessageArguments): Promise<PostOutcome> {
    try {
      const { ts } = await client.chat.postMessage(content);
      return ts === undefined
        ? { kind: 'unsure', cause: new Error('Slack’s answer holds no ts') }
        : { kind: 'posted', ts };
    } catch (error) {
      const problem = readSlackError(error);
      if (problem.kind !== 'refused') return problem;
      const about = isAboutMessage(problem.slackError) ? 'message' : 'channel';
      return { ...problem, fix: fixFor(problem.slackError, content.channel), about };
    }
  }

  return {
    async post(channel, message) {
      const outcome = await attempt(postArguments(channel, message));
      if (outcome.kind !== 'refused' || outcome.about !== 'message') return outcome;
      // Newer block kinds are not everywhere yet; the words alone always are.
      const { blocks: _blocks, metadata, ...words } = postArguments(channel, message);
      // Without its key the message is not found again, so it goes only where Slack objects to it.
      return attempt(metadata && !outcome.slackError.includes('metadata') ? { ...words, metadata } : words);
    },

    async findByKey(channel, key, sinceMs) {
      const oldest = String((sinceMs - clockSlackMs) / 1000);
      try {
        return await withDeadline(historyTimeoutMs, (signal) =>
          searchHistory(client, { channel, key, oldest }, signal),
        );
      } catch (error) {
        const problem = readSlackError(error);
        const slackError = slackErrorWord(problem);
        if (unreadable.has(slackError)) return { kind: 'unreadable', slackError };
        const { retryAfterMs } = problem.kind === 'rate_limited' ? problem : {};
        return { kind: 'unknown', slackError, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
      }
    },
  };
}

/** A history needs the scope and, even with `chat:write.public`, the bot as a member. */
const unreadable = new Set([
  'missing_scope',
  'not_in_channel',
  'channel_not_found',
  'no_permission',
  'access_denied',
  'not_allowed_token_type',
  'unknown_method',
]);

function postArguments(channel: string, { text, blocks, metadata }: SlackMessage) {
  return {
    channel,
    text,
    blocks,
    ...(metadata ? { metadata } : {}),
    unfurl_links: false,
    unfurl_media: false,
    link_names: false,
  };
}

type Search = { channel: string; key: string; oldest: string };

async function searchHistory(client: WebClient, search: Search, signal: AbortSignal): Promise<HistoryAnswer> {
  let cursor: string | undefined;
  for (let page = 0; page < mostPages && !signal.aborted; page += 1) {
    // One page tells where the next one starts.
    // oxlint-disable-next-line no-await-in-loop
    const answer = await client.conversations.history({
      channel: search.channel,
      oldest: search.oldest,
      inclusive: true,
      include_all_metadata: true,
      limit: pageSize,
      ...(cursor === undefined ? {} : { cursor }),
    });
    const found = answer.messages?.find((message) => keyOf(message.metadata) === search.key);
    if (found?.ts !== undefined) return { kind: 'found', ts: found.ts };
    const next = answer.response_metadata?.next_cursor;
    if (next === undefined || next === '') return { kind: 'absent' };
    cursor = next;
  }
  return { kind: 'unreadable', slackError: 'history_too_long' };
}

function keyOf(metadata: { event_payload?: unknown } | undefined): unknown {
  const payload = metadata?.event_payload;
  return typeof payload === 'object' && payload !== null && 'key' in payload ? payload.key : undefined;
}
