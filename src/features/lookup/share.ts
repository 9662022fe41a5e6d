import { createDelivery, type PostOutcome } from '../../messages/delivery.ts';
import { type Note, noteMessage } from '../../slack/kit/note.ts';
import type { SlackMessage } from '../../slack/kit/message.ts';
import { withNames } from '../../slack/people/names.ts';
import { context, fields, noticeLine, person, plainText, rich } from '../../slack/kit/blocks.ts';
import type { Press, Pressed } from '../../slack/command.ts';
import { type TransactionView, transactionNote } from '../../slack/words/transaction-message.ts';
import { lookUpWords, word } from '../../slack/words/evidence.ts';
import { lookupActions, transactionModal } from './answer-message.ts';
import { type Lookups, isChannel, parseQuestion } from './look-up.ts';

/** *Share to channel*. Whoever presses must be allowed to look up, then. */
export function sharePress(deps: Lookups): Press {
  return {
    actionId: lookupActions.share,
    about: (value) => lookUpWords(value)[0],
    press: (pressed) => share(deps, pressed),
  };
}

/**
 * Looked up anew: what a channel reads is true when it is posted, and nothing of the old answer is carried in a button.
 * It gets there at once, because whoever pressed is looking, and past the outbox of the alerts.
 */
async function share(deps: Lookups, pressed: Pressed): Promise<void> {
  const { caller, view: modal, reply, updateModal } = pressed;
  const question = parseQuestion(lookUpWords(pressed.value));
  if (!question.ok) return;
  const channel = modal ? modal.privateMetadata : caller.channelId;
  if (!isChannel(channel)) return await reply(noteMessage(noChannelNote));
  const { slack, people } = deps.account;
  const view = await deps.ask(question.value);
  const message = sharedMessage(view, caller.userId);
  const named = await withNames(message, channel, { as: 'post', nameOf: people.nameOf });
  const outcome = await createDelivery(slack.interactive).post(channel, named);
  const note = notSharedNote(outcome);
  if (!modal) return note && (await reply(noteMessage(note)));
  const mayShare = outcome.kind !== 'posted' && outcome.kind !== 'unsure';
  const may = { share: mayShare, reveal: await deps.reveals.may(caller) };
  const shown = transactionModal(view, channel, may);
  const said = note ? noteMessage(note).blocks : [noticeLine('info', 'Shared to the channel.')];
  await updateModal({ ...shown, blocks: [...said, ...shown.blocks] });
}

/** What a channel sees of a look-up, its e-mail masked. *Refresh* tells whoever presses it, alone. */
export function sharedMessage(view: TransactionView, by: string): SlackMessage {
  const note = transactionNote(view);
  return noteMessage({ ...note, body: [...note.body, ...fields({ 'Shared by': [person(by)] })] });
}

const noChannelNote: Note = { state: 'Not shared', body: [rich`Type the look-up in the channel it’s for.`] };

/** What became of sharing, to the person alone; undefined: everybody sees it. */
export function notSharedNote(outcome: PostOutcome): Note | undefined {
  switch (outcome.kind) {
    case 'posted':
      return undefined;
    case 'unsure':
      return {
        state: '⚠️ Slack didn’t say whether it was shared',
        body: [rich`If it isn’t in the channel, press Share to channel again.`],
      };
    case 'refused':
      return {
        state: '⚠️ Not shared: Slack refuses the bot here',
        body: [rich`${outcome.fix}`, context(plainText(`Slack says: ${word(outcome.slackError)}`))],
      };
    case 'gone':
    case 'not_sent':
    case 'rate_limited':
      return { state: '⚠️ Not shared', body: [rich`Slack is busy. Press again in a moment.`] };
  }
}
