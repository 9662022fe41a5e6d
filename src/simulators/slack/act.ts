import type { ActResult, PageUser, WorkspaceAction } from '../protocol.ts';
import type { ActDeps } from './act-result.ts';
import { closeView, submitView } from './act-on-view.ts';
import { press, suggest } from './act-on-element.ts';
import { globalShortcut, messageShortcut } from './act-shortcut.ts';
import { sendMessage } from './act-type.ts';
import { viewPayload } from './views.ts';

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
