import { randomBytes } from 'node:crypto';
import { teamId } from './cast.ts';

export type Ids = ReturnType<typeof createIds>;

export function createIds(now: () => number) {
  let lastMicros = 0;
  return {
    /** A message timestamp: from the clock, never given twice and never smaller than the one before. */
    ts() {
      lastMicros = Math.max(Math.floor(now() * 1000), lastMicros + 1);
      return `${Math.floor(lastMicros / 1_000_000)}.${String(lastMicros % 1_000_000).padStart(6, '0')}`;
    },
    /** Slack-like: the prefix and ten upper-case characters. */
    id(prefix: string) {
      return prefix + randomBytes(8).toString('hex').slice(0, 10).toUpperCase();
    },
    /** Short and unguessable, for hashes, block ids and url parts. */
    secret(bytes: number) {
      return randomBytes(bytes).toString('hex');
    },
  };
}

export type Trigger = { userId: string; fromModal: boolean };

type RedeemedTrigger =
  | { kind: 'redeemed'; trigger: Trigger }
  | { kind: 'refused'; error: 'invalid_trigger_id' | 'expired_trigger_id' | 'exchanged_trigger_id' };

/** Three seconds, unless the clock is not a real one, and one use, as Slack's. */
export function createTriggers(ids: Ids, now: () => number, lifeMs = 3000) {
  const known = new Map<string, { trigger: Trigger; until: number; spent: boolean }>();
  return {
    issue(trigger: Trigger) {
      const id = `${now()}.${ids.secret(4)}.${ids.secret(16)}`;
      known.set(id, { trigger, until: now() + lifeMs, spent: false });
      return id;
    },
    /** Looks without using it up: Slack checks the view first, so a bad view does not cost the trigger. */
    check(id: string): RedeemedTrigger {
      const found = known.get(id);
      if (found === undefined) return { kind: 'refused', error: 'invalid_trigger_id' };
      if (found.spent) return { kind: 'refused', error: 'exchanged_trigger_id' };
      if (now() > found.until) return { kind: 'refused', error: 'expired_trigger_id' };
      return { kind: 'redeemed', trigger: found.trigger };
    },
    spend(id: string) {
      const found = known.get(id);
      if (found !== undefined) found.spent = true;
    },
  };
}

/** Where a response_url leads: to the place a command was typed, or to the message that was pressed. */
export type ResponseTarget = {
  channel: string;
  userId: string;
  threadTs?: string;
  /** Absent after a slash command: there is no message to replace or delete. */
  messageTs?: string;
};

const lifeMs = 30 * 60 * 1000;
const maxUses = 5;

/** Five uses within thirty minutes, as Slack's. */
export function createResponseUrls(ids: Ids, now: () => number) {
  const known = new Map<string, { target: ResponseTarget; until: number; uses: number }>();
  return {
    /** The path of a new address. */
    issue(target: ResponseTarget) {
      const kind = target.messageTs === undefined ? 'commands' : 'actions';
      const path = `/${kind}/${teamId}/${ids.secret(6)}/${ids.secret(12)}`;
      known.set(path, { target, until: now() + lifeMs, uses: 0 });
      return path;
    },
    check(path: string): { kind: 'open'; target: ResponseTarget } | { kind: 'refused'; error: string } {
      const found = known.get(path);
      if (found === undefined) return { kind: 'refused', error: 'no_such_url' };
      if (now() > found.until) return { kind: 'refused', error: 'expired_url' };
      if (found.uses >= maxUses) return { kind: 'refused', error: 'used_url' };
      return { kind: 'open', target: found.target };
    },
    spend(path: string) {
      const found = known.get(path);
      if (found !== undefined) found.uses += 1;
    },
  };
}
