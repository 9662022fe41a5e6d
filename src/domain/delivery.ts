/**
 * What became of one message for a channel, posted or edited. The difference that matters is whether it can
 * have arrived: an `unsure` post may not be repeated blindly, all others but `posted` may. An edit may always.
 */
export type PostOutcome =
  /** `channel`: where Slack says that it is; for a person's user id that is the direct message's own id. */
  | { kind: 'posted'; channel: string; ts: string }
  /** Slack asks to wait; nothing was posted. */
  | { kind: 'rate_limited'; retryAfterMs: number }
  /** Slack will refuse it until a person does what `fix` says; nothing was posted. */
  | { kind: 'refused'; slackError: string; fix: string; about: RefusalAbout }
  /** What was to be edited, or the thread to post in, is there no longer, or not open any more. */
  | { kind: 'gone'; slackError: string }
  /** It surely did not leave or was not accepted; trying again is safe. */
  | { kind: 'not_sent'; cause: unknown }
  /** The answer was lost: it may be in the channel. */
  | { kind: 'unsure'; cause: unknown };

/**
 * What Slack refuses, as far as its word says. `message`: this one alone, others may pass. `channel`: all that is for
 * this channel or person. `bot`: all that the bot does. `unclear`: a word nobody here knows.
 */
export type RefusalAbout = 'message' | 'channel' | 'bot' | 'unclear';

/** What Slack refused for so long that it waits for a person to have it delivered again. */
export type Undelivered = {
  /** A channel's id, or a person's for direct messages. */
  channel: string;
  messages: number;
  /** UTC milliseconds: since when Slack refuses what is for it. */
  sinceMs: number;
  slackError: string;
  /** What a person must do before it can be delivered. */
  fix: string;
};

/** Where a message is, or is to be: without `ts` it does not stand yet. */
export type MessagePlace = { channel: string; ts?: string };

/** Whether a message with a key stands in a channel's history or a thread. */
export type HistoryAnswer =
  | { kind: 'found'; ts: string }
  | { kind: 'absent' }
  /** Slack did not answer, or asks to wait: worth asking again. */
  | { kind: 'unknown'; slackError: string; retryAfterMs?: number }
  /** The bot may not read this history until a person changes something. */
  | { kind: 'unreadable'; slackError: string };
