import { problem } from '../../domain/wording.ts';
import type { ActResult, PageUser, WorkspaceAction } from '../protocol.ts';
import { canSee } from './directory.ts';
import { type ActDeps, actResult, interact, type ActionOf } from './interact.ts';
import { channelPayload, eventPayload, messagePayload } from './payloads.ts';
import { press, suggest } from './press.ts';
import { sendMessage } from './send-message.ts';
import { closeView, submitView } from './submit-view.ts';
import { viewPayload } from './views.ts';
import type { World } from './world.ts';

/** Does what a person does in Slack; resolves when the bot has acknowledged, or failed to. */
export async function act(deps: ActDeps, userId: string, action: WorkspaceAction): Promise<ActResult> {
  const user = deps.world.directory.user(userId);
  if (user === undefined) return problem(`There is no person ${userId} in this workspace.`);
  switch (action.kind) {
    case 'send_message':
      return sendMessage(deps, user, action);
    case 'block_action':
      return press(deps, user, action);
    case 'submit_view':
      return submitView(deps, user, action);
    case 'close_view':
      return closeView(deps, user, action);
    case 'open_home':
      return openHome(deps, user);
    case 'global_shortcut':
      return globalShortcut(deps, user, action.callbackId);
    case 'message_shortcut':
      return messageShortcut(deps, user, action);
    case 'suggest':
      return suggest(deps, user, action);
  }
}

/** Slack would repeat this event to a bot that is away; here the person reopens their Home. */
async function openHome({ world, bot }: ActDeps, user: PageUser): Promise<ActResult> {
  if (!world.app.hasHome) return problem('This app has no Home.');
  const shown = world.views.home(user.id);
  if (!world.app.events.has('app_home_opened')) return { ok: true };
  const event = {
    type: 'app_home_opened',
    user: user.id,
    channel: world.directory.directMessage(user.id)?.id ?? '',
    tab: 'home',
    ...(shown === undefined ? {} : { view: viewPayload(shown) }),
    event_ts: world.ids.ts(),
  };
  const payload = eventPayload(world, event);
  await bot.send({ kind: 'events_api', payload }, `${user.realName} opens the App Home`);
  return { ok: true };
}

/** Offers only shortcuts that the manifest names. */
async function globalShortcut(deps: ActDeps, user: PageUser, callbackId: string): Promise<ActResult> {
  const { world } = deps;
  const name = shortcutName(world, 'global', callbackId);
  if (name === undefined) return problem('This app has no such shortcut.');
  const payload = {
    type: 'shortcut',
    callback_id: callbackId,
    action_ts: world.ids.ts(),
    trigger_id: world.triggers.issue({ userId: user.id, fromModal: false }),
  };
  return actResult(await interact(deps, user, payload, `runs the shortcut "${name}"`));
}

async function messageShortcut(
  deps: ActDeps,
  user: PageUser,
  asked: ActionOf<'message_shortcut'>,
): Promise<ActResult> {
  const { world } = deps;
  const name = shortcutName(world, 'message', asked.callbackId);
  if (name === undefined) return problem('This app has no such shortcut.');
  const channel = world.directory.channel(asked.channel);
  const message = world.messages.find(asked.channel, asked.ts);
  if (channel === undefined || message === undefined || !canSee(channel, user.id))
    return problem('That message is gone.');
  const target = { channel: channel.id, userId: user.id, messageTs: message.ts };
  const payload = {
    type: 'message_action',
    callback_id: asked.callbackId,
    action_ts: world.ids.ts(),
    message_ts: message.ts,
    message: messagePayload(message, true),
    channel: channelPayload(channel),
    trigger_id: world.triggers.issue({ userId: user.id, fromModal: false }),
    response_url: deps.responseUrl(world.responseUrls.issue(target)),
  };
  return actResult(await interact(deps, user, payload, `runs "${name}" on a message`));
}

function shortcutName(world: World, kind: 'global' | 'message', callbackId: string): string | undefined {
  return world.app.shortcuts.find((one) => one.kind === kind && one.callbackId === callbackId)?.name;
}
