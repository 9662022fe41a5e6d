import type { WebClient } from '@slack/web-api';
import { withDeadline } from '../../deadline.ts';
import { isPerson } from './blocks.ts';
import { noteMessage } from './note.ts';
import { fixFor, readSlackError, slackErrorWord } from '../slack-error.ts';

export type UploadOutcome =
  | { kind: 'uploaded'; fileId: string }
  /** `fix`: what a person must do. If `why` says that no answer came, the file may be there. */
  | { kind: 'failed'; why: string; fix: string };

/** `of`: the reference that the file is about, if the title doesn't name it. */
export type UploadedFile = { name: string; title: string; of?: string; text: string; comment: string };

/** Puts a file into a thread, or into a person's direct messages. Never throws for Slack or network errors. */
export type UploadFile = (
  place: { channel: string; threadTs?: string },
  file: UploadedFile,
) => Promise<UploadOutcome>;

/** Enough for some megabytes over a slow line. */
const longestUploadMs = 20_000;

/**
 * Slack’s three steps: get an address, send the bytes, share the file. Nobody sees a file that isn't shared, so a failure
 * in between leaves no file behind.
 */
export function createUploadFile(client: WebClient): UploadFile {
  return async function uploadFile(place, file) {
    const { name, title, of = '', text, comment } = file;
    const bytes = Buffer.from(text, 'utf8');
    let announced: Awaited<ReturnType<typeof postBeforeFile>> | undefined;
    try {
      const ticket = await client.files.getUploadURLExternal({ filename: name, length: bytes.length });
      const { upload_url: address, file_id: id } = ticket;
      if (address === undefined || id === undefined) return failed('no_usable_answer', place.channel);
      const status = await withDeadline(longestUploadMs, async (signal) => {
        const answer = await fetch(address, { method: 'POST', body: bytes, signal, redirect: 'error' });
        await answer.arrayBuffer();
        return answer.status;
      });
      if (status !== 200) return failed(`http_${status}`, place.channel);
      if (isPerson(place.channel)) announced = await postBeforeFile(client, place.channel, [title, of]);
      const { channel, threadTs } = announced ?? place;
      await client.files.completeUploadExternal({
        files: [{ id, title }],
        channel_id: channel,
        ...(threadTs === undefined ? {} : { thread_ts: threadTs }),
        initial_comment: comment,
      });
      return { kind: 'uploaded', fileId: id };
    } catch (error) {
      if (announced) {
        const { channel, threadTs: ts } = announced;
        const note = noteMessage({ state: `⚠️ ${title}`, about: ['the file may be missing here', of] });
        await client.chat.update({ channel, ts, ...note }).catch(() => undefined);
      }
      return failed(slackErrorWord(readSlackError(error)), (announced ?? place).channel);
    }
  };
}

/**
 * For a person: sharing a file needs the conversation's id, and without another scope only a posted message reveals the id.
 * So post a message, and share the file in its thread.
 */
async function postBeforeFile(
  client: WebClient,
  person: string,
  [title, of]: readonly [string, string],
): Promise<{ channel: string; threadTs: string }> {
  const note = noteMessage({ state: `📄 ${title}`, about: ['the file you asked for is in this thread', of] });
  const posted = await client.chat.postMessage({ channel: person, ...note });
  return { channel: posted.channel ?? person, threadTs: posted.ts ?? '' };
}

const scopeFix = 'give the app the scope files:write, as manifest.yml has it, reinstall it, and press again.';
const unsureFix = 'look whether the file is there all the same, and press again in a minute if it is not.';

/** Sharing a file needs membership, even where the bot may post without it. */
const ownFixes: Record<string, (channel: string) => string> = {
  missing_scope: () => scopeFix,
  not_in_channel: (channel) => `invite the bot with /invite @pay in ${channel}, and press again.`,
  posting_to_channel_denied: (channel) => `a rule of ${channel} takes no files of the bot: ask an admin.`,
};

function failed(slackError: string, channel: string): UploadOutcome {
  const isUnsure = /^(no_usable_answer|unreachable|ratelimited|http_\d+)$/.test(slackError);
  const own = Object.hasOwn(ownFixes, slackError) ? ownFixes[slackError]?.(channel) : undefined;
  const fix = own ?? (isUnsure ? unsureFix : fixFor(slackError, channel));
  return { kind: 'failed', why: `Slack says “${slackError}”.`, fix };
}
