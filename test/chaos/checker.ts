/** An event that was answered 2xx. All times are of one clock. */
export type Acknowledged = {
  key: string;
  /** The right channel. */
  channel: string;
  /** Before the first byte was sent. */
  firstSentAtMs: number;
  /** When its first 2xx had arrived. */
  ackedAtMs: number;
};

/** A message about an event in a channel, whether or not the bot got Slack's answer. */
export type Posted = { key: string; channel: string };

export type History = {
  acknowledged: readonly Acknowledged[];
  /** In the order in which Slack received them. */
  posts: readonly Posted[];
  /** Every key that was ever sent, acknowledged or not. */
  sent: ReadonlySet<string>;
};

export type Findings = {
  /** Acknowledged, but in no channel. */
  lost: string[];
  /** One for each post of a key beyond its first, in any channel. */
  doubled: string[];
  /** In a channel other than the event’s. */
  misplaced: string[];
  /** Posts about events that were never sent. */
  strangers: string[];
  /** Behind an event that was sent only after theirs was acknowledged. */
  overtaken: string[];
};

/**
 * Compares the senders' knowledge with the channels; trusts nothing that the bot or its store says. An event that was
 * never acknowledged may be posted or not; an acknowledged one must be posted once.
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
 * Posts behind a post of their channel whose event was sent only after theirs was acknowledged. Events under way at the
 * same time have no order.
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
