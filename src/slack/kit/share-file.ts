import type { WebClient } from '@slack/web-api';
import { headline, richText, words } from './blocks.ts';
import type { SlackMessage } from './message.ts';
import { refusalAbout } from '../slack-error.ts';
import type { UploadedFile, UploadFile, UploadOutcome } from './upload-file.ts';

/** Where a file that a person asked for has come to stand. */
export type SharedFile =
  | { kind: 'here' }
  /** In the person's direct messages, because Slack does not take it where they asked; `fix`: what would change that. */
  | { kind: 'direct'; fix: string }
  | { kind: 'failed'; why: string; fix: string };

/** Puts a file where the person is, or else into their direct messages. Never throws for anything Slack does. */
export type ShareFile = (
  to: { userId: string; channelId?: string | undefined },
  file: UploadedFile,
) => Promise<SharedFile>;

/** Slack's words, besides the ones known of messages, for a place that takes no file of the bot. */
const ofThePlace = new Set([
  'invalid_channel',
  'posting_to_channel_denied',
  'access_denied',
  'channel_type_not_supported',
]);

export function createShareFile(client: WebClient, uploadFile: UploadFile): ShareFile {
  return async function shareFile({ userId, channelId }, file) {
    const here = channelId === undefined ? undefined : await uploadFile({ channel: channelId }, file);
    if (here?.kind === 'uploaded') return { kind: 'here' };
    if (here && !isAboutPlace(here, channelId ?? '')) return failed(here);
    const direct = await sendDirect(client, uploadFile, userId, file);
    if (direct.kind === 'failed') return failed(direct);
    return { kind: 'direct', fix: here?.fix ?? '' };
  };
}

function isAboutPlace({ slackError }: { slackError: string }, channel: string): boolean {
  return ofThePlace.has(slackError) || refusalAbout(slackError, channel) === 'channel';
}

function failed({ why, fix }: Extract<UploadOutcome, { kind: 'failed' }>): SharedFile {
  return { kind: 'failed', why, fix };
}

/**
 * A file needs the id of the conversation, which only a message in it tells without one more scope: so a message
 * goes ahead, and the file below it.
 */
async function sendDirect(
  client: WebClient,
  uploadFile: UploadFile,
  userId: string,
  file: UploadedFile,
): Promise<UploadOutcome> {
  const posted = await client.chat
    .postMessage({ channel: userId, ...aheadMessage(file) })
    .catch(() => undefined);
  const { channel, ts } = posted ?? {};
  if (channel === undefined || ts === undefined) {
    return {
      kind: 'failed',
      slackError: 'no_usable_answer',
      why: 'The bot could not write to you directly either.',
      fix: 'invite the bot with /invite @pay where you asked, and press again.',
    };
  }
  const outcome = await uploadFile({ channel, threadTs: ts }, file);
  if (outcome.kind === 'failed') {
    await client.chat.update({ channel, ts, ...notThereMessage(file) }).catch(() => undefined);
  }
  return outcome;
}

function aheadMessage({ title }: UploadedFile): SlackMessage {
  const { text, block } = headline(`📄 ${title}`, ['the file you asked for is in this thread']);
  return { text, blocks: [block] };
}

function notThereMessage({ title }: UploadedFile): SlackMessage {
  const { text, block } = headline(`⚠️ ${title}`, ['the file could not be put here']);
  return { text, blocks: [block, richText([words('What to do is told where you asked for it.')])] };
}
