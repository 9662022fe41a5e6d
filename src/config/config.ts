import type { Log } from '../log.ts';
import type { Merchant } from '../domain/merchant.ts';
import type { Policy } from './policy.ts';
import type { Environment } from './settings.ts';

/**
 * The whole configuration, frozen. With `accounts` in the policy file it is the first account's: ids, addresses and secrets
 * are its own.
 */
export type Config = Environment & {
  readonly policy: Policy;
  /** Absent if the bot has one account only. */
  readonly merchant?: Merchant;
  /** The whole configuration of each further account. */
  readonly further?: readonly (Config & { readonly merchant: Merchant })[];
};

/** How long requests are served after SIGTERM: longer with replicas, which take over meanwhile. */
export function drainSecondsOf({ drainSeconds, redisUrl }: Pick<Environment, 'drainSeconds' | 'redisUrl'>) {
  return drainSeconds ?? (redisUrl === undefined ? 0 : 5);
}

/**
 * A rule between settings. Returns the problems, each naming the setting and what to write. Called only if all settings it
 * looks at were readable, so that none of them counts as missing.
 */
export type SettingsCheck = (config: Config) => false | string | readonly string[];

/** The validated configuration, the log and the clock. */
export type Runtime = { config: Config; log: Log; now: () => number };
