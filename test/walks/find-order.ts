import { needsLookUp } from '../../src/domain/alert-route.ts';
import { alertKey } from '../../src/operations/outbox/outbox.ts';
import { channels } from './plans.ts';
import { baseOf, type Sent, type World } from './world.ts';

type Placed = { sent: Sent; key: string; atMs: number };

/** Behind an alert of their channel that left its sender only after they had been answered. */
export function findWrongOrder(world: World): void {
  const [plan] = world.plans;
  // Which lane an alert waits in hangs on the rules it came under.
  if (world.plans.length > 1 || !plan) return;
  for (const channel of channels) {
    let latest: Placed | undefined;
    for (const one of firstPosts(world, channel)) {
      if (needsLookUp(plan, one.sent.event)) continue;
      if (latest && isOvertaken(one, latest) && !mayBeLate(world, one))
        world.violate(`${one.key} comes behind ${latest.key} in ${channel}`);
      if (!latest || one.sent.firstSentAtMs > latest.sent.firstSentAtMs) latest = one;
    }
  }
}

function isOvertaken({ sent: { ackedAtMs } }: Placed, { sent }: Placed): boolean {
  return ackedAtMs !== undefined && sent.firstSentAtMs > ackedAtMs;
}

/** What Slack refused steps aside in the end, and so does what may be a repeat. */
export function mayBeLate({ slack, weather }: World, { key }: { key: string }): boolean {
  return slack.faulted.some(
    (fault) =>
      fault.key === key && (fault.kind === 'refused' || (fault.kind === 'unsure' && !weather.mayReadHistory)),
  );
}

function firstPosts(world: World, channel: string): Placed[] {
  const byKey = new Map<string, Sent>();
  for (const sent of world.sent.values()) {
    byKey.set(alertKey(sent.event.key), sent);
    byKey.set(alertKey(sent.event.key, channel), sent);
  }
  const seen = new Set<string>();
  return world.slack.messages.flatMap((message) => {
    const key = baseOf(message);
    const sent = byKey.get(key);
    if (!sent || message.channel !== channel || seen.has(key)) return [];
    seen.add(key);
    return [{ sent, key, atMs: message.postedAtMs }];
  });
}
