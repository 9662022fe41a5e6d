/** An event that was answered 2xx. Times are of one clock. */
export type Acknowledged = {
  key: string;
  /** The channel it belongs in. */
  channel: string;
  /** Before anything of it left its sender. */
  firstSentAtMs: number;
  /** When its first 2xx had arrived. */
  ackedAtMs: number;
};

/** A message about an event that stands in a channel, whether or not the bot was told so. */
export type Posted = { key: string; channel: string };

export type History = {
  acknowledged: readonly Acknowledged[];
  /** In the order Slack took them. */
  posts: readonly Posted[];
  /** Every key that was ever sent, acknowledged or not. */
  sent: ReadonlySet<string>;
};

export type Findings = {
  /** Acknowledged, and in no channel. */
  lost: string[];
  /** One for each post beyond the first of a key, in whichever channel. */
  doubled: string[];
  /** In a channel that is not the event’s. */
  misplaced: string[];
  /** Posts about what nobody sent. */
  strangers: string[];
  /** Behind an event that was sent only when they had been acknowledged. */
  overtaken: string[];
};

/**
 * What the senders know against what stands in the channels: no word of the bot's or its store's is believed.
 * An event that was never acknowledged may be there or not; one that was must be there, once.
 */
export function checkHistory(history: History): Findings {
  const channelOf = new Map(history.acknowledged.map(({ key, channel }) => [key, channel]));
  const seen = new Set<string>();
  const findings: Findings = {
    lost: [],
    doubled: [],
    misplaced: [],
    strangers: [],
    overtaken: [],
  };
  for (const { key, channel } of history.posts) {
    if (seen.has(key)) findings.doubled.push(key);
    seen.add(key);
    if (!history.sent.has(key)) findings.strangers.push(key);
    if ((channelOf.get(key) ?? channel) !== channel) findings.misplaced.push(key);
  }
  findings.lost = history.acknowledged.map(({ key }) => key).filter((key) => !seen.has(key));
  findings.overtaken = overtakenKeys(history);
  return findings;
}

/**
 * Those behind a post of their channel whose event left its sender only after they had been acknowledged. Two
 * that were under way at the same time have no order to keep.
 */
function overtakenKeys({ acknowledged, posts }: History): string[] {
  const byKey = new Map(acknowledged.map((event) => [event.key, event]));
  const latest = new Map<string, number>();
  const seen = new Set<string>();
  const found: string[] = [];
  for (const { key, channel } of posts) {
    const event = byKey.get(key);
    if (!event || seen.has(key)) continue;
    seen.add(key);
    const latestMs = latest.get(channel) ?? -Infinity;
    if (latestMs > event.ackedAtMs) found.push(key);
    latest.set(channel, Math.max(latestMs, event.firstSentAtMs));
  }
  return found;
}
