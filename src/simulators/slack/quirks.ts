/**
 * What Slack may do or not: nobody who could know has said so on a page of Slack's. Each is off unless a test turns it
 * on; the bot must be right either way. `README.md` beside this says who says what.
 */
export type Quirks = {
  /** What stood in a field beforehand and nobody touched is sent as empty, in a modal that took the place of another. */
  untouchedInitialsAreNull?: boolean;
  /** The first submission of a modal that took the place of another has that one's state. */
  firstSubmissionIsOld?: boolean;
  /** The bot may edit only where it is a member: Slack names posting alone for `chat:write.public`. */
  editsNeedMembership?: boolean;
  /** Slack's limit for distributed apps: one call of the histories a minute, and 15 messages each. */
  isHistorySlow?: boolean;
  /** A connection of Socket Mode that is to be renewed is given payloads until it is closed. */
  renewedLinesGetMore?: boolean;
  /** Every press and every form is delivered twice at once; the first acknowledgement counts. */
  deliversTwice?: boolean;
};
