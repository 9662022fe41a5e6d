import type { Ids } from './ids.ts';

export type Trigger = { userId: string; fromModal: boolean };

export type RedeemedTrigger =
  | { kind: 'redeemed'; trigger: Trigger }
  | { kind: 'refused'; error: 'invalid_trigger_id' | 'expired_trigger_id' | 'exchanged_trigger_id' };

export type Triggers = {
  issue(trigger: Trigger): string;
  /** Looks without using it up: Slack checks the view first, so a bad view does not cost the trigger. */
  check(id: string): RedeemedTrigger;
  spend(id: string): void;
};

/** Three seconds, unless the clock is not a real one, and one use, as Slack's. */
export function createTriggers(ids: Ids, now: () => number, lifeMs = 3000): Triggers {
  const known = new Map<string, { trigger: Trigger; until: number; spent: boolean }>();
  return {
    issue(trigger) {
      const id = `${now()}.${ids.secret(4)}.${ids.secret(16)}`;
      known.set(id, { trigger, until: now() + lifeMs, spent: false });
      return id;
    },
    check(id) {
      const found = known.get(id);
      if (found === undefined) return { kind: 'refused', error: 'invalid_trigger_id' };
      if (found.spent) return { kind: 'refused', error: 'exchanged_trigger_id' };
      if (now() > found.until) return { kind: 'refused', error: 'expired_trigger_id' };
      return { kind: 'redeemed', trigger: found.trigger };
    },
    spend(id) {
      const found = known.get(id);
      if (found !== undefined) found.spent = true;
    },
  };
}
