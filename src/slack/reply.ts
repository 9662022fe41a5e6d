import type { Modal, SlackMessage } from './kit/message.ts';
import { updateModal } from './kit/modals.ts';
import { outsideText } from './kit/text.ts';
import type { AckFn, RespondArguments } from '@slack/bolt';
import type { WebClient } from '@slack/web-api';
import { isJsonObject, parseJson } from '../domain/json.ts';
import type { Log } from '../log.ts';
import type { Caller } from './command.ts';
import { fixFor, isAboutMessage, readSlackError, slackErrorWord } from './slack-error.ts';

/** To one person alone, as Slack takes it at a response_url. */
type Answer = SlackMessage & { response_type: 'ephemeral'; replace_original: boolean; thread_ts?: string };

/** Where an answer goes: the response_url of the command or press, if there is one, and whom it is for. */
export type ReplyAddress = {
  caller: Caller;
  respond: ((answer: Answer) => Promise<unknown>) | undefined;
  /** The thread of the message that was pressed: Slack answers in the channel unless told so. */
  threadTs?: string | undefined;
  /**
   * What an answer takes the place of. `pressed`: the ephemeral message whose button was pressed. `earlier`:
   * the answer before it; on a slash command's response_url Slack may post a further message instead
   * (bolt-js #2287), so every message must be right when it stands alone. `nothing`: a message of a channel
   * must stay as it is.
   */
  replaces: 'pressed' | 'earlier' | 'nothing';
  /** The request itself, where it still waits and takes an answer. */
  acknowledgement?: Acknowledgement;
};

/** A request of Slack's that waits to be acknowledged, and takes an answer along. */
export type Acknowledgement = {
  isOpen: () => boolean;
  /** Throws when Slack could not be told. */
  withAnswer: (answer: RespondArguments) => Promise<void>;
  /** Has Slack go on; what is told later goes another way. Does nothing the second time, and never throws. */
  alone: () => Promise<void>;
};

/** Acknowledged after `withinMs` at the latest. */
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
 * Tells the caller alone. A direct message stays in Slack: `inDirect` is what it says in place of what may not. Never
 * throws: what could not be told is in the log.
 */
export type Reply = (message: SlackMessage, inDirect?: SlackMessage) => Promise<void>;

/**
 * With the acknowledgement, if that waits; else through the response_url, which also works where the bot is no member;
 * else as a direct message. That one stays, and is told again, in plain text, only where Slack refuses its blocks: after
 * a lost answer it may stand there.
 */
export function createReply(address: ReplyAddress, client: WebClient, log: Log): Reply {
  const { respond, threadTs, replaces, acknowledgement } = address;
  const { userId } = address.caller;
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
    for (const [index, way] of ways.entries()) {
      try {
        await way();
        return;
      } catch (error) {
        const slackError = slackErrorWord(readSlackError(error));
        const isLast = index === ways.length - 1;
        const said = isLast ? 'An answer could not be given' : 'An answer was refused; the next way is tried';
        log(isLast ? 'error' : 'warn', said, { userId, slackError, fix: fixFor(slackError) }, error);
      }
    }
  };
}

/** A link in an answer is text; Slack must not fetch it. */
const noPreviews = { unfurl_links: false, unfurl_media: false };

/** A response_url may say with status 200 that it refuses. A body that is no JSON is Slack's plain `ok`. */
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
 * Puts what became of it into the modal, or tells the person by direct message when they have closed it or
 * Slack does not show it; without a message something else tells them. Never throws.
 */
export type ShowEnd = (
  to: { viewId: string; userId: string },
  shown: { modal: Modal; message?: SlackMessage },
) => Promise<void>;

export function createShowEnd({ client, log }: { client: WebClient; log: Log }): ShowEnd {
  return async function showEnd({ viewId, userId }, { modal, message }) {
    const result = await updateModal(client, { viewId, modal }, log);
    if (result === 'shown' || !message) return;
    const reply = createReply({ caller: { userId }, respond: undefined, replaces: 'nothing' }, client, log);
    await reply(message);
  };
}
