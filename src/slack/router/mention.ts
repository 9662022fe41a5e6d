import type { AppMentionEvent } from '@slack/types';
import type { WebClient } from '@slack/web-api';
import { holdsCardNumber } from '../../domain/card.ts';
import { withoutUndefined } from '../../domain/json.ts';
import type { Log } from '../../log.ts';
import { answer, type SlackSide } from '../answer.ts';
import type { Caller, Mention } from '../command.ts';
import type { SlackMessage } from '../kit/message.ts';
import { ModalRefused } from '../kit/modals.ts';
import { messageTexts } from '../message-texts.ts';
import { createReply } from '../reply.ts';
import { readSlackError, slackErrorWord } from '../slack-error.ts';
import { createScreen } from './screen.ts';
import { requestOf } from './turns.ts';

/** Messages a page: Slack advises at most 200. Only the thread's first five pages are read. */
const pageLength = 200;
const mostPages = 5;
/** Older messages are another conversation. */
const mostMessages = 50;

/**
 * Answers a mention in its channel or thread, for its author alone; each message once, even if it is redelivered or edited.
 * Undefined if no person wrote the message.
 */
export function mentionTurn(event: AppMentionEvent, teamId: string, side: SlackSide) {
  const { user: userId, channel: channelId, ts, thread_ts: threadTs, bot_id: app } = event;
  if (userId === undefined || app !== undefined) return undefined;
  const { client, log } = side;
  // In a shared channel the event reaches our workspace even if the person belongs to another.
  const { user_team: theirs = event.team ?? teamId } = event as { user_team?: string };
  const from = { from: 'command', ...withoutUndefined({ teamId: theirs, threadTs }) } as const;
  const caller: Caller = { userId, channelId, ...from };
  const reply = createReply({ userId, respond: inPlace(client, caller), threadTs }, client, log);
  const texts = messageTexts(event);
  return {
    what: 'command' as const,
    caller,
    hasCardNumber: texts.some(holdsCardNumber),
    /** A repeated or edited message is not answered again; without the store it may be. */
    isFirst: () => side.claimOnce(`mention:${channelId}:${ts}`).catch(() => true),
    refuse: (_title: string, message: SlackMessage) => reply(message),
    async go() {
      const screen = createScreen({ client, log, label: 'Payops', openModal: opensNone, reply });
      const thread = threadTs === undefined ? undefined : () => readThread(client, channelId, threadTs, log);
      const text = event.text.replace(/<@\w+(?:\|[^<>]*)?>/g, ' ').trim();
      const mention: Mention = { text, texts, thread };
      const request = requestOf(side.commands.mentioned(mention, channelId));
      await answer({ what: 'command', who: caller, ...request, repeat: async () => 'first', screen }, side);
    },
  };
}

/** A message brings no trigger, so no modal can open. */
function opensNone(): Promise<never> {
  return Promise.reject(new ModalRefused('no_trigger'));
}

/** Answers as an ephemeral message to the author, in the same channel and thread. */
function inPlace(client: WebClient, { userId, channelId = '', threadTs }: Caller) {
  return async ({ text, blocks }: SlackMessage): Promise<unknown> => {
    const place = { channel: channelId, user: userId, ...withoutUndefined({ thread_ts: threadTs }) };
    return await client.chat.postEphemeral({ ...place, text, blocks });
  };
}

/** Texts of the thread's messages, newest first; undefined if Slack doesn't let the bot read all of it. */
async function readThread(
  client: WebClient,
  channel: string,
  ts: string,
  log: Log,
): Promise<string[][] | undefined> {
  const all: string[][] = [];
  let cursor: string | undefined;
  for (let page = 0; page < mostPages; page += 1) {
    const from = { channel, ts, limit: pageLength, ...withoutUndefined({ cursor }) };
    const read = await client.conversations.replies(from).catch((error: unknown) => {
      log('info', 'A thread could not be read', {
        channel,
        slackError: slackErrorWord(readSlackError(error)),
      });
      return undefined;
    });
    // Slack sends the oldest first: without the last pages the newest reference is unknown.
    if (!read) return undefined;
    all.push(...(read.messages ?? []).map(messageTexts));
    all.splice(0, all.length - mostMessages);
    cursor = read.response_metadata?.next_cursor || undefined;
    if (cursor === undefined) break;
  }
  return all.toReversed();
}
