import type { StandingOf } from '../domain/standing.ts';
import type { MayRun } from '../slack/command.ts';

/** What a person may do by now, as the directory says it. */
export function standingBy(mayRun: MayRun): StandingOf {
  return async (permission, userId) => {
    const permit = await mayRun(permission, { userId });
    if (permit.kind === 'allowed') return { kind: 'known', roles: ['*'] };
    return permit.rule.startsWith('Slack could not be asked')
      ? { kind: 'unknown' }
      : { kind: 'known', roles: [] };
  };
}
