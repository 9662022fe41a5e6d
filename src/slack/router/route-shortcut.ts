import type { GlobalShortcut, MessageShortcut, RespondFn } from '@slack/bolt';
import { parsed } from '../../domain/parsed.ts';
import { answer } from '../answer.ts';
import { callerOf, isStranger, strangerMessage } from '../people/asker.ts';
import type { Caller, Command, OpenModal, Shortcut } from '../command.ts';
import { messageTexts } from '../message-texts.ts';
import { createOpenModal, wordsModal } from '../modals.ts';
import { createReply, type Reply } from '../reply.ts';
import { noteRefused, ofAnotherWorkspace } from '../record-asked.ts';
import type { PressDeps } from './route-press.ts';

/**
 * An entry of Slack's menus was chosen, and is acknowledged. It goes the way of what is typed: the same guards, the
 * same audit line, the same words for what goes wrong. Never throws.
 */
export async function routeShortcut(
  body: GlobalShortcut | MessageShortcut,
  respond: RespondFn | undefined,
  deps: PressDeps,
): Promise<void> {
  const caller = callerOf(body, 'shortcut');
  const openModal = createOpenModal(deps.client, { triggerId: body.trigger_id, onTop: false });
  const reply = body.type === 'shortcut' ? inModal(caller, openModal, deps) : inPlace(caller, respond, deps);
  if (isStranger(caller, deps.identity())) {
    noteRefused(deps, { what: 'command', caller, reason: ofAnotherWorkspace });
    return reply(strangerMessage());
  }
  const found = await deps.commands.shortcut(body.callback_id, caller);
  // Of a manifest that is older or newer than the bot.
  if (!found) return;
  const command = found.shortcut.kind === 'global' ? found.command : onMessage(found, found.shortcut, body);
  await answer(
    {
      caller,
      understood: { kind: 'command', command, words: [] },
      claimKey: `shortcut:${body.trigger_id}`,
      openModal,
      reply,
    },
    deps,
  );
}

/** The verb, for this message: what is done with it is up to the shortcut. */
function onMessage(
  { command }: { command: Command },
  { prepare }: Extract<Shortcut, { kind: 'message' }>,
  body: GlobalShortcut | MessageShortcut,
): Command {
  return {
    ...command,
    prepare: () => parsed(prepare(body.type === 'message_action' ? messageTexts(body.message) : [])),
  };
}

/** Nothing is replaced: the message it was chosen on may be one of the bot's own. */
function inPlace(caller: Caller, respond: RespondFn | undefined, deps: PressDeps): Reply {
  return createReply({ caller, respond, replaces: 'nothing' }, deps.client, deps.log);
}

/** There is no channel to answer in, and the person is looking for a modal; else a direct message. */
function inModal(caller: Caller, openModal: OpenModal, deps: PressDeps): Reply {
  const direct = createReply({ caller, respond: undefined, replaces: 'nothing' }, deps.client, deps.log);
  return async function reply(message) {
    await openModal(wordsModal('Not opened', message)).catch(() => direct(message));
  };
}
