import type { AlertCardShown } from '../../src/domain/alert.ts';
import type { QuietHours } from '../../src/domain/alert-route.ts';
import { onCall } from './plans.ts';
import type { Kept } from './slack.ts';
import type { World } from './world.ts';

/** From when a message is made until it stands, and by how much the clocks differ. */
const aroundMs = 60_000;

/** A rule calls its people outside its quiet hours, and not again with what takes the place of an earlier message. */
export function watchMention({ plans, clock, violate }: World, { key, post, shown }: Kept): void {
  if (post.kind !== 'alert') return;
  const { card, route } = post.alert;
  const rule = plans.flatMap(({ rules }) => rules).find(({ name }) => name === route?.rule);
  if (!rule?.mention) return;
  const quiet = quietAround(rule.quietHours, clock.nowMs);
  if (JSON.stringify(shown).includes(onCall.id)) {
    if (quiet === 'yes') violate(`${key} calls ${onCall.id} in quiet hours`);
    if (card?.replaced) violate(`${key} calls ${onCall.id} again`);
  } else if (quiet === 'no' && mustCall(card)) violate(`${key} does not call ${onCall.id}`);
}

/** What somebody has in hand, or what stood before, calls nobody. */
function mustCall(card: AlertCardShown | undefined): boolean {
  return card?.card.kind === 'open' && !card.replaced;
}

function quietAround(hours: QuietHours | undefined, nowMs: number): 'yes' | 'no' | 'about_to_change' {
  const [before, after] = [isIn(hours, nowMs - aroundMs), isIn(hours, nowMs + aroundMs)];
  if (before !== after) return 'about_to_change';
  return before ? 'yes' : 'no';
}

/** The quiet hours of walks are in UTC, within a day. */
function isIn(hours: QuietHours | undefined, atMs: number): boolean {
  const minute = Math.floor(atMs / 60_000) % 1_440;
  return hours !== undefined && minute >= hours.fromMinute && minute < hours.toMinute;
}
