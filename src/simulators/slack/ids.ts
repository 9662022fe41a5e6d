import { randomBytes } from 'node:crypto';

export type Ids = {
  /** A message timestamp: from the clock, never given twice and never smaller than the one before. */
  ts(): string;
  /** Slack-like: the prefix and ten upper-case characters. */
  id(prefix: string): string;
  /** Short and unguessable, for hashes, block ids and url parts. */
  secret(bytes: number): string;
};

export function createIds(now: () => number): Ids {
  let lastMicros = 0;
  return {
    ts() {
      lastMicros = Math.max(Math.floor(now() * 1000), lastMicros + 1);
      return `${Math.floor(lastMicros / 1_000_000)}.${String(lastMicros % 1_000_000).padStart(6, '0')}`;
    },
    id(prefix) {
      return prefix + randomBytes(8).toString('hex').slice(0, 10).toUpperCase();
    },
    secret(bytes) {
      return randomBytes(bytes).toString('hex');
    },
  };
}
