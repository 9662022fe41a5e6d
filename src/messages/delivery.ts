import {
  type RefusalAbout,
  type SlackProblem,
  fixFor,
  readSlackError,
  refusalAbout,
  slackErrorWord,
} from '../slack/slack-error.ts';
import { createHash } from 'node:crypto';
import type { ChatPostMessageArguments, ChatUpdateArguments, WebClient } from '@slack/web-api';
import { withDeadline } from '../deadline.ts';
import { withoutUndefined } from '../domain/json.ts';
import { rich, richText } from '../slack/kit/blocks.ts';
import { unescape } from '../slack/kit/text.ts';
import type { SlackMessage } from '../slack/kit/message.ts';

export type Delivery = {
  /**
   * Posts once, without a retry, and says what became of it and in which channel it is: a person's user id is a
   * channel too. With `threadTs` below that message; `gone` when Slack has no such thread. Never throws for
   * anything Slack or the network does.
   */
  post(channel: string, message: SlackMessage, threadTs?: string): Promise<PostOutcome>;
  /**
   * Puts the message in the place of the one posted, without a retry; the same edit twice is one edit. `gone`
   * when there is nothing to edit any more. `channel` is the one the post's outcome named. Never throws either.
   */
  edit(posted: { channel: string; ts: string }, message: SlackMessage): Promise<PostOutcome>;
  /**
   * Looks for the message that carries the key in its metadata, among those posted around the doubt, in the channel or
   * the thread that it names. `absent` only when the whole span was read, in as many tries as that takes.
   */
  findByKey(doubt: Doubt, key: string): Promise<HistoryAnswer>;
};

/** A post that may have arrived. */
export type Doubt = {
  channel: string;
  threadTs?: string | undefined;
  /** UTC milliseconds: of the first attempt, and of the last one where there were more. */
  sinceMs: number;
  untilMs?: number | undefined;
  /** How far its history was read without finding it: where the next try goes on. */
  cursor?: string | undefined;
};

/** The same for messages that are the same to the letter. */
export function messageDigest(message: SlackMessage): string {
  return createHash('sha256').update(JSON.stringify(message)).digest('base64url').slice(0, 22);
}

/** How much the clocks of the bot, of the replica that posted and of Slack may differ. */
const clockSlackMs = 15 * 60_000;
/** For all pages of one try together: a lease counts on it. */
const usualHistoryTimeoutMs = 10_000;
const pageSize = 200;

/** Needs the delivery client: its timeout is long, and a 429 there must not hold up a modal. */
export function createDelivery(client: WebClient, historyTimeoutMs = usualHistoryTimeoutMs): Delivery {
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
      // The scope that lets the bot post where it is no member is not known to let it edit there.
      const isOutside =
        outcome.kind === 'refused' && /^(channel_not_found|not_in_channel)$/.test(outcome.slackError);
      return isOutside && /^[CG]/.test(channel) ? { ...outcome, fix: inviteFix(channel) } : outcome;
    }
  }

  return {
    async post(channel, message, threadTs) {
      const place = { channel, ...(threadTs === undefined ? {} : { thread_ts: threadTs }) };
      const content = { ...place, ...quiet, ...contentOf(message) };
      const outcome = await attemptPost(content);
      const { blocks: _blocks, metadata: _metadata, ...words } = content;
      return isAboutContent(outcome)
        ? attemptPost({ ...words, ...metadataFor(message, outcome.slackError) })
        : outcome;
    },

    async edit({ channel, ts }, message) {
      const content = { channel, ts, link_names: false, ...contentOf(message) };
      const { metadata: _metadata, ...words } = content;
      let outcome = await attemptEdit(content);
      // In words alone: as rich text, which Slack lets no edit take away, or without blocks where it was posted so.
      for (const blocks of [[richText(rich`${unescape(content.text)}`)], []]) {
        if (!isAboutContent(outcome)) break;
        outcome = await attemptEdit({ ...words, blocks, ...metadataFor(message, outcome.slackError) });
      }
      return outcome;
    },

    async findByKey(doubt, key) {
      let { cursor } = doubt;
      try {
        return await withDeadline(historyTimeoutMs, async (signal) => {
          for (;;) {
            // One page tells where the next one starts.
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
          // Slack does not know the page any more: from the start again.
          cursor: slackError === 'invalid_cursor' ? undefined : cursor,
        });
      }
    },
  };
}

/** A history needs its own scope, whatever else the token may. */
const notForThisToken = new Set([
  'missing_scope',
  'no_permission',
  'access_denied',
  'not_allowed_token_type',
  'unknown_method',
]);

/** Slack says no, of this history and not of the whole bot: it would say so again, and no lane is to wait for that. */
function isUnreadable(problem: SlackProblem, channel: string): boolean {
  if (problem.kind !== 'refused' || problem.slackError === 'invalid_cursor') return false;
  return notForThisToken.has(problem.slackError) || refusalAbout(problem.slackError, channel) !== 'bot';
}

const noErrors: ReadonlySet<string> = new Set();

/** The message to edit is not there, or is closed to this app by time or by who wrote it. */
const notEditable: ReadonlySet<string> = new Set([
  'message_not_found',
  'cant_update_message',
  'edit_window_closed',
  'block_mismatch',
]);

function inviteFix(channel: string): string {
  return `Invite the bot: /invite @pay in ${channel}. Slack lets it post there, but not edit what it posted.`;
}

/** There is no such thread, or Slack takes nothing into it: an admin locked it, or its channel has none. */
const noThread: ReadonlySet<string> = new Set([
  'thread_not_found',
  'message_not_found',
  'cannot_reply_to_message',
  'thread_locked',
  'restricted_action_thread_locked',
  'restricted_action_non_threadable_channel',
]);

/** Below a message that is gone, Slack posts into the channel and says so by naming no thread. */
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

/** Newer block kinds are not everywhere yet; the words alone always are. */
function isAboutContent(outcome: PostOutcome): outcome is Extract<PostOutcome, { kind: 'refused' }> {
  return outcome.kind === 'refused' && outcome.about === 'message';
}

/** Without its key the message is not found again, so it goes only where Slack objects to it. */
function metadataFor({ metadata }: SlackMessage, slackError: string): Pick<SlackMessage, 'metadata'> {
  return metadata && !slackError.includes('metadata') ? { metadata } : {};
}

/** No pings, no previews. */
const quiet = { unfurl_links: false, unfurl_media: false, link_names: false };

function contentOf({ text, blocks, metadata }: SlackMessage) {
  return { text, blocks, ...(metadata ? { metadata } : {}) };
}

/** Newest first, which begins near the doubt: what came long after it is left out. */
function readPage(
  client: WebClient,
  { channel, threadTs, sinceMs, untilMs = sinceMs }: Doubt,
  cursor: string | undefined,
) {
  const page = {
    channel,
    oldest: String((sinceMs - clockSlackMs) / 1000),
    latest: String((untilMs + clockSlackMs) / 1000),
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
 * What became of one message for a channel, posted or edited. The difference that matters is whether it can
 * have arrived: an `unsure` post may not be repeated blindly, all others but `posted` may. An edit may always.
 */
export type PostOutcome =
  /** `channel`: where Slack says that it is; for a person's user id that is the direct message's own id. */
  | { kind: 'posted'; channel: string; ts: string; unthreaded?: true }
  /** Slack asks to wait; nothing was posted. */
  | { kind: 'rate_limited'; retryAfterMs: number }
  /** Slack will refuse it until a person does what `fix` says; nothing was posted. */
  | { kind: 'refused'; slackError: string; fix: string; about: RefusalAbout }
  /** What was to be edited, or the thread to post in, is there no longer, or not open any more. */
  | { kind: 'gone'; slackError: string }
  /** It surely did not leave or was not accepted; trying again is safe. */
  | { kind: 'not_sent'; cause: unknown }
  /** The answer was lost: it may be in the channel. */
  | { kind: 'unsure'; cause: unknown };

/** What Slack refused for so long that it waits for a person to have it delivered again. */
export type Undelivered = {
  /** A channel's id, or a person's for direct messages. */
  channel: string;
  messages: number;
  /** UTC milliseconds: since when Slack refuses what is for it. */
  sinceMs: number;
  slackError: string;
  /** What a person must do before it can be delivered. */
  fix: string;
};

/** Where a message is, or is to be: without `ts` it does not stand yet. */
export type MessagePlace = { channel: string; ts?: string };

/** Whether a message with a key stands in a channel's history or a thread. */
export type HistoryAnswer =
  | { kind: 'found'; ts: string }
  | { kind: 'absent' }
  /** Slack did not answer, or asks to wait: worth asking again, from `cursor` on. */
  | { kind: 'unknown'; slackError: string; retryAfterMs?: number; cursor?: string }
  /** The bot may not read this history until a person changes something. */
  | { kind: 'unreadable'; slackError: string };
