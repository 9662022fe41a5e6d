import {
  type ApiAnswer,
  type ApiArguments,
  granted,
  type Method,
  method,
  optionalText,
  refused,
  text,
} from './api-answer.ts';
import { botUserId, canSee, type Channel } from './directory.ts';
import { readContent } from './message-content.ts';
import { botDraft, type Message, type MessageContent } from './messages.ts';
import { messagePayload } from './payloads.ts';
import { tier3Pace } from './rate-limits.ts';
import type { World } from './world.ts';

/** chat.*: the bot's messages in channels. */

const write = { scope: 'chat:write' };

export const chatMethods: Record<string, Method> = {
  'chat.postMessage': method(
    { ...write, pace: postPace },
    { channel: text, thread_ts: optionalText },
    postMessage,
  ),
  'chat.postEphemeral': method(write, { channel: text, user: text, thread_ts: optionalText }, postEphemeral),
  'chat.update': method(
    { ...write, pace: (world) => world.rateLimits.take('chat.update', tier3Pace) },
    { channel: text, ts: text },
    updateMessage,
  ),
  'chat.delete': method(write, { channel: text, ts: text }, deleteMessage),
};

/** The limit is per channel; refused posts count too. */
function postPace(world: World, { channel }: ApiArguments): number | undefined {
  const place = typeof channel === 'string' ? world.directory.destination(channel) : undefined;
  return place === undefined ? undefined : world.rateLimits.takePost(place.id);
}

/** A reply to a reply joins its thread; below a deleted message it goes to the channel. */
function postMessage(
  world: World,
  given: { channel: string; thread_ts?: string | undefined },
  raw: ApiArguments,
): ApiAnswer {
  const channel = postingPlace(world, world.directory.destination(given.channel));
  if (typeof channel === 'string') return refused(channel);
  const read = readContent(raw, world.ids);
  if (read.kind === 'refused') return refused(read.error, read.messages);
  if (read.blank) return refused('no_text');
  const ts = given.thread_ts;
  const parent = ts === undefined ? undefined : world.messages.find(channel.id, ts);
  const draft = botDraft(channel.id, whole(read.content));
  const message = world.messages.post({ ...draft, threadTs: parent?.threadTs ?? parent?.ts });
  world.counter.posted();
  world.changed();
  return granted({ channel: channel.id, ts: message.ts, message: messagePayload(message, true) });
}

/** Shown to one person, and in no history. The bot must be in the channel, as for an edit. */
function postEphemeral(
  world: World,
  given: { channel: string; user: string; thread_ts?: string | undefined },
  raw: ApiArguments,
): ApiAnswer {
  const channel = postingPlace(world, world.directory.channel(given.channel));
  if (typeof channel === 'string') return refused(channel);
  if (!canSee(channel, given.user)) return refused('user_not_in_channel');
  const read = readContent(raw, world.ids);
  if (read.kind === 'refused') return refused(read.error, read.messages);
  if (read.blank) return refused('no_text');
  const draft = { ...botDraft(channel.id, whole(read.content)), threadTs: given.thread_ts };
  const message = world.messages.post({ ...draft, visibleTo: given.user });
  world.changed();
  return granted({ message_ts: message.ts });
}

/** Absent fields stay unchanged. */
function updateMessage(world: World, given: { channel: string; ts: string }, raw: ApiArguments): ApiAnswer {
  const message = ownMessage(world, given, { notOwn: 'cant_update_message', archived: 'is_inactive' });
  if (typeof message === 'string') return refused(message);
  const read = readContent(raw, world.ids);
  if (read.kind === 'refused') return refused(read.error, read.messages);
  const { text: words, blocks, metadata } = message;
  const next = { text: words, blocks, ...(metadata === undefined ? {} : { metadata }), ...read.content };
  if (isRich(message) && !isRich(next)) return refused('block_mismatch');
  const isBlank = next.text.trim() === '' && next.blocks.length === 0;
  if (isBlank || Object.keys(read.content).length === 0) return refused('no_text');
  world.messages.edit(message, next);
  world.changed();
  return granted({ ...given, text: message.text, message: messagePayload(message, true) });
}

function isRich({ blocks }: { blocks: readonly { type: string }[] }): boolean {
  return blocks.some(({ type }) => type === 'rich_text');
}

function deleteMessage(world: World, given: { channel: string; ts: string }): ApiAnswer {
  const message = ownMessage(world, given, { notOwn: 'cant_delete_message', archived: 'is_archived' });
  if (typeof message === 'string') return refused(message);
  world.messages.remove(message);
  world.changed();
  return granted(given);
}

/**
 * The channel, or Slack's error. A private channel without the bot does not exist for it; a public one needs another
 * scope.
 */
function postingPlace(world: World, channel: Channel | undefined): Channel | string {
  if (channel === undefined || (channel.kind === 'private' && !channel.botIsMember))
    return 'channel_not_found';
  if (channel.archived) return 'is_archived';
  if (channel.kind === 'dm' && world.app.messagesTab === 'off') return 'messages_tab_disabled';
  const mayPost = channel.botIsMember || world.app.scopes.has('chat:write.public');
  return mayPost ? channel : 'not_in_channel';
}

function ownMessage(
  world: World,
  given: { channel: string; ts: string },
  words: { notOwn: string; archived: string },
): Message | string {
  const channel = world.directory.channel(given.channel);
  if (channel === undefined || (channel.kind === 'private' && !channel.botIsMember))
    return 'channel_not_found';
  if (channel.archived) return words.archived;
  if (world.quirks.editsNeedMembership && !channel.botIsMember) return 'not_in_channel';
  const message = world.messages.find(given.channel, given.ts);
  if (message === undefined) return 'message_not_found';
  return message.authorId === botUserId ? message : words.notOwn;
}

export function whole(content: Partial<MessageContent>): MessageContent {
  return { text: '', blocks: [], ...content };
}
