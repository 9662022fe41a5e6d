import { endsCard } from '../../src/domain/alert-card.ts';
import type { Post } from '../../src/operations/outbox/prepare-post.ts';
import type { SlackMessage } from '../../src/slack/message.ts';
import { watchMention } from './watch-mention.ts';
import type { Kept } from './slack.ts';
import { baseOf, canaries, type World } from './world.ts';

/** What must hold whenever something leaves for Slack, whatever becomes of it. */
export function watchPayload(world: World, message: SlackMessage, post: Post): void {
  const text = JSON.stringify(message);
  for (const canary of Object.values(canaries)) {
    if (text.includes(canary)) world.violate(`${canary} leaves for Slack`);
  }
  const buttons = message.blocks.flatMap((block) => (block.type === 'actions' ? block.elements : []));
  if (buttons.length > 3) world.violate(`${buttons.length} buttons on one message`);
  const card = post.kind === 'alert' ? post.alert.card?.card : undefined;
  if (card && endsCard(card) && buttons.length > 0)
    world.violate(`buttons on a card that is ${card.kind}, of ${keyOf(message)}`);
}

/** What must hold when a message arrives: once, pinging nobody who clicked. */
export function watchArrival(world: World, message: Kept): void {
  const { post } = message;
  const isMarked = mayBeRepeat(post);
  world.tell(
    `arrived in ${message.channel}: ${message.key} ${message.shown.text}${isMarked ? ' (marked)' : ''}`,
  );
  const isDouble = world.slack.messages.some((one) => baseOf(one) === baseOf(message) && isOpen(one));
  if (isDouble && !isMarked) world.violate(`${message.key} stands already, and is posted again`);
  if (isMarked && mustBeFound(world) && !message.channel.startsWith('D'))
    world.violate(`${message.key} is a marked repeat, though the history may be read`);
  watchMention(world, message);
  const pinged = peopleIn(message.shown);
  if (post.kind === 'alert_direct') {
    if ('by' in post.step && post.step.by === post.to) world.violate(`${post.to} is told of their own click`);
  } else if (pinged.length > 0) {
    world.violate(`${message.key} pings ${pinged.join()}`);
  }
}

/** Where nothing fails and nobody is killed, an edit changes what is shown. */
export function watchEdit({ weather, slack, tell, violate }: World, before: Kept, shown: SlackMessage): void {
  tell(`edited in ${before.channel}: ${before.key} ${shown.text}`);
  const { slackFaults, storeFaults, mayKill, plansMove, peopleDelete } = weather;
  const isCalm =
    slackFaults + storeFaults === 0 && !mayKill && !plansMove && !peopleDelete && slack.backAtMs < 0;
  if (isCalm && JSON.stringify(before.shown) === JSON.stringify(shown))
    violate(`an edit of ${before.key} changes nothing`);
}

export function mayBeRepeat(post: Post): boolean {
  return post.kind === 'alert' ? post.alert.mayBeRepeat : post.mayBeRepeat;
}

/** Neither deleted nor closed to edits: nothing may take its place. */
export function isOpen({ goneAtMs, closedAtMs }: Kept): boolean {
  return goneAtMs === undefined && closedAtMs === undefined;
}

/** Only a channel that refuses the bot, or a thread that is gone, keeps a history from being read that may be read. */
function mustBeFound({ weather }: World): boolean {
  return weather.mayReadHistory && !weather.channelsRefuse && !weather.peopleDelete;
}

export function peopleIn(message: SlackMessage): string[] {
  const text = JSON.stringify(message);
  return [...text.matchAll(/"user_id":"(\w+)"|<@(\w+)>/g)].map(([, one, other]) => one ?? other ?? '');
}

function keyOf({ metadata }: SlackMessage): string {
  return String(metadata?.event_payload['key']);
}
