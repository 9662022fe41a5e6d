import { createDelivery, type PostOutcome } from '../../messages/delivery.ts';
import type { SlackMessage } from '../../slack/kit/message.ts';
import { withNames } from '../../slack/people/names.ts';
import {
  actions,
  button,
  context,
  fields,
  headline,
  noticeLine,
  person,
  plainText,
  richText,
  words,
} from '../../slack/kit/blocks.ts';
import type { Press, Pressed } from '../../slack/command.ts';
import { type TransactionView, isMasked, transactionParts } from '../../slack/words/transaction-message.ts';
import { lookUpWords, word } from '../../slack/words/evidence.ts';
import {
  answerMessage,
  lookupActions,
  readShareValue,
  shareValue,
  transactionModal,
  wordsOfView,
} from './answer-message.ts';
import { type Lookups, isChannel, parseQuestion } from './look-up.ts';

/** *Share to channel*, and *Refresh* on what was shared. Whoever presses must be allowed to look up, then. */
export function sharePresses(deps: Lookups): Press[] {
  return [
    {
      actionId: lookupActions.share,
      about: (value) => lookUpWords(value)[0],
      press: (pressed) => share(deps, pressed),
    },
    { actionId: lookupActions.refreshShared, press: (pressed) => refresh(deps, pressed) },
  ];
}

/** Looked up anew: what a channel reads is true when it is posted, and nothing of the old answer is carried in a button. */
async function share(deps: Lookups, pressed: Pressed): Promise<void> {
  const { caller, view: modal } = pressed;
  const question = parseQuestion(lookUpWords(pressed.value));
  if (!question.ok) return;
  const channel = modal ? modal.privateMetadata : caller.channelId;
  if (!isChannel(channel)) return await pressed.reply(notSharedMessage({ kind: 'no_channel' }));
  const view = await deps.ask(question.value);
  const what = sharedOf(await say(deps.account, channel, sharedMessage(view, caller.userId)));
  if (modal || what.kind !== 'shared') await tell(deps, pressed, { view, channel, what });
}

type Said = { view: TransactionView; channel: string; what: NotShared | { kind: 'shared' } };

/** Where the button stands: in the modal, or to the caller alone. */
async function tell(
  deps: Lookups,
  { view: modal, caller, reply, updateModal }: Pressed,
  { view, channel, what }: Said,
): Promise<void> {
  if (!modal) return what.kind === 'shared' ? undefined : await reply(notSharedMessage(what));
  const isNotThere = what.kind === 'refused' || what.kind === 'busy';
  const may = { share: isNotThere, reveal: await deps.reveals.may(caller) };
  const shown = transactionModal(view, channel, may);
  const box =
    what.kind === 'shared'
      ? noticeLine('info', 'Shared to the channel.')
      : noticeLine('warning', wordsOf(what));
  await updateModal({ ...shown, blocks: [box, ...shown.blocks] });
}

function wordsOf(what: NotShared): string {
  const { text } = notSharedMessage(what);
  return what.kind === 'refused' ? `${text}. ${what.fix}` : text;
}

/** For everybody, in its place; where Slack does not take the edit, to whoever pressed. */
async function refresh(deps: Lookups, { value, message, caller, reply }: Pressed): Promise<void> {
  const asked = readShareValue(value);
  const question = asked && parseQuestion(asked.words);
  if (!asked || !question?.ok) return;
  const view = await deps.ask(question.value);
  const fresh = sharedMessage(view, asked.by);
  const outcome = message && (await say(deps.account, message.channel, fresh, message));
  if (outcome?.kind === 'posted') return;
  const may = { share: isChannel(caller.channelId), reveal: await deps.reveals.may(caller) };
  await reply(answerMessage(view, may));
}

/**
 * How a look-up gets into a channel: at once, because whoever pressed is looking, and past the outbox of the alerts.
 * `over`: in the place of that message.
 */
async function say(
  { slack, people }: Lookups['account'],
  channel: string,
  message: SlackMessage,
  over?: { channel: string; ts: string },
): Promise<PostOutcome> {
  const delivery = createDelivery(slack.interactive);
  const as = over ? 'edit' : 'post';
  const named = await withNames(message, channel, { as, nameOf: people.nameOf });
  return over ? await delivery.edit(over, named) : await delivery.post(channel, named);
}

function sharedOf(outcome: PostOutcome): NotShared | { kind: 'shared' } {
  switch (outcome.kind) {
    case 'posted':
      return { kind: 'shared' };
    case 'unsure':
      return { kind: 'unsure' };
    case 'refused':
      return { kind: 'refused', slackError: outcome.slackError, fix: outcome.fix };
    case 'gone':
    case 'not_sent':
    case 'rate_limited':
      return { kind: 'busy' };
  }
}

/** What a channel sees of a look-up, its e-mail masked. *Refresh* puts the record as it is then in its place, for everybody. */
export function sharedMessage(view: TransactionView, by: string): SlackMessage {
  const { text, blocks } = transactionParts(view);
  const refresh = button({
    actionId: lookupActions.refreshShared,
    text: 'Refresh',
    value: shareValue({ words: wordsOfView(view), by }),
  });
  return {
    text,
    blocks: [
      ...blocks.slice(0, -1),
      // Above the line that says where and when.
      ...fields({ 'Shared by': [person(by)] }),
      ...blocks.slice(-1),
      ...(isMasked(view) ? [] : [actions(refresh)]),
    ],
  };
}

/** What became of sharing, to the person alone. */
export type NotShared =
  /** It may stand there: Slack did not say. */
  | { kind: 'unsure' }
  /** Nothing was posted, and the next press tries again. */
  | { kind: 'busy' }
  | { kind: 'refused'; slackError: string; fix: string }
  | { kind: 'no_channel' };

export function notSharedMessage(why: NotShared): SlackMessage {
  const { state, next } = notSharedWords(why);
  const { text, block } = headline(state, []);
  const said = why.kind === 'refused' ? [context(plainText(`Slack says: ${word(why.slackError)}`))] : [];
  return { text, blocks: [block, richText([words(next)]), ...said] };
}

function notSharedWords(why: NotShared): { state: string; next: string } {
  switch (why.kind) {
    case 'unsure':
      return {
        state: '⚠️ Slack didn’t say whether it was shared',
        next: 'If it isn’t in the channel, press Share to channel again.',
      };
    case 'busy':
      return {
        state: '⚠️ Not shared',
        next: 'Slack is busy. Press again in a moment.',
      };
    case 'refused':
      return { state: '⚠️ Not shared: Slack refuses the bot here', next: why.fix };
    case 'no_channel':
      return {
        state: 'Not shared',
        next: 'Type the look-up in the channel it’s for.',
      };
  }
}
