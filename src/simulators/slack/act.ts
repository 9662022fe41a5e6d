import type { ActResult, PageUser, WorkspaceAction } from '../protocol.ts';
import { press, suggest, wholeMessage } from './act-on-element.ts';
import { closeView, submitView } from './act-on-view.ts';
import { type ActDeps, actResult, no } from './act-result.ts';
import { sendMessage } from './act-type.ts';
import { canSee } from './cast.ts';
import { channelPayload, commonPayload } from './payloads.ts';
import { viewPayload } from './views.ts';
import type { World } from './world.ts';

/** Does what a person does in Slack; the answer comes when the bot has acknowledged, or failed to. */
export async function act(deps: ActDeps, userId: string, action: WorkspaceAction): Promise<ActResult> {
  const user = deps.world.directory.user(userId);
  if (user === undefined) return { ok: false, problem: `There is no person ${userId} in this workspace.` };
  if (needsInteractivity(action) && !deps.world.app.interactivity) {
    return { ok: false, problem: 'This app is not configured to handle interactive responses.' };
  }
  return carryOut(deps, user, action);
}

function needsInteractivity(action: WorkspaceAction): boolean {
  return action.kind !== 'send_message' && action.kind !== 'open_home' && action.kind !== 'close_view';
}

function carryOut(deps: ActDeps, user: PageUser, action: WorkspaceAction): Promise<ActResult> {
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

async function openHome(deps: ActDeps, user: PageUser): Promise<ActResult> {
  const { world } = deps;
  if (!world.app.homeTab) return { ok: false, problem: 'This app has no Home tab.' };
  const shown = world.views.home(user.id);
  await deps.events.send(
    'app_home_opened',
    {
      type: 'app_home_opened',
      user: user.id,
      channel: world.directory.directMessage(user.id)?.id ?? '',
      tab: 'home',
      ...(shown === undefined ? {} : { view: viewPayload(shown) }),
      event_ts: world.ids.ts(),
    },
    `${user.realName} opens the App Home`,
  );
  return { ok: true };
}

/** Of the two kinds of shortcut only those are offered that the manifest names. */
async function globalShortcut(deps: ActDeps, user: PageUser, callbackId: string): Promise<ActResult> {
  const { world } = deps;
  const name = shortcutName(world, 'global', callbackId);
  if (name === undefined) return no('This app has no such shortcut.');
  const answer = await deps.line.send(
    {
      kind: 'interactive',
      payload: {
        type: 'shortcut',
        ...commonPayload(user),
        callback_id: callbackId,
        action_ts: world.ids.ts(),
        trigger_id: world.triggers.issue({ userId: user.id, fromModal: false }),
      },
    },
    `${user.realName} runs the shortcut "${name}"`,
  );
  return actResult(answer);
}

async function messageShortcut(
  deps: ActDeps,
  user: PageUser,
  asked: Extract<WorkspaceAction, { kind: 'message_shortcut' }>,
): Promise<ActResult> {
  const { world } = deps;
  const name = shortcutName(world, 'message', asked.callbackId);
  if (name === undefined) return no('This app has no such shortcut.');
  const channel = world.directory.channel(asked.channel);
  const message = world.messages.find(asked.channel, asked.ts);
  if (channel === undefined || message === undefined || !canSee(channel, user.id))
    return no('That message is gone.');
  const target = { channel: channel.id, userId: user.id, messageTs: message.ts };
  const answer = await deps.line.send(
    {
      kind: 'interactive',
      payload: {
        type: 'message_action',
        ...commonPayload(user),
        callback_id: asked.callbackId,
        action_ts: world.ids.ts(),
        message_ts: message.ts,
        message: wholeMessage(world, message),
        channel: channelPayload(channel),
        trigger_id: world.triggers.issue({ userId: user.id, fromModal: false }),
        response_url: deps.responseUrl(world.responseUrls.issue(target)),
      },
    },
    `${user.realName} runs "${name}" on a message`,
  );
  return actResult(answer);
}

function shortcutName(world: World, kind: 'global' | 'message', callbackId: string): string | undefined {
  return world.app.shortcuts.find((one) => one.kind === kind && one.callbackId === callbackId)?.name;
}
