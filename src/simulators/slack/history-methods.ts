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
import { slowPace, slowPage } from './rate-limits.ts';
import type { World } from './world.ts';

/** conversations.history and .replies: a channel's messages, as the bot may read them. */

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
  'conversations.history': method({ pace: slowly('conversations.history') }, window, (world, given) =>
    withChannel(world, given.channel, 'history', (channel) => {
      if (!channel.botIsMember) return refused('not_in_channel');
      const all = world.messages.all(given.channel);
      const before = all.findLastIndex((message) => Number(message.ts) < Number(given.oldest ?? 0));
      const newestFirst = all
        .slice(before + 1)
        .filter((message) => isForAll(message) && message.threadTs === undefined && isWithin(message, given))
        .toReversed();
      return page(world, newestFirst, given);
    }),
  ),
  'conversations.replies': method(
    { pace: slowly('conversations.replies') },
    { ...window, ts: text },
    (world, given) =>
      withChannel(world, given.channel, 'history', (channel) => {
        if (!channel.botIsMember) return refused('not_in_channel');
        const named = world.messages.find(given.channel, given.ts);
        const first =
          named?.threadTs === undefined ? named : world.messages.find(given.channel, named.threadTs);
        if (first === undefined) return refused('thread_not_found');
        const answers = world.messages
          .replies(first)
          .filter((message) => isForAll(message) && isWithin(message, given));
        return page(world, [first, ...answers], given);
      }),
  ),
};

function slowly(name: string) {
  return (world: World): number | undefined =>
    world.quirks.isHistorySlow ? world.rateLimits.take(name, slowPace) : undefined;
}

/** Ephemeral messages are in no history. */
function isForAll(message: Message): boolean {
  return message.visibleTo === undefined;
}

function isWithin(message: Message, given: Window): boolean {
  const { oldest, latest, inclusive } = given;
  const at = Number(message.ts);
  const afterOldest = oldest === undefined || at > Number(oldest) || (inclusive && at === Number(oldest));
  const beforeLatest = latest === undefined || at < Number(latest) || (inclusive && at === Number(latest));
  return afterOldest && beforeLatest;
}

function page({ quirks }: World, messages: Message[], given: Window): ApiAnswer {
  const limit = quirks.isHistorySlow ? Math.min(slowPage, given.limit) : given.limit;
  const from = given.cursor === undefined ? 0 : Number(Buffer.from(given.cursor, 'base64').toString());
  if (!Number.isInteger(from)) return refused('invalid_cursor');
  const shown = messages.slice(from, from + limit);
  const hasMore = from + limit < messages.length;
  return granted({
    messages: shown.map((message) => messagePayload(message, given.include_all_metadata)),
    has_more: hasMore,
    ...(hasMore
      ? { response_metadata: { next_cursor: Buffer.from(String(from + limit)).toString('base64') } }
      : {}),
  });
}
