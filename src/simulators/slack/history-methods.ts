import { z } from 'zod';
import {
  type ApiAnswer,
  flag,
  granted,
  type Method,
  method,
  optionalText,
  refused,
  text,
} from './api-answer.ts';
import { withChannel } from './directory-methods.ts';
import type { Message } from './messages.ts';
import { messagePayload } from './payloads.ts';
import type { World } from './world.ts';

/** conversations.history and .replies: what is in a channel, as the bot may read it back. */

const window = {
  channel: text,
  oldest: optionalText,
  latest: optionalText,
  cursor: optionalText,
  limit: z.coerce.number().int().min(1).max(999).default(100),
  inclusive: flag,
  include_all_metadata: flag,
};

type Window = z.infer<z.ZodObject<typeof window>>;

export const historyMethods: Record<string, Method> = {
  'conversations.history': method({}, window, (world, given) =>
    withChannel(world, given.channel, 'history', (channel) => {
      if (!channel.botIsMember) return refused('not_in_channel');
      const newestFirst = kept(world, given.channel)
        .filter((message) => message.threadTs === undefined && isWithin(message, given))
        .toReversed();
      return page(world, newestFirst, given);
    }),
  ),
  'conversations.replies': method({}, { ...window, ts: text }, (world, given) =>
    withChannel(world, given.channel, 'history', (channel) => {
      if (!channel.botIsMember) return refused('not_in_channel');
      const inThread = seenByAll(world, given.channel);
      const named = inThread.find((message) => message.ts === given.ts);
      if (named === undefined) return refused('thread_not_found');
      const first = named.threadTs ?? named.ts;
      const thread = inThread.filter(
        (message) => message.ts === first || (message.threadTs === first && isWithin(message, given)),
      );
      return page(world, thread, given);
    }),
  ),
};

/** Ephemeral messages are never in the history, and deleted ones no more. */
function kept(world: World, channelId: string): Message[] {
  return seenByAll(world, channelId).filter((message) => !message.deleted);
}

/** With the stones of deleted messages, which only a thread still shows. */
function seenByAll(world: World, channelId: string): Message[] {
  return world.messages.all(channelId).filter((message) => message.visibleTo === undefined);
}

function isWithin(message: Message, given: Window): boolean {
  const { oldest, latest, inclusive } = given;
  const at = Number(message.ts);
  const afterOldest = oldest === undefined || at > Number(oldest) || (inclusive && at === Number(oldest));
  const beforeLatest = latest === undefined || at < Number(latest) || (inclusive && at === Number(latest));
  return afterOldest && beforeLatest;
}

function page(world: World, messages: Message[], given: Window): ApiAnswer {
  const from = given.cursor === undefined ? 0 : Number(Buffer.from(given.cursor, 'base64').toString());
  if (!Number.isInteger(from)) return refused('invalid_cursor');
  const shown = messages.slice(from, from + given.limit);
  const hasMore = from + given.limit < messages.length;
  return granted({
    messages: shown.map((message) =>
      messagePayload(message, {
        replies: world.messages.replies(message),
        withMetadata: given.include_all_metadata,
      }),
    ),
    has_more: hasMore,
    ...(hasMore
      ? { response_metadata: { next_cursor: Buffer.from(String(from + given.limit)).toString('base64') } }
      : {}),
  });
}
