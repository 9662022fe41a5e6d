import { randomBytes } from 'node:crypto';
import { teamId } from './directory.ts';

export type Ids = ReturnType<typeof createIds>;

export function createIds(now: () => number) {
  let lastMicros = 0;
  return {
    /** A message timestamp from the clock; unique, and always larger than the last. */
    ts() {
      lastMicros = Math.max(Math.floor(now() * 1000), lastMicros + 1);
      return `${Math.floor(lastMicros / 1_000_000)}.${String(lastMicros % 1_000_000).padStart(6, '0')}`;
    },
    /** Slack-like: the prefix and ten upper-case characters. */
    id(prefix: string) {
      return prefix + randomBytes(8).toString('hex').slice(0, 10).toUpperCase();
    },
    /** Unguessable, for hashes, block ids and URL parts. */
    secret(bytes: number) {
      return randomBytes(bytes).toString('hex');
    },
  };
}

export type Trigger = { userId: string; fromModal: boolean };

/** The target of a response_url: the place of the command, or the pressed message. */
export type ResponseTarget = {
  channel: string;
  userId: string;
  /** Absent after a slash command: there is no message to replace or delete. */
  messageTs?: string;
};

type Checked<For> = { kind: 'open'; for: For } | { kind: 'refused'; error: string };

/** Names that Slack issues for a limited time and number of uses; `errors`: Slack's words for an invalid one. */
function createPasses<For>(
  now: () => number,
  {
    lifeMs,
    uses,
    errors,
  }: { lifeMs: number; uses: number; errors: Record<'unknown' | 'spent' | 'late', string> },
) {
  const known = new Map<string, { for: For; until: number; left: number }>();
  return {
    issue(name: string, target: For): string {
      known.set(name, { for: target, until: now() + lifeMs, left: uses });
      return name;
    },
    /** Checks without using it up: a call that Slack refuses for another reason costs no use. */
    check(name: string): Checked<For> {
      const found = known.get(name);
      if (found === undefined) return { kind: 'refused', error: errors.unknown };
      if (found.left === 0) return { kind: 'refused', error: errors.spent };
      if (now() > found.until) return { kind: 'refused', error: errors.late };
      return { kind: 'open', for: found.for };
    },
    spend(name: string) {
      const found = known.get(name);
      if (found !== undefined) found.left -= 1;
    },
  };
}

/** One use within three seconds, like Slack's; `lifeMs` for a faster clock. */
export function createTriggers(ids: Ids, now: () => number, lifeMs = 3000) {
  const errors = { unknown: 'invalid_trigger_id', spent: 'exchanged_trigger_id', late: 'expired_trigger_id' };
  const passes = createPasses<Trigger>(now, { lifeMs, uses: 1, errors });
  return {
    ...passes,
    issue: (trigger: Trigger) => passes.issue(`${now()}.${ids.secret(4)}.${ids.secret(16)}`, trigger),
  };
}

/** Five uses within thirty minutes, like Slack's. */
export function createResponseUrls(ids: Ids, now: () => number) {
  const errors = { unknown: 'no_such_url', spent: 'used_url', late: 'expired_url' };
  const passes = createPasses<ResponseTarget>(now, { lifeMs: 30 * 60_000, uses: 5, errors });
  return {
    ...passes,
    /** Returns the path of a new address. */
    issue(target: ResponseTarget) {
      const kind = target.messageTs === undefined ? 'commands' : 'actions';
      return passes.issue(`/${kind}/${teamId}/${ids.secret(6)}/${ids.secret(12)}`, target);
    },
  };
}
