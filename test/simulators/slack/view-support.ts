import type { App } from '@slack/bolt';
import type { Workspace } from '../../../src/simulators/slack/workspace.ts';
import { type modal, openBot, openRawBot, openWorkspace, payloadOf } from './support.ts';

export const charge = { kind: 'global_shortcut', callbackId: 'charge' } as const;

/** Runs the shortcut and gives the trigger that came with it. */
export async function freshTrigger(workspace: Workspace): Promise<string> {
  const bot = await openRawBot(workspace, () => ({ status: 200 }));
  await workspace.act(workspace.ids.users.agent, charge);
  return String(payloadOf(bot.requests[0] ?? { headers: {}, body: '{}' })['trigger_id']);
}

export function views(workspace: Workspace) {
  return workspace.state(workspace.ids.users.agent).views;
}

export function submit(workspace: Workspace, values: Record<string, Record<string, unknown>> = {}) {
  const viewId = views(workspace).at(-1)?.id ?? '';
  return workspace.act(workspace.ids.users.agent, { kind: 'submit_view', viewId, values });
}

export async function withModal(
  view: ReturnType<typeof modal>,
  register: (app: App) => void = () => {},
): Promise<Workspace> {
  const workspace = await openWorkspace({ ackTimeoutMs: 500 });
  await openBot(workspace, (app) => {
    app.shortcut('charge', async ({ ack, client, shortcut }) => {
      await ack();
      await client.views.open({ trigger_id: shortcut.trigger_id, view });
    });
    register(app);
  });
  const opened = new Promise<void>((resolve) => {
    const stop = workspace.onChange(() => {
      if (views(workspace).length === 0) return;
      stop();
      resolve();
    });
  });
  await workspace.act(workspace.ids.users.agent, charge);
  await opened;
  return workspace;
}
