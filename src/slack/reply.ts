import type { Modal, SlackMessage } from './kit/message.ts';
import { updateModal } from './kit/modals.ts';
import { outsideText } from './kit/text.ts';
import type { AckFn, RespondArguments } from '@slack/bolt';
import type { WebClient } from '@slack/web-api';
import { isJsonObject, parseJson } from '../domain/json.ts';
import type { Log } from '../log.ts';
import { fixFor, isAboutMessage, readSlackError, slackErrorWord } from './slack-error.ts';

/** An answer to one person, as a response_url takes it. */
type Answer = SlackMessage & { response_type: 'ephemeral'; replace_original: boolean; thread_ts?: string };

/** Where an answer goes: the response_url, if any, and the person. */
type ReplyAddress = {
  userId: string;
  respond?: ((answer: Answer) => Promise<unknown>) | undefined;
  /** The pressed message's thread. Without it Slack shows the answer in the channel. */
  threadTs?: string | undefined;
  /**
   * What an answer replaces. `pressed`: the ephemeral message with the button. `earlier`: the previous answer; on a slash
   * command's response_url Slack may post another message instead (bolt-js #2287), so each answer must make sense alone.
   * `nothing`, the default: a channel's message stays.
   */
  replaces?: 'pressed' | 'earlier' | 'nothing';
  /** The request's acknowledgement, if it is still open. */
  acknowledgement?: Acknowledgement;
};

/** A request of Slack's that waits for its acknowledgement, which can carry an answer. */
export type Acknowledgement = {
  isOpen: () => boolean;
  /** Throws if Slack could not be reached. */
  withAnswer: (answer: RespondArguments) => Promise<void>;
  /** Acknowledges without an answer, which then goes another way. Idempotent, never throws. */
  alone: () => Promise<void>;
};

/** Acknowledges after `withinMs` at the latest. */
export function createAcknowledgement(
  ack: AckFn<RespondArguments>,
  { withinMs, log }: { withinMs: number; log: Log },
): Acknowledgement {
  let isOpen = true;
  async function give(answer?: RespondArguments): Promise<void> {
    isOpen = false;
    clearTimeout(timer);
    await (answer ? ack(answer) : ack());
  }
  async function alone(): Promise<void> {
    if (isOpen)
      await give().catch((error: unknown) => log('warn', 'Slack could not be acknowledged', {}, error));
  }
  const timer = setTimeout(() => void alone(), withinMs);
  return { isOpen: () => isOpen, withAnswer: give, alone };
}

/**
 * Answers the caller alone. `inDirect`: sent instead as a direct message, because Slack keeps direct messages. Never
 * throws: failures are logged.
 */
export type Reply = (message: SlackMessage, inDirect?: SlackMessage) => Promise<void>;

/**
 * Answers in the acknowledgement if it is still open; else by response_url, which works even where the bot is no member;
 * else by direct message. A direct message is sent again as plain text only if Slack refused its blocks: if Slack gave no
 * answer, the first message may have arrived.
 */
export function createReply(address: ReplyAddress, client: WebClient, log: Log): Reply {
  const { userId, respond, threadTs, replaces, acknowledgement } = address;
  let isFirst = true;

  return async function reply({ text, blocks }, inDirect = { text, blocks }) {
    const answer = {
      response_type: 'ephemeral',
      replace_original: replaces === 'pressed' || (replaces === 'earlier' && !isFirst),
      text,
      blocks,
      ...noPreviews,
      ...(threadTs === undefined ? {} : { thread_ts: threadTs }),
    } as const;
    isFirst = false;
    const direct = { channel: userId, text: inDirect.text, ...noPreviews };
    const ways: (() => Promise<unknown>)[] = [
      ...(acknowledgement?.isOpen() ? [() => acknowledgement.withAnswer(answer)] : []),
      ...(respond ? [async () => judgeAnswer(await respond(answer))] : []),
      () =>
        client.chat.postMessage({ ...direct, blocks: inDirect.blocks }).catch((error: unknown) => {
          if (!refusesBlocks(error)) throw error;
          return client.chat.postMessage(direct);
        }),
    ];
    for (const way of ways) {
      try {
        await way();
        return;
      } catch (error) {
        const slackError = slackErrorWord(readSlackError(error));
        const isLast = way === ways.at(-1);
        const said = isLast ? 'An answer could not be given' : 'An answer was refused; the next way is tried';
        log(isLast ? 'error' : 'warn', said, { userId, slackError, fix: fixFor(slackError) }, error);
      }
    }
  };
}

/** A link in an answer is text: Slack must not fetch it. */
const noPreviews = { unfurl_links: false, unfurl_media: false };

/** A response_url may refuse with status 200. A non-JSON body is Slack's plain `ok`. */
async function judgeAnswer(answer: unknown): Promise<void> {
  if (!(answer instanceof Response)) return;
  const body = parseJson(await answer.text());
  if (isJsonObject(body) && body['ok'] === false) {
    const word = typeof body['error'] === 'string' ? body['error'] : 'no word';
    throw new Error(`Slack refuses the answer: ${outsideText(word, 80)}`);
  }
}

function refusesBlocks(error: unknown): boolean {
  const problem = readSlackError(error);
  return problem.kind === 'refused' && isAboutMessage(problem.slackError);
}

/**
 * Shows the result in the modal, or the message by direct message if the modal can't be updated. Without a message the
 * person learns the result another way. Never throws.
 */
export type ShowResult = (
  to: { viewId: string; userId: string },
  shown: { modal: Modal; message?: SlackMessage },
) => Promise<void>;

export function createShowResult({ client, log }: { client: WebClient; log: Log }): ShowResult {
  return async function showResult({ viewId, userId }, { modal, message }) {
    const result = await updateModal(client, { viewId, modal }, log);
    if (result === 'shown' || !message) return;
    await createReply({ userId }, client, log)(message);
  };
}
