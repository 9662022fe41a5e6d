import type { ActResult, PageUser, WorkspaceAction } from '../protocol.ts';
import { type ActDeps, actResult } from './act-result.ts';
import { wholeMessage } from './act-on-element.ts';
import { canSee } from './directory.ts';
import { channelPayload, commonPayload } from './payloads.ts';
import type { World } from './world.ts';

/** The two kinds of shortcut; only those the manifest names are offered. */

export async function globalShortcut(deps: ActDeps, user: PageUser, callbackId: string): Promise<ActResult> {
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

export async function messageShortcut(
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

function no(problem: string): ActResult {
  return { ok: false, problem };
}
