import type { Ids } from './ids.ts';
import { teamId } from './cast.ts';

/** Where a response_url leads: to the place a command was typed, or to the message that was pressed. */
export type ResponseTarget = {
  channel: string;
  userId: string;
  threadTs?: string;
  /** Absent after a slash command: there is no message to replace or delete. */
  messageTs?: string;
};

export type ResponseUrls = {
  /** The path of a new address. */
  issue(target: ResponseTarget): string;
  check(path: string): { kind: 'open'; target: ResponseTarget } | { kind: 'refused'; error: string };
  spend(path: string): void;
};

const lifeMs = 30 * 60 * 1000;
const maxUses = 5;

/** Five uses within thirty minutes, as Slack's. */
export function createResponseUrls(ids: Ids, now: () => number): ResponseUrls {
  const known = new Map<string, { target: ResponseTarget; until: number; uses: number }>();
  return {
    issue(target) {
      const kind = target.messageTs === undefined ? 'commands' : 'actions';
      const path = `/${kind}/${teamId}/${ids.secret(6)}/${ids.secret(12)}`;
      known.set(path, { target, until: now() + lifeMs, uses: 0 });
      return path;
    },
    check(path) {
      const found = known.get(path);
      if (found === undefined) return { kind: 'refused', error: 'no_such_url' };
      if (now() > found.until) return { kind: 'refused', error: 'expired_url' };
      if (found.uses >= maxUses) return { kind: 'refused', error: 'used_url' };
      return { kind: 'open', target: found.target };
    },
    spend(path) {
      const found = known.get(path);
      if (found !== undefined) found.uses += 1;
    },
  };
}
