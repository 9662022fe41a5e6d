import { userIds } from '../../src/simulators/slack/cast.ts';
import type { BotPost } from '../../src/simulators/slack/payloads.ts';
import type { Workspace } from '../../src/simulators/slack/workspace.ts';
import { pressable } from '../walks/people.ts';
import { alertReference } from './plan.ts';

/** Who may acknowledge in a chaos, as YAML of its policy. */
export const acknowledgerRoles = `{ lead: { users: [${userIds.lead}], may: [alerts] } }`;

/** Acknowledged, in its own words and in those of the note below it. */
const taken = /^👀/u;

/** Of each failed payment the message that stands last: of two, the bot knows no other. */
function alertsIn(posts: readonly BotPost[]): Map<string, BotPost> {
  const alerts = new Map<string, BotPost>();
  for (const post of posts) {
    const reference = alertReference(post);
    if (reference?.startsWith('DECL-') === true) alerts.set(reference, post);
  }
  return alerts;
}

/**
 * Presses *Acknowledge* on each alert whose thread does not say yet that it is acknowledged, once; again is for whoever
 * asks again, as a person presses again after a bot died over it. Gives how many were left to press.
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

/** The references of alerts that do not say themselves that they are acknowledged. */
export function unacknowledged(workspace: Workspace): string[] {
  return [...alertsIn(workspace.posts())].flatMap(([reference, { text }]) =>
    taken.test(text) ? [] : [reference],
  );
}
