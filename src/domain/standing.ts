/** The roles of `payops.yml` that give a person a permission; none: they may not. `unknown`: Slack could not be asked. */
export type Standing = { kind: 'known'; roles: readonly string[] } | { kind: 'unknown' };

/**
 * Asked of a Slack user id, wherever that person is: for what was asked for in a fitting place before and is judged
 * again later. Never throws.
 */
export type StandingOf = (permission: string, userId: string) => Promise<Standing>;

/** The Slack user ids of everybody who holds the permission, wherever they are, as far as Slack tells. Never throws. */
export type HoldersOf = (permission: string) => Promise<readonly string[]>;
