import type { ChatPostMessageArguments, WebClient } from '@slack/web-api';
import type { HistoryAnswer, PostOutcome } from '../domain/delivery.ts';
import type { SlackMessage } from './message.ts';
import { fixFor, readSlackError, slackErrorWord } from './slack-error.ts';

export type Delivery = {
  /** Posts once, without a retry, and says what became of it. Never throws for anything Slack or the network does. */
  post(channel: string, message: SlackMessage): Promise<PostOutcome>;
  /**
   * Looks for the message that carries the key in its metadata, among those posted since shortly before
   * `sinceMs` (UTC milliseconds of the first attempt). `absent` only when the whole span was read.
   */
  findByKey(channel: string, key: string, sinceMs: number): Promise<HistoryAnswer>;
};

/** How much the bot's clock and Slack's may differ. */
const clockSlackMs = 60_000;
const pageSize = 200;
const mostPages = 10;

/** Needs the delivery client: its timeout is long, and a 429 there must not hold up a modal. */
export function createDelivery(client: WebClient): Delivery {
  return {
    async post(channel, message) {
      try {
        const answer = await client.chat.postMessage(postArguments(channel, message));
        return answer.ts === undefined
          ? { kind: 'unsure', cause: new Error('Slack’s answer holds no ts') }
          : { kind: 'posted', ts: answer.ts };
      } catch (error) {
        const problem = readSlackError(error);
        return problem.kind === 'refused'
          ? { ...problem, fix: fixFor(problem.slackError, channel) }
          : problem;
      }
    },

    async findByKey(channel, key, sinceMs) {
      const oldest = String((sinceMs - clockSlackMs) / 1000);
      try {
        return await searchHistory(client, { channel, key, oldest });
      } catch (error) {
        return { kind: 'unknown', slackError: slackErrorWord(readSlackError(error)) };
      }
    },
  };
}

function postArguments(channel: string, { text, blocks, metadata }: SlackMessage): ChatPostMessageArguments {
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

async function searchHistory(client: WebClient, search: Search): Promise<HistoryAnswer> {
  let cursor: string | undefined;
  for (let page = 0; page < mostPages; page += 1) {
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
  return { kind: 'unknown', slackError: 'history_too_long' };
}

function keyOf(metadata: { event_payload?: unknown } | undefined): unknown {
  const payload = metadata?.event_payload;
  return typeof payload === 'object' && payload !== null && 'key' in payload ? payload.key : undefined;
}
