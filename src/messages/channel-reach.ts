/** Whether the bot can post in a channel, as far as Slack says before anything is posted there. */
export type ChannelReach =
  | { kind: 'reachable' }
  /** Nothing will arrive there until a person does what `fix` says. */
  | { kind: 'unreachable'; slackError: string; fix: string }
  /** Slack does not let the bot look; asking again changes nothing. */
  | { kind: 'unchecked'; slackError: string; fix: string }
  /** Slack did not answer, or asks to wait: worth asking again. */
  | { kind: 'away'; slackError: string; retryAfterMs?: number };
