import type { Policy } from '../config/policy.ts';
import type { Log } from '../log.ts';

/** Where nobody may do anything the bot still tells alerts, so it is no refusal; but hardly anybody means it. */
export function tellEmptyRoles({ roles }: Pick<Policy, 'roles'>, log: Log): void {
  const empty = Object.entries(roles).filter(([, { users, groups }]) => users.length + groups.length === 0);
  if (empty.length === Object.keys(roles).length) {
    const fix = 'list people under roles of the policy file, as docs/policy.md shows';
    log('warn', 'Nobody may do anything with the bot: no role lists people', { fix });
    return;
  }
  for (const [name] of empty) {
    log('warn', `Role ${name} lists nobody`, {
      fix: `list users or groups under roles.${name}, or take it out`,
    });
  }
}
