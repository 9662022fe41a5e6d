import { setTimeout as rest } from 'node:timers/promises';
import type { Workspace } from '../../src/simulators/slack/workspace.ts';

/** Often enough that every kill finds some entry of the audit under way, and too seldom to be a load. */
const everyMs = 50;

/**
 * Somebody who asks for help all the while, of one bot after the other, so that bots have something for the audit when
 * they are killed. Ends when `over` is.
 */
export async function keepAsking(
  workspace: Workspace,
  target: () => string | undefined,
  over: AbortSignal,
): Promise<void> {
  const { agent } = workspace.ids.users;
  const { payDesk } = workspace.ids.channels;
  while (!over.aborted) {
    const url = target();
    workspace.connect(url && `${url}/slack/events`);
    // A bot that is killed meanwhile answers nothing, and is asked for nothing.
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    await workspace.act(agent, { kind: 'send_message', channel: payDesk, text: '/pay help' });
    // oxlint-disable-next-line no-await-in-loop
    await rest(everyMs);
  }
}
