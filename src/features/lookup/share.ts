import { noticeLine } from '../../slack/kit/blocks.ts';
import type { Press, Pressed } from '../../slack/command.ts';
import { answerMessage, transactionModal } from './answer-message.ts';
import { lookupActions, readShareValue } from './lookup-actions.ts';
import { notSharedMessage, sharedMessage, type NotShared } from './shared-message.ts';
import type { TransactionView } from '../../slack/words/transaction-message.ts';
import { isChannel, lookUp, parseQuestion, type LookupDeps } from './look-up.ts';
import { mayReveal } from './reveal.ts';

/** *Share to channel*, and *Refresh* on what was shared. Whoever presses must be allowed to look up, then. */
export function sharePresses(deps: LookupDeps): Press[] {
  return [
    { actionId: lookupActions.share, about: sharedReference, press: (pressed) => share(deps, pressed) },
    { actionId: lookupActions.refreshShared, press: (pressed) => refresh(deps, pressed) },
  ];
}

function sharedReference(value: string): string | undefined {
  return readShareValue(value)?.words[0];
}

/** Looked up anew: what a channel reads is true when it is posted, and nothing of the old answer is carried in a button. */
async function share(deps: LookupDeps, pressed: Pressed): Promise<void> {
  const { caller, view: modal } = pressed;
  const asked = readShareValue(pressed.value);
  const question = asked && parseQuestion(asked.words);
  if (!question?.ok) return;
  const channel = modal ? modal.privateMetadata : caller.channelId;
  if (!isChannel(channel)) return await pressed.reply(notSharedMessage({ kind: 'no_channel' }));
  const view = await lookUp(deps, question.value);
  const by = caller.userId;
  // Of one answer, however often the button is pressed; Refresh makes it another answer.
  const key = [channel, by, asked?.about ?? '', view.reference].join(':');
  const shared = await deps.sharing.post(key, channel, sharedMessage(view, by));
  if (shared.kind !== 'shared') return await say(deps, pressed, { view, channel, what: shared });
  if (modal) await say(deps, pressed, { view, channel, what: shared });
}

type Said = { view: TransactionView; channel: string; what: NotShared | { kind: 'shared' } };

/** Where the button stands: in the modal, or to the caller alone. */
async function say(
  deps: LookupDeps,
  { view: modal, caller, reply, updateModal }: Pressed,
  { view, channel, what }: Said,
): Promise<void> {
  if (!modal) return what.kind === 'shared' ? undefined : await reply(notSharedMessage(what));
  const isNotThere = what.kind === 'refused' || what.kind === 'busy';
  const may = { share: isNotThere, reveal: await mayReveal(deps, caller) };
  const shown = transactionModal(view, channel, may);
  const box =
    what.kind === 'shared' || what.kind === 'shared_before'
      ? noticeLine('info', 'Shared to the channel.')
      : noticeLine('warning', wordsOf(what));
  await updateModal({ ...shown, blocks: [box, ...shown.blocks] });
}

function wordsOf(what: NotShared): string {
  const { text } = notSharedMessage(what);
  return what.kind === 'refused' ? `${text}. ${what.fix}` : text;
}

/** For everybody, in its place; where Slack does not take the edit, to whoever pressed. */
async function refresh(deps: LookupDeps, { value, message, caller, reply }: Pressed): Promise<void> {
  const asked = readShareValue(value);
  const question = asked && parseQuestion(asked.words);
  if (!asked || !question?.ok) return;
  const view = await lookUp(deps, question.value);
  const fresh = sharedMessage(view, asked.about);
  const outcome = message && (await deps.sharing.edit(message, fresh));
  if (outcome?.kind === 'posted') return;
  const may = { share: isChannel(caller.channelId), reveal: await mayReveal(deps, caller) };
  await reply(answerMessage(view, may));
}
