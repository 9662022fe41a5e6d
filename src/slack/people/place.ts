import type { Caller } from '../command.ts';

/** What stands in `channels` of a role for direct messages with the bot, its Home and shortcuts. */
export const direct = 'direct';

/**
 * Where a role must hold for what the caller does: a channel's id, or `direct` where there is none. Undefined in a
 * modal: it was opened in a fitting place, and Slack does not tell which that was.
 */
export function placeOf({ channelId, from }: Pick<Caller, 'channelId' | 'from'>): string | undefined {
  if (channelId !== undefined) return channelId.startsWith('D') ? direct : channelId;
  return from === 'modal' ? undefined : direct;
}
