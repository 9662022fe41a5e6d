import { z } from 'zod';
import type { Account } from '../../account.ts';
import { growingDelayMs } from '../../deadline.ts';
import { parseJson } from '../../domain/json.ts';
import { dayBefore } from '../../domain/local-day.ts';
import { findMessageRecord, messageKey } from '../../messages/message-record.ts';
import { createMessages, type Messages } from '../../messages/messages.ts';
import type { Renders } from '../../messages/deliver.ts';
import { code, rich } from '../../slack/kit/blocks.ts';
import type { SlackMessage } from '../../slack/kit/message.ts';
import { type PostAttempt, noteMessage, forPosting } from '../../slack/kit/note.ts';
import type { Entry } from '../../store/store.ts';

const dayFilePrefix = 'day-file:';

/** A day's CSV, and the words of the message above the file. `isWhole`: every record could be read. */
export type DayFile = { text: string; words: string; isWhole: boolean };

/**
 * `summary`: the key of the message whose thread gets the file. `isSending`: the upload has begun, so the file may be
 * there.
 */
const fileRecord = z.object({
  channel: z.string(),
  date: z.string(),
  summary: z.string(),
  isSending: z.literal(true).exactOptional(),
});

/** Posted instead of a file that did not arrive. */
type NoDayFile = { date: string; summary: string; why: string };

const firstLookMs = 5_000;
const longestLookMs = 300_000;
/** How long after an upload's start its record is due again, in case of a crash. Longer than any upload. */
const checkAfterMs = 90_000;

/**
 * Uploads yesterday's CSV into the thread of a channel's daily summary, at most once over all replicas: `isSending` is
 * stored before the upload, and a file that may have arrived is not sent again. If the upload failed or may have
 * failed, the thread says so, with the command that makes the file.
 */
export function createDayFiles(
  account: Pick<
    Account,
    'store' | 'sealer' | 'rememberMs' | 'leaseMs' | 'slack' | 'now' | 'wake' | 'name'
  > & {
    settings: Pick<Account['settings'], 'policy'>;
  },
  readFile: (date: string) => Promise<DayFile>,
) {
  const { store, slack, rememberMs, settings, name } = account;
  const messages: Messages<{ no_day_file: NoDayFile }> = createMessages(account);

  async function postNoFile(
    { channel, date, summary }: z.infer<typeof fileRecord>,
    why: string,
  ): Promise<void> {
    const key = messageKey('no_day_file', `${channel}/${date}`);
    await messages.post(key, { channel, isNote: true, body: { date, summary, why } });
  }

  async function work(entry: Entry): Promise<void> {
    const file = fileRecord.parse(parseJson(entry.value));
    if (file.isSending) {
      await postNoFile(file, 'The bot stopped while it was on its way: it may be missing here.');
      await store.write(entry, entry.value, { ttlMs: rememberMs });
      return;
    }
    const summary = await findMessageRecord(store, file.summary);
    if (!summary?.posted) {
      // The file needs the summary's thread: wait until the summary is posted, or drop the file if its record is gone.
      const delayMs = growingDelayMs(firstLookMs, entry.attempts, longestLookMs);
      await store.write(entry, entry.value, summary ? { delayMs } : { ttlMs: 0 });
      return;
    }
    const { channel, ts: threadTs } = summary.posted;
    const { date } = file;
    const { text, words: comment } = await readFile(date);
    const value = JSON.stringify({ ...file, isSending: true });
    const sending = await store.write(entry, value, { delayMs: checkAfterMs });
    if (!sending) return;
    const end = await slack.uploadFile(
      { channel, threadTs },
      { name: `${name ?? 'payops'}-${date}.csv`, title: `The day ${date}`, text, comment },
    );
    if (end.kind === 'failed') await postNoFile(file, end.why);
    await store.write(sending, value, { ttlMs: rememberMs });
  }

  const renders: Renders<{ no_day_file: NoDayFile }> = {
    async no_day_file({ date, why, summary }, _work, about) {
      const message = noDayFileMessage({ ...about, date, why, account: name });
      return { kind: 'shown', message, below: { key: summary } };
    },
  };
  return {
    /** Requests the file of the last whole day before `atMs`. `summary`: see the record. Idempotent. */
    async ask(channel: string, summary: string, atMs: number): Promise<void> {
      const file = { channel, date: dayBefore(settings.policy.timezone, atMs), summary };
      const key = `${dayFilePrefix}${channel}/${file.date}`;
      await store.create(key, JSON.stringify(file), { delayMs: firstLookMs });
    },

    cases: [{ prefix: dayFilePrefix, work }],
    messages: renders,
  };
}

/** `account`: the merchant account's name, if the bot has several. */
function noDayFileMessage({
  date,
  why,
  account,
  ...about
}: Omit<NoDayFile, 'summary'> & PostAttempt & { account: string | undefined }): SlackMessage {
  const named = account === undefined ? '' : ` --account ${account}`;
  const message = noteMessage({
    state: '📄 No file of the day',
    about: [date],
    body: [
      rich`${why}`,
      rich`To get it, run ${code(`npm run payops --silent -- day ${date}${named}`)} where the bot runs.`,
    ],
  });
  return forPosting(message, 'payops_no_day_file', about);
}
