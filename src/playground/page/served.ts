import type { BotState, PageState } from '../../simulators/protocol.ts';

/**
 * What the page's server sends: the agreed PageState, with the bot's last words for the moment it is down.
 * The bodies of exchanges are left out of the stream; `GET /exchange?id=` gives one with them.
 */
export type ServedState = PageState & { bot: BotState & { lastLines: string[] } };
