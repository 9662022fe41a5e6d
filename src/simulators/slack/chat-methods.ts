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
import { botUserId, type Channel } from './cast.ts';
import { readContent } from './message-content.ts';
import { botDraft, type Message, type MessageContent } from './messages.ts';
import { messagePayload } from './payloads.ts';
import { tier3Pace } from './rate-limits.ts';
import type { World } from './world.ts';

/** chat.*: what the bot says in channels. */

const write = { scope: 'chat:write' };

export const chatMethods: Record<string, Method> = {
  'chat.postMessage': method(
    { ...write, pace: postPace },
    { channel: text, thread_ts: optionalText },
    postMessage,
  ),
  'chat.update': method(
    { ...write, pace: (world) => world.rateLimits.take('chat.update', tier3Pace) },
    { channel: text, ts: text },
    updateMessage,
  ),
  'chat.delete': method(write, { channel: text, ts: text }, deleteMessage),
  'chat.postEphemeral': method(write, { channel: text, user: text, thread_ts: optionalText }, postEphemeral),
};

/** By channel: what is refused there counts too. */
function postPace(world: World, { channel }: ApiArguments): number | undefined {
  const place = typeof channel === 'string' ? world.directory.destination(channel) : undefined;
  return place === undefined ? undefined : world.rateLimits.takePost(place.id);
}

type PostArguments = { channel: string; thread_ts?: string | undefined };

function postMessage(world: World, given: PostArguments, raw: ApiArguments): ApiAnswer {
  const place = postingPlace(world, world.directory.destination(given.channel), true);
  if (place.kind === 'refused') return place.answer;
  const { channel } = place;
  const read = readContent(raw, world.ids);
  if (read.kind === 'refused') return refused(read.error, read.messages);
  if (read.blank) return refused('no_text');
  const thread = threadOf(world, channel, given.thread_ts);
  if (thread.kind === 'refused') return thread.answer;
  const message = world.messages.post({ ...botDraft(channel.id, whole(read.content)), threadTs: thread.ts });
  world.counter.posted();
  world.changed();
  return granted({ channel: channel.id, ts: message.ts, message: shown(message) });
}

function updateMessage(world: World, given: { channel: string; ts: string }, raw: ApiArguments): ApiAnswer {
  const found = ownMessage(world, given, 'cant_update_message');
  if (found.kind === 'refused') return found.answer;
  const read = readContent(raw, world.ids);
  if (read.kind === 'refused') return refused(read.error, read.messages);
  const { message } = found;
  const next = { ...kept(message), ...read.content };
  if (read.blank && next.text.trim() === '' && next.blocks.length === 0) {
    return refused('no_text');
  }
  if (Object.keys(read.content).length === 0) return refused('no_text');
  world.messages.edit(message, next);
  world.changed();
  return granted({ channel: given.channel, ts: message.ts, text: message.text, message: shown(message) });
}

function deleteMessage(world: World, given: { channel: string; ts: string }): ApiAnswer {
  const found = ownMessage(world, given, 'cant_delete_message');
  if (found.kind === 'refused') return found.answer;
  world.messages.remove(found.message);
  world.changed();
  return granted({ channel: given.channel, ts: given.ts });
}

function postEphemeral(world: World, given: PostArguments & { user: string }, raw: ApiArguments): ApiAnswer {
  const place = postingPlace(world, world.directory.channel(given.channel), false);
  if (place.kind === 'refused') return place.answer;
  const { channel } = place;
  const isThere =
    world.directory.user(given.user) !== undefined && (channel.owner ?? given.user) === given.user;
  if (!isThere) return refused('user_not_in_channel');
  const read = readContent(raw, world.ids);
  if (read.kind === 'refused') return refused(read.error, read.messages);
  if (read.blank) return refused('no_text');
  const thread = threadOf(world, channel, given.thread_ts);
  if (thread.kind === 'refused') return thread.answer;
  const message = world.messages.post({
    ...botDraft(channel.id, whole(read.content)),
    threadTs: thread.ts,
    visibleTo: given.user,
  });
  world.changed();
  return granted({ message_ts: message.ts });
}

type Refused = { kind: 'refused'; answer: ApiAnswer };

/** A private channel that the bot is not in does not exist for it; a public one takes a post with one scope more. */
function postingPlace(
  world: World,
  channel: Channel | undefined,
  fromOutside: boolean,
): Refused | { kind: 'place'; channel: Channel } {
  if (channel === undefined || (channel.kind === 'private' && !channel.botIsMember))
    return no('channel_not_found');
  if (channel.archived) return no('is_archived');
  if (channel.kind === 'dm' && !world.app.messagesTab) return no('messages_tab_disabled');
  const mayPost = channel.botIsMember || (fromOutside && world.app.scopes.has('chat:write.public'));
  return mayPost ? { kind: 'place', channel } : no('not_in_channel');
}

function ownMessage(
  world: World,
  given: { channel: string; ts: string },
  error: string,
): Refused | { kind: 'message'; message: Message } {
  const channel = world.directory.channel(given.channel);
  if (channel === undefined || (channel.kind === 'private' && !channel.botIsMember))
    return no('channel_not_found');
  if (channel.archived) return no('is_archived');
  const message = world.messages.find(given.channel, given.ts);
  if (message === undefined) return no('message_not_found');
  return message.authorId === botUserId ? { kind: 'message', message } : no(error);
}

/** An answer to an answer joins the thread that is there; a thread needs a first message. */
function threadOf(
  world: World,
  channel: Channel,
  ts: string | undefined,
): Refused | { kind: 'thread'; ts: string | undefined } {
  if (ts === undefined) return { kind: 'thread', ts };
  const parent = world.messages.findThread(channel.id, ts);
  return parent === undefined ? no('thread_not_found') : { kind: 'thread', ts: parent.threadTs ?? parent.ts };
}

function no(error: string): Refused {
  return { kind: 'refused', answer: refused(error) };
}

function shown(message: Message): Record<string, unknown> {
  return messagePayload(message, { replies: [], withMetadata: true });
}

export function whole(content: Partial<MessageContent>): MessageContent {
  return { text: '', blocks: [], ...content };
}

/** What chat.update does not name stays as it was. */
function kept(message: Message): MessageContent {
  const { text: words, blocks, metadata } = message;
  return { text: words, blocks, ...(metadata === undefined ? {} : { metadata }) };
}
