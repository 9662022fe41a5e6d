import {
  type RefusalAbout,
  type SlackProblem,
  fixFor,
  readSlackError,
  refusalAbout,
  slackErrorWord,
} from '../slack/slack-error.ts';
import { hash } from 'node:crypto';
import type { ChatPostMessageArguments, ChatUpdateArguments, WebClient } from '@slack/web-api';
import { withDeadline } from '../deadline.ts';
import { withoutUndefined } from '../domain/json.ts';
import { rich, richText } from '../slack/kit/blocks.ts';
import { unescape } from '../slack/kit/text.ts';
import type { SlackMessage } from '../slack/kit/message.ts';
import type { MessageRecord } from './message-record.ts';

export type Delivery = ReturnType<typeof createDelivery>;

export type Doubt = NonNullable<MessageRecord['doubt']>;

/** A hash of the message's JSON. */
export function messageDigest(message: SlackMessage): string {
  return hash('sha256', JSON.stringify(message), 'base64url').slice(0, 22);
}

/** Tolerated difference between the clocks of this process, of the replica that posted, and of Slack. */
const clockSkewMs = 15 * 60_000;
/** Deadline for all pages of one search together: the lease must outlast it. */
const usualHistoryTimeoutMs = 10_000;
const pageSize = 200;

/** Pass the delivery client: its timeout is long, and a rate limit of its calls doesn't delay a modal. */
export function createDelivery(client: WebClient, historyTimeoutMs = usualHistoryTimeoutMs) {
  async function attemptPost(content: ChatPostMessageArguments): Promise<PostOutcome> {
    try {
      const { ts, channel = content.channel, message } = await client.chat.postMessage(content);
      return ts === undefined
        ? { kind: 'unsure', cause: new Error('Slack’s answer holds no ts') }
        : isOutOfThread(content, message)
          ? { kind: 'posted', channel, ts, unthreaded: true }
          : { kind: 'posted', channel, ts };
    } catch (error) {
      return readFailure(error, content.channel, content.thread_ts === undefined ? noErrors : noThread);
    }
  }

  async function attemptEdit(content: ChatUpdateArguments): Promise<PostOutcome> {
    const { channel, ts } = content;
    try {
      await client.chat.update(content);
      return { kind: 'posted', channel, ts };
    } catch (error) {
      const outcome = readFailure(error, channel, notEditable);
      // `chat:write.public` lets the bot post where it isn't a member, but Slack doesn't promise the same for edits.
      const isOutside =
        outcome.kind === 'refused' && /^(channel_not_found|not_in_channel)$/.test(outcome.slackError);
      return isOutside && /^[CG]/.test(channel) ? { ...outcome, fix: inviteFix(channel) } : outcome;
    }
  }

  return {
    /**
     * Posts once; if Slack refuses the content, posts the text alone. `channel` may be a user id; the outcome names the
     * channel that Slack used. `threadTs`: in that thread; `gone` if there is no such thread. Never throws for Slack or
     * the network.
     */
    async post(channel: string, message: SlackMessage, threadTs?: string): Promise<PostOutcome> {
      const place = { channel, ...(threadTs === undefined ? {} : { thread_ts: threadTs }) };
      const content = { ...place, ...quiet, ...contentOf(message) };
      const outcome = await attemptPost(content);
      const { blocks: _blocks, metadata: _metadata, ...textOnly } = content;
      return isAboutContent(outcome)
        ? attemptPost({ ...textOnly, ...metadataFor(message, outcome.slackError) })
        : outcome;
    },

    /**
     * Replaces a posted message; if Slack refuses the content, by the text alone. Idempotent. `channel`: as in the
     * post's outcome. `gone`: the message no longer exists or can no longer be edited. Never throws for Slack or the
     * network.
     */
    async edit(
      { channel, ts }: { channel: string; ts: string },
      message: SlackMessage,
    ): Promise<PostOutcome> {
      const content = { channel, ts, link_names: false, ...contentOf(message) };
      const { metadata: _metadata, ...bare } = content;
      let outcome = await attemptEdit(content);
      // Retry with the text alone. As rich text first, because Slack refuses to replace rich text by anything else;
      // then without blocks, for a message that was posted without any.
      for (const blocks of [[richText(rich`${unescape(content.text)}`)], []]) {
        if (!isAboutContent(outcome)) break;
        outcome = await attemptEdit({ ...bare, blocks, ...metadataFor(message, outcome.slackError) });
      }
      return outcome;
    },

    /**
     * Searches the doubt's channel or thread, around its time, for a message with this key in its metadata. `absent`
     * only after the whole span was read, which may take several calls.
     */
    async findByKey(doubt: Doubt, key: string): Promise<HistoryAnswer> {
      let { cursor } = doubt;
      try {
        return await withDeadline(historyTimeoutMs, async (signal) => {
          for (;;) {
            // In sequence: each page holds the next one's cursor.
            const page = await readPage(client, doubt, cursor);
            const found = page.messages?.find((message) => keyOf(message.metadata) === key);
            if (found?.ts !== undefined) return { kind: 'found', ts: found.ts };
            const next = page.response_metadata?.next_cursor;
            if (next === undefined || next === '') return { kind: 'absent' };
            cursor = next;
            signal.throwIfAborted();
          }
        });
      } catch (error) {
        const problem = readSlackError(error);
        const slackError = slackErrorWord(problem);
        if (isUnreadable(problem, doubt.channel)) return { kind: 'unreadable', slackError };
        const { retryAfterMs } = problem.kind === 'rate_limited' ? problem : {};
        return withoutUndefined({
          kind: 'unknown' as const,
          slackError,
          retryAfterMs,
          // An expired cursor: start over.
          cursor: slackError === 'invalid_cursor' ? undefined : cursor,
        });
      }
    },
  };
}

/** Errors of a token that lacks the scope for this history; it may still have the scope for posting. */
const notForThisToken = new Set([
  'missing_scope',
  'no_permission',
  'access_denied',
  'not_allowed_token_type',
  'unknown_method',
]);

/** True if the bot works, but Slack won't let it read this history: a retry would only block the lane. */
function isUnreadable(problem: SlackProblem, channel: string): boolean {
  if (problem.kind !== 'refused' || problem.slackError === 'invalid_cursor') return false;
  return notForThisToken.has(problem.slackError) || refusalAbout(problem.slackError, channel) !== 'bot';
}

const noErrors: ReadonlySet<string> = new Set();

/** Errors of an edit: the message is gone, too old, another author's, or holds rich text that can't be replaced. */
const notEditable: ReadonlySet<string> = new Set([
  'message_not_found',
  'cant_update_message',
  'edit_window_closed',
  'block_mismatch',
]);

function inviteFix(channel: string): string {
  return `Invite the bot: /invite @pay in ${channel}. Slack lets it post there, but not edit what it posted.`;
}

/** Errors of a reply: no such thread, a locked thread, or a channel without threads. */
const noThread: ReadonlySet<string> = new Set([
  'thread_not_found',
  'message_not_found',
  'cannot_reply_to_message',
  'thread_locked',
  'restricted_action_thread_locked',
  'restricted_action_non_threadable_channel',
]);

/** If a thread's first message was deleted, Slack posts the reply into the channel and returns no `thread_ts`. */
function isOutOfThread(
  content: ChatPostMessageArguments,
  message: { thread_ts?: string; ts?: string } | undefined,
): boolean {
  return content.thread_ts !== undefined && message !== undefined && message.thread_ts === undefined;
}

function readFailure(error: unknown, channel: string, gone: ReadonlySet<string>): PostOutcome {
  const problem = readSlackError(error);
  if (problem.kind !== 'refused') return problem;
  const { slackError } = problem;
  if (gone.has(slackError)) return { kind: 'gone', slackError };
  return { ...problem, fix: fixFor(slackError, channel), about: refusalAbout(slackError, channel) };
}

/** Refused for its content: a workspace may lack a newer block type. The text alone is mostly accepted. */
function isAboutContent(outcome: PostOutcome): outcome is Extract<PostOutcome, { kind: 'refused' }> {
  return outcome.kind === 'refused' && outcome.about === 'message';
}

/** Keeps the metadata unless Slack objects to it: `findByKey` needs the key in it. */
function metadataFor({ metadata }: SlackMessage, slackError: string): Pick<SlackMessage, 'metadata'> {
  return metadata && !slackError.includes('metadata') ? { metadata } : {};
}

/** No previews, and no ping from a bare @name. */
const quiet = { unfurl_links: false, unfurl_media: false, link_names: false };

function contentOf({ text, blocks, metadata }: SlackMessage) {
  return { text, blocks, ...(metadata ? { metadata } : {}) };
}

/** History comes newest first, so `latest` spares reading everything that was posted since the doubt. */
function readPage(
  client: WebClient,
  { channel, threadTs, sinceMs, untilMs = sinceMs }: Doubt,
  cursor: string | undefined,
) {
  const page = {
    channel,
    oldest: String((sinceMs - clockSkewMs) / 1000),
    latest: String((untilMs + clockSkewMs) / 1000),
    inclusive: true,
    include_all_metadata: true,
    limit: pageSize,
    ...(cursor === undefined ? {} : { cursor }),
  };
  return threadTs === undefined
    ? client.conversations.history(page)
    : client.conversations.replies({ ...page, ts: threadTs });
}

function keyOf(metadata: { event_payload?: unknown } | undefined): unknown {
  const payload = metadata?.event_payload;
  return typeof payload === 'object' && payload !== null && 'key' in payload ? payload.key : undefined;
}

/**
 * The outcome of one post or edit. Never repeat an `unsure` post without searching the history: it may have arrived.
 * The other failures, and every edit, are safe to repeat.
 */
export type PostOutcome =
  /** `channel`: as Slack returned it; for a user id, that of the direct message. `unthreaded`: not in the thread. */
  | { kind: 'posted'; channel: string; ts: string; unthreaded?: true }
  /** Slack asks to wait; nothing was posted. */
  | { kind: 'rate_limited'; retryAfterMs: number }
  /** Slack will refuse it until a person does what `fix` says; nothing was posted. */
  | { kind: 'refused'; slackError: string; fix: string; about: RefusalAbout }
  /** The message to edit, or the thread to post in, no longer exists or is closed. */
  | { kind: 'gone'; slackError: string }
  /** Certainly not accepted: safe to retry. */
  | { kind: 'not_sent'; cause: unknown }
  /** The answer was lost: it may be in the channel. */
  | { kind: 'unsure'; cause: unknown };

/** Where a message is; without `ts`: where it will be posted. */
export type MessagePlace = { channel: string; ts?: string };

type HistoryAnswer =
  | { kind: 'found'; ts: string }
  | { kind: 'absent' }
  /** No answer, or rate limited: retry, from `cursor` on. */
  | { kind: 'unknown'; slackError: string; retryAfterMs?: number; cursor?: string }
  /** The bot may not read this history until a person changes something. */
  | { kind: 'unreadable'; slackError: string };
