import { setTimeout as rest } from 'node:timers/promises';
import type { WebClient } from '@slack/web-api';
import type { Config } from '../src/config/config.ts';
import type { Finding, CheckResult } from '../src/features/doctor/checks.ts';
import { ok, problem, skippedFor, warning } from '../src/features/doctor/checks.ts';
import { slackChecks } from '../src/features/doctor/slack-checks.ts';
import type { Log } from '../src/log.ts';
import { createDelivery, type PostOutcome } from '../src/messages/delivery.ts';
import type { SlackMessage } from '../src/slack/kit/message.ts';
import { noteMessage } from '../src/slack/kit/note.ts';
import { createUploadFile } from '../src/slack/kit/upload-file.ts';
import { fixFor, readSlackError, slackErrorWord } from '../src/slack/slack-error.ts';
import { createClients } from '../src/slack/workspace.ts';
import { lackedBy } from './manifest-lacks.ts';

export type WorkspaceChecked = {
  config: Pick<Config, 'policy' | 'slackApiUrl' | 'slackMode' | 'slackAppToken' | 'slackBotToken'>;
  /** Posts go only into this channel. */
  channel: string;
  /** The person whose Home and direct messages are tried; undefined: none. */
  person: string | undefined;
  /** The parsed manifest.yml. */
  manifest: unknown;
  log: Log;
  now: () => number;
  /** Between two posts: Slack takes one a second in a channel. */
  paceMs: number;
};

const report = 'Report it with this table.';
const botTokenPart = 'Slack token';

/**
 * Does in a real workspace what the bot does, with the bot's own code, and reports Slack's answers; removes everything
 * that it posted. Where Slack's pages leave something open, neither answer is a problem: the row says which one it is.
 */
export async function checkWorkspace(asked: WorkspaceChecked): Promise<Finding[]> {
  const { config, channel, person, manifest, log, now } = asked;
  const botToken = config.slackBotToken ?? '';
  const { delivery: client } = createClients({ botToken, slackApiUrl: config.slackApiUrl }, log);
  const found: Finding[] = [];
  async function step(part: string, look: () => Promise<CheckResult> | CheckResult): Promise<boolean> {
    const result = await (async () => await look())().catch(refusedBySlack);
    found.push({ part, ...result });
    return result.state === 'ok';
  }

  await step('Manifest', () => judgeManifest(manifest));
  const looks = slackChecks(asked, client, { approvalRules: [], refused: async () => undefined });
  for (const { part, look } of looks.filter(
    ({ part: name }) => name.startsWith('Slack ') && name !== 'Slack requests',
  ))
    await step(part, look);
  const isKnown = found.some(({ part, state }) => part === botTokenPart && state === 'ok');
  const placed = isKnown ? await membership(client, channel) : undefined;
  if (placed === undefined) {
    await step(`Channel ${channel}`, () => skippedFor(botTokenPart));
    return found;
  }
  await step(`Channel ${channel}`, () => placed.result);
  await inChannel({ ...asked, client, step, isMember: placed.isMember });
  if (person !== undefined) await withPerson({ client, person, step, now });
  return found;
}

type ChannelCheck = Pick<WorkspaceChecked, 'channel' | 'now' | 'paceMs'> & {
  client: WebClient;
  /** Undefined if Slack does not say. */
  isMember: boolean | undefined;
  /** Adds a row; resolves with whether it is good. */
  step: (part: string, look: () => Promise<CheckResult> | CheckResult) => Promise<boolean>;
};

function judgeManifest(manifest: unknown): CheckResult {
  const lacks = lackedBy(manifest);
  if (lacks.length === 0) return ok('manifest.yml switches on all that the code uses');
  return problem(
    `manifest.yml lacks ${lacks.join(', ')}`,
    'Take the manifest.yml of this release, and update the app with it.',
  );
}

type Membership = { isMember: boolean | undefined; result: CheckResult };

async function membership(client: WebClient, channel: string): Promise<Membership> {
  try {
    const { channel: about } = await client.conversations.info({ channel });
    if (about?.is_archived)
      return { isMember: undefined, result: problem('It is archived', 'Name another channel.') };
    const isMember = about?.is_member === true;
    return { isMember, result: ok(isMember ? 'The bot is in it' : 'The bot is not in it') };
  } catch (error) {
    return { isMember: undefined, result: { ...refusedBySlack(error), state: 'skipped' } };
  }
}

/** Posts into the channel, and removes all of it. */
async function inChannel({ channel, client, isMember, step, now, paceMs }: ChannelCheck): Promise<void> {
  const delivery = createDelivery(client);
  const key = `check:${now()}`;
  const posted: string[] = [];
  const files: string[] = [];
  let ts: string | undefined;
  /** Like the bot, searches for a message whose answer was lost, so that it can be removed. */
  const post = async (state: string, keyed: string, threadTs?: string): Promise<PostOutcome> => {
    await rest(paceMs);
    const metadata = { event_type: 'payops_check', event_payload: { key: keyed } };
    const sinceMs = now();
    let outcome = await delivery.post(channel, { ...noteOf(state), metadata }, threadTs);
    if (outcome.kind === 'unsure') {
      const answer = await delivery.findByKey({ channel, threadTs, sinceMs }, keyed);
      if (answer.kind === 'found') outcome = { kind: 'posted', channel, ts: answer.ts };
    }
    if (outcome.kind === 'posted') posted.push(outcome.ts);
    return outcome;
  };
  const needsPost = async (look: (standing: string) => Promise<CheckResult>): Promise<CheckResult> =>
    ts === undefined ? skippedFor('Post') : await look(ts);

  await step('Post', async () => {
    const outcome = await post('Post by check:slack', key);
    if (outcome.kind === 'posted') ts = outcome.ts;
    return judgeOutcome(
      outcome,
      isMember === false ? 'Slack takes it, though the bot is not in the channel' : 'Slack takes it',
    );
  });
  await step('Edit', () =>
    needsPost(async (standing) => {
      const outcome = await delivery.edit({ channel, ts: standing }, noteOf('✅ Edited by check:slack'));
      if (outcome.kind === 'posted')
        return ok(
          isMember === false ? 'Slack takes it, though the bot is not in the channel' : 'Slack takes it',
        );
      if (isMember === false && outcome.kind === 'refused' && outcome.about === 'channel')
        return warning(
          `Slack refuses it where the bot is not in the channel: ${outcome.slackError}`,
          'Invite the bot in every channel of payops.yml: /invite @pay. Else no alert there ever shows who acknowledged it.',
        );
      return judgeOutcome(outcome, '');
    }),
  );
  await step('Metadata', () =>
    needsPost(async (standing) => {
      const answer = await delivery.findByKey({ channel, sinceMs: Number(standing) * 1_000 }, key);
      switch (answer.kind) {
        case 'found':
          return ok('The message is found by its key, after an edit that named none');
        case 'absent':
          return problem(
            'The message is not found by its key: what is lost on the way would be repeated',
            report,
          );
        case 'unreadable':
          return {
            state: 'skipped',
            says: `Slack does not let the bot read the channel: ${answer.slackError}`,
          };
        case 'unknown':
          return warning(
            `Slack does not give the history: ${answer.slackError}`,
            'Run this again in a minute.',
          );
      }
    }),
  );
  await step('Edit that takes the rich text away', () =>
    needsPost(async (standing) => {
      try {
        await client.chat.update({ channel, ts: standing, text: 'Plain', blocks: [] });
        return ok('Slack takes it');
      } catch (error) {
        const word = slackErrorWord(readSlackError(error));
        if (word === 'block_mismatch') return ok('Slack refuses it (block_mismatch), as the bot expects');
        return isMember === false
          ? { state: 'skipped', says: `Slack refuses the edit: ${word}` }
          : refusedBySlack(error);
      }
    }),
  );
  await step('Note below a deleted message', async () => {
    const parent = await post('To be deleted by check:slack', `${key}:parent`);
    if (parent.kind !== 'posted') return judgeOutcome(parent, '');
    await client.chat.delete({ channel, ts: parent.ts });
    const note = await post('Note by check:slack', `${key}:note`, parent.ts);
    if (note.kind === 'gone')
      return ok(`Slack refuses it (${note.slackError}): the bot posts it into the channel`);
    if (note.kind !== 'posted') return judgeOutcome(note, '');
    return ok(note.unthreaded ? 'Slack posts it into the channel' : 'Slack keeps it in the thread');
  });
  await step('File', () =>
    needsPost(async (threadTs) => {
      const file = {
        name: 'check.csv',
        title: 'File of check:slack',
        text: 'a,b\n1,2\n',
        comment: 'By check:slack',
      };
      const outcome = await createUploadFile(client)({ channel, threadTs }, file);
      if (outcome.kind === 'uploaded') {
        files.push(outcome.fileId);
        return ok('Slack takes it');
      }
      if (isMember === false && outcome.why.includes('not_in_channel'))
        return ok(
          'Slack refuses it, as the bot is not in the channel: the bot says so to whoever asks for one',
        );
      if (outcome.why.includes('missing_scope'))
        return { state: 'skipped', says: 'The scope files:write is not granted' };
      return problem(outcome.why, outcome.fix);
    }),
  );
  await step('Clean-up', async () => {
    const left = await takeAway(client, { channel, posted, files, thread: ts });
    if (left.length === 0) return ok(`Everything is gone: messages ${posted.length}, files ${files.length}`);
    return warning(`Slack did not let it be deleted: ${left.join(', ')}`, 'Delete what is left by hand.');
  });
}

type Left = {
  channel: string;
  posted: readonly string[];
  files: readonly string[];
  thread: string | undefined;
};

/**
 * Newest first, since a thread's replies must go before its first message. Returns what could not be removed, with
 * Slack's error.
 */
async function takeAway(client: WebClient, { channel, posted, files, thread }: Left): Promise<string[]> {
  const left: string[] = [];
  async function gone(what: string, take: () => Promise<unknown>): Promise<void> {
    try {
      await take();
    } catch (error) {
      const word = slackErrorWord(readSlackError(error));
      if (word !== 'message_not_found') left.push(`${what} (${word})`);
    }
  }
  for (const file of files) await gone(`file ${file}`, () => client.files.delete({ file }));
  // The message with the file, if the thread can be read.
  const below =
    thread === undefined || files.length === 0
      ? []
      : await client.conversations.replies({ channel, ts: thread }).then(
          ({ messages = [] }) =>
            messages.flatMap(({ ts }) => (ts === undefined || ts === thread ? [] : [ts])),
          () => [],
        );
  for (const ts of [...new Set([...posted, ...below])].toSorted().toReversed())
    await gone(`message ${ts}`, () => client.chat.delete({ channel, ts }));
  return left;
}

async function withPerson({
  client,
  person,
  step,
  now,
}: Pick<ChannelCheck, 'client' | 'step' | 'now'> & { person: string }): Promise<void> {
  const delivery = createDelivery(client);
  await step('Direct message', async () => {
    const posted = await delivery.post(person, noteOf('Direct message by check:slack'));
    if (posted.kind !== 'posted') return judgeOutcome(posted, '');
    const edited = await delivery.edit(posted, noteOf('Edited by check:slack'));
    await client.chat.delete({ channel: posted.channel, ts: posted.ts });
    return judgeOutcome(
      edited,
      'Slack takes it by the person’s id, and its edit by that of the conversation; it is gone',
    );
  });
  await step('Home', async () => {
    const { blocks } = noteOf(`Tried by check:slack at ${new Date(now()).toISOString()}`);
    await client.views.publish({ user_id: person, view: { type: 'home', blocks } });
    return ok('Slack shows it; the bot’s own comes back when it is opened');
  });
}

function noteOf(state: string): SlackMessage {
  return noteMessage({ state, body: [[{ type: 'text', text: 'It is taken away in a moment.' }]] });
}

function judgeOutcome(outcome: PostOutcome, taken: string): CheckResult {
  switch (outcome.kind) {
    case 'posted':
      return ok(taken);
    case 'refused':
      return problem(`Slack refuses it: ${outcome.slackError}`, outcome.fix);
    case 'gone':
      return problem(`Slack refuses it: ${outcome.slackError}`, report);
    case 'rate_limited':
      return warning('Slack asks to wait', 'Run this again in a minute.');
    case 'not_sent':
    case 'unsure':
      return problem(
        'Slack gave no usable answer',
        'Look at what stands in the channel, and run this again.',
      );
  }
}

function refusedBySlack(error: unknown): CheckResult {
  const word = slackErrorWord(readSlackError(error));
  return problem(`Slack refuses it: ${word}`, fixFor(word));
}

/** A Markdown table to paste into a report. */
export function tableOf(
  findings: readonly Finding[],
  signs: Readonly<Record<Finding['state'], string>>,
): string {
  return [
    '| | What | Seen | What to do |',
    '|---|---|---|---|',
    ...findings.map(
      ({ state, part, says, fix = '' }) => `| ${signs[state]} | ${[part, says, fix].map(cell).join(' | ')} |`,
    ),
  ].join('\n');
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll(/\s+/g, ' ');
}
