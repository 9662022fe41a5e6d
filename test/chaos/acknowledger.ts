import { userIds } from '../../src/simulators/slack/directory.ts';
import type { BotPost } from '../../src/simulators/slack/payloads.ts';
import type { Workspace } from '../../src/simulators/slack/workspace.ts';
import { pressable } from '../support/pressable.ts';
import { alertReference } from './plan.ts';

/** The role that may acknowledge alerts in a chaos run, as YAML for the policy. */
export const acknowledgerRoles = `{ lead: { users: [${userIds.lead}], may: [alerts] } }`;

/** The start of an acknowledged alert, and of the note below it. */
const taken = /^👀/u;

/** For each failed payment its last message: if there are two, the bot knows only the last. */
function alertsIn(posts: readonly BotPost[]): Map<string, BotPost> {
  const alerts = new Map<string, BotPost>();
  for (const post of posts) {
    const reference = alertReference(post);
    if (reference?.startsWith('DECL-') === true) alerts.set(reference, post);
  }
  return alerts;
}

/**
 * Presses *Acknowledge* once on each alert whose thread does not say yet that it is acknowledged. Call it again until it
 * returns 0: a bot may die during a press. Returns how many were pressed.
 */
export async function acknowledgeAll(
  workspace: Workspace,
  target: () => string | undefined,
): Promise<number> {
  const posts = workspace.posts();
  const told = new Set(
    posts.filter(({ text }) => taken.test(text)).map(({ ts, threadTs }) => threadTs ?? ts),
  );
  const left = [...alertsIn(posts).values()].filter(({ ts }) => !told.has(ts));
  for (const { blocks, channel, ts } of left) {
    const button = pressable(blocks).find(({ label }) => label === 'Acknowledge');
    if (!button) continue;
    const { blockId, actionId, element } = button;
    const url = target();
    workspace.connect(url && `${url}/slack/events`);
    const container = { type: 'message', channel, ts } as const;
    await workspace.act(userIds.lead, {
      kind: 'block_action',
      blockId,
      actionId,
      element,
      container,
      values: {},
    });
  }
  return left.length;
}

/** The references of alerts whose own message does not say that they are acknowledged. */
export function unacknowledged(workspace: Workspace): string[] {
  return [...alertsIn(workspace.posts())].flatMap(([reference, { text }]) =>
    taken.test(text) ? [] : [reference],
  );
}
